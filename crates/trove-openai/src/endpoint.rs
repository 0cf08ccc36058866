//! Where requests go, and what they carry.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use trove_domain::port::{LanguageModelEndpoint, LanguageModelError};
use url::Url;

use crate::secrets::Secrets;

/// Where providers are when no address is given.
const KNOWN: &[(&str, &str)] = &[
    ("openai", "https://api.openai.com/v1"),
    ("anthropic", "https://api.anthropic.com/v1"),
    ("deepseek", "https://api.deepseek.com/v1"),
    ("groq", "https://api.groq.com/openai/v1"),
    ("mistral", "https://api.mistral.ai/v1"),
    ("openrouter", "https://openrouter.ai/api/v1"),
    ("litellm", "http://127.0.0.1:4000/v1"),
    ("llama_cpp", "http://127.0.0.1:8080/v1"),
    ("lm_studio", "http://127.0.0.1:1234/v1"),
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("ollama_chat", "http://127.0.0.1:11434/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
];

/// Headers that the transport sets.
const OURS: [&str; 5] =
    ["host", "connection", "content-length", "content-type", "transfer-encoding"];

/// One address of a provider.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// Name of the provider, for messages.
    pub(crate) provider: String,
    /// The model.
    pub(crate) model: String,
    /// The whole address.
    pub(crate) url: Url,
    /// Secrets among them are marked as such.
    pub(crate) headers: HeaderMap,
    /// What must not be repeated.
    pub(crate) secrets: Secrets,
    /// Whether OpenAI's own service answers, there or at Azure, which knows the latest parameters
    /// and refuses what it does not know.
    pub(crate) is_openai: bool,
    /// `reasoning_effort` as the administrator wants it.
    pub(crate) reasoning_effort: Option<String>,
}

fn invalid(detail: impl Into<String>) -> LanguageModelError {
    LanguageModelError::Invalid { detail: detail.into() }
}

impl Endpoint {
    /// The address of `operation` (`chat/completions`) at `endpoint`.
    ///
    /// # Errors
    ///
    /// [`LanguageModelError::Invalid`] names the setting that cannot work.
    pub(crate) fn resolve(
        endpoint: &LanguageModelEndpoint,
        operation: &str,
    ) -> Result<Self, LanguageModelError> {
        let kind = endpoint.kind.trim().to_ascii_lowercase();
        let model = endpoint.model.trim();
        if model.is_empty() {
            return Err(invalid("the model has no name"));
        }
        let azure = matches!(kind.as_str(), "azure" | "azure_openai");
        let base = base(endpoint, &kind)?;
        let url = if azure {
            azure_url(base, endpoint, model, operation)?
        } else {
            join(base, operation)?
        };
        let is_openai = azure || url.host_str() == Some("api.openai.com");
        let mut resolved = Self {
            provider: endpoint.provider.clone(),
            model: model.to_owned(),
            url,
            headers: HeaderMap::new(),
            secrets: Secrets::default(),
            is_openai,
            reasoning_effort: None,
        };
        if let Some(key) = &endpoint.api_key {
            resolved.authorize(key, azure)?;
        }
        for (name, value) in &endpoint.custom {
            resolved.customize(name, value)?;
        }
        Ok(resolved)
    }

    fn authorize(&mut self, key: &SecretString, azure: bool) -> Result<(), LanguageModelError> {
        let key = key.expose_secret().trim();
        if key.is_empty() {
            return Ok(());
        }
        self.secrets.add(key);
        let (name, value) = if azure {
            (HeaderName::from_static("api-key"), secret_value(key))
        } else {
            (AUTHORIZATION, secret_value(&format!("Bearer {key}")))
        };
        let problem = "the API key holds characters that no key has, such as a line break or an \
                       umlaut";
        self.headers.insert(name, value.ok_or_else(|| invalid(problem))?);
        Ok(())
    }

    fn customize(&mut self, name: &str, value: &SecretString) -> Result<(), LanguageModelError> {
        let text = value.expose_secret().trim();
        let header = match name {
            "organization" => "openai-organization",
            "project" => "openai-project",
            "reasoning_effort" => {
                let known = ["none", "minimal", "low", "medium", "high"];
                if !known.contains(&text) {
                    let known = known.join(", ");
                    return Err(invalid(format!("`reasoning_effort` is not one of {known}")));
                }
                self.reasoning_effort = Some(text.to_owned());
                return Ok(());
            }
            other => other.strip_prefix("header:").ok_or_else(|| {
                invalid(format!(
                    "`{}` is not a setting of such a provider; there are organization, project, \
                     reasoning_effort and header:NAME",
                    self.secrets.scrub(other)
                ))
            })?,
        };
        let parsed: HeaderName = header
            .trim()
            .parse()
            .map_err(|_| invalid(format!("`{name}` is not the name of a header")))?;
        if OURS.contains(&parsed.as_str()) {
            return Err(invalid(format!("the header {parsed} cannot be set")));
        }
        let problem = || invalid(format!("the value of `{name}` holds characters no header has"));
        let value = secret_value(text).ok_or_else(problem)?;
        self.secrets.add(text);
        self.headers.insert(parsed, value);
        Ok(())
    }
}

fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii())?;
    value.set_sensitive(true);
    Some(value)
}

/// The base address, checked and without what people copy along.
fn base(endpoint: &LanguageModelEndpoint, kind: &str) -> Result<Url, LanguageModelError> {
    let known = || KNOWN.iter().find(|(name, _)| *name == kind).map(|(_, base)| *base);
    let given = endpoint.api_base.as_deref().map(str::trim).filter(|base| !base.is_empty());
    let Some(text) = given.or_else(known) else {
        return Err(invalid(format!("a provider of the kind {kind:?} needs a base address")));
    };
    let expected = "expected http://HOST:PORT/v1 or https://HOST/v1";
    // What is no address may be anything, a key among it.
    let mut url: Url =
        text.parse().map_err(|_| invalid(format!("the base address is no URL; {expected}")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(invalid(format!("the base address is none of HTTP; {expected}")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("the base address holds a user or a password; use the API key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid(
            "the base address has a `?` or a `#`; a version of the interface is a setting of its \
             own",
        ));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = path.strip_suffix("/embeddings").unwrap_or(path);
    let path = if path.is_empty() && !kind.starts_with("azure") { "/v1" } else { path }.to_owned();
    url.set_path(&path);
    Ok(url)
}

fn join(mut base: Url, operation: &str) -> Result<Url, LanguageModelError> {
    base.path_segments_mut()
        .map_err(|()| invalid("the base address takes no path"))?
        .pop_if_empty()
        .extend(operation.split('/'));
    Ok(base)
}

/// Azure has an address for each deployment, or the same addresses as OpenAI below `/openai/v1`.
fn azure_url(
    mut base: Url,
    endpoint: &LanguageModelEndpoint,
    model: &str,
    operation: &str,
) -> Result<Url, LanguageModelError> {
    if base.path().ends_with("/openai/v1") {
        return join(base, operation);
    }
    let version = endpoint.api_version.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let Some(version) = version else {
        return Err(invalid(
            "Azure needs a version of the interface, such as 2024-10-21, unless the base address \
             ends with /openai/v1",
        ));
    };
    let deployment = endpoint.deployment.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let path = base.path().trim_end_matches('/');
    let path = path.strip_suffix("/openai").unwrap_or(path).to_owned();
    base.set_path(&path);
    base.path_segments_mut()
        .map_err(|()| invalid("the base address takes no path"))?
        .pop_if_empty()
        .extend(["openai", "deployments", deployment.unwrap_or(model)]);
    let mut url = join(base, operation)?;
    url.query_pairs_mut().append_pair("api-version", version);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trove_domain::port::LanguageModelEndpoint;

    use super::Endpoint;

    fn at(kind: &str, base: Option<&str>) -> LanguageModelEndpoint {
        LanguageModelEndpoint {
            provider: "ours".to_owned(),
            kind: kind.to_owned(),
            api_base: base.map(str::to_owned),
            api_key: Some("sk-canary".into()),
            api_version: Some("2024-10-21".to_owned()),
            deployment: None,
            custom: BTreeMap::new(),
            model: "some/model".to_owned(),
            context_tokens: None,
        }
    }

    fn url(endpoint: &LanguageModelEndpoint) -> String {
        Endpoint::resolve(endpoint, "chat/completions").unwrap().url.to_string()
    }

    fn refusal(endpoint: &LanguageModelEndpoint) -> String {
        let text = Endpoint::resolve(endpoint, "chat/completions").unwrap_err().to_string();
        assert!(!text.contains("canary"), "{text}");
        text
    }

    #[test]
    fn addresses_are_completed() {
        for (kind, base, expected) in [
            ("openai", None, "https://api.openai.com/v1/chat/completions"),
            ("ollama", None, "http://127.0.0.1:11434/v1/chat/completions"),
            ("ollama", Some("http://gpu:11434"), "http://gpu:11434/v1/chat/completions"),
            ("x", Some("https://h/a/v1/"), "https://h/a/v1/chat/completions"),
            ("x", Some("https://h/v1/chat/completions"), "https://h/v1/chat/completions"),
            (
                "azure",
                Some("https://r.openai.azure.com/"),
                "https://r.openai.azure.com/openai/deployments/some%2Fmodel/chat/completions?api-version=2024-10-21",
            ),
            (
                "azure",
                Some("https://r.openai.azure.com/openai"),
                "https://r.openai.azure.com/openai/deployments/some%2Fmodel/chat/completions?api-version=2024-10-21",
            ),
            (
                "azure",
                Some("https://r.openai.azure.com/openai/v1/"),
                "https://r.openai.azure.com/openai/v1/chat/completions",
            ),
        ] {
            assert_eq!(url(&at(kind, base)), expected);
        }
        let deployment = LanguageModelEndpoint {
            deployment: Some("mine".to_owned()),
            ..at("azure", Some("https://r"))
        };
        assert!(url(&deployment).contains("/deployments/mine/"));
    }

    #[test]
    fn settings_that_cannot_work_are_named_and_not_repeated() {
        for (endpoint, words) in [
            (at("x", None), "needs a base address"),
            (at("openai", Some("sk-canary")), "is no URL"),
            (at("openai", Some("ftp://h/v1")), "none of HTTP"),
            (at("openai", Some("http://u:sk-canary@h/v1")), "a user or a password"),
            (at("openai", Some("http://h/v1?key=canary")), "a `?`"),
            (at("azure", None), "needs a base address"),
            (LanguageModelEndpoint { model: " ".into(), ..at("openai", None) }, "no name"),
            (
                LanguageModelEndpoint { api_version: None, ..at("azure", Some("https://h")) },
                "version of the interface",
            ),
            (
                LanguageModelEndpoint { api_key: Some("sk\ncanary".into()), ..at("openai", None) },
                "API key holds",
            ),
        ] {
            let text = refusal(&endpoint);
            assert!(text.contains(words), "{text}");
        }
        for (name, value, words) in [
            ("header:a b", "x", "not the name of a header"),
            ("header:host", "x", "cannot be set"),
            ("header:x-y", "a\ncanary", "no header has"),
            ("organisation", "canary", "organization, project"),
            ("reasoning_effort", "canary", "one of none"),
        ] {
            let custom = BTreeMap::from([(name.to_owned(), value.into())]);
            let text = refusal(&LanguageModelEndpoint { custom, ..at("openai", None) });
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn nothing_shows_the_key() {
        let custom = BTreeMap::from([("header:x-secret".to_owned(), "other-canary".into())]);
        let endpoint = LanguageModelEndpoint { custom, ..at("openai", None) };
        let resolved = Endpoint::resolve(&endpoint, "chat/completions").unwrap();
        assert!(!format!("{endpoint:?} {resolved:?}").contains("canary"));
        assert_eq!(resolved.headers["authorization"], "Bearer sk-canary");
        assert_eq!(resolved.headers["x-secret"], "other-canary");
    }
}
