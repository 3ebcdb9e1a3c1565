//! An entry of a host list.

use std::net::IpAddr;

use super::HostListError;
use crate::address::AddressKind;
use crate::broker_hostname;
use crate::conditions::{Conditions, EntryBounds};
use crate::secret_binding::BoundName;
use crate::special_domains;
use crate::target::{Host, NetTarget};
use crate::virtual_addresses::VirtualAddresses;

/// The ports of an entry without one: those of the web.
const WEB: [u16; 2] = [443, 80];

/// The prefix of an entry that excludes hosts.
const NOT: char = '!';

/// The suffix of a port that any protocol may use.
const ANYTHING: &str = "/tcp";

/// An entry as it is compared with targets: which hosts, which port, and whether it denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) hosts: Hosts,
    /// The port; without one, those of the web.
    pub(super) port: Option<u16>,
    /// Whether it is a deny entry.
    pub(super) denies: bool,
    pub(super) carries_anything: bool,
    pub(super) conditions: Conditions,
    pub(super) written: String,
}

/// The hosts of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hosts {
    One(Host),
    /// All names with this suffix, which begins with a dot.
    Below(String),
}

impl Hosts {
    /// Converts the entry for comparison with the host of a secret.
    pub(super) fn bound(&self) -> BoundName {
        match self {
            Self::One(host) => BoundName::One(host.clone()),
            Self::Below(end) => BoundName::Below(end.clone()),
        }
    }
}

fn is_metadata(host: &Host) -> bool {
    match host {
        Host::Address(address) => AddressKind::of(*address) == AddressKind::Metadata,
        Host::Name(name) => special_domains::of(name).is_some_and(|(kind, _)| kind == AddressKind::Metadata),
    }
}

impl Entry {
    pub(super) fn read(whole: &str) -> Result<Self, HostListError> {
        let mut words = whole.split(' ').filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        let (first, denies) = first.strip_prefix(NOT).map_or((first, false), |first| (first, true));
        let (written, carries_anything) = match first.strip_suffix(ANYTHING) {
            Some(written) => (written, true),
            None => (first, false),
        };
        let mut conditions = Conditions::default();
        for word in words {
            conditions.add(word).map_err(|(why, fix)| wrong(whole, why, &fix))?;
        }
        let wrong = |_: &str, why, fix: &str| wrong(whole, why, fix);
        // A path in an entry would look like a restriction, but connections have no path.
        if written.contains("://") || written.contains('/') || written.contains('@') {
            let (why, fix) = not_a_host(written);
            return Err(wrong(written, why.to_owned(), &fix));
        }
        let (name, is_below) = match written.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (written, false),
        };
        if name.contains('*') {
            let why = "`*` is only allowed as the first label";
            return Err(wrong(written, why.to_owned(), "write `*.example.com`"));
        }
        // The same parser as for requests, so that an entry and a request cannot be read differently.
        let target = NetTarget::parse(name).map_err(|refused| {
            wrong(written, refused.reason, refused.fix.as_deref().unwrap_or("write a name or an address"))
        })?;
        let hosts = match (target.host, is_below) {
            (host, false) => Hosts::One(host),
            // The leading dot is stored, so that `*.example.com` does not match `evilexample.com`.
            (Host::Name(name), true) if name.contains('.') => Hosts::Below(format!(".{name}")),
            (Host::Name(_), true) => {
                let why = "it would allow a whole top-level domain";
                return Err(wrong(written, why.to_owned(), "write at least two parts: `*.example.com`"));
            }
            (Host::Address(_), true) => {
                return Err(wrong(
                    written,
                    "an IP address has no subdomains".to_owned(),
                    "write only the address",
                ));
            }
        };
        if carries_anything && target.port.is_none() {
            let why = format!("`{ANYTHING}` allows any protocol on one port, and the port is missing");
            return Err(wrong(written, why, "write `db.example.com:5432/tcp`"));
        }
        // Inside a sandbox, such an address is a name's virtual address, so an entry for it would mean another host
        // in every run.
        if let Hosts::One(Host::Address(IpAddr::V4(four))) = hosts
            && VirtualAddresses::is_one(four)
        {
            let why =
                "addresses of `198.18.0.0/15` are virtual addresses of host names in a sandbox".to_owned();
            return Err(wrong(written, why, "write the host name"));
        }
        // No entry reaches them: their answers are credentials of the machine.
        if let (false, Hosts::One(host)) = (denies, &hosts)
            && is_metadata(host)
        {
            let why = format!("it is {}", AddressKind::Metadata.words());
            return Err(wrong(written, why, "use --secret to lend a credential of the cloud"));
        }
        // The name exists only in the sandbox. A real host with this name could imitate the proxy's answers.
        if hosts == Hosts::One(Host::Name(broker_hostname::NAME.to_owned())) {
            let why = "it is the egress proxy itself, which every command can reach".to_owned();
            return Err(wrong(written, why, "remove it"));
        }
        let entry = Self {
            hosts,
            port: target.port,
            denies,
            carries_anything,
            conditions,
            written: whole.to_owned(),
        };
        match entry.contradiction() {
            Some((why, fix)) => Err(wrong(written, why.to_owned(), fix)),
            None => Ok(entry),
        }
    }

    /// Returns a contradiction in an entry, and what to write instead.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let looks_inside = self.conditions.look_inside();
        if self.denies && (self.carries_anything || self.conditions.bounds != EntryBounds::default()) {
            return Some((
                "a denied entry cannot have limits",
                "write `!host`, `!host:port` or `!host:80 POST /path`",
            ));
        }
        if self.denies && self.conditions.want_no_query() {
            return Some((
                "a `?` without a name denies nothing",
                "write the query name: `!api.example.com:80 ?token`",
            ));
        }
        if looks_inside && self.carries_anything {
            return Some((
                "any protocol is allowed, so requests are not inspected",
                "remove `/tcp`, or the conditions",
            ));
        }
        if self.denies && self.conditions.inspects() {
            return Some((
                "a denied entry cannot have `inspect`",
                "remove `inspect`, or move it to the entry that allows the host",
            ));
        }
        self.conditions.contradiction()
    }

    pub(super) fn holds(&self, target: &NetTarget) -> bool {
        self.has_port(target.port) && self.is_about(&target.host)
    }

    /// An entry with a port does not match a target without one.
    pub(super) fn has_port(&self, asked: Option<u16>) -> bool {
        match (self.port, asked) {
            (None, _) if self.denies => true,
            (None, None) => true,
            (None, Some(port)) => WEB.contains(&port),
            (own, asked) => own == asked,
        }
    }

    pub(super) fn is_about(&self, host: &Host) -> bool {
        match (&self.hosts, host) {
            (Hosts::One(one), host) => one == host,
            (Hosts::Below(end), Host::Name(name)) => name.len() > end.len() && name.ends_with(end.as_str()),
            (Hosts::Below(_), Host::Address(IpAddr::V4(_) | IpAddr::V6(_))) => false,
        }
    }
}

/// Returns what is written in the place of a host, and what to write instead.
fn not_a_host(written: &str) -> (&'static str, String) {
    if written.rsplit_once('/').is_some_and(|(address, bits)| {
        address.parse::<IpAddr>().is_ok() && bits.bytes().all(|byte| byte.is_ascii_digit())
    }) {
        return ("it is a network, and an entry is one host", "write each address or name".to_owned());
    }
    let Ok(target) = NetTarget::parse(written) else {
        return ("it is a URL", "write the host alone".to_owned());
    };
    let behind = written.split_once("://").map_or(written, |(_, behind)| behind);
    let path = behind.find('/').and_then(|at| behind.get(at..)).filter(|path| path.len() > 1);
    let path = path.and_then(|path| path.split(['?', '#']).next());
    match path {
        Some(path) => {
            ("it is a URL", format!("write `{target}`, or `{target} GET {path}` for this path alone"))
        }
        None => ("it is a URL", format!("write `{target}`")),
    }
}

pub(super) fn wrong(entry: &str, why: String, fix: &str) -> HostListError {
    HostListError { entry: entry.to_owned(), why, fix: fix.to_owned() }
}
