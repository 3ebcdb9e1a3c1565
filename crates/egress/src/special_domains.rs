//! Special-use domains: names outside of the public DNS, and names that contain their address.

use super::address::AddressKind;

/// Domains including subdomains, their kind of address, and the source.
const NAMES: &[(&str, AddressKind, &str)] = {
    use AddressKind::{LinkLocal, Loopback, Metadata, Private};
    &[
        ("metadata.google.internal", Metadata, "Google's machines find it there"),
        ("metadata.goog", Metadata, "Google's machines find it there"),
        ("metadata.azure.com", Metadata, "Microsoft's machines find it there"),
        ("metadata.azure.internal", Metadata, "Microsoft's machines find it there"),
        ("instance-data", Metadata, "Amazon's machines find it there"),
        ("instance-data.ec2.internal", Metadata, "Amazon's machines find it there"),
        ("localhost", Loopback, "RFC 6761 reserves the name"),
        ("localhost.localdomain", Loopback, "most machines are called that"),
        ("host.docker.internal", Private, "containers reach their machine by it"),
        ("host.containers.internal", Private, "containers reach their machine by it"),
        ("local", LinkLocal, "RFC 6762 reserves it for the same wire"),
        ("localdomain", Private, "no public name ends so"),
        ("internal", Private, "it is reserved for private networks"),
        ("intranet", Private, "no public name ends so"),
        ("private", Private, "no public name ends so"),
        ("corp", Private, "no public name ends so"),
        ("home", Private, "no public name ends so"),
        ("lan", Private, "no public name ends so"),
        ("home.arpa", Private, "RFC 8375 reserves it for homes"),
        ("svc.cluster.local", Private, "services of a cluster are called so"),
        ("nip.io", Private, "it leads to whatever address stands in it"),
        ("sslip.io", Private, "it leads to whatever address stands in it"),
        ("xip.io", Private, "it leads to whatever address stands in it"),
        ("localtest.me", Loopback, "it leads to this machine"),
        ("lvh.me", Loopback, "it leads to this machine"),
        ("vcap.me", Loopback, "it leads to this machine"),
        ("lacolhost.com", Loopback, "it leads to this machine"),
    ]
};

/// Returns the kind of address of a special-use domain, and why.
pub(super) fn of(name: &str) -> Option<(AddressKind, &'static str)> {
    let is_below =
        |zone: &str| name.strip_suffix(zone).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    let longest = NAMES.iter().filter(|(zone, ..)| is_below(zone)).max_by_key(|(zone, ..)| zone.len());
    match longest {
        Some((_, kind, why)) => Some((*kind, why)),
        None if !name.contains('.') => {
            Some((AddressKind::Private, "a name without a dot is one of the local network"))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_zone_counts() {
        use AddressKind::{LinkLocal, Loopback, Metadata, Private};
        for (name, kind) in [
            ("metadata.google.internal", Some(Metadata)),
            ("db.internal", Some(Private)),
            ("localhost", Some(Loopback)),
            ("a.localhost", Some(Loopback)),
            ("printer.local", Some(LinkLocal)),
            ("x.svc.cluster.local", Some(Private)),
            ("router", Some(Private)),
            ("169.254.169.254.nip.io", Some(Private)),
            ("notlocalhost.com", None),
            ("local.example.com", None),
            ("thelocal.org", None),
        ] {
            assert_eq!(of(name).map(|(kind, _)| kind), kind, "{name}");
        }
    }
}
