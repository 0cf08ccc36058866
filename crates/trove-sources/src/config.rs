//! Reading configurations, with the name of the key in every refusal.

use serde_json::{Map, Value};
use trove_domain::port::SourceError;

/// Refuses a configuration.
pub(crate) fn refused<T>(message: impl Into<String>) -> Result<T, SourceError> {
    Err(SourceError::Invalid(message.into()))
}

/// A text that must be there and not blank.
pub(crate) fn text<'c>(config: &'c Map<String, Value>, key: &str) -> Result<&'c str, SourceError> {
    match config.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim()),
        Some(Value::String(_) | Value::Null) | None => refused(format!("`{key}` is missing")),
        Some(_) => refused(format!("`{key}` is no text")),
    }
}

/// A switch; `None` and `null` mean `default`.
pub(crate) fn switch(
    config: &Map<String, Value>,
    key: &str,
    default: bool,
) -> Result<bool, SourceError> {
    match config.get(key) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => refused(format!("`{key}` is neither true nor false")),
    }
}

/// `batch_size` is accepted wherever it makes sense, and without effect: a step is bounded already.
pub(crate) fn batch_size(config: &Map<String, Value>) -> Result<(), SourceError> {
    match config.get("batch_size") {
        None | Some(Value::Null) => Ok(()),
        Some(value) if value.as_u64().is_some_and(|size| size > 0) => Ok(()),
        Some(_) => refused("`batch_size` is no positive number"),
    }
}

/// Refuses keys that are not among `known`; `batch_size` always is.
pub(crate) fn only(config: &Map<String, Value>, known: &[&str]) -> Result<(), SourceError> {
    let foreign = |key: &&String| !known.contains(&key.as_str()) && *key != "batch_size";
    match config.keys().find(foreign) {
        Some(key) => {
            let shown: String = key.chars().filter(|c| !c.is_control()).take(100).collect();
            refused(format!(
                "`{shown}` is no setting of this source; there are {}",
                known.join(", ")
            ))
        }
        None => Ok(()),
    }
}

/// A list of texts; missing and `null` mean an empty one.
pub(crate) fn texts(config: &Map<String, Value>, key: &str) -> Result<Vec<String>, SourceError> {
    let problem = || SourceError::Invalid(format!("`{key}` is no list of texts"));
    match config.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(problem)).collect()
        }
        Some(_) => Err(problem()),
    }
}
