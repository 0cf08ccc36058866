use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use super::load::millis;
use super::rule::Rule;
use super::secret::Secret;

/// `[llm]`: the language model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LlmSection {
    /// Kind of the provider, which speaks the protocol of OpenAI. Not set by default: answers
    /// quote passages then. Decides on the address if none is set.
    pub provider: Option<String>,
    /// Base address of the interface. Not set by default: the provider's own.
    pub url: Option<String>,
    /// The model. Needed with a provider.
    pub model: Option<String>,
    /// Key for the provider. Not set by default: local servers want none.
    pub api_key: Option<Secret>,
    /// File that holds the key, as container platforms provide secrets.
    pub api_key_file: Option<PathBuf>,
    /// Organisation that is charged, where a key belongs to several.
    pub organization: Option<String>,
    /// Further headers of each request, one `Name: value` on each line. Shown nowhere.
    pub headers: Option<Secret>,
    /// Version of Azure's interface.
    pub api_version: Option<String>,
    /// Name of the deployment at Azure. Not set by default: the name of the model.
    pub deployment: Option<String>,
    /// How much the model thinks before it answers. Not set by default: low for OpenAI's models
    /// that reason, and nothing is said to others.
    pub reasoning_effort: Option<String>,
    /// Most tokens of a prompt and its answer together. Default 0: by the name of the model, as
    /// far as it is known, else 8192.
    pub context_tokens: usize,
    /// How long opening a connection may take, in milliseconds. Default 10 s.
    #[serde(rename = "connect_timeout_ms", with = "millis")]
    pub connect_timeout: Duration,
    /// How long the model may be silent before its answer begins, in milliseconds. Default 5 min:
    /// local servers load a model with its first question.
    #[serde(rename = "first_token_timeout_ms", with = "millis")]
    pub first_token_timeout: Duration,
    /// How long the model may be silent in the middle of its answer, in milliseconds. Default 60 s.
    #[serde(rename = "idle_timeout_ms", with = "millis")]
    pub idle_timeout: Duration,
}

impl LlmSection {
    /// Whether a model is configured.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.provider.is_some() || self.url.is_some()
    }
}

impl Default for LlmSection {
    fn default() -> Self {
        Self {
            provider: None,
            url: None,
            model: None,
            api_key: None,
            api_key_file: None,
            organization: None,
            headers: None,
            api_version: None,
            deployment: None,
            reasoning_effort: None,
            context_tokens: 0,
            connect_timeout: Duration::from_secs(10),
            first_token_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(1),
        }
    }
}

/// Whether `text` is the address of an interface, without what does not belong there.
pub(super) fn is_base_address(text: &str) -> bool {
    Url::parse(text.trim()).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn is_header_text(text: &str) -> bool {
    !text.trim().is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn is_timeout(duration: Duration) -> bool {
    (Duration::from_millis(100)..=Duration::from_hours(1)).contains(&duration)
}

pub(super) const BASE_ADDRESS: &str =
    "http://HOST:PORT/v1 or https://HOST/v1, without a user, a password, a `?` or a `#`";
pub(super) const KEY: &str = "the key, in ASCII and without blanks";
const TIMEOUT: &str = "a whole number of milliseconds from 100 to 3600000";

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "llm.provider",
        accepted: "openai, azure, ollama, vllm, llama_cpp, litellm, lm_studio, anthropic, deepseek, groq, mistral, openrouter, or any other name together with `llm.url`",
        holds: |config| config.llm.provider.as_deref().is_none_or(is_name),
    },
    Rule {
        key: "llm.url",
        accepted: BASE_ADDRESS,
        holds: |config| config.llm.url.as_deref().is_none_or(is_base_address),
    },
    Rule {
        key: "llm.model",
        accepted: "the name of a model, together with `llm.provider` or `llm.url`",
        holds: |config| match &config.llm.model {
            Some(model) => is_name(model) && config.llm.is_configured(),
            None => !config.llm.is_configured(),
        },
    },
    Rule {
        key: "llm.api_key",
        accepted: KEY,
        holds: |config| config.llm.api_key.as_ref().is_none_or(Secret::is_key),
    },
    Rule {
        key: "llm.api_key_file",
        accepted: "the path of a file, while `llm.api_key` is not set",
        holds: |config| match &config.llm.api_key_file {
            Some(file) => !file.as_os_str().is_empty() && config.llm.api_key.is_none(),
            None => true,
        },
    },
    Rule {
        key: "llm.organization",
        accepted: "an id, in ASCII",
        holds: |config| config.llm.organization.as_deref().is_none_or(is_header_text),
    },
    Rule {
        key: "llm.headers",
        accepted: "lines of the form NAME: VALUE, in ASCII",
        holds: |config| config.llm.headers.as_ref().is_none_or(|text| text.headers().is_some()),
    },
    Rule {
        key: "llm.api_version",
        accepted: "a version of Azure's interface, such as 2024-10-21",
        holds: |config| config.llm.api_version.as_deref().is_none_or(is_header_text),
    },
    Rule {
        key: "llm.deployment",
        accepted: "the name of a deployment",
        holds: |config| config.llm.deployment.as_deref().is_none_or(is_name),
    },
    Rule {
        key: "llm.reasoning_effort",
        accepted: "none, minimal, low, medium or high",
        holds: |config| {
            let efforts = ["none", "minimal", "low", "medium", "high"];
            config.llm.reasoning_effort.as_deref().is_none_or(|effort| efforts.contains(&effort))
        },
    },
    Rule {
        key: "llm.context_tokens",
        accepted: "a whole number from 0 (by the name of the model) to 100000000",
        holds: |config| config.llm.context_tokens <= 100_000_000,
    },
    Rule {
        key: "llm.connect_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.llm.connect_timeout),
    },
    Rule {
        key: "llm.first_token_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.llm.first_token_timeout),
    },
    Rule {
        key: "llm.idle_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.llm.idle_timeout),
    },
];
