//! What values a setting accepts, as a table: for checks, messages and the documentation test.

use figment::value::{Dict, Value};

use super::Config;

/// What one setting accepts.
pub struct Rule {
    /// Dotted name, as in the file.
    pub key: &'static str,
    /// Accepted values, to end a sentence with.
    pub accepted: &'static str,
    /// Whether the value is one of them, as far as its type does not say so.
    pub(super) holds: fn(&Config) -> bool,
}

const TOP: &[Rule] = &[
    Rule {
        key: "data_dir",
        accepted: "the path of a directory",
        holds: |config| !config.data_dir.as_os_str().is_empty(),
    },
    Rule {
        key: "listen",
        accepted: "ADDRESS:PORT, for example 127.0.0.1:8080 or [::1]:8080",
        holds: |_| true,
    },
];

/// The rules of all settings.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        TOP,
        super::http::RULES,
        super::auth::RULES,
        super::audit::RULES,
        super::database::RULES,
        super::secrets::RULES,
        super::index::RULES,
        super::qdrant::RULES,
        super::embedding::RULES,
        super::llm::RULES,
        super::retrieval::RULES,
        super::indexing::RULES,
        super::ingestion::RULES,
        super::log::RULES,
        super::shutdown::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The dotted names of all settings, with their defaults, in the order of their names.
#[must_use]
pub fn keys() -> Vec<(String, Value)> {
    leaves(&dict_of(&Config::default()))
}

/// A configuration as nested values.
pub(super) fn dict_of(config: &Config) -> Dict {
    match Value::serialize(config) {
        Ok(Value::Dict(_, dict)) => dict,
        // A struct of serialisable fields always becomes a dictionary.
        _ => Dict::new(),
    }
}

/// The leaves of nested values by dotted name.
pub(super) fn leaves(dict: &Dict) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in dict {
        match value {
            Value::Dict(_, inner) => {
                let inner = leaves(inner).into_iter();
                found.extend(inner.map(|(key, value)| (format!("{name}.{key}"), value)));
            }
            leaf => found.push((name.clone(), leaf.clone())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Config;
    use super::{keys, rules};

    #[test]
    fn every_setting_has_one_rule_and_every_default_obeys_it() {
        let settings: BTreeSet<String> = keys().into_iter().map(|(key, _)| key).collect();
        let ruled: BTreeSet<String> = rules().map(|rule| rule.key.to_owned()).collect();
        assert_eq!(settings, ruled);
        assert_eq!(rules().count(), ruled.len());
        for rule in rules() {
            assert!((rule.holds)(&Config::default()), "{}", rule.key);
        }
    }
}
