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

/// Who is behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Anybody on the Internet.
    Public,
    /// This machine, this network, or nobody in particular: private, loopback, shared, reserved,
    /// documentation, multicast. An administrator may know better.
    Internal,
    /// What [`is_link_local_or_metadata`] names; no setting makes it reachable.
    Never,
}

/// Where an address leads, after the registries of special addresses (RFC 6890 and its updates).
#[must_use]
pub fn reach_of(ip: IpAddr) -> Reach {
    if is_link_local_or_metadata(ip) {
        return Reach::Never;
    }
    let public = match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    };
    if public { Reach::Public } else { Reach::Internal }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    !matches!(
        ip.octets(),
        [0 | 10 | 127 | 224..=255, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [192, 168, ..]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let translated = embedded(ip).is_none_or(is_public_v4);
    translated
        && match ip.segments() {
            // Mapped, and behind a translator.
            [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => true,
            // Protocols, Teredo among them; documentation.
            [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
            // Nothing else is global unicast.
            [first, ..] => first & 0xe000 == 0x2000,
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
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        // Behind a translator of the network's own (RFC 8215), in its longest form.
        | [0x64, 0xff9b, 1, ..]
        // Within a site (ISATAP, RFC 5214).
        | [_, _, _, _, 0 | 0x0200, 0x5efe, ..] => at(12),
        // 6to4 (RFC 3056).
        [0x2002, ..] => at(2),
        // Teredo (RFC 4380) hides the client's address by inverting it.
        [0x2001, 0, ..] => at(12).map(|ip| Ipv4Addr::from_bits(!ip.to_bits())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Reach, is_link_local_or_metadata, reach_of};

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

    #[test]
    fn special_addresses_are_not_public() {
        for (reach, addresses) in [
            (
                Reach::Internal,
                "0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 172.16.0.1 \
                 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.9.9 \
                 198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.0.0.1 ::1 ::127.0.0.1 \
                 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:127.0.0.1 64:ff9b::10.0.0.1 64:ff9b:1::8.8.8.8 \
                 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:db8::1 \
                 2002:a00:1::1 2002:7f00:1::1 2606:4700::5efe:10.0.0.1 3fff::1 5f00::1 fc00::1 \
                 fd12::1 fec0::1 ff02::1 4000::1",
            ),
            (
                Reach::Never,
                "169.254.169.254 169.254.170.2 0.0.0.0 :: 255.255.255.255 fe80::1 fd00:ec2::254 \
                 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 64:ff9b:1::a9fe:a9fe 2002:a9fe:a9fe::1 \
                 2001:0:1:1:1:1:5601:5601 2606:4700::200:5efe:169.254.169.254",
            ),
            (
                Reach::Public,
                "1.1.1.1 8.8.8.8 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 \
                 198.17.0.1 198.20.0.1 223.255.255.255 2606:4700::1111 2a00:1450::1 \
                 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1",
            ),
        ] {
            for address in addresses.split(' ').filter(|address| !address.is_empty()) {
                assert_eq!(reach_of(address.parse().unwrap()), reach, "{address}");
            }
        }
    }
}
