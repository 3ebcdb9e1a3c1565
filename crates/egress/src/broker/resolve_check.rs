//! Decides on a target by its name and by every address that the name resolves to.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::super::address::AddressKind;
use super::super::conditions::Asked;
use super::super::host_list::{HostList, NOT_LISTED, Ruling};
use super::super::policy::{self, NetPolicy};
use super::super::refusal_texts::RefusalTexts;
use super::super::special_domains;
use super::super::target::{Host, NetTarget};
use super::super::upstream_proxy::{UpstreamProxies, UpstreamProxy};
use super::BrokerOptions;
use super::exchange::BrokeredRequest;

/// The rule for requests that are allowed in observing mode.
const OBSERVED: &str = "observed";

// Each address costs a check, and in the worst case a timeout of connecting. Large services return fewer than 20.
/// Maximum number of addresses of a name.
const MAX_ADDRESSES: usize = 64;

/// Resolves a name to its addresses.
pub(super) type Resolve = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// The decision on a request to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Brokered {
    /// The requested target.
    pub target: String,
    /// The rule that decided: one of [`NetVerdict::rule`](super::super::NetVerdict::rule), `observed`, `leads-elsewhere`,
    /// `no-address`, `other-host`, `bad-request`, `too-many` …
    pub rule: &'static str,
    /// The reason, in a sentence.
    pub reason: String,
    /// The narrowest change that would allow it, if any.
    pub fix: Option<String>,
    /// The narrowest entry of the host list that would allow it, if any.
    pub entry: Option<String>,
    /// The resolved addresses. Only these are connected to; empty if it is refused.
    pub addresses: Vec<SocketAddr>,
    /// The proxy of this machine through which it is reached. The addresses are then those of the proxy.
    pub upstream: Option<UpstreamProxy>,
    /// The request; `None` for a connection, whose requests are not visible or were not sent yet.
    pub request: Option<BrokeredRequest>,
}

impl Brokered {
    /// Returns whether it is allowed.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        !self.addresses.is_empty()
    }

    /// Adds the request that it is about.
    pub(super) fn about(self, request: BrokeredRequest) -> Self {
        Self { request: Some(request), ..self }
    }

    /// Returns a refusal.
    pub(super) fn refused(target: &impl ToString, rule: &'static str, reason: impl Into<String>) -> Self {
        let (target, reason) = (target.to_string(), reason.into());
        Self {
            target,
            rule,
            reason,
            fix: None,
            entry: None,
            addresses: Vec::new(),
            upstream: None,
            request: None,
        }
    }
}

/// Decides by a host list.
pub(super) struct ResolveCheck {
    policy: NetPolicy,
    list: HostList,
    /// Whether every public host is allowed.
    observes: bool,
    /// Name of the host list in error messages, so that a user knows which setting to change.
    list_name: String,
    /// Command that allows an entry.
    allow_command: Option<String>,
    texts: RefusalTexts,
    upstream: UpstreamProxies,
    resolve: Box<Resolve>,
}

impl ResolveCheck {
    pub(super) fn new(list: HostList, options: &BrokerOptions, resolve: Box<Resolve>) -> Self {
        let BrokerOptions { observes, list_name, allow_command, texts, upstream, .. } = options.clone();
        Self {
            policy: NetPolicy::Hosts(list.clone()),
            list,
            observes,
            list_name,
            allow_command,
            texts,
            upstream,
            resolve,
        }
    }

    /// Decides on a target. A name is resolved only here, so that connections go to the addresses that were checked (DNS
    /// rebinding).
    pub(super) fn decide(&self, target: &NetTarget) -> Brokered {
        let verdict = self.policy.decide(target);
        let refused = |rule, reason: String| Brokered::refused(target, rule, reason);
        let (rule, reason) = match verdict.rule {
            _ if verdict.is_allowed() => (verdict.rule, verdict.reason),
            NOT_LISTED if self.observes_at(target) => {
                (OBSERVED, "every public host is allowed, to record which hosts are needed".to_owned())
            }
            _ => return self.judged(target),
        };
        let upstream = self.upstream_of(target);
        // A proxy resolves names itself: inside of a company, public names often cannot be resolved. What is observed is
        // resolved nonetheless, because only a public host may be.
        if let Some(proxy) = upstream.filter(|_| rule != OBSERVED) {
            return self.through(proxy, refused(rule, reason));
        }
        // Only listed names are resolved: the query itself would leak a name such as `SECRET.attacker.example`.
        let addresses = match self.addresses(target) {
            Ok(addresses) if !addresses.is_empty() => addresses,
            Ok(_) => return refused("no-address", "the name has no address".to_owned()),
            Err(error) => return refused("no-address", format!("the name cannot be resolved: {error}")),
        };
        match addresses.iter().find(|address| !self.may_resolve_to(target, address)) {
            None => match upstream {
                Some(proxy) => self.through(proxy, refused(rule, reason)),
                None => Brokered { addresses, ..refused(rule, reason) },
            },
            // One such address refuses the name, because any of the addresses may be the one that is connected to.
            Some(address) => {
                let kind = AddressKind::of(address.ip());
                let reason = format!("it resolves to {}, which is {}", address.ip(), kind.words());
                // The owner of the name chose the address, so advising to list it would let them choose what is allowed.
                refused("leads-elsewhere", reason)
            }
        }
    }

    /// Returns the proxy of this machine for a target. Programs of other protocols than HTTP use none.
    fn upstream_of(&self, target: &NetTarget) -> Option<&UpstreamProxy> {
        self.upstream.proxy_for(target).filter(|_| !self.list.carries_anything(target))
    }

    /// Allows a target through a proxy.
    fn through(&self, proxy: &UpstreamProxy, allowed: Brokered) -> Brokered {
        let failed = |why: String| Brokered {
            rule: "no-address",
            reason: format!("the upstream proxy `{proxy}` cannot be reached: {why}"),
            ..allowed.clone()
        };
        match self.addresses(&proxy.target) {
            Ok(addresses) if !addresses.is_empty() => {
                Brokered { addresses, upstream: Some(proxy.clone()), ..allowed }
            }
            Ok(_) => failed("its name has no address".to_owned()),
            Err(error) => failed(error.to_string()),
        }
    }

    /// Returns the refusal of a target by the list.
    fn judged(&self, target: &NetTarget) -> Brokered {
        let verdict = self.policy.decide(target);
        let notes = verdict.notes.iter().map(|note| format!("; {note}"));
        let reason: String = std::iter::once(verdict.reason.clone()).chain(notes).collect();
        let reason = self.texts.after(reason, verdict.rule, &target.to_string());
        self.advising(Brokered::refused(target, verdict.rule, reason), verdict.entry)
    }

    /// Adds the entry that would allow a refused request.
    pub(super) fn advising(&self, refused: Brokered, entry: Option<String>) -> Brokered {
        Brokered { fix: entry.as_ref().map(|entry| self.add(entry)), entry, ..refused }
    }

    /// Returns whether observing mode allows a target without an entry. Targets that are not public always need one.
    pub(super) fn observes_at(&self, target: &NetTarget) -> bool {
        self.observes && policy::kind(target).0 == AddressKind::Public
    }

    /// Returns whether a name is allowed at any port.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let is_observed = || {
            let target = NetTarget::parse(name).ok().filter(|target| self.observes_at(target));
            target.is_some_and(|target| self.list.denied_by(&target).is_none())
        };
        self.list.has_name(name) || is_observed()
    }

    /// Returns whether a target is in the list.
    pub(super) fn lists(&self, target: &NetTarget) -> bool {
        self.list.entry_for(target).is_some()
    }

    /// Applies the list to a request, or to a connection whose requests are not visible.
    pub(super) fn rule_on(&self, target: &NetTarget, asked: Option<Asked<'_>>) -> Ruling<'_> {
        self.list.rule_on(target, asked)
    }

    /// Returns whether an entry for a target has conditions on requests.
    pub(super) fn looks_into_bodies(&self, target: &NetTarget) -> bool {
        self.list.looks_into_bodies(target)
    }

    pub(super) fn looks_inside(&self, target: &NetTarget) -> bool {
        self.list.looks_inside(target)
    }

    /// Returns whether an entry allows any protocol to a target.
    pub(super) fn carries_anything(&self, target: &NetTarget) -> bool {
        self.list.carries_anything(target)
    }

    /// Decides on a name that is not in the list. It is never resolved, because a DNS query could exfiltrate data.
    pub(super) fn unknown(&self, name: &str) -> Brokered {
        match NetTarget::parse(name) {
            Ok(target) => self.judged(&target),
            Err(refused) => {
                Brokered { fix: refused.fix, ..Brokered::refused(&name, refused.rule, refused.reason) }
            }
        }
    }

    fn addresses(&self, target: &NetTarget) -> io::Result<Vec<SocketAddr>> {
        let port = target.port.unwrap_or(0);
        match &target.host {
            Host::Address(address) => Ok(vec![(*address, port).into()]),
            Host::Name(name) => {
                let mut addresses = (self.resolve)(name, port)?;
                // Truncated before they are checked, and only checked ones are connected to.
                addresses.truncate(MAX_ADDRESSES);
                Ok(addresses)
            }
        }
    }

    /// Whether a name may have an address. A public name may have public addresses, and a listed name of a private network
    /// private ones. Any other address must be listed itself; otherwise the owner of a name could point it into the local
    /// network.
    fn may_resolve_to(&self, target: &NetTarget, address: &SocketAddr) -> bool {
        let kind = AddressKind::of(address.ip());
        let named = || {
            // Canonical, so that an IPv4-mapped IPv6 address is compared as the IPv4 address.
            let host = Host::Address(address.ip().to_canonical());
            self.list.names(&NetTarget { host, ..target.clone() })
        };
        match (&target.host, kind) {
            // An address that is a target itself was listed literally, so the policy has decided on it already.
            (_, AddressKind::Public) | (Host::Address(IpAddr::V4(_) | IpAddr::V6(_)), _) => true,
            // Cloud metadata services hand out credentials, so not even a listed private name may resolve to one.
            (_, AddressKind::Metadata) => false,
            (Host::Name(name), kind) => {
                let own = special_domains::of(name).map(|(own, _)| own);
                let at_home =
                    |own| own == kind || (kind == AddressKind::Private && own == AddressKind::LinkLocal);
                own.is_some_and(at_home) || named()
            }
        }
    }

    pub(super) fn add(&self, entry: &str) -> String {
        match &self.allow_command {
            // Single quotes, since an entry may contain a path that the command chose.
            Some(command) => format!("ask the user to run: {command} '{}'", entry.replace('\'', r"'\''")),
            None => format!("add `{entry}` to {}", self.list_name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(list: &[&str], leads_to: &'static [&'static str], text: &str) -> (&'static str, Option<String>) {
        judge_with(false, list, leads_to, text)
    }

    fn judge_with(
        observes: bool,
        list: &[&str],
        leads_to: &'static [&'static str],
        text: &str,
    ) -> (&'static str, Option<String>) {
        let options =
            BrokerOptions { observes, list_name: "the list".to_owned(), ..BrokerOptions::default() };
        let list: Vec<String> = list.iter().map(|&entry| entry.to_owned()).collect();
        let resolve = move |_: &str, port| match leads_to {
            ["fails"] => Err(io::Error::other("no such host")),
            addresses => {
                Ok(addresses.iter().map(|one| (one.parse::<IpAddr>().unwrap(), port).into()).collect())
            }
        };
        let check = ResolveCheck::new(HostList::compile(&list).unwrap(), &options, Box::new(resolve));
        let brokered = check.decide(&NetTarget::parse(text).unwrap());
        assert_eq!(brokered.is_allowed(), matches!(brokered.rule, "listed" | OBSERVED), "{brokered:?}");
        (brokered.rule, brokered.fix)
    }

    /// The entry is one argument of the command, whatever path the request had.
    #[test]
    fn a_refusal_names_the_command_that_allows_it() {
        let options = BrokerOptions {
            allow_command: Some("stockade allow --host bot".to_owned()),
            ..BrokerOptions::default()
        };
        let check = ResolveCheck::new(HostList::default(), &options, Box::new(|_, _| Ok(Vec::new())));
        let fix = check.decide(&NetTarget::parse("a.example:443").unwrap()).fix;
        assert_eq!(fix.as_deref(), Some("ask the user to run: stockade allow --host bot 'a.example:443'"));
        assert_eq!(
            check.add("a.example:80 GET /it's ?"),
            r"ask the user to run: stockade allow --host bot 'a.example:80 GET /it'\''s ?'"
        );
    }

    #[test]
    fn every_address_of_a_name_is_judged() {
        let rows: &[(&[&str], &[&str], &str, &str)] = &[
            (&["a.example"], &["93.184.216.34"], "a.example:443", "listed"),
            (&["a.example"], &["93.184.216.34", "2606:4700::1"], "a.example:443", "listed"),
            (&["a.example"], &["93.184.216.34"], "b.example:443", "not-listed"),
            (&["a.example:443"], &["93.184.216.34"], "a.example:80", "not-listed"),
            (&["a.example"], &["127.0.0.1"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["93.184.216.34", "10.0.0.1"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["::ffff:10.0.0.1"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["64:ff9b::7f00:1"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["0.0.0.0"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["169.254.1.1"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["fe80::1"], "a.example:80", "leads-elsewhere"),
            (&["a.example", "10.0.0.1"], &["10.0.0.1"], "a.example:80", "listed"),
            (&["a.example", "10.0.0.1"], &["::ffff:10.0.0.1"], "a.example:80", "listed"),
            (&["a.example", "10.0.0.1:22"], &["10.0.0.1"], "a.example:80", "leads-elsewhere"),
            (&["a.example"], &["169.254.169.254"], "a.example:80", "leads-elsewhere"),
            (&["*.google.internal"], &["10.0.0.1"], "metadata.google.internal:80", "metadata"),
            (&["db.corp:5432"], &["10.0.0.1"], "db.corp:5432", "listed"),
            (&["db.corp:5432"], &["127.0.0.1"], "db.corp:5432", "leads-elsewhere"),
            (&["printer.local"], &["192.168.1.5"], "printer.local:80", "listed"),
            (&["localhost:80"], &["127.0.0.1", "::1"], "localhost:80", "listed"),
            (&["localhost:80"], &["10.0.0.1"], "localhost:80", "leads-elsewhere"),
            (&["127.0.0.1:80"], &[], "127.0.0.1:80", "listed"),
            (&["127.0.0.1:80"], &[], "127.0.0.1:81", "not-listed"),
            (&["a.example"], &["fails"], "a.example:80", "no-address"),
            (&["a.example"], &[], "a.example:80", "no-address"),
        ];
        for (list, leads_to, text, rule) in rows {
            assert_eq!(judge(list, leads_to, text).0, *rule, "{list:?} {leads_to:?} {text}");
        }
    }

    #[test]
    fn the_fix_is_the_narrowest_entry_and_never_an_address_that_a_name_chose() {
        let fix = |leads_to, text| judge(&["a.example"], leads_to, text).1;
        assert_eq!(fix(&["10.0.0.1"], "a.example:80"), None);
        assert_eq!(fix(&[], "b.example:8443").as_deref(), Some("add `b.example:8443` to the list"));
        assert_eq!(fix(&["169.254.169.254"], "a.example:80"), None);
        assert_eq!(fix(&[], "metadata.google.internal:80"), None);
    }

    /// Observing which hosts are needed gives no access to private addresses.
    #[test]
    fn what_is_observed_is_public() {
        for (list, leads_to, text, expected) in [
            (&[][..], &["93.184.216.34"][..], "a.example:443", "observed"),
            (&[], &["93.184.216.34"], "93.184.216.34:8443", "observed"),
            (&["a.example"], &["93.184.216.34"], "a.example:443", "listed"),
            (&["!a.example"], &["93.184.216.34"], "a.example:443", "denied"),
            (&[], &["93.184.216.34", "10.0.0.1"], "a.example:443", "leads-elsewhere"),
            (&[], &["127.0.0.1"], "a.example:443", "leads-elsewhere"),
            (&[], &["169.254.169.254"], "a.example:80", "leads-elsewhere"),
            (&[], &["fails"], "a.example:80", "no-address"),
            (&[], &["127.0.0.1"], "localhost:80", "not-listed"),
            (&[], &[], "10.0.0.1:80", "not-listed"),
            (&[], &[], "db.internal:80", "not-listed"),
            (&[], &[], "router:80", "not-listed"),
            (&[], &[], "stockade.internal:443", "own-name"),
            (&[], &[], "169.254.169.254:80", "metadata"),
            (&[], &[], "metadata.google.internal:80", "metadata"),
        ] {
            assert_eq!(judge_with(true, list, leads_to, text).0, expected, "{list:?} {text}");
        }
    }
}
