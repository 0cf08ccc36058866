//! What the fields of a provider can hold.

use std::collections::HashSet;
use std::net::IpAddr;

use secrecy::ExposeSecret;
use trove_domain::llm_provider::ModelConfiguration;
use trove_domain::outbound::is_link_local_or_metadata;
use url::{Host, Url};

use super::secrets::is_masked;
use super::{Connection, LlmProviderError, ProviderUpsert};
use crate::administration::is_printable;

/// Most characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// Most characters of an address.
const ADDRESS_CHARS_MAX: usize = 2000;

/// Most bytes of a key: those of clouds have thousands.
const KEY_BYTES_MAX: usize = 16 * 1024;

/// Most custom settings, and most bytes of all of them.
const SETTINGS_MAX: (usize, usize) = (100, 256 * 1024);

/// Most models of a provider.
const MODELS_MAX: usize = 1000;

/// Most groups, and most agents.
const LINKS_MAX: usize = 1000;

/// A text for a message, within bounds: it is what somebody sent.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn refuse<T>(field: &'static str, why: impl Into<String>) -> Result<T, LlmProviderError> {
    Err(LlmProviderError::Field { field, why: why.into() })
}

/// Whether every field can be stored.
pub(super) fn upsert(wanted: &ProviderUpsert) -> Result<(), LlmProviderError> {
    let named = [
        ("name", &wanted.name),
        ("default_model_name", &wanted.default_model),
        ("default_vision_model", &wanted.vision_model),
    ];
    for (field, text) in named {
        text.as_deref().map_or(Ok(()), |text| name(field, text))?;
    }
    name("provider", &wanted.kind)?;
    connection(&wanted.connection)?;
    if wanted.groups.len() > LINKS_MAX || wanted.agents.len() > LINKS_MAX {
        return refuse("groups", format!("at most {LINKS_MAX} groups and personas are allowed"));
    }
    models(&wanted.models)
}

/// Whether a provider can be reached so.
pub(super) fn connection(connection: &Connection) -> Result<(), LlmProviderError> {
    let Connection { api_base, api_version, deployment, api_key, custom_config, .. } = connection;
    for (field, text) in [("api_version", api_version), ("deployment_name", deployment)] {
        text.as_deref().map_or(Ok(()), |text| name(field, text))?;
    }
    if let Some(base) = api_base {
        address(base)?;
    }
    if let Some(key) = api_key {
        let key = key.expose_secret();
        if key.len() > KEY_BYTES_MAX {
            return refuse("api_key", format!("at most {KEY_BYTES_MAX} bytes are allowed"));
        }
        // It goes into a header.
        if key.chars().any(char::is_control) {
            return refuse(
                "api_key",
                "control characters, line breaks among them, are not allowed",
            );
        }
    }
    let Some(config) = custom_config else { return Ok(()) };
    let (count, bytes) = SETTINGS_MAX;
    let sum: usize = config.iter().map(|(k, v)| k.len() + v.expose_secret().len()).sum();
    if config.len() > count || sum > bytes {
        let why = format!("at most {count} settings of {bytes} bytes together are allowed");
        return refuse("custom_config", why);
    }
    config.keys().try_for_each(|key| name("custom_config", key))
}

pub(super) fn name(field: &'static str, text: &str) -> Result<(), LlmProviderError> {
    if text.trim().is_empty() {
        return refuse(field, "it must not be empty");
    }
    if text.chars().count() > NAME_CHARS_MAX {
        return refuse(field, format!("at most {NAME_CHARS_MAX} characters are allowed"));
    }
    if !text.chars().all(is_printable) {
        return refuse(field, "control characters are not allowed");
    }
    Ok(())
}

fn models(models: &[ModelConfiguration]) -> Result<(), LlmProviderError> {
    const FIELD: &str = "model_configurations";
    if models.len() > MODELS_MAX {
        return refuse(FIELD, format!("at most {MODELS_MAX} models are allowed"));
    }
    let mut names = HashSet::new();
    for model in models {
        name(FIELD, &model.name)?;
        model.display_name.as_deref().map_or(Ok(()), |text| name(FIELD, text))?;
        if !names.insert(&model.name) {
            return refuse(FIELD, format!("the model {:?} is listed twice", model.name));
        }
        if model.input_tokens_max.is_some_and(|max| i32::try_from(max).is_err()) {
            return refuse(FIELD, "max_input_tokens is larger than 2147483647");
        }
    }
    Ok(())
}

/// Whether models may be reached there.
///
/// An administrator may name any server, those of the own network among them: that is where local
/// models are. Credentials do not belong into an address, which is shown; and no model is behind
/// the addresses where clouds hand out credentials to whoever asks from inside.
fn address(text: &str) -> Result<(), LlmProviderError> {
    const FIELD: &str = "api_base";
    if text.len() > ADDRESS_CHARS_MAX {
        return refuse(FIELD, format!("at most {ADDRESS_CHARS_MAX} characters are allowed"));
    }
    let Ok(url) = Url::parse(text) else {
        return refuse(FIELD, "it is not a URL such as https://llm.example.com/v1");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return refuse(FIELD, "only http:// and https:// are supported");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse(FIELD, "it holds a user or a password, which belong into api_key");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return refuse(FIELD, "it must end before `?` and `#`; the version goes into api_version");
    }
    let ip = match url.host() {
        Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => Some(ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4)),
        Some(Host::Domain(_)) => None,
        None => return refuse(FIELD, "it names no host"),
    };
    let metadata =
        ["metadata.google.internal", "metadata", "metadata.azure.internal", "instance-data"];
    let by_name = url.host_str().is_some_and(|host| metadata.contains(&host.trim_end_matches('.')));
    if by_name || ip.is_some_and(is_link_local_or_metadata) {
        return refuse(FIELD, "link-local addresses and metadata services are not allowed");
    }
    Ok(())
}

/// Refuses a masked value where there is no stored one that it could stand for.
pub(super) fn not_masked(field: &'static str, value: &str) -> Result<(), LlmProviderError> {
    if is_masked(value) {
        return refuse(field, "it is the mask that answers show instead; send the value itself");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{LlmProviderError, address, name, shown};

    #[test]
    fn addresses_of_models() {
        for fine in [
            "https://api.example.com/v1",
            "http://127.0.0.1:11434",
            "http://[::1]:8000/v1/",
            "http://10.0.0.7/openai",
            "http://ollama:11434",
        ] {
            assert!(address(fine).is_ok(), "{fine}");
        }
        for bad in [
            "",
            "api.example.com",
            "file:///etc/passwd",
            "ftp://example.com",
            "https://",
            "https://user:hunter2@example.com/v1",
            "https://hunter2@example.com/v1",
            "https://example.com/v1?key=hunter2",
            "https://example.com/#x",
            "http://169.254.169.254/latest/meta-data",
            "http://2852039166/",
            "http://[::ffff:169.254.169.254]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://metadata.google.internal./",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://100.100.100.200/",
            "http://[64:ff9b::a9fe:a9fe]/",
        ] {
            let error = address(bad).unwrap_err();
            assert!(matches!(error, LlmProviderError::Field { field: "api_base", .. }), "{bad}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn names_are_printable_and_short() {
        assert!(name("name", "Zoë's models").is_ok());
        for bad in ["", "  ", "a\0", "a\nb", "\u{202e}x", &"x".repeat(201)] {
            assert!(name("name", bad).is_err(), "{bad:?}");
        }
        assert_eq!(shown("abc"), "abc");
        assert_eq!(shown(&"é".repeat(1000)).chars().count(), 201);
    }
}
