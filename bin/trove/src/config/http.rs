use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use super::load::millis;
use super::rule::Rule;

/// `[http]`: the HTTP interface.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HttpSection {
    /// What every path begins with. Default `/api`, which existing clients expect; empty for none.
    pub prefix: String,
    /// Largest request body in bytes. Default 10 MiB: a long document of plain text.
    pub body_limit_bytes: usize,
    /// How long a client may take to send a body, in milliseconds. Default 30 s: slow clients must
    /// not hold connections for ever.
    #[serde(rename = "body_timeout_ms", with = "millis")]
    pub body_timeout: Duration,
    /// How long a request may take, in milliseconds. Default 30 s; a search takes a hundredth of a
    /// second.
    #[serde(rename = "request_timeout_ms", with = "millis")]
    pub request_timeout: Duration,
    /// How long the ingestion of one document may take, in milliseconds. Default 10 min: the
    /// longest documents are embedded for minutes.
    #[serde(rename = "ingestion_timeout_ms", with = "millis")]
    pub ingestion_timeout: Duration,
    /// How long an idle connection is kept, in milliseconds. Default 75 s: longer than the usual
    /// 60 s of load balancers, which must be the ones to close.
    #[serde(rename = "keep_alive_ms", with = "millis")]
    pub keep_alive: Duration,
    /// Most connections per worker. Default 10,000: memory ends before.
    pub connections_max: usize,
    /// Threads that serve requests. Default 0: one for each core.
    pub workers: usize,
    /// Whether signed-in callers can read the OpenAPI document. Default true.
    pub docs: bool,
    /// Where browsers find the service, for example `https://search.example.com`. Not set by
    /// default. With `https`, cookies are for encrypted connections only.
    pub public_url: Option<String>,
    /// How many proxies in front of the service add to `X-Forwarded-For`. Default 0: nobody's word
    /// for the address of a client is taken.
    pub proxies: usize,
}

impl HttpSection {
    /// Scheme, host and port of `public_url`, as browsers name them.
    #[must_use]
    pub fn public_origin(&self) -> Option<String> {
        let url = Url::parse(self.public_url.as_deref()?).ok()?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && matches!(url.scheme(), "http" | "https");
        is_plain.then(|| url.origin().ascii_serialization())
    }
}

impl Default for HttpSection {
    fn default() -> Self {
        Self {
            prefix: "/api".to_owned(),
            body_limit_bytes: 10 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            ingestion_timeout: Duration::from_mins(10),
            keep_alive: Duration::from_secs(75),
            connections_max: 10_000,
            workers: 0,
            docs: true,
            public_url: None,
            proxies: 0,
        }
    }
}

const HOUR: Duration = Duration::from_hours(1);
const TIMEOUT: &str = "a whole number of milliseconds from 100 to 3600000";

fn is_timeout(duration: Duration) -> bool {
    (Duration::from_millis(100)..=HOUR).contains(&duration)
}

/// Whether clients send `prefix` as it is: they resolve dots, and encode most other characters.
fn is_path(prefix: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let path = prefix.strip_prefix('/').unwrap_or(prefix);
    let path = path.strip_suffix('/').unwrap_or(path);
    let part = |part: &str| !matches!(part, "" | "." | "..");
    prefix.bytes().all(plain) && (path.is_empty() && prefix != "//" || path.split('/').all(part))
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "http.prefix",
        accepted: "a path of letters, digits, `/`, `-`, `_` and `.`, no part of it empty, `.` or `..`; or nothing",
        holds: |config| is_path(&config.http.prefix),
    },
    Rule {
        key: "http.body_limit_bytes",
        accepted: "a whole number from 1024 to 1073741824",
        holds: |config| (1024..=1024 * 1024 * 1024).contains(&config.http.body_limit_bytes),
    },
    Rule {
        key: "http.body_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.http.body_timeout),
    },
    Rule {
        key: "http.request_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.http.request_timeout),
    },
    Rule {
        key: "http.ingestion_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.http.ingestion_timeout),
    },
    Rule {
        key: "http.keep_alive_ms",
        accepted: "a whole number of milliseconds from 0 (no keep-alive) to 3600000",
        holds: |config| config.http.keep_alive <= HOUR,
    },
    Rule {
        key: "http.connections_max",
        accepted: "a whole number from 1 to 1000000",
        holds: |config| (1..=1_000_000).contains(&config.http.connections_max),
    },
    Rule {
        key: "http.workers",
        accepted: "a whole number from 0 (one for each core) to 1024",
        holds: |config| config.http.workers <= 1024,
    },
    Rule { key: "http.docs", accepted: "true or false", holds: |_| true },
    Rule {
        key: "http.public_url",
        accepted: "an http or https address without user, password, query and fragment",
        holds: |config| config.http.public_url.is_none() || config.http.public_origin().is_some(),
    },
    Rule {
        key: "http.proxies",
        accepted: "a whole number from 0 to 16",
        holds: |config| config.http.proxies <= 16,
    },
];

#[cfg(test)]
mod tests {
    use super::{HttpSection, is_path};

    #[test]
    fn the_public_address_becomes_an_origin() {
        let check = |url: &str, want: Option<&str>| {
            let section = HttpSection { public_url: Some(url.to_owned()), ..Default::default() };
            assert_eq!(section.public_origin().as_deref(), want, "{url}");
        };
        check("https://Search.example.com", Some("https://search.example.com"));
        check("https://search.example.com:443/app/", Some("https://search.example.com"));
        check("http://localhost:8080", Some("http://localhost:8080"));
        for bad in ["search.example.com", "ftp://x.y", "https://a@x.y", "https://x.y?z", "", "//x"]
        {
            check(bad, None);
        }
    }

    #[test]
    fn a_prefix_is_a_path_that_clients_send_as_it_is() {
        for good in ["", "/", "/api", "api", "/api/", "/v1.2/search_api-x"] {
            assert!(is_path(good), "{good}");
        }
        for bad in [
            "//", "///", "/../x", "/x/..", "/./x", "..", ".", "//api", "/api//", "/a//b", "/a b",
            "/a?b", "/a#b", "/a%2f", "/ä", "/{x}", "/a\\b", "\n",
        ] {
            assert!(!is_path(bad), "{bad:?}");
        }
    }
}
