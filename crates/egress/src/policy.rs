//! Decisions on targets.

use super::address::AddressKind;
use super::host_list::{HostList, NOT_LISTED};
use super::target::{Host, NetTarget};
use super::{broker_hostname, special_domains};

/// The hosts that commands may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetPolicy {
    /// No host may be reached.
    None,
    /// The hosts of a list. Hosts that are not public must be listed by name.
    Hosts(HostList),
    /// Every host that this machine reaches, without inspection.
    Open,
}

/// The decision on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "what was not allowed must not be connected to"]
#[non_exhaustive]
pub struct NetVerdict {
    /// The deciding rule: `no-network`, `not-listed`, `listed`, `denied`, `metadata`, `not-public`, `own-name` or `open`.
    pub rule: &'static str,
    /// The reason, in a sentence.
    pub reason: String,
    /// Additional notes.
    pub notes: Vec<String>,
    /// The entry that would allow it, if any.
    pub entry: Option<String>,
    /// The deciding entry, as written.
    pub written: Option<String>,
    allowed: bool,
}

impl NetVerdict {
    /// Returns whether it is allowed.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.allowed
    }
}

impl NetPolicy {
    /// Decides on a target. The addresses of a name are not known here: see [`AddressKind::of`].
    pub fn decide(&self, target: &NetTarget) -> NetVerdict {
        let kind = kind(target);
        // Entries that no list may contain are not suggested.
        let is_entry = |entry: &String| HostList::compile(std::slice::from_ref(entry)).is_ok();
        let entry = Some(target.to_string()).filter(|_| kind.0 != AddressKind::Metadata).filter(is_entry);
        let verdict = |allowed, rule, reason: String, entry| NetVerdict {
            rule,
            reason,
            notes: Vec::new(),
            entry,
            written: None,
            allowed,
        };
        let mut verdict = match self {
            Self::None => verdict(false, "no-network", "commands have no network".to_owned(), entry),
            Self::Open => verdict(
                true,
                "open",
                "the network is open, and connections are not inspected".to_owned(),
                None,
            ),
            Self::Hosts(_) if broker_hostname::is_own(target) => verdict(
                false,
                "own-name",
                "it is the egress proxy itself, which only accepts plain HTTP on port 80".to_owned(),
                None,
            ),
            Self::Hosts(_) if kind.0 == AddressKind::Metadata => {
                verdict(false, "metadata", "no host list allows it".to_owned(), None)
            }
            Self::Hosts(list) if list.denied_by(target).is_some() => {
                let written = list.denied_by(target).unwrap_or_default();
                verdict(false, "denied", format!("the entry `{written}` denies it"), None)
            }
            Self::Hosts(list) => match list.entry_for(target) {
                Some(_) if kind.0 != AddressKind::Public && !list.names(target) => {
                    let reason = "such a host must be listed itself, and not by a wildcard".to_owned();
                    verdict(false, "not-public", reason, entry)
                }
                Some(written) => verdict(true, "listed", format!("the entry `{written}` allows it"), None),
                None if list.has_other_port(target) => {
                    verdict(false, NOT_LISTED, "the list has it with another port".to_owned(), entry)
                }
                None => verdict(false, NOT_LISTED, "no entry of the list matches it".to_owned(), entry),
            },
        };
        if let Self::Hosts(list) = self {
            let decided = match verdict.rule {
                "denied" => list.denied_by(target),
                "listed" => list.entry_for(target),
                _ => None,
            };
            verdict.written = decided.map(ToString::to_string);
        }
        if !broker_hostname::is_own(target) {
            verdict.notes = notes(target, kind, matches!(self, Self::Open));
        }
        verdict
    }
}

/// Returns the kind of address, and a note if the kind is not obvious.
pub(super) fn kind(target: &NetTarget) -> (AddressKind, Option<&'static str>) {
    match &target.host {
        Host::Address(address) => (AddressKind::of(*address), None),
        Host::Name(name) => {
            special_domains::of(name).map_or((AddressKind::Public, None), |(kind, why)| (kind, Some(why)))
        }
    }
}

fn notes(target: &NetTarget, (kind, why): (AddressKind, Option<&'static str>), open: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if kind != AddressKind::Public {
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let open = if open { "; with an open network, commands can reach it" } else { "" };
        notes.push(format!("it is {}{why}{open}", kind.words()));
    }
    match &target.shown {
        Some((shown, true)) => {
            notes.push(format!("it looks like `{shown}`, but has letters of another script"));
        }
        Some((shown, false)) => notes.push(format!("it is displayed as `{shown}`")),
        None => {}
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(policy: &NetPolicy, text: &str) -> (&'static str, bool) {
        let verdict = policy.decide(&NetTarget::parse(text).unwrap());
        (verdict.rule, verdict.is_allowed())
    }

    #[test]
    fn every_policy_decides() {
        let list = ["example.com", "*.example.com:443", "10.0.0.7:22", "*.svc.internal", "*.google.internal"];
        let hosts = NetPolicy::Hosts(HostList::compile(&list.map(str::to_owned)).unwrap());
        for (policy, text, expected) in [
            (&NetPolicy::None, "example.com", ("no-network", false)),
            (&NetPolicy::Open, "example.com", ("open", true)),
            (&NetPolicy::Open, "169.254.169.254", ("open", true)),
            (&hosts, "example.com", ("listed", true)),
            (&hosts, "https://api.example.com", ("listed", true)),
            (&hosts, "http://api.example.com", ("not-listed", false)),
            (&hosts, "evil.test", ("not-listed", false)),
            (&hosts, "10.0.0.7:22", ("listed", true)),
            (&hosts, "10.0.0.8:22", ("not-listed", false)),
            (&hosts, "db.svc.internal", ("not-public", false)),
            (&hosts, "169.254.169.254", ("metadata", false)),
            (&hosts, "metadata.google.internal", ("metadata", false)),
            (&hosts, "stockade.internal", ("own-name", false)),
        ] {
            assert_eq!(rule(policy, text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_seen_is_told() {
        for (text, told) in [
            ("169.254.169.254", "metadata service"),
            ("db.corp", "it is not a public top-level domain"),
            ("router", "without a dot"),
            ("p\u{430}ypal.com", "letters of another script"),
            ("xn--pypal-4ve.com", "letters of another script"),
            ("bücher.example", "displayed as"),
        ] {
            let verdict = NetPolicy::Open.decide(&NetTarget::parse(text).unwrap());
            assert!(verdict.notes.iter().any(|note| note.contains(told)), "{text}: {verdict:?}");
        }
        assert!(NetPolicy::Open.decide(&NetTarget::parse("example.com").unwrap()).notes.is_empty());
    }

    #[test]
    fn the_entry_that_would_allow_it_does() {
        for text in
            ["evil.test", "https://evil.test:8443/x", "10.1.2.3", "[2606:4700::1111]:443", "localhost:8080"]
        {
            let target = NetTarget::parse(text).unwrap();
            let entry = NetPolicy::Hosts(HostList::default()).decide(&target).entry.unwrap();
            let allowed = NetPolicy::Hosts(HostList::compile(&[entry]).unwrap()).decide(&target);
            assert!(allowed.is_allowed(), "{text}: {allowed:?}");
        }
        for text in ["198.18.0.9:80", "169.254.169.254", "metadata.google.internal", "stockade.internal:8080"]
        {
            let target = NetTarget::parse(text).unwrap();
            for policy in [NetPolicy::None, NetPolicy::Hosts(HostList::default())] {
                assert_eq!(policy.decide(&target).entry, None, "{text}");
            }
        }
    }
}
