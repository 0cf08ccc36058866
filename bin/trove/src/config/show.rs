use std::fmt::Write as _;

use figment::value::Value;

use super::rule::{dict_of, leaves};
use super::{Config, Loaded};

/// The effective values as TOML, each with its origin as a comment. Secrets are masked.
#[must_use]
pub fn show(loaded: &Loaded) -> String {
    let mut settings = leaves(&dict_of(&loaded.config));
    // TOML wants what belongs to no section first.
    settings.sort_by_key(|(key, _)| key.contains('.'));
    let mut text = String::new();
    let mut current = "";
    for (key, value) in &settings {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        if section != current {
            current = section;
            text.push_str(&format!("\n[{section}]\n"));
        }
        let line = match (value, toml::Value::try_from(value)) {
            (Value::Empty(..), _) | (_, Err(_)) => {
                format!("# {name} is not set{}", consequence(key, &loaded.config))
            }
            (_, Ok(value)) => {
                let origin = loaded.origins.get(key).map_or("default", String::as_str);
                format!("{name} = {value}  # {origin}")
            }
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

/// What an unset value amounts to.
fn consequence(key: &str, config: &Config) -> String {
    match key {
        "embedding.model_dir" => format!(": {}", config.model_dir().display()),
        "llm.provider" if !config.llm.is_configured() => {
            ": answers are quotes from the passages".to_owned()
        }
        "database.url" => format!(": SQLite in {}", config.sqlite_path().display()),
        "qdrant.url" => format!(": the document index is in {}", config.index_dir().display()),
        "secrets.key" => match &config.secrets.key_file {
            Some(file) => format!(": in {}", file.display()),
            None => format!(": in {}", config.data_dir.join("secrets.key").display()),
        },
        _ => String::new(),
    }
}
