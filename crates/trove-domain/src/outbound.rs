//! Addresses that nobody asks this service to connect to in good faith.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is link-local, unspecified or broadcast, or one where a cloud hands out
/// credentials of the machine (metadata services), in any of the forms in which IPv6 holds an
/// address of IPv4. Private networks are fine: models run there.
#[must_use]
pub fn is_link_local_or_metadata(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_link_local()
                || ip.is_unspecified()
                || ip.is_broadcast()
                || [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]]
                    .contains(&ip.octets())
        }
        IpAddr::V6(ip) => {
            ip.is_unicast_link_local()
                || ip.is_unspecified()
                || matches!(ip.segments(), [0xfd00, 0x0ec2, ..] | [0xfd20, 0x00ce, ..])
                || embedded(ip).is_some_and(|ip| is_link_local_or_metadata(IpAddr::V4(ip)))
        }
    }
}

/// The address of IPv4 that one of IPv6 stands for.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = ip.octets();
    let at = |start: usize| {
        let [a, b, c, d] = *octets.get(start..start + 4)?.first_chunk()?;
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => None,
        // Compatible and mapped (RFC 4291), translated (RFC 2765), behind a translator (RFC 6052).
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => at(12),
        // 6to4 (RFC 3056).
        [0x2002, ..] => at(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_link_local_or_metadata;

    #[test]
    fn addresses_that_are_asked_for_in_bad_faith() {
        for bad in [
            "169.254.169.254",
            "169.254.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "::",
            "fe80::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "::ffff:0:a9fe:a9fe",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
        ] {
            assert!(is_link_local_or_metadata(bad.parse().unwrap()), "{bad}");
        }
        for fine in ["127.0.0.1", "10.0.0.7", "192.0.2.1", "::1", "2001:db8::1", "fd12::1"] {
            assert!(!is_link_local_or_metadata(fine.parse().unwrap()), "{fine}");
        }
    }
}
