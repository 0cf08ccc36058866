//! What a credential holds, in the clear.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use super::{StaleMask, mask, unmask};

/// What a credential holds. It does not print.
#[derive(Clone, Default, PartialEq)]
pub struct CredentialContent(Map<String, Value>);

impl CredentialContent {
    /// The content of a JSON object.
    #[must_use]
    pub const fn new(content: Map<String, Value>) -> Self {
        Self(content)
    }

    /// Reads what [`CredentialContent::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(json: &SecretString) -> Option<Self> {
        // The error of the parser may quote what it read.
        serde_json::from_str(json.expose_secret()).ok().map(Self)
    }

    /// The object as JSON.
    #[must_use]
    pub fn to_json(&self) -> SecretString {
        Value::Object(self.0.clone()).to_string().into()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What may be shown of it.
    #[must_use]
    pub fn masked(&self) -> Map<String, Value> {
        mask(&self.0)
    }

    /// What is meant by it, sent by somebody who has seen `stored` masked.
    ///
    /// # Errors
    ///
    /// [`StaleMask`].
    pub fn unmasked(self, stored: &Self) -> Result<Self, StaleMask> {
        unmask(self.0, &stored.0).map(Self)
    }

    /// This content with the entries of `other`, which override.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// This content with one more text.
    #[must_use]
    pub fn with(mut self, key: String, value: String) -> Self {
        self.0.insert(key, Value::String(value));
        self
    }
}

impl fmt::Debug for CredentialContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CredentialContent({} entries)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CredentialContent;

    fn content(value: &serde_json::Value) -> CredentialContent {
        CredentialContent::from_json(&value.to_string().into()).unwrap()
    }

    #[test]
    fn it_does_not_print() {
        let secret = content(&json!({"key-name": "key-value"}));
        assert_eq!(format!("{secret:?}"), "CredentialContent(1 entries)");
    }

    #[test]
    fn what_is_no_object_is_none() {
        for text in ["", "[]", "1", "{\"a\": 1", "null"] {
            assert!(CredentialContent::from_json(&text.to_owned().into()).is_none(), "{text}");
        }
    }

    #[test]
    fn entries_of_the_other_override_at_the_top() {
        let merged = content(&json!({"a": {"x": 1}, "b": 2})).merged(content(&json!({"a": {}})));
        assert!(merged == content(&json!({"a": {}, "b": 2})));
    }
}
