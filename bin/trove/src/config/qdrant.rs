use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use super::load::millis;
use super::rule::Rule;
use super::secret::Secret;

/// `[qdrant]`: a Qdrant server in place of the embedded document index.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct QdrantSection {
    /// Address of the server's gRPC interface, `http://HOST:6334` or `https://HOST:6334`. Not set
    /// by default: the document index is in the data directory then, which needs no service.
    pub url: Option<String>,
    /// Key that the server asks for. Not set by default: a server without a key.
    pub api_key: Option<Secret>,
    /// File that holds the key, in place of `api_key`: secrets are often mounted as files.
    pub api_key_file: Option<PathBuf>,
    /// Name of the collection. Default `trove`; deployments that share a server need different
    /// names.
    pub collection: String,
    /// Copies of each part of the collection, a number; only looked at when the collection is
    /// made. Default 1: a server of one node.
    pub replicas: u32,
    /// How long opening a connection may take, in milliseconds. Default 5 s.
    #[serde(rename = "connect_timeout_ms", with = "millis")]
    pub connect_timeout: Duration,
    /// How long the server may work on one call, in milliseconds. Default 20 s: less than a
    /// request, so that the caller hears of it.
    #[serde(rename = "request_timeout_ms", with = "millis")]
    pub request_timeout: Duration,
}

impl Default for QdrantSection {
    fn default() -> Self {
        Self {
            url: None,
            api_key: None,
            api_key_file: None,
            collection: "trove".to_owned(),
            replicas: 1,
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(20),
        }
    }
}

/// Whether `url` is the address of a server and nothing else. A key in it would be shown.
fn is_address(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

/// Names that the server takes, and that are harmless as names of folders.
fn is_collection_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=100).contains(&name.len()) && name.bytes().all(plain)
}

fn is_timeout(duration: Duration) -> bool {
    (Duration::from_millis(100)..=Duration::from_mins(10)).contains(&duration)
}

const TIMEOUT: &str = "a whole number of milliseconds from 100 to 600000";

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "qdrant.url",
        accepted: "http://HOST:6334 or https://HOST:6334",
        holds: |config| config.qdrant.url.as_deref().is_none_or(is_address),
    },
    Rule {
        key: "qdrant.api_key",
        accepted: "visible ASCII characters without blanks",
        holds: |config| config.qdrant.api_key.as_ref().is_none_or(Secret::is_key),
    },
    Rule {
        key: "qdrant.api_key_file",
        accepted: "the path of a file, where `qdrant.api_key` is not set",
        holds: |config| config.qdrant.api_key_file.is_none() || config.qdrant.api_key.is_none(),
    },
    Rule {
        key: "qdrant.collection",
        accepted: "1 to 100 letters, digits, `_` and `-`",
        holds: |config| is_collection_name(&config.qdrant.collection),
    },
    Rule {
        key: "qdrant.replicas",
        accepted: "a whole number from 1 to 10",
        holds: |config| (1..=10).contains(&config.qdrant.replicas),
    },
    Rule {
        key: "qdrant.connect_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.qdrant.connect_timeout),
    },
    Rule {
        key: "qdrant.request_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.qdrant.request_timeout),
    },
];

#[cfg(test)]
mod tests {
    use super::{is_address, is_collection_name};

    #[test]
    fn an_address_is_a_server_and_nothing_else() {
        for url in ["http://localhost:6334", "https://q.example.com:6334/", "http://[::1]:6334"] {
            assert!(is_address(url), "{url}");
        }
        for url in [
            "",
            "localhost:6334",
            "grpc://localhost:6334",
            "http://",
            "http://user@localhost:6334",
            "http://:key@localhost:6334",
            "http://localhost:6334/collections",
            "http://localhost:6334?api-key=x",
        ] {
            assert!(!is_address(url), "{url}");
        }
    }

    #[test]
    fn a_collection_name_is_plain() {
        assert!(is_collection_name("trove-2_x"));
        for name in ["", "a/b", "a b", "ä", "..", &"x".repeat(101)] {
            assert!(!is_collection_name(name), "{name}");
        }
    }
}
