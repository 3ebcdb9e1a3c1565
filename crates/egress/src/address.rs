//! Kinds of IP addresses: a table of the ranges that are not public.
//!
//! The sources are the IANA special-purpose address registries, and the documentation of the large clouds on their metadata
//! services.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AddressKind {
    /// An address of the public network.
    Public,
    /// Loopback: this machine itself.
    Loopback,
    /// A private network: of a home, a company, a provider, or between containers.
    Private,
    /// Link-local: on the same network segment.
    LinkLocal,
    /// A cloud metadata service, which provides credentials.
    Metadata,
    /// Multicast and broadcast: several machines at once.
    Multicast,
    /// Not assigned: reserved, for documentation, or for benchmarks.
    Reserved,
}

struct Range {
    first: IpAddr,
    bits: u32,
    kind: AddressKind,
}

const fn four(a: u8, b: u8, c: u8, d: u8, bits: u32, kind: AddressKind) -> Range {
    Range { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits, kind }
}

const fn six(first: [u16; 8], bits: u32, kind: AddressKind) -> Range {
    let [a, b, c, d, e, f, g, h] = first;
    Range { first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), bits, kind }
}

/// The first matching range applies, so single addresses precede the ranges that contain them.
const RANGES: &[Range] = {
    use AddressKind::{LinkLocal, Loopback, Metadata, Multicast, Private, Public, Reserved};
    &[
        // Amazon, Google, Microsoft, and most others; containers of Amazon; its clock; Alibaba; Oracle; Microsoft.
        four(169, 254, 169, 254, 32, Metadata),
        four(169, 254, 170, 2, 32, Metadata),
        four(169, 254, 170, 23, 32, Metadata),
        four(169, 254, 169, 123, 32, Metadata),
        four(100, 100, 100, 200, 32, Metadata),
        four(192, 0, 0, 192, 32, Metadata),
        four(168, 63, 129, 16, 32, Metadata),
        four(0, 0, 0, 0, 8, Loopback), // connecting to it reaches this machine
        four(127, 0, 0, 0, 8, Loopback),
        four(10, 0, 0, 0, 8, Private),
        four(172, 16, 0, 0, 12, Private),
        four(192, 168, 0, 0, 16, Private),
        four(100, 64, 0, 0, 10, Private),
        four(169, 254, 0, 0, 16, LinkLocal),
        four(192, 0, 0, 9, 32, Public),
        four(192, 0, 0, 10, 32, Public),
        four(192, 0, 0, 0, 24, Reserved),
        four(192, 0, 2, 0, 24, Reserved),
        four(192, 88, 99, 0, 24, Reserved),
        four(198, 18, 0, 0, 15, Reserved),
        four(198, 51, 100, 0, 24, Reserved),
        four(203, 0, 113, 0, 24, Reserved),
        four(224, 0, 0, 0, 4, Multicast),
        four(240, 0, 0, 0, 4, Reserved),
        six([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, Metadata),
        six([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23], 128, Metadata),
        six([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, Metadata),
        six([0, 0, 0, 0, 0, 0, 0, 0], 127, Loopback), // none, and this machine
        six([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Private),
        six([0x100, 0, 0, 0, 0, 0, 0, 0], 64, Reserved),
        six([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Reserved),
        six([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Reserved),
        six([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Reserved),
        six([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Reserved), // Teredo among them, which hides what is behind it
        six([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Private),
        six([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, LinkLocal),
        six([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Private),
        six([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Multicast),
        six([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, Public),
        six([0, 0, 0, 0, 0, 0, 0, 0], 0, Reserved),
    ]
};

impl AddressKind {
    /// Returns the kind of an address. An address that embeds another one has the kind of the embedded one.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        let address = inner(address).map_or(address, IpAddr::V4);
        let range = RANGES.iter().find(|range| range.holds(address));
        range.map_or(Self::Public, |range| range.kind)
    }

    /// Returns a description that follows "it is".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Public => "an address of the public network",
            Self::Loopback => "this machine itself",
            Self::Private => "an address of a private network",
            Self::LinkLocal => "an address of the local link (link-local)",
            Self::Metadata => "a cloud metadata service, which returns credentials",
            Self::Multicast => "a multicast or broadcast address",
            Self::Reserved => "a reserved address",
        }
    }
}

impl Range {
    fn holds(&self, address: IpAddr) -> bool {
        let (first, address, width) = match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (first.to_bits().into(), address.to_bits().into(), 32)
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => (first.to_bits(), address.to_bits(), 128),
            _ => return false,
        };
        let differ: u128 = first ^ address;
        differ.checked_shr(width - self.bits).unwrap_or(0) == 0
    }
}

/// Returns the embedded IPv4 address: mapped, compatible, translated (NAT64), or of a tunnel (6to4).
pub(super) fn inner(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let four = |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => four(high, low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_what_it_is() {
        use AddressKind::{LinkLocal, Loopback, Metadata, Multicast, Private, Public, Reserved};
        for (kind, addresses) in [
            (
                Public,
                "1.1.1.1 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 192.0.0.9 100.63.255.255 100.128.0.0 \
                      223.255.255.255 2606:4700::1111 2001:4860:4860::8888 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101::",
            ),
            (
                Loopback,
                "127.0.0.1 127.255.255.255 0.0.0.0 0.1.2.3 :: ::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 \
                        2002:7f00:1:: ::ffff:0:127.0.0.1",
            ),
            (
                Private,
                "10.0.0.1 10.255.255.255 172.16.0.0 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 fc00::1 \
                       fdff::1 fec0::1 ::ffff:192.168.0.1 2002:a00:1:: 64:ff9b:1::a00:1",
            ),
            (LinkLocal, "169.254.0.1 169.254.255.255 fe80::1 febf::1 ::ffff:169.254.1.1"),
            (
                Metadata,
                "169.254.169.254 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 ::ffff:169.254.169.254 \
                        64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1",
            ),
            (Multicast, "224.0.0.1 239.255.255.255 ff02::1"),
            (
                Reserved,
                "192.0.2.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.1 240.0.0.1 255.255.255.255 \
                        2001:db8::1 2001::1 100::1 4000::1 3fff::1",
            ),
        ] {
            for address in addresses.split_whitespace() {
                assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
            }
        }
    }
}
