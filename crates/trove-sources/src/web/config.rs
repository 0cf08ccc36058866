//! What an administrator says about a site.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use trove_domain::port::{FileKey, SourceError};
use url::Url;

use super::address::{Rewrite, canonical};
use crate::config::{batch_size, refused, switch, text};
use crate::dialer::NetworkPolicy;

/// Most rules of `url_rewrites`.
const REWRITES_MAX: usize = 100;

/// Where the pages come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// The links from this page, as long as they stay below it.
    Recursive(Url),
    /// This page.
    Single(Url),
    /// What a sitemap names.
    Sitemap(Url),
    /// What a stored file names, one address on each line.
    Upload(FileKey),
}

/// Configuration of one crawl.
#[derive(Clone, Debug)]
pub(super) struct WebConfig {
    pub(super) pages: Pages,
    /// Whether what one maker of documentation puts around every page is left out.
    pub(super) mintlify_cleanup: bool,
    pub(super) rewrites: Vec<Rewrite>,
    /// Tells whether a checkpoint belongs to this configuration.
    pub(super) fingerprint: String,
}

impl WebConfig {
    /// Reads and checks the configuration; keys that are not known are ignored.
    pub(super) fn read(
        config: &Map<String, Value>,
        policy: &NetworkPolicy,
    ) -> Result<Self, SourceError> {
        batch_size(config)?;
        let base = text(config, "base_url")?;
        let kind = match config.get("web_connector_type") {
            None | Some(Value::Null) => "recursive",
            Some(Value::String(kind)) => kind,
            Some(_) => return refused("`web_connector_type` is no text"),
        };
        let url = || start(base, policy);
        let pages = match kind {
            "recursive" => Pages::Recursive(url()?),
            "single" => Pages::Single(url()?),
            "sitemap" => Pages::Sitemap(url()?),
            "upload" => match FileKey::new(base) {
                Ok(key) => Pages::Upload(key),
                Err(_) => return refused("`base_url` is not the id of a stored file"),
            },
            _ => {
                return refused(
                    "`web_connector_type` is none of recursive, single, sitemap and upload",
                );
            }
        };
        // There is no browser to scroll.
        switch(config, "scroll_before_scraping", false)?;
        let mintlify_cleanup = switch(config, "mintlify_cleanup", true)?;
        let rewrites = rewrites(config.get("url_rewrites"))?;
        let said = format!("{pages:?} {mintlify_cleanup} {rewrites:?}");
        let digest = Sha256::digest(said);
        let first = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let fingerprint = format!("{first:016x}");
        Ok(Self { pages, mintlify_cleanup, rewrites, fingerprint })
    }
}

fn start(base: &str, policy: &NetworkPolicy) -> Result<Url, SourceError> {
    let has_scheme = base.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    let completed = if has_scheme { base.to_owned() } else { format!("https://{base}") };
    match policy.admit(&completed) {
        Ok(url) => Ok(canonical(url)),
        Err(error) => refused(format!("`base_url`: {error}")),
    }
}

fn rewrites(value: Option<&Value>) -> Result<Vec<Rewrite>, SourceError> {
    let rules = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(rules)) if rules.len() <= REWRITES_MAX => rules,
        Some(_) => return refused("`url_rewrites` is no list of at most 100 rules"),
    };
    let rule = |rule: &Value| {
        let part = |key: &str| rule.get(key)?.as_str().map(|text| text.trim().to_owned());
        let (source, target) = part("source").zip(part("target"))?;
        let is_web =
            |text: &str| Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        (is_web(&source) && is_web(&target)).then_some(Rewrite { source, target })
    };
    rules.iter().map(rule).collect::<Option<_>>().ok_or_else(|| {
        let problem = "`url_rewrites` holds a rule without `source` and `target` that both begin \
                       with http:// or https://";
        SourceError::Invalid(problem.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use trove_domain::port::SourceError;

    use super::{Pages, WebConfig};
    use crate::dialer::NetworkPolicy;

    fn read(config: &Value) -> Result<WebConfig, SourceError> {
        WebConfig::read(config.as_object().unwrap(), &NetworkPolicy::default())
    }

    #[test]
    fn addresses_are_completed_and_foreign_keys_ignored() {
        let config = json!({
            "base_url": " docs.example.com:8080/a ", "foo": [], "scroll_before_scraping": true,
            "batch_size": 7, "web_connector_type": null, "url_rewrites": null,
        });
        let config = read(&config).unwrap();
        let Pages::Recursive(url) = config.pages else { panic!("{:?}", config.pages) };
        assert_eq!(url.as_str(), "https://docs.example.com:8080/a");
        assert!(config.mintlify_cleanup);
        let upload = json!({ "base_url": "0190-ab", "web_connector_type": "upload" });
        assert!(matches!(read(&upload).unwrap().pages, Pages::Upload(_)));
    }

    #[test]
    fn refusals_name_the_key() {
        for (config, key) in [
            (json!({}), "base_url"),
            (json!({ "base_url": " " }), "base_url"),
            (json!({ "base_url": 7 }), "base_url"),
            (json!({ "base_url": "ftp://example.com" }), "base_url"),
            (json!({ "base_url": "https://u:canary@example.com" }), "base_url"),
            (json!({ "base_url": "http://127.0.0.1/" }), "base_url"),
            (json!({ "base_url": "169.254.169.254" }), "base_url"),
            (json!({ "base_url": "../etc/passwd", "web_connector_type": "upload" }), "base_url"),
            (json!({ "base_url": "a.example", "web_connector_type": "x" }), "web_connector_type"),
            (json!({ "base_url": "a.example", "mintlify_cleanup": "yes" }), "mintlify_cleanup"),
            (json!({ "base_url": "a.example", "batch_size": 0 }), "batch_size"),
            (
                json!({ "base_url": "a.example", "url_rewrites": [{ "source": "a" }] }),
                "url_rewrites",
            ),
            (json!({ "base_url": "a.example", "url_rewrites": {} }), "url_rewrites"),
        ] {
            let error = read(&config).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
