//! Names of hosts, resolved once and checked where the connection is made.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::policy::NetworkPolicy;

/// Most addresses of one name that are looked at.
const ADDRESSES_MAX: usize = 32;

/// Resolves names of hosts.
#[async_trait]
pub trait Names: Send + Sync + 'static {
    /// All addresses of a name.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// As this machine does.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A name leads where nobody may connect to.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to an address that is not allowed")]
pub(super) struct Refused;

/// What the client connects with: the very addresses that were checked. There is no moment between
/// check and connection in which a name could change its mind.
pub(super) struct CheckedNames {
    pub(super) names: Arc<dyn Names>,
    pub(super) policy: NetworkPolicy,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let (names, policy) = (Arc::clone(&self.names), self.policy.clone());
        Box::pin(async move {
            let mut all = names.addresses(name.as_str()).await?;
            all.truncate(ADDRESSES_MAX);
            if all.is_empty() {
                return Err("the name has no address".into());
            }
            // One address that is not allowed makes the name suspicious as a whole: whoever mixes
            // them hopes that the wrong one is taken.
            if !all.iter().all(|ip| policy.admits(*ip)) {
                return Err(Refused.into());
            }
            let all: Addrs = Box::new(all.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(all)
        })
    }
}
