use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use secrecy::SecretString;
use trove_domain::port::{LanguageModel, LanguageModelEndpoint, LanguageModelFactory};
use trove_engine::{SystemClock, SystemIds};
use trove_local::ExtractiveLanguageModel;
use trove_openai::{OpenAiLanguageModels, RetryPolicy, Timeouts, Transport};

use crate::config::{Config, LlmSection, Secret};

/// Largest file that is taken for a key.
const KEY_BYTES_MAX: u64 = 16 << 10;

/// The language models of a deployment.
#[derive(Clone)]
pub struct LanguageModels {
    /// The model of whoever names none.
    pub default: Arc<dyn LanguageModel>,
    /// Reaches the models that administrators add.
    pub factory: Arc<dyn LanguageModelFactory>,
}

impl LanguageModels {
    /// The models as configured. Nothing is sent.
    ///
    /// # Errors
    ///
    /// A sentence that names the setting that cannot work.
    pub fn open(config: &Config) -> anyhow::Result<Self> {
        let factory = Arc::new(OpenAiLanguageModels::new(transport(config)?));
        let default = match endpoint(&config.llm)? {
            Some(endpoint) => factory
                .open(endpoint)
                .context("the language model of the section `[llm]` cannot be used")?,
            None => Arc::new(ExtractiveLanguageModel::new()),
        };
        Ok(Self { default, factory })
    }

    /// Says in the log which model answers. To be called once.
    pub fn announce(&self) {
        let info = self.default.info();
        if info.follows_instructions {
            tracing::info!(
                provider = info.provider,
                model = info.model,
                context_tokens = info.context_tokens,
                "language model configured"
            );
        } else {
            tracing::info!("no language model is configured: answers are quotes from passages");
        }
    }
}

/// Connections to all models.
pub(super) fn transport(config: &Config) -> anyhow::Result<Transport> {
    let timeouts = Timeouts {
        connect: config.llm.connect_timeout,
        first_token: config.llm.first_token_timeout,
        idle: config.llm.idle_timeout,
    };
    Transport::new(timeouts, RetryPolicy::default(), Arc::new(SystemClock), Arc::new(SystemIds))
        .context("connections to models cannot be made")
}

/// The configured model; `None` when there is none.
fn endpoint(llm: &LlmSection) -> anyhow::Result<Option<LanguageModelEndpoint>> {
    if !llm.is_configured() {
        return Ok(None);
    }
    let mut custom = BTreeMap::new();
    if let Some(organization) = &llm.organization {
        custom.insert("organization".to_owned(), organization.as_str().into());
    }
    if let Some(effort) = &llm.reasoning_effort {
        custom.insert("reasoning_effort".to_owned(), effort.as_str().into());
    }
    let headers = llm.headers.as_ref().and_then(Secret::headers).unwrap_or_default();
    custom.extend(headers.into_iter().map(|(name, value)| (format!("header:{name}"), value)));
    let kind = llm.provider.clone().unwrap_or_else(|| "custom".to_owned());
    Ok(Some(LanguageModelEndpoint {
        provider: kind.clone(),
        kind,
        api_base: llm.url.clone(),
        api_key: key("llm.api_key_file", llm.api_key.as_ref(), llm.api_key_file.as_deref())?,
        api_version: llm.api_version.clone(),
        deployment: llm.deployment.clone(),
        custom,
        model: llm.model.clone().unwrap_or_default(),
        context_tokens: Some(llm.context_tokens).filter(|tokens| *tokens > 0),
    }))
}

/// A key from the configuration or from the file that the setting `name` names.
pub(super) fn key(
    name: &str,
    key: Option<&Secret>,
    file: Option<&Path>,
) -> anyhow::Result<Option<SecretString>> {
    let (None, Some(path)) = (key, file) else { return Ok(key.map(Secret::expose)) };
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(KEY_BYTES_MAX).read_to_string(&mut text))
        .with_context(|| format!("the key in {} (`{name}`) cannot be read", path.display()))?;
    let key = text.trim();
    ensure!(!key.is_empty(), "the file {} (`{name}`) holds no key", path.display());
    Ok(Some(key.into()))
}
