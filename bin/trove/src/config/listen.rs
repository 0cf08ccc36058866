use std::fmt;

use serde::{Deserialize, Serialize};

/// Where the service listens: a host name or an address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ListenAddress(String);

/// A string that is no [`ListenAddress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has no host and port")]
pub struct InvalidListenAddress;

impl ListenAddress {
    /// The address as text, as the standard library resolves it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ListenAddress {
    fn default() -> Self {
        Self("127.0.0.1:8080".to_owned())
    }
}

impl TryFrom<String> for ListenAddress {
    type Error = InvalidListenAddress;

    fn try_from(text: String) -> Result<Self, InvalidListenAddress> {
        let (host, port) = text.rsplit_once(':').ok_or(InvalidListenAddress)?;
        // An IPv6 address needs its brackets: `::1` would be host `:` and port 1.
        let bare_v6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
        let port_ok = port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
        if host.is_empty() || bare_v6 || !port_ok || text.contains(char::is_whitespace) {
            return Err(InvalidListenAddress);
        }
        Ok(Self(text))
    }
}

impl From<ListenAddress> for String {
    fn from(address: ListenAddress) -> Self {
        address.0
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ListenAddress;

    #[test]
    fn an_address_needs_a_host_and_a_port() {
        for good in ["127.0.0.1:8080", "[::1]:0", "localhost:80", "0.0.0.0:65535"] {
            assert!(ListenAddress::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "8080", ":8080", "::1:80", "host:", "host:65536", "host:+1", "a b:1"] {
            assert!(ListenAddress::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
