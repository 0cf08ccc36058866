//! Where a request comes from, to count attempts by.

use std::future::{Ready, ready};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::dev::Payload;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};

use crate::Settings;
use crate::error::ApiError;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The network address that a request comes from, or its network where everybody has many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source(pub(crate) String);

impl FromRequest for Source {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request)))
    }
}

impl Source {
    /// Where a request comes from.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let settings = request.app_data::<Data<Settings>>();
        let proxies = settings.map_or(0, |settings| settings.config.proxies);
        let peer = request.peer_addr().map(|peer| peer.ip());
        Self(source(peer, request.headers(), proxies))
    }
}

fn source(peer: Option<IpAddr>, headers: &HeaderMap, proxies: usize) -> String {
    let address = forwarded(headers, proxies).or(peer);
    address.map_or_else(|| "unknown".to_owned(), |address| network(address).to_string())
}

/// What the outermost of our own proxies saw. Whatever is further left, the client may have made up.
fn forwarded(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let name = HeaderName::from_static(FORWARDED_FOR);
    let values: Vec<&str> =
        headers.get_all(&name).filter_map(|value| value.to_str().ok()).collect();
    let hops: Vec<&str> = values.iter().flat_map(|value| value.split(',')).collect();
    let hop = hops.get(hops.len().checked_sub(proxies)?)?;
    let hop = hop.trim();
    // Some proxies add the port.
    hop.parse().ok().or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()))
}

/// Whoever has one IPv6 address has all of its network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

    use super::source;

    #[test]
    fn requests_and_where_they_come_from() {
        let check = |forwarded: &[&str], proxies: usize, want: &str| {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                let name = HeaderName::from_static("x-forwarded-for");
                headers.append(name, HeaderValue::from_str(value).unwrap());
            }
            let peer = "192.0.2.1".parse().ok();
            assert_eq!(source(peer, &headers, proxies), want, "{forwarded:?} {proxies}");
        };
        check(&[], 0, "192.0.2.1");
        // Without proxies of our own, anybody could say anything.
        check(&["198.51.100.7"], 0, "192.0.2.1");
        check(&["198.51.100.7"], 1, "198.51.100.7");
        check(&["203.0.113.9, 198.51.100.7"], 1, "198.51.100.7");
        check(&["203.0.113.9", "198.51.100.7"], 2, "203.0.113.9");
        check(&["198.51.100.7"], 2, "192.0.2.1");
        check(&["198.51.100.7:1001"], 1, "198.51.100.7");
        check(&["[2001:db8:1:2:3:4:5:6]:1001"], 1, "2001:db8:1:2::");
        check(&["unknown"], 1, "192.0.2.1");
        check(&["2001:db8:1:2:3:4:5:6"], 1, "2001:db8:1:2::");
        check(&["::ffff:198.51.100.7"], 1, "198.51.100.7");
    }
}
