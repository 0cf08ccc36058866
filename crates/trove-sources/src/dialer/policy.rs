//! Whom this service connects to.

use std::net::IpAddr;

use ipnet::IpNet;
use trove_domain::outbound::{Reach, reach_of};
use url::{Host, Url};

use super::DialError;

/// Longest address that is asked for.
pub const ADDRESS_BYTES_MAX: usize = 2048;

/// Names that mean a metadata service wherever they are known, whatever they resolve to.
const METADATA_NAMES: [&str; 5] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "metadata.azure.internal",
    "instance-data",
];

/// Which networks beyond the public ones may be connected to.
///
/// Metadata services, link-local and unspecified addresses are refused whatever is allowed: what
/// is behind them hands out credentials of the machine to whoever asks from inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkPolicy {
    /// What an administrator allows.
    pub allow: Vec<IpNet>,
}

impl NetworkPolicy {
    /// Whether this address may be connected to.
    #[must_use]
    pub fn admits(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        match reach_of(ip) {
            Reach::Public => true,
            Reach::Internal => self.allow.iter().any(|network| network.contains(&ip)),
            Reach::Never => false,
        }
    }

    /// Reads an address and refuses what is none of the web, or leads where it must not. Names are
    /// looked at again when they are resolved.
    ///
    /// # Errors
    ///
    /// [`DialError::Address`] and [`DialError::Forbidden`].
    pub fn admit(&self, address: &str) -> Result<Url, DialError> {
        // Parsers disagree about these, and an address in a page or a setting needs none of them.
        if address.len() > ADDRESS_BYTES_MAX {
            return Err(DialError::Address("the address is too long"));
        }
        if address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(DialError::Address("the address holds blanks or backslashes"));
        }
        let url = Url::parse(address)
            .map_err(|_| DialError::Address("the address is no URL, such as https://HOST/PATH"))?;
        self.admit_url(&url)?;
        Ok(url)
    }

    /// As [`Self::admit`], for an address that has been read already.
    ///
    /// # Errors
    ///
    /// [`DialError::Address`] and [`DialError::Forbidden`].
    pub fn admit_url(&self, url: &Url) -> Result<(), DialError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(DialError::Address("the address is neither http:// nor https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(DialError::Address("the address holds a user or a password"));
        }
        if url.as_str().len() > ADDRESS_BYTES_MAX {
            return Err(DialError::Address("the address is too long"));
        }
        let admitted = match url.host() {
            None => return Err(DialError::Address("the address names no host")),
            Some(Host::Ipv4(ip)) => self.admits(ip.into()),
            Some(Host::Ipv6(ip)) => self.admits(ip.into()),
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                if name.is_empty() || name.len() > 253 {
                    return Err(DialError::Address("the address names no host"));
                }
                !METADATA_NAMES.contains(&name)
            }
        };
        if admitted { Ok(()) } else { Err(DialError::Forbidden { host: host_of(url) }) }
    }
}

/// The host of an address, for messages.
pub(crate) fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// An address without what may be a secret in it: the query.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let had_query = url.query().is_some();
    url.set_query(None);
    url.set_fragment(None);
    if had_query { format!("{url}?…") } else { url.into() }
}
