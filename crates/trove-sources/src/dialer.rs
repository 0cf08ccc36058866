//! The one way out: every request of a source goes through [`Dialer`].
//!
//! Addresses come from administrators, from pages and from answers of strangers. So the address is
//! checked where the connection is made, at every hop; what comes back is bounded in bytes and
//! time; hosts are asked with manners. There is no proxy: behind one, nobody could check where a
//! name leads.

mod body;
mod client;
mod names;
mod pacing;
mod policy;

use std::time::Duration;

use reqwest::header::HeaderMap;
use trove_domain::error::Source as Cause;
use url::Url;

pub use client::{Dialer, DialerParts};
pub use names::{Names, SystemNames};
pub use pacing::{Backoff, Pacer, RealPacer};
pub use policy::{ADDRESS_BYTES_MAX, NetworkPolicy};

pub(crate) use policy::shown;

/// Bounds of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until an answer begins, and between two pieces of it.
    pub idle: Duration,
    /// One attempt, from the first hop to the last byte.
    pub total: Duration,
    /// Redirects that are followed.
    pub redirects: usize,
    /// Bytes as they are sent.
    pub packed_bytes: usize,
    /// Bytes after they are unpacked.
    pub bytes: usize,
}

impl Default for Limits {
    /// 10 s, 30 s, 60 s, 10 redirects, 32 MiB and 64 MiB.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            total: Duration::from_mins(1),
            redirects: 10,
            packed_bytes: 32 << 20,
            bytes: 64 << 20,
        }
    }
}

/// What is sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// To whom.
    pub url: Url,
    /// A body of JSON makes it a `POST`.
    pub json: Option<Vec<u8>>,
    /// Goes to the origin of `url` only; validators of a cache go along with redirects.
    pub headers: HeaderMap,
    /// Least time between two requests to the host.
    pub interval: Duration,
    /// Most bytes of the unpacked body, within [`Limits::bytes`].
    pub bytes_max: usize,
}

impl Request {
    /// A `GET` without anything special.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self {
            url,
            json: None,
            headers: HeaderMap::new(),
            interval: Duration::ZERO,
            bytes_max: usize::MAX,
        }
    }
}

/// The beginning of an answer.
#[derive(Clone, Debug)]
pub struct Head {
    /// Where it came from, after redirects.
    pub url: Url,
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// How long the server wants to be left alone.
    pub retry_after: Option<Duration>,
}

impl Head {
    /// A header as text; empty when it is missing or no text.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its beginning.
    pub head: Head,
    /// The unpacked body; empty when it was not wanted.
    pub body: Vec<u8>,
}

/// Why there is no answer. No secret is in it: addresses are shown without their query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The address is none that is asked.
    #[error("{0}")]
    Address(&'static str),
    /// The address leads where this service does not connect to.
    #[error(
        "{host} leads to an address that is not public; an administrator can allow its network, \
         unless it is one of a metadata service"
    )]
    Forbidden {
        /// The host.
        host: String,
    },
    /// Nobody answers, or not in time, or the connection broke.
    #[error("{message}")]
    Unreachable {
        /// Who, and what happened.
        message: String,
        /// Why.
        #[source]
        source: Option<Cause>,
    },
    /// There are more redirects than are followed.
    #[error("{host} redirects without end")]
    Redirects {
        /// The host.
        host: String,
    },
    /// The body is longer than allowed.
    #[error("the answer of {host} is longer than allowed")]
    TooLarge {
        /// The host.
        host: String,
    },
    /// The body is not packed as it says.
    #[error("the answer of {host} cannot be unpacked")]
    Broken {
        /// The host.
        host: String,
        /// Why.
        #[source]
        source: Option<Cause>,
    },
}

impl DialError {
    /// Whether it may pass by itself.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}
