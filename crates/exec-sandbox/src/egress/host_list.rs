//! The hosts that may be talked to, as a configuration lists them.

use std::net::IpAddr;

use super::address_book::AddressBook;
use super::target::{Host, NetTarget};

/// How many entries a list may have.
const MAX_ENTRIES: usize = 4_096;

/// The most ports that a list names.
const MAX_PORTS: usize = 128;

/// The ports of an entry that names none: those of the web.
const WEB: [u16; 2] = [443, 80];

/// What stands behind a port through which anything may go.
const ANYTHING: &str = "/tcp";

/// Hosts that may be talked to: `example.com`, `*.example.com` for all names below it, an address, each perhaps with a
/// port. Without one, the ports of the web are meant, 443 and 80. What goes through has to be TLS or HTTP that names the same
/// host, or SSH at port 22, unless `/tcp` stands behind the port. What is in none of the entries may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostList {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    hosts: Hosts,
    /// One port, or those of the web.
    port: Option<u16>,
    carries_anything: bool,
    written: String,
}

/// What is listened at within a sandbox for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listened<'l> {
    /// One name or address.
    One(&'l Host),
    /// Any name that ends so.
    Below,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    One(Host),
    /// All names that end so; it begins with a dot.
    Below(String),
}

/// An entry that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no entry of a list of hosts: {why}", entry.escape_debug())]
#[non_exhaustive]
pub struct HostListError {
    /// The entry.
    pub entry: String,
    /// Why not.
    pub why: String,
    /// What was probably meant.
    pub fix: String,
}

impl HostList {
    /// Reads a list.
    ///
    /// # Errors
    /// At the first entry that cannot be meant.
    pub fn compile(list: &[String]) -> Result<Self, HostListError> {
        if let Some(entry) = list.get(MAX_ENTRIES) {
            return Err(wrong(
                entry,
                format!("the list has more than {MAX_ENTRIES} entries"),
                "use `*.` for names below one",
            ));
        }
        let entries: Vec<Entry> =
            list.iter().map(|written| Entry::read(written)).collect::<Result<_, _>>()?;
        let mut ports = std::collections::BTreeSet::new();
        for entry in &entries {
            ports.extend(entry.port);
            if ports.len() > MAX_PORTS {
                let why = format!("the list names more than {MAX_PORTS} ports");
                return Err(wrong(&entry.written, why, "leave out what no command needs"));
            }
        }
        Ok(Self { entries })
    }

    /// Returns the entry that lets a target through, as it was written.
    #[must_use]
    pub fn entry_for(&self, target: &NetTarget) -> Option<&str> {
        self.entries.iter().find(|entry| entry.holds(target)).map(|entry| entry.written.as_str())
    }

    /// Returns whether an entry lets anything through to a target, whatever it is.
    pub(super) fn carries_anything(&self, target: &NetTarget) -> bool {
        self.entries.iter().any(|entry| entry.carries_anything && entry.holds(target))
    }

    /// Returns whether an entry has to do with a name, whatever the port.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let host = Host::Name(name.to_owned());
        self.entries.iter().any(|entry| entry.is_about(&host))
    }

    /// Returns hosts and their ports, as far as entries name one.
    pub(super) fn listened(&self) -> impl Iterator<Item = (Listened<'_>, Option<u16>)> {
        self.entries.iter().map(|entry| match &entry.hosts {
            Hosts::One(host) => (Listened::One(host), entry.port),
            Hosts::Below(_) => (Listened::Below, entry.port),
        })
    }

    /// Returns whether an entry names this very host, and not one above it.
    pub(super) fn names(&self, target: &NetTarget) -> bool {
        self.entries.iter().any(|entry| entry.holds(target) && matches!(entry.hosts, Hosts::One(_)))
    }

    /// Returns whether the host is there, with another port.
    pub(super) fn has_other_port(&self, target: &NetTarget) -> bool {
        self.entries.iter().any(|entry| entry.is_about(&target.host))
    }
}

impl Entry {
    fn read(whole: &str) -> Result<Self, HostListError> {
        let (written, carries_anything) = match whole.strip_suffix(ANYTHING) {
            Some(written) => (written, true),
            None => (whole, false),
        };
        let wrong = |_: &str, why, fix: &str| wrong(whole, why, fix);
        if written.contains("://") || written.contains('/') || written.contains('@') {
            let host =
                NetTarget::parse(written).map_or_else(|_| "the host alone".to_owned(), |t| format!("`{t}`"));
            return Err(wrong(written, "it is a URL".to_owned(), &format!("write {host}")));
        }
        let (name, is_below) = match written.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (written, false),
        };
        if name.contains('*') {
            let why = "a `*` stands for whole names below one, at the beginning";
            return Err(wrong(written, why.to_owned(), "write `*.example.com`"));
        }
        let target = NetTarget::parse(name).map_err(|refused| {
            wrong(written, refused.reason, refused.fix.as_deref().unwrap_or("write a name or an address"))
        })?;
        let hosts = match (target.host, is_below) {
            (host, false) => Hosts::One(host),
            (Host::Name(name), true) if name.contains('.') => Hosts::Below(format!(".{name}")),
            (Host::Name(_), true) => {
                let why = "it would let through every name of a whole top-level domain";
                return Err(wrong(written, why.to_owned(), "write at least two parts: `*.example.com`"));
            }
            (Host::Address(_), true) => {
                return Err(wrong(
                    written,
                    "nothing is below an address".to_owned(),
                    "write the address alone",
                ));
            }
        };
        if carries_anything && target.port.is_none() {
            let why = format!("`{ANYTHING}` lets anything through to one port, and none is named");
            return Err(wrong(written, why, "write `db.example.com:5432/tcp`"));
        }
        if let Hosts::One(Host::Address(IpAddr::V4(four))) = hosts
            && AddressBook::is_one(four)
        {
            let why = "addresses of `198.18.0.0/15` stand for names within a sandbox".to_owned();
            return Err(wrong(written, why, "write the name of the host"));
        }
        Ok(Self { hosts, port: target.port, carries_anything, written: whole.to_owned() })
    }

    fn holds(&self, target: &NetTarget) -> bool {
        // An entry with a port says nothing about a target without one.
        let port = match (self.port, target.port) {
            (None, None) => true,
            (None, Some(port)) => WEB.contains(&port),
            (own, asked) => own == asked,
        };
        port && self.is_about(&target.host)
    }

    fn is_about(&self, host: &Host) -> bool {
        match (&self.hosts, host) {
            (Hosts::One(one), host) => one == host,
            (Hosts::Below(end), Host::Name(name)) => name.len() > end.len() && name.ends_with(end.as_str()),
            (Hosts::Below(_), Host::Address(IpAddr::V4(_) | IpAddr::V6(_))) => false,
        }
    }
}

fn wrong(entry: &str, why: String, fix: &str) -> HostListError {
    HostListError { entry: entry.to_owned(), why, fix: fix.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_hold_what_they_say_and_no_more() {
        for (entry, yes, no) in [
            (
                "example.com",
                "example.com EXAMPLE.com. https://example.com/x http://example.com",
                "example.com:8080 example.com:22 a.example.com example.com.evil.test notexample.com",
            ),
            (
                "*.example.com",
                "a.example.com a.b.example.com:80",
                "a.example.com:1 example.com evilexample.com example.com.test 1.2.3.4",
            ),
            (
                "example.com:443",
                "example.com:443 https://example.com",
                "example.com example.com:80 http://example.com",
            ),
            ("db.example:5432/tcp", "db.example:5432", "db.example db.example:443 db.example:5433"),
            ("10.0.0.7", "10.0.0.7 10.0.0.7:443", "10.0.0.7:22 10.0.0.8 10.0.0.7.test"),
            ("[2606:4700::1]:443", "[2606:4700::1]:443 https://[2606:4700::1]/", "[2606:4700::1]:80"),
            ("bücher.example", "xn--bcher-kva.example", "bucher.example"),
        ] {
            let list = HostList::compile(&[entry.to_owned()]).unwrap();
            let holds = |text: &str| list.entry_for(&NetTarget::parse(text).unwrap()).is_some();
            for text in yes.split(' ') {
                assert!(holds(text), "{entry} and {text}");
            }
            for text in no.split(' ') {
                assert!(!holds(text), "{entry} and {text}");
            }
        }
    }

    #[test]
    fn slips_are_refused() {
        for (entry, fix) in [
            ("*", "`*.example.com`"),
            ("*.com", "two parts"),
            ("a.*.example.com", "`*.example.com`"),
            ("*.10.0.0.1", "the address alone"),
            ("https://example.com/path", "`example.com:443`"),
            ("0x7f.1", "`127.0.0.1`"),
            ("", "a name"),
            ("exa mple.com", "a name"),
            ("example.com:0", "a name"),
        ] {
            let error = HostList::compile(&[entry.to_owned()]).unwrap_err();
            assert!(error.fix.contains(fix), "{entry}: {error}; {}", error.fix);
        }
        assert!(HostList::compile(&vec!["a.test".to_owned(); MAX_ENTRIES + 1]).is_err());
    }
}
