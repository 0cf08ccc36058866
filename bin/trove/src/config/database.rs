use std::fmt;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trove_store::PostgresConfig;
use url::Url;

use super::load::millis;
use super::rule::Rule;

/// `[database]`: the relational database.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DatabaseSection {
    /// Address of a PostgreSQL database, `postgres://user:password@host:port/name`. Not set by
    /// default: an SQLite file in the data directory then, which needs no service.
    pub url: Option<DatabaseUrl>,
    /// How long a write waits for another process's write to an SQLite file, in milliseconds.
    /// Default 5 s: `trove key` and the service share the file.
    #[serde(rename = "busy_timeout_ms", with = "millis")]
    pub busy_timeout: Duration,
    /// Connections that read an SQLite file. Default 4: reads run beside the one writer.
    pub readers: usize,
    /// Most connections to PostgreSQL. Default 10: servers commonly allow 100 for all clients.
    pub pool_size: usize,
    /// How long opening a connection to PostgreSQL, or waiting for a free one, may take, in
    /// milliseconds. Default 5 s.
    #[serde(rename = "connect_timeout_ms", with = "millis")]
    pub connect_timeout: Duration,
    /// How long PostgreSQL may work on one statement, in milliseconds. Default 30 s: as long as a
    /// request.
    #[serde(rename = "statement_timeout_ms", with = "millis")]
    pub statement_timeout: Duration,
}

impl Default for DatabaseSection {
    fn default() -> Self {
        Self {
            url: None,
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            pool_size: 10,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

fn is_timeout(duration: Duration) -> bool {
    (Duration::from_millis(100)..=Duration::from_mins(10)).contains(&duration)
}

const TIMEOUT: &str = "a whole number of milliseconds from 100 to 600000";

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "database.url",
        accepted: "postgres://USER:PASSWORD@HOST:PORT/NAME",
        holds: |config| config.database.url.as_ref().is_none_or(DatabaseUrl::is_valid),
    },
    Rule {
        key: "database.busy_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.database.busy_timeout),
    },
    Rule {
        key: "database.readers",
        accepted: "a whole number from 1 to 64",
        holds: |config| (1..=64).contains(&config.database.readers),
    },
    Rule {
        key: "database.pool_size",
        accepted: "a whole number from 1 to 1000",
        holds: |config| (1..=1000).contains(&config.database.pool_size),
    },
    Rule {
        key: "database.connect_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.database.connect_timeout),
    },
    Rule {
        key: "database.statement_timeout_ms",
        accepted: TIMEOUT,
        holds: |config| is_timeout(config.database.statement_timeout),
    },
];

const SSL_MODES: [&str; 5] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/// The address of a database. Shows itself without its password, whichever way it is printed.
#[derive(Clone)]
pub struct DatabaseUrl(SecretString);

impl DatabaseUrl {
    /// Wraps an address.
    #[must_use]
    pub fn new(url: String) -> Self {
        Self(url.into())
    }

    /// The address with its password.
    #[must_use]
    pub fn expose(&self) -> &SecretString {
        &self.0
    }

    fn is_valid(&self) -> bool {
        self.parsed().is_some() && PostgresConfig::is_address(self.0.expose_secret())
    }

    /// The address as a URL, if it is one of PostgreSQL.
    fn parsed(&self) -> Option<Url> {
        let url = Url::parse(self.0.expose_secret()).ok()?;
        let named = url.path().len() > 1;
        (matches!(url.scheme(), "postgres" | "postgresql") && url.has_host() && named)
            .then_some(url)
    }

    /// What is wrong with an address that is not valid, to end a sentence with. Shows nothing but a
    /// wrong `sslmode`.
    pub(super) fn hint(&self) -> String {
        let Some(url) = self.parsed() else { return String::new() };
        let modes = url.query_pairs().filter(|(key, _)| key == "sslmode");
        let wrong = modes.map(|(_, mode)| mode).find(|mode| !SSL_MODES.contains(&&**mode));
        match wrong {
            Some(mode) => format!(
                "; its sslmode is {:?}, expected {}",
                mode.chars().take(20).collect::<String>(),
                SSL_MODES.join(", ")
            ),
            None => "; a parameter after `?` is not known or has a wrong value, or special \
                     characters in user and password are not percent-encoded"
                .to_owned(),
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is no URL may be anything, a lone password among it.
        let Ok(mut url) = Url::parse(self.0.expose_secret()) else {
            return f.write_str("********");
        };
        if url.password().is_some() && url.set_password(Some("********")).is_err() {
            return f.write_str("********");
        }
        let secret = |key: &str| key.eq_ignore_ascii_case("password");
        if url.query_pairs().any(|(key, _)| secret(&key)) {
            let pairs: Vec<_> = url.query_pairs().into_owned().collect();
            let mut query = url.query_pairs_mut();
            query.clear();
            for (key, value) in pairs {
                let value = if secret(&key) { "********" } else { &value };
                query.append_pair(&key, value);
            }
            drop(query);
        }
        f.write_str(url.as_str())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for DatabaseUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DatabaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::DatabaseUrl;

    #[test]
    fn a_database_url_never_shows_its_password() {
        let shown = |url: &str| format!("{:?}", DatabaseUrl::new(url.to_owned()));
        assert_eq!(
            shown("postgres://u:hunter2@db:5432/trove"),
            "postgres://u:********@db:5432/trove"
        );
        assert_eq!(shown("postgres://u@db/trove"), "postgres://u@db/trove");
        assert_eq!(shown("hunter2"), "********");
        let query = shown("postgres://u@db/trove?sslmode=require&Password=hunter2");
        assert!(query.contains("sslmode=require"), "{query}");
        assert!(!query.contains("hunter2"), "{query}");
    }
}
