use std::collections::BTreeSet;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trove_domain::source::DocumentSource;

use super::load::millis;
use super::rule::Rule;

/// `[indexing]`: what is read from other systems.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct IndexingSection {
    /// The sources that connectors may be made for, separated by commas, with or without
    /// underscores, in any letter case; also `ENABLED_CONNECTOR_TYPES`. Default empty: all of them.
    #[serde(serialize_with = "show_sources", deserialize_with = "read_sources")]
    pub enabled_sources: Option<BTreeSet<DocumentSource>>,
    /// How long a source may take to say whether it can be read, in milliseconds. Default 20 s,
    /// within a request.
    #[serde(rename = "source_check_timeout_ms", with = "millis")]
    pub source_check_timeout: Duration,
}

impl Default for IndexingSection {
    fn default() -> Self {
        Self { enabled_sources: None, source_check_timeout: Duration::from_secs(20) }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "indexing.enabled_sources",
        accepted: "names of sources, separated by commas",
        holds: |_| true,
    },
    Rule {
        key: "indexing.source_check_timeout_ms",
        accepted: "a whole number of milliseconds from 100 to 600000",
        holds: |config| {
            (Duration::from_millis(100)..=Duration::from_mins(10))
                .contains(&config.indexing.source_check_timeout)
        },
    },
];

#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn show_sources<S: Serializer>(
    sources: &Option<BTreeSet<DocumentSource>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let names: Vec<&str> = sources.iter().flatten().map(|source| source.as_str()).collect();
    serializer.serialize_str(&names.join(","))
}

fn read_sources<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeSet<DocumentSource>>, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The sources of a list; `None` for an empty one.
fn parse(list: &str) -> Result<Option<BTreeSet<DocumentSource>>, String> {
    let plain = |name: &str| name.trim().replace('_', "").to_lowercase();
    let mut sources = BTreeSet::new();
    for name in list.split(',').filter(|name| !name.trim().is_empty()) {
        let known = DocumentSource::ALL.iter().find(|source| plain(source.as_str()) == plain(name));
        sources.insert(*known.ok_or_else(|| format!("`{}` is not a source", name.trim()))?);
    }
    Ok(Some(sources).filter(|sources| !sources.is_empty()))
}

#[cfg(test)]
mod tests {
    use trove_domain::source::DocumentSource::{GoogleDrive, Web};

    use super::parse;

    #[test]
    fn names_are_compared_without_underscores_and_case() {
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse(" , "), Ok(None));
        assert_eq!(parse("web"), Ok(Some([Web].into())));
        for list in ["google_drive, web", "googledrive,Web,", "GOOGLE_DRIVE,w_e_b"] {
            assert_eq!(parse(list), Ok(Some([GoogleDrive, Web].into())), "{list}");
        }
        assert_eq!(parse("web,canvas"), Err("`canvas` is not a source".to_owned()));
    }
}
