//! Special-use domains: names outside of the public DNS, and names that contain their address.

use super::address::AddressKind;

/// Domains including subdomains, their kind of address, and the source.
const NAMES: &[(&str, AddressKind, &str)] = {
    use AddressKind::{LinkLocal, Loopback, Metadata, Private};
    &[
        ("metadata.google.internal", Metadata, "Google's metadata service"),
        ("metadata.goog", Metadata, "Google's metadata service"),
        ("metadata.azure.com", Metadata, "Microsoft's metadata service"),
        ("metadata.azure.internal", Metadata, "Microsoft's metadata service"),
        ("instance-data", Metadata, "Amazon's metadata service"),
        ("instance-data.ec2.internal", Metadata, "Amazon's metadata service"),
        ("localhost", Loopback, "RFC 6761 reserves the name"),
        ("localhost.localdomain", Loopback, "the default name of most machines"),
        ("host.docker.internal", Private, "containers reach their host by it"),
        ("host.containers.internal", Private, "containers reach their host by it"),
        ("local", LinkLocal, "RFC 6762 reserves it for the local link"),
        ("localdomain", Private, "it is not a public top-level domain"),
        ("internal", Private, "it is reserved for private networks"),
        ("intranet", Private, "it is not a public top-level domain"),
        ("private", Private, "it is not a public top-level domain"),
        ("corp", Private, "it is not a public top-level domain"),
        ("home", Private, "it is not a public top-level domain"),
        ("lan", Private, "it is not a public top-level domain"),
        ("home.arpa", Private, "RFC 8375 reserves it for homes"),
        ("svc.cluster.local", Private, "services of a cluster have such names"),
        ("nip.io", Private, "it resolves to the address in its name"),
        ("sslip.io", Private, "it resolves to the address in its name"),
        ("xip.io", Private, "it resolves to the address in its name"),
        ("localtest.me", Loopback, "it resolves to this machine"),
        ("lvh.me", Loopback, "it resolves to this machine"),
        ("vcap.me", Loopback, "it resolves to this machine"),
        ("lacolhost.com", Loopback, "it resolves to this machine"),
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
