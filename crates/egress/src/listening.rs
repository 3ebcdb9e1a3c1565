//! Listening sockets in a sandbox for a host list, so that programs without proxy support reach the hosts.
//!
//! Each name and address of the list has an address in the sandbox. Processes in the sandbox cannot bind ports below 1024, so the
//! proxy listens on all addresses there. Above, a command may run its own servers, so the proxy only listens on ports that the
//! list needs.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use stockade_handoff::{EgressSockets, PROXY_PORT};

use super::address::AddressKind;
use super::host_list::{HostList, Listened};
use super::special_domains;
use super::target::Host;
use super::virtual_addresses::{ALL, VirtualAddresses};

/// The end of the privileged ports, which processes in the sandbox cannot bind; they begin at 1.
const FIRST_FREE: u16 = 1024;

/// Maximum number of addresses per port with individual sockets; for more, one socket listens on all addresses.
const MAX_SINGLE: usize = 16;

/// The port of DNS queries.
const NAMES: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 53);

/// Ports in use by the name server and the proxy.
const TAKEN: [u16; 2] = [53, PROXY_PORT];

/// Additional ports in observing mode. Ports from 1024 are left to servers of the command.
const OBSERVED: &[u16] = &[22];

/// Returns the sockets for a list, and for observing mode.
pub(super) fn sockets(
    list: &HostList,
    observes: bool,
    virtual_addresses: &mut VirtualAddresses,
) -> EgressSockets {
    let mut addresses = BTreeSet::from([(IpAddr::V4(ALL.0), ALL.1)]);
    // The web ports always, so that refused requests get an explanation.
    let mut everywhere = BTreeSet::from([80, 443]);
    everywhere.extend(OBSERVED.iter().filter(|_| observes));
    let mut single: BTreeSet<(u16, IpAddr)> = BTreeSet::new();
    for (listened, port) in list.listened() {
        everywhere.extend(port.filter(|port| *port < FIRST_FREE));
        let Listened::One(host) = listened else {
            everywhere.extend(port);
            continue;
        };
        let ports = port.map_or_else(|| vec![443, 80], |port| vec![port]);
        for address in own_addresses(host, virtual_addresses) {
            if is_to_be_added(address) {
                addresses.insert((address, if address.is_ipv6() { 128 } else { 32 }));
            }
            single.extend(ports.iter().map(|port| (*port, address)));
        }
    }
    let many: Vec<u16> = single.iter().map(|row| row.0).collect();
    everywhere.extend(
        many.chunk_by(PartialEq::eq).filter(|one| one.len() > MAX_SINGLE).filter_map(|one| one.first()),
    );
    everywhere.retain(|port| !TAKEN.contains(port));
    // One socket covers all IPv4 addresses; IPv6 addresses are few.
    single
        .retain(|(port, address)| !TAKEN.contains(port) && (address.is_ipv6() || !everywhere.contains(port)));
    let all = everywhere.iter().map(|port| SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), *port));
    let one_by_one = single.iter().map(|(port, address)| SocketAddr::new(*address, *port));
    EgressSockets {
        addresses: addresses.into_iter().collect(),
        streams: std::iter::once(NAMES).chain(all).chain(one_by_one).collect(),
        datagrams: vec![NAMES],
        answers_names: true,
        observes,
        trust: None,
        socket: None,
    }
}

/// Returns the addresses of a host in the sandbox.
fn own_addresses(host: &Host, virtual_addresses: &mut VirtualAddresses) -> Vec<IpAddr> {
    match host {
        // Programs know the address of `localhost` without a lookup.
        Host::Name(name) if name == "localhost" => {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        }
        Host::Name(name)
            if special_domains::of(name).is_some_and(|(kind, _)| kind == AddressKind::Metadata) =>
        {
            Vec::new()
        }
        Host::Name(name) => virtual_addresses.address_of(name).map(IpAddr::V4).into_iter().collect(),
        Host::Address(address) => match AddressKind::of(*address) {
            AddressKind::Metadata | AddressKind::Multicast => Vec::new(),
            _ => vec![*address],
        },
    }
}

fn is_to_be_added(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => !four.is_loopback() && !four.is_unspecified() && !VirtualAddresses::is_one(four),
        IpAddr::V6(six) => !six.is_loopback() && !six.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[&str]) -> (Vec<String>, Vec<String>) {
        let list: Vec<String> = list.iter().map(|&entry| entry.to_owned()).collect();
        let sockets = sockets(&HostList::compile(&list).unwrap(), false, &mut VirtualAddresses::default());
        assert_eq!((sockets.datagrams, sockets.answers_names), (vec![NAMES], true));
        let addresses = sockets.addresses.iter().map(|(address, bits)| format!("{address}/{bits}"));
        (addresses.collect(), sockets.streams.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn each_entry_is_listened_for_and_no_more() {
        let always = ["127.0.0.1:53", "0.0.0.0:80", "0.0.0.0:443"];
        for (list, addresses, more) in [
            (&[][..], &[][..], &[][..]),
            (&["a.example"], &[], &[]),
            (&["*.a.example"], &[], &[]),
            (&["a.example:22"], &[], &["0.0.0.0:22"]),
            (&["a.example:8443", "b.example:8443"], &[], &["198.18.0.1:8443", "198.18.0.2:8443"]),
            (&["*.a.example:8443", "b.example:8443"], &[], &["0.0.0.0:8443"]),
            (&["127.0.0.1:8080"], &[], &["127.0.0.1:8080"]),
            (&["localhost:8080"], &[], &["127.0.0.1:8080", "[::1]:8080"]),
            (&["10.0.0.7:5432/tcp"], &["10.0.0.7/32"], &["10.0.0.7:5432"]),
            (&["[2606:4700::1]:443"], &["2606:4700::1/128"], &["[2606:4700::1]:443"]),
            (&["127.0.0.1:3128", "*.a.example:3128", "a.example:53"], &[], &[]),
        ] {
            let (has, listens) = of(list);
            let (mut wanted, mut streams): (Vec<&str>, Vec<&str>) = (vec!["198.18.0.0/15"], always.to_vec());
            wanted.extend(addresses);
            streams.extend(more);
            let sorted = |mut list: Vec<String>| {
                list.sort();
                list
            };
            let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(sorted(has), sorted(owned(wanted)), "{list:?}");
            assert_eq!(sorted(listens), sorted(owned(streams)), "{list:?}");
        }
    }

    #[test]
    fn a_long_list_takes_few_sockets() {
        let list: Vec<String> = (0..4_000).map(|number| format!("host{number}.example:8443")).collect();
        let sockets = sockets(&HostList::compile(&list).unwrap(), false, &mut VirtualAddresses::default());
        assert_eq!(sockets.streams.len(), 4);
        let list: Vec<String> =
            (0..2_000).map(|number| format!("host{number}.example:{}", 9000 + number % 127)).collect();
        let sockets =
            super::sockets(&HostList::compile(&list).unwrap(), true, &mut VirtualAddresses::default());
        assert!(sockets.streams.len() <= 3 + 128 * MAX_SINGLE, "{}", sockets.streams.len());
    }
}
