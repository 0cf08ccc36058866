//! Where values come from: each layer is a figment provider that carries its origin.

use std::path::Path;

use figment::value::{Dict, Empty, Map, Value};
use figment::{Metadata, Profile, Provider};

use super::problem::suggestion;
use super::rule;

/// Values with the place they come from, for messages: `file /etc/trove.toml`.
pub(super) struct Layer {
    pub(super) origin: String,
    pub(super) values: Dict,
}

impl Layer {
    /// A layer with a single value, for dotted `key`.
    pub(super) fn single(origin: String, key: &str, value: Value) -> Self {
        let values = figment::util::nest(key, value).into_dict().unwrap_or_default();
        Self { origin, values }
    }

    /// The contents of a configuration file.
    ///
    /// # Errors
    ///
    /// A sentence that says why it cannot be read, or where its syntax is wrong.
    pub(super) fn file(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let link =
                path.read_link().map(|to| format!("; it is a symbolic link to {}", to.display()));
            let link = link.unwrap_or_default();
            format!("the configuration file {} cannot be read: {error}{link}", path.display())
        })?;
        // The error's own text shows the line, which may hold a password.
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            format!("{} is not valid TOML: line {line}: {}", path.display(), error.message())
        })?;
        let values = Value::serialize(table)
            .ok()
            .and_then(Value::into_dict)
            .ok_or_else(|| format!("{} holds values that are not settings", path.display()))?;
        Ok(Self { origin: format!("file {}", path.display()), values })
    }

    /// A sentence for each value that is no setting.
    pub(super) fn unknown(&self) -> Vec<String> {
        let settings = rule::keys();
        let known: Vec<&str> = settings.iter().map(|(key, _)| key.as_str()).collect();
        let is_section = |key: &str| {
            known
                .iter()
                .any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
        };
        let mut sentences = Vec::new();
        visit("", &self.values, &mut |key, value| {
            let section = is_section(key);
            if known.contains(&key) {
                return false;
            }
            if section && matches!(value, Value::Dict(..)) {
                return true;
            }
            sentences.push(if section {
                format!("`{key}` is a section, not a setting ({})", self.origin)
            } else {
                let hint = suggestion(key, known.iter().copied());
                format!("`{}` is not a setting ({}){hint}", shown(key), self.origin)
            });
            false
        });
        sentences
    }
}

/// A key as far as it is one: an address that was written in place of a key holds a password.
fn shown(key: &str) -> String {
    match key.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://…"),
        None => key.to_owned(),
    }
}

/// Calls `enter` for every value; goes into dictionaries for which it answers `true`.
fn visit(prefix: &str, values: &Dict, enter: &mut impl FnMut(&str, &Value) -> bool) {
    for (name, value) in values {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if enter(&key, value)
            && let Value::Dict(_, inner) = value
        {
            visit(&key, inner, enter);
        }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.values.clone()))
    }
}

/// Reads `text` as the kind of value that the setting `key` has.
///
/// By the kind of the default: a directory named `1` is a path, and `0` is a number.
pub(super) fn value_of(key: &str, text: &str) -> Value {
    let default = rule::keys().into_iter().find(|(known, _)| known == key).map(|(_, value)| value);
    match default {
        Some(Value::Bool(..)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::from(true),
            "false" | "0" | "no" | "off" => Value::from(false),
            _ => Value::from(text),
        },
        Some(Value::Num(..)) => {
            let text = text.trim();
            let whole = text.parse::<i64>().map(Value::from);
            whole.or_else(|_| text.parse::<f64>().map(Value::from)).unwrap_or(Value::from(text))
        }
        Some(Value::Empty(_, Empty::None | Empty::Unit) | Value::String(..)) | None => {
            Value::from(text)
        }
        // An empty part is what a comma too many leaves.
        Some(Value::Array(..)) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::from(items.map(Value::from).collect::<Vec<_>>())
        }
        Some(_) => Value::from(text),
    }
}
