//! Names of hosts, resolved to addresses that may be connected to.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use trove_domain::outbound::is_link_local_or_metadata;

/// Resolves as this machine does, and leaves out where it keeps its own credentials: whoever may
/// name an address of a model must not read those by a name that leads there.
pub(crate) struct Names;

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let all = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                all.filter(|address| !is_link_local_or_metadata(address.ip())).collect();
            if allowed.is_empty() {
                return Err("the name leads to a link-local address or a metadata service".into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}
