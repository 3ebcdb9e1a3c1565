//! Host lists of a configuration.

mod entry;

use entry::{Entry, Hosts, wrong};

use super::conditions::{Asked, Conditions, EntryBounds};
use super::match_conditions::{Match, Part};
use super::secret_binding::BoundHost;
use super::target::{Host, NetTarget};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 4_096;

/// Maximum number of ports in a list.
const MAX_PORTS: usize = 128;

/// Hosts that may be connected to: `example.com`, `*.example.com` for all names below it, an address, each optionally with a
/// port. Without one, the ports of the web apply, 443 and 80. A connection has to carry TLS or HTTP that names the same host, or
/// SSH at port 22, unless `/tcp` follows the port. A host that matches no entry is refused.
///
/// Conditions on requests and limits may follow, for connections whose requests are visible: `api.example.com GET|HEAD /v1/**
/// ?page requests=100 rate=10/s upload=1M download=10M for=10m`, and on bodies: `graphql=query|mutation:addStar`,
/// `rpc=tools/list|tools/call:search`. An entry that begins with `!` excludes its hosts, whatever other
/// entries allow: `!tracker.example.com`. Where an entry has conditions on requests, or `inspect`, TLS connections to its host
/// are inspected as well, and a connection that cannot be inspected is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostList {
    entries: Vec<Entry>,
}

/// The rule for targets without an entry, which an additional entry could allow.
pub(super) const NOT_LISTED: &str = "not-listed";

/// The verdict of a list on a request, or on a connection whose requests are not visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ruling<'l> {
    /// Allowed by these entries, within their limits: number, text and limits of each.
    Allowed(Vec<(usize, &'l str, EntryBounds)>),
    /// Denied, by this rule and for this reason.
    Denied(&'static str, String),
    /// The body decides, which was not read yet.
    Later,
}

/// The listening sockets in a sandbox for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listened<'l> {
    /// A name or address.
    One(&'l Host),
    /// Any name with this suffix.
    Below,
}

/// An entry that allows a host of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReachedEntry<'l> {
    pub(super) written: &'l str,
    /// Whether any protocol is allowed, without inspection.
    pub(super) carries_anything: bool,
}

/// A parsed entry, for conversion to other notations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostEntry<'l> {
    /// The host.
    pub host: Host,
    /// Whether it matches all names below the host, but not the host itself.
    pub is_below: bool,
    /// The port; without one, those of the web.
    pub port: Option<u16>,
    /// Whether it is a deny entry.
    pub is_denied: bool,
    /// Whether it has conditions or limits.
    pub has_conditions: bool,
    /// The entry, as written.
    pub written: &'l str,
}

/// An invalid entry of a host list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a valid host entry: {why}", entry.escape_debug())]
#[non_exhaustive]
pub struct HostListError {
    /// The entry.
    pub entry: String,
    /// The reason.
    pub why: String,
    /// The probable intention.
    pub fix: String,
}

impl HostList {
    /// Parses a list.
    ///
    /// # Errors
    /// At the first invalid entry.
    pub fn compile(list: &[String]) -> Result<Self, HostListError> {
        if let Some(entry) = list.get(MAX_ENTRIES) {
            return Err(wrong(
                entry,
                format!("the list has more than {MAX_ENTRIES} entries"),
                "use `*.` for subdomains",
            ));
        }
        let entries: Vec<Entry> =
            list.iter().map(|written| Entry::read(written)).collect::<Result<_, _>>()?;
        let mut ports = std::collections::BTreeSet::new();
        for entry in &entries {
            // Each port needs a listening socket in every sandbox.
            ports.extend(entry.port);
            if ports.len() > MAX_PORTS {
                let why = format!("the list has more than {MAX_PORTS} ports");
                return Err(wrong(&entry.written, why, "remove entries that no command needs"));
            }
        }
        Ok(Self { entries })
    }

    /// Returns the entry that allows a target, as written.
    #[must_use]
    pub fn entry_for(&self, target: &NetTarget) -> Option<&str> {
        let mut entries = self.entries.iter().filter(|entry| !entry.denies && entry.holds(target));
        entries.next().filter(|_| self.denied_by(target).is_none()).map(|entry| entry.written.as_str())
    }

    /// Returns the entry that denies a target without conditions.
    pub(super) fn denied_by(&self, target: &NetTarget) -> Option<&str> {
        // A deny entry with conditions refuses some requests only, which is decided when the request is visible.
        let mut entries = self.entries.iter().filter(|entry| entry.denies && !entry.conditions.look_inside());
        entries.find(|entry| entry.holds(target)).map(|entry| entry.written.as_str())
    }

    /// Decides on a request, or on a connection whose requests are not visible.
    pub(super) fn rule_on(&self, target: &NetTarget, asked: Option<Asked<'_>>) -> Ruling<'_> {
        // All entries are evaluated and not only the first match, so that the order of the list does not matter and
        // each limit counts.
        let mut allowed = Vec::new();
        let mut ambiguous_part = None;
        let (mut may_be_denied, mut may_be_allowed) = (false, false);
        for (number, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.holds(target)) {
            let holds = match asked {
                None if entry.conditions.look_inside() => None,
                None => Some(Match::Yes),
                Some(asked) if entry.denies => Some(entry.conditions.keep_out(asked)),
                Some(asked) => Some(entry.conditions.let_through(asked)),
            };
            match (entry.denies, holds) {
                (_, Some(Match::No)) => {}
                (true, Some(Match::Later)) => may_be_denied = true,
                (false, Some(Match::Later)) => may_be_allowed = true,
                (true, Some(Match::Yes)) => {
                    let reason = format!("the entry `{}` denies it", entry.written);
                    return Ruling::Denied("denied", reason);
                }
                // A request that is not visible could be a denied one.
                (true, Some(Match::Ambiguous(part))) => return ambiguous(part),
                (true, None) => return unseen(),
                (false, Some(Match::Yes)) => {
                    allowed.push((number, entry.written.as_str(), entry.conditions.bounds()));
                }
                // Another entry may allow the request without a look at the ambiguous part.
                (false, Some(Match::Ambiguous(part))) => ambiguous_part = Some(part),
                // Another entry might allow any protocol, which would hide the requests that this entry has conditions for.
                (false, None) => return unseen(),
            }
        }
        // What an entry allows as it is passes without a look at its body.
        match (allowed.is_empty(), may_be_denied, may_be_allowed) {
            (true, _, true) | (false, true, _) => return Ruling::Later,
            (false, false, _) => return Ruling::Allowed(allowed),
            (true, _, false) => {}
        }
        if let Some(part) = ambiguous_part {
            return ambiguous(part);
        }
        Ruling::Denied(NOT_LISTED, "no entry of the list allows such a request".to_owned())
    }

    /// Returns whether an entry for a target has conditions on requests, so that they must be inspected.
    pub(super) fn looks_inside(&self, target: &NetTarget) -> bool {
        self.entries.iter().any(|entry| entry.conditions.look_inside() && entry.holds(target))
    }

    /// Returns whether an entry for a target has conditions on bodies, so that plain requests must be inspected as well.
    pub(super) fn looks_into_bodies(&self, target: &NetTarget) -> bool {
        self.entries.iter().any(|entry| entry.conditions.look_into_bodies() && entry.holds(target))
    }

    /// Returns whether connections to some target are inspected.
    pub(super) fn may_inspect(&self) -> bool {
        let inspects = |entry: &Entry| {
            entry.conditions.look_into_bodies() || entry.conditions.look_inside() && entry.port != Some(80)
        };
        self.entries.iter().any(inspects)
    }

    /// Returns whether an entry allows any protocol to a target. None does if requests must be inspected.
    pub(super) fn carries_anything(&self, target: &NetTarget) -> bool {
        !self.looks_inside(target)
            && self.entries.iter().any(|entry| entry.carries_anything && entry.holds(target))
            && self.denied_by(target).is_none()
    }

    /// Returns the entries that allow a host of a secret, unless another entry denies it without conditions.
    pub(super) fn reached(&self, bound: &BoundHost) -> Vec<ReachedEntry<'_>> {
        let at_port: Vec<_> = self.entries.iter().filter(|entry| entry.has_port(Some(bound.port))).collect();
        let reached = at_port.iter().filter(|entry| !entry.denies).filter_map(|entry| {
            let name = entry.hosts.bound();
            if !name.overlaps(&bound.host) {
                return None;
            }
            // The narrower of both names: only entries about every host in it apply to the secret as a whole.
            let both = if bound.host.covers(&name) { &name } else { &bound.host };
            let mut about: Vec<_> = at_port.iter().filter(|one| one.hosts.bound().covers(both)).collect();
            if about.iter().any(|one| one.denies && !one.conditions.look_inside()) {
                return None;
            }
            about.retain(|one| one.conditions.look_inside());
            let carries_anything = entry.carries_anything && about.is_empty();
            Some(ReachedEntry { written: &entry.written, carries_anything })
        });
        reached.collect()
    }

    /// Returns whether an entry matches a name, at any port.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let host = Host::Name(name.to_owned());
        let is_kept_out = |entry: &Entry| {
            entry.denies && entry.port.is_none() && !entry.conditions.look_inside() && entry.is_about(&host)
        };
        self.entries.iter().any(|entry| !entry.denies && entry.is_about(&host))
            && !self.entries.iter().any(is_kept_out)
    }

    /// Returns the hosts and ports of all entries.
    pub(super) fn listened(&self) -> impl Iterator<Item = (Listened<'_>, Option<u16>)> {
        self.entries.iter().filter(|entry| !entry.denies).map(|entry| match &entry.hosts {
            Hosts::One(host) => (Listened::One(host), entry.port),
            Hosts::Below(_) => (Listened::Below, entry.port),
        })
    }

    /// Returns the parsed entries.
    #[must_use]
    pub fn entries(&self) -> Vec<HostEntry<'_>> {
        let said = |entry: &Entry| match &entry.hosts {
            Hosts::One(host) => (host.clone(), false),
            Hosts::Below(end) => (Host::Name(end.trim_start_matches('.').to_owned()), true),
        };
        let entry = |entry| (entry, said(entry));
        self.entries
            .iter()
            .map(entry)
            .map(|(entry, (host, is_below))| HostEntry {
                host,
                is_below,
                port: entry.port,
                is_denied: entry.denies,
                has_conditions: entry.conditions != Conditions::default(),
                written: &entry.written,
            })
            .collect()
    }

    /// Returns whether an entry contains exactly this host, not a suffix of it.
    pub(super) fn names(&self, target: &NetTarget) -> bool {
        let is_one = |entry: &Entry| !entry.denies && matches!(entry.hosts, Hosts::One(_));
        self.entries.iter().any(|entry| is_one(entry) && entry.holds(target))
    }

    /// Returns whether the list contains the host with another port.
    pub(super) fn has_other_port(&self, target: &NetTarget) -> bool {
        self.entries.iter().any(|entry| !entry.denies && entry.is_about(&target.host))
    }
}

fn ambiguous<'l>(part: Part) -> Ruling<'l> {
    let (rule, reason) = part.refusal();
    Ruling::Denied(rule, reason.to_owned())
}

fn unseen<'l>() -> Ruling<'l> {
    let reason =
        "the list allows only some requests, and requests in this connection cannot be inspected".to_owned();
    Ruling::Denied("unseen", reason)
}

#[cfg(test)]
mod tests {
    use super::super::operations::Reading;
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
            ("*.10.0.0.1", "only the address"),
            ("https://example.com/path", "`example.com:443 GET /path`"),
            ("example.com/v1?a=b", "`example.com GET /v1`"),
            ("https://example.com/", "write `example.com:443`"),
            ("10.0.0.0/8", "each address"),
            ("example.com get|head /x", "write `GET|HEAD`"),
            ("example.com upload=2k", "write `upload=2K`"),
            ("example.com download=5MB", "write `download=5M`"),
            ("0x7f.1", "`127.0.0.1`"),
            ("", "a name"),
            ("exa mple.com", "write a method"),
            ("exa\u{a0}mple.com", "a name"),
            ("example.com:0", "a name"),
            ("!example.com inspect", "remove `inspect`"),
            ("example.com inspect inspect", "remove one of them"),
            ("example.com:443/tcp inspect", "remove `/tcp`"),
            ("example.com:80/tcp GET", "remove `/tcp`"),
            ("!example.com:80/tcp", "`!host`"),
            ("!example.com requests=1", "`!host`"),
            ("!example.com:80 ?", "`!api.example.com:80 ?token`"),
            ("example.com:80 ?page=1", "`?page|q`"),
            ("example.com for=999999999999h", "`for=8760h` at most"),
            ("example.com:80 GET GET! ", "`GET|HEAD`"),
            ("example.com:80 speed=1", "`rate=10/s`"),
            ("example.com GET graphql=query", "add `POST`"),
            ("example.com websocket rpc=a", "remove `websocket`"),
            ("example.com:443/tcp rpc=a", "remove `/tcp`"),
            ("example.com graphql=read", "write `graphql=query|mutation:addStar`"),
            ("example.com graphql=query rpc=a", "remove one of them"),
            ("!", "a name"),
            ("stockade.internal", "remove it"),
            ("!stockade.internal:80", "remove it"),
            ("169.254.169.254", "use --secret"),
            ("[fd00:ec2::254]:80", "use --secret"),
            ("metadata.google.internal", "use --secret"),
        ] {
            let error = HostList::compile(&[entry.to_owned()]).unwrap_err();
            assert!(error.fix.contains(fix), "{entry}: {error}; {}", error.fix);
        }
        assert!(HostList::compile(&vec!["a.test".to_owned(); MAX_ENTRIES + 1]).is_err());
    }

    fn list(entries: &[&str]) -> HostList {
        HostList::compile(&entries.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn requests_are_ruled_on() {
        let entries = [
            "a.example:80 GET|HEAD /v1/**",
            "a.example:80 POST /v1/models ?q requests=2",
            "!a.example:80 GET /v1/secret/**",
            "b.example",
            "!b.example:80 DELETE",
            "!b.example:80 ?token",
            "*.c.example:8080",
            "!x.c.example",
        ];
        let list = list(&entries);
        for (target, method, path, expected) in [
            ("a.example:80", "GET", "/v1/a", "ok"),
            ("a.example:80", "GET", "/v1/%73ecret/a", "denied"),
            ("a.example:80", "GET", "/v1/a/../secret/a", "ambiguous-path"),
            ("a.example:80", "GET", "/v2", "not-listed"),
            ("a.example:80", "POST", "/v1/models?q=1", "ok"),
            ("a.example:80", "POST", "/v1/models?q=1&token=x", "not-listed"),
            ("a.example:80", "POST", "/v1/models?q=1;token=x", "ambiguous-query"),
            ("a.example:80", "PUT", "/v1/models", "not-listed"),
            ("a.example:80", "", "", "unseen"),
            ("a.example:81", "GET", "/v1/a", "not-listed"),
            ("b.example:80", "GET", "/", "ok"),
            ("b.example:80", "GET", "/?x=1", "ok"),
            ("b.example:80", "DELETE", "/", "denied"),
            ("b.example:80", "delete", "/", "denied"),
            ("b.example:80", "GET", "/?token=1", "denied"),
            ("b.example:80", "GET", "/?token=1&x=1", "denied"),
            ("b.example:80", "GET", "/?%74oken=1", "ambiguous-query"),
            ("b.example:80", "", "", "unseen"),
            ("b.example:443", "", "", "ok"),
            ("y.c.example:8080", "", "", "ok"),
            ("x.c.example:8080", "", "", "denied"),
        ] {
            let asked = Some(Asked::new(method, path)).filter(|asked| !asked.method.is_empty());
            let rule = match list.rule_on(&NetTarget::parse(target).unwrap(), asked) {
                Ruling::Allowed(_) => "ok",
                Ruling::Denied(rule, ..) => rule,
                Ruling::Later => "later",
            };
            assert_eq!(rule, expected, "{target} {method} {path}");
        }
        assert!(!list.has_name("x.c.example") && list.has_name("y.c.example") && list.has_name("b.example"));
        assert_eq!(list.entry_for(&NetTarget::parse("x.c.example:8080").unwrap()), None);
    }

    /// By the head of a request first, and by its body where this decides.
    #[test]
    fn operations_are_ruled_on() {
        let (read, write) = (r#"{"query":"{a}"}"#, r#"{"query":"mutation{a}"}"#);
        let (call, stored) = (r#"{"method":"tools/call","params":{"name":"x"}}"#, r#"{"variables":{}}"#);
        let reads = &["a.example POST /graphql graphql=query"][..];
        let denies = &["a.example", "!a.example graphql=mutation"][..];
        let calls = &["a.example rpc=tools/call:x", "a.example GET|DELETE /mcp", "a.example /upload"][..];
        for (entries, method, path, body, by_head, by_body) in [
            (reads, "POST", "/graphql", read, "later", "ok"),
            (reads, "POST", "/graphql", write, "later", "not-listed"),
            (reads, "POST", "/graphql", call, "later", "unread-operations"),
            (reads, "POST", "/graphql", stored, "later", "unread-operations"),
            (reads, "POST", "/graphql", "", "later", "not-listed"),
            (reads, "POST", "/graphql?query=mutation%7Ba%7D", read, "later", "ambiguous-query"),
            (reads, "POST", "/graphql?tag=1", read, "later", "ok"),
            (reads, "POST", "/other", read, "not-listed", "not-listed"),
            (reads, "GET", "/graphql?query=%7Ba%7D", "", "not-listed", "not-listed"),
            (denies, "POST", "/graphql", read, "later", "ok"),
            (denies, "POST", "/graphql", write, "later", "denied"),
            (denies, "PUT", "/graphql", write, "later", "denied"),
            (denies, "POST", "/graphql", stored, "later", "unread-operations"),
            (denies, "POST", "/graphql", call, "later", "unread-operations"),
            (denies, "GET", "/graphql?query=mutation%7Ba%7D", "", "later", "ambiguous-query"),
            (denies, "GET", "/x?y=1", "", "later", "ok"),
            (calls, "POST", "/mcp", call, "later", "ok"),
            (calls, "POST", "/mcp", read, "later", "unread-operations"),
            (calls, "GET", "/mcp", "", "ok", "ok"),
            (calls, "POST", "/upload", read, "ok", "ok"),
            (calls, "PUT", "/mcp", call, "later", "not-listed"),
        ] {
            let list = list(entries);
            let target = NetTarget::parse("a.example:80").unwrap();
            let reading = Reading::of(true, body.as_bytes());
            let rule =
                |reading| match list.rule_on(&target, Some(Asked { reading, ..Asked::new(method, path) })) {
                    Ruling::Allowed(_) => "ok",
                    Ruling::Denied(rule, ..) => rule,
                    Ruling::Later => "later",
                };
            assert_eq!(
                (rule(None), rule(Some(&reading))),
                (by_head, by_body),
                "{entries:?} {method} {path} {body}"
            );
            assert!(list.looks_inside(&target) && list.looks_into_bodies(&target) && list.may_inspect());
        }
    }

    /// What one more entry that keeps out can do is keep out: of what is let through, this and nothing else.
    #[test]
    fn an_entry_that_keeps_out_makes_nothing_milder() {
        let without = ["a.example", "*.b.example:8080", "c.example:80 GET /v1/**"];
        let targets = ["a.example:80", "a.example:443", "x.b.example:8080", "c.example:80", "d.example:80"];
        // A request that is not seen has no path.
        let (unseen, x, y) = ("", "/v1/x?q=1", "/v1/y");
        let is_let = |list: &HostList, target: &str, path| {
            let asked = Some(Asked::new("GET", path)).filter(|asked| asked.path != unseen);
            matches!(list.rule_on(&NetTarget::parse(target).unwrap(), asked), Ruling::Allowed(_))
        };
        for (more, about, kept_out) in [
            ("!a.example", "a.example:80 a.example:443", &[unseen, x, y][..]),
            ("!a.example:80", "a.example:80", &[unseen, x, y]),
            ("!a.example:80 ?q", "a.example:80", &[unseen, x]),
            ("!*.b.example", "x.b.example:8080", &[unseen, x, y]),
            ("!c.example:80 GET", "c.example:80", &[x, y]),
            ("!c.example:80 GET /v1/x", "c.example:80", &[x]),
            ("!c.example:80 ?q", "c.example:80", &[x]),
            ("!d.example", "", &[]),
        ] {
            let (before, after) = (list(&without), list(&[&without[..], &[more]].concat()));
            for (target, path) in targets.iter().flat_map(|target| [unseen, x, y].map(|path| (*target, path)))
            {
                let was_let = is_let(&before, target, path);
                let is_kept_out = about.split(' ').any(|one| one == target) && kept_out.contains(&path);
                assert!(was_let || !is_kept_out, "a row without any effect: {more} {target} {path}");
                assert_eq!(is_let(&after, target, path), was_let && !is_kept_out, "{more} {target} {path}");
            }
        }
    }
}
