use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use ipnet::IpNet;
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
    /// How long a source may take to say whether it can be read, in milliseconds. Default 20 s; at
    /// most three quarters of `http.request_timeout_ms`, so that what fails can be told.
    #[serde(rename = "source_check_timeout_ms", with = "millis")]
    pub source_check_timeout: Duration,
    /// Networks inside that sources may be read from, such as `10.0.0.0/8`, separated by commas.
    /// Default empty: public addresses only.
    #[serde(serialize_with = "show_networks", deserialize_with = "read_networks")]
    pub allowed_networks: Vec<IpNet>,
    /// Most pages of one site. Default 20,000.
    pub web_pages_max: usize,
    /// Most runs at the same time. Default 16: most of what they do is waiting.
    pub runs_max: usize,
    /// Most of them that read the same kind of system. Default 8.
    pub runs_per_source_max: usize,
    /// How long a run may be silent before another process takes it over, in milliseconds. Default
    /// 15 s: so long waits a run after its process was killed.
    #[serde(rename = "lease_ms", with = "millis")]
    pub lease: Duration,
    /// How long after permissions were fetched they are fetched again, in seconds. Default 300: so
    /// long may somebody read on who has left a group of the source.
    pub permission_interval_seconds: u64,
}

impl Default for IndexingSection {
    fn default() -> Self {
        Self {
            enabled_sources: None,
            source_check_timeout: Duration::from_secs(20),
            allowed_networks: Vec::new(),
            web_pages_max: 20_000,
            runs_max: 16,
            runs_per_source_max: 8,
            lease: Duration::from_secs(15),
            permission_interval_seconds: 300,
        }
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
    Rule {
        key: "indexing.allowed_networks",
        accepted: "networks such as 10.0.0.0/8, separated by commas",
        holds: |_| true,
    },
    Rule {
        key: "indexing.web_pages_max",
        accepted: "a whole number from 1 to 1000000",
        holds: |config| (1..=1_000_000).contains(&config.indexing.web_pages_max),
    },
    Rule {
        key: "indexing.runs_max",
        accepted: "a whole number from 1 to 256",
        holds: |config| (1..=256).contains(&config.indexing.runs_max),
    },
    Rule {
        key: "indexing.runs_per_source_max",
        accepted: "a whole number from 1 to 256",
        holds: |config| (1..=256).contains(&config.indexing.runs_per_source_max),
    },
    Rule {
        key: "indexing.lease_ms",
        accepted: "a whole number of milliseconds from 2000 to 600000",
        holds: |config| {
            (Duration::from_secs(2)..=Duration::from_mins(10)).contains(&config.indexing.lease)
        },
    },
    Rule {
        key: "indexing.permission_interval_seconds",
        accepted: "a whole number from 10 to 86400",
        holds: |config| (10..=86_400).contains(&config.indexing.permission_interval_seconds),
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

fn show_networks<S: Serializer>(networks: &[IpNet], serializer: S) -> Result<S::Ok, S::Error> {
    let networks: Vec<String> = networks.iter().map(ToString::to_string).collect();
    serializer.serialize_str(&networks.join(","))
}

fn read_networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    parse_networks(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The networks of a list. An address alone is a network of one.
fn parse_networks(list: &str) -> Result<Vec<IpNet>, String> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let network = |entry: &str| {
        let network = entry.parse().or_else(|_| entry.parse::<IpAddr>().map(IpNet::from));
        network.map_err(|_| format!("`{entry}` is no network such as 10.0.0.0/8"))
    };
    entries.map(network).collect()
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

    use super::{parse, parse_networks};

    #[test]
    fn networks_are_written_with_their_length_or_are_one_address() {
        assert_eq!(parse_networks(" , "), Ok(Vec::new()));
        let networks = parse_networks("10.0.0.0/8, 127.0.0.1,fd00::/8").unwrap();
        let shown: Vec<String> = networks.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["10.0.0.0/8", "127.0.0.1/32", "fd00::/8"]);
        for wrong in ["10.0.0.0/33", "localhost", "10.0.0.0/8 127.0.0.1"] {
            assert_eq!(
                parse_networks(wrong),
                Err(format!("`{wrong}` is no network such as 10.0.0.0/8"))
            );
        }
    }

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
