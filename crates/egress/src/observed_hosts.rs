//! Observed requests of a command, and the narrowest host list that allows them.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::Asked;
use super::target::NetTarget;
use super::{query_names, suggest_entry};

/// Maximum number of different requests and connections.
const MAX_SEEN: usize = 512;

/// Maximum length of a shown request that no entry can express.
const MAX_SHOWN: usize = 200;

/// The needs of a command, as entries of a host list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observed {
    /// The entries. Together they allow the observed requests, and none of them could be omitted or narrower.
    pub entries: Vec<String>,
    /// Observed requests without an entry: every entry for one of them would allow others as well.
    pub unwritten: Vec<String>,
    /// Number of omitted requests.
    pub left_out: u64,
}

/// Sets of names in queries, with the methods of their requests.
type Variants = BTreeMap<BTreeSet<String>, BTreeSet<String>>;

/// The requests observed so far.
#[derive(Debug, Default)]
pub(super) struct Observations {
    /// Connections whose requests were not visible.
    connections: BTreeSet<String>,
    /// Requests, by target and path.
    requests: BTreeMap<(String, String), Variants>,
    unwritten: BTreeSet<String>,
    seen: usize,
    left_out: u64,
}

impl Observations {
    /// Records an allowed request or connection.
    pub(super) fn see(&mut self, target: &NetTarget, asked: Option<Asked<'_>>) {
        if self.seen >= MAX_SEEN {
            self.left_out += 1;
            return;
        }
        let target = target.to_string();
        let Some(Asked { method, path: whole, .. }) = asked else {
            self.seen += usize::from(self.connections.insert(target));
            return;
        };
        self.seen += usize::from(self.see_request(target, method, whole));
    }

    /// Records a request. Returns whether it is new.
    fn see_request(&mut self, target: String, method: &str, whole: &str) -> bool {
        let names = query_names::written(whole).filter(|_| is_writable(&target, method, whole));
        let Some(names) = names else {
            let shown: String = format!("{method} http://{target}{whole}").chars().take(MAX_SHOWN).collect();
            return self.unwritten.insert(shown);
        };
        let path = whole.split('?').next().unwrap_or_default().to_owned();
        let variants = self.requests.entry((target, path)).or_default();
        variants.entry(names.into_iter().collect()).or_default().insert(method.to_owned())
    }

    /// Returns the necessary entries.
    pub(super) fn needed(&self) -> Observed {
        let requests = self.requests.iter().filter(|((target, _), _)| !self.connections.contains(target));
        let entries = requests.flat_map(|((target, path), variants)| entries(target, path, variants));
        Observed {
            entries: self.connections.iter().cloned().chain(entries).collect(),
            unwritten: self.unwritten.iter().cloned().collect(),
            left_out: self.left_out,
        }
    }
}

fn is_writable(target: &str, method: &str, path: &str) -> bool {
    NetTarget::parse(target)
        .is_ok_and(|target| suggest_entry::entry_for(&target, Some(Asked::new(method, path))).is_some())
}

/// Returns the entries for one path. An entry for a set of names also covers subsets of it.
fn entries(target: &str, path: &str, variants: &Variants) -> Vec<String> {
    let is_covered = |names: &BTreeSet<String>, method: &String| {
        let wider = variants.iter().filter(|(others, _)| *others != names && names.is_subset(others));
        wider.into_iter().any(|(_, methods)| methods.contains(method))
    };
    let left = variants.iter().map(|(names, methods)| {
        let methods: Vec<&str> =
            methods.iter().filter(|method| !is_covered(names, method)).map(String::as_str).collect();
        (names.iter().map(String::as_str).collect::<Vec<_>>().join("|"), methods.join("|"))
    });
    left.filter(|(_, methods)| !methods.is_empty())
        .map(|(names, methods)| format!("{target} {methods} {path} ?{names}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::host_list::{HostList, Ruling};
    use super::*;

    fn lets(entries: &[String], target: &NetTarget, asked: Option<Asked<'_>>) -> bool {
        matches!(HostList::compile(entries).unwrap().rule_on(target, asked), Ruling::Allowed(_))
    }

    #[test]
    fn what_was_seen_is_written_once_and_narrowly() {
        let mut seen = Observations::default();
        for (target, asked) in [
            ("a.example:443", None),
            ("a.example:443", None),
            ("b.example:80", Some(("GET", "/x?q=1"))),
            ("b.example:80", Some(("GET", "/x?q=2"))),
            ("b.example:80", Some(("HEAD", "/x?q=2"))),
            ("b.example:80", Some(("GET", "/x"))),
            ("b.example:80", Some(("GET", "/a;b"))),
            ("c.example:22", None),
        ] {
            let asked = asked.map(|(method, path)| Asked::new(method, path));
            seen.see(&NetTarget::parse(target).unwrap(), asked);
        }
        let needed = seen.needed();
        assert_eq!(needed.entries, ["a.example:443", "c.example:22", "b.example:80 GET|HEAD /x ?q"]);
        assert_eq!((needed.unwritten, needed.left_out), (vec!["GET http://b.example:80/a;b".to_owned()], 0));
    }

    /// Of all lists that this language can write, none is narrower.
    #[test]
    fn the_list_lets_through_what_was_seen_and_no_more() {
        let target = NetTarget::parse("a.example:80").unwrap();
        let mut all = Vec::new();
        for method in ["GET", "HEAD", "POST"] {
            for path in ["/a", "/b", "/a/b"] {
                all.extend(["", "?q=1", "?p=1", "?q=1&p=2"].map(|query| (method, format!("{path}{query}"))));
            }
        }
        let names =
            |path: &str| -> BTreeSet<String> { query_names::written(path).unwrap().into_iter().collect() };
        let mut random = 1_u64;
        for _ in 0..300 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen: Vec<_> = all
                .iter()
                .enumerate()
                .filter(|(at, _)| random >> 20 >> at & 1 == 1)
                .map(|(_, one)| one)
                .collect();
            let mut seen = Observations::default();
            chosen.iter().for_each(|(method, path)| seen.see(&target, Some(Asked::new(method, path))));
            let needed = seen.needed();
            for (method, path) in &all {
                let is_needed = chosen.iter().any(|(other, more)| {
                    let is_same = |path: &str| path.split('?').next().unwrap().to_owned();
                    other == method && is_same(path) == is_same(more) && names(path).is_subset(&names(more))
                });
                let is_let = lets(&needed.entries, &target, Some(Asked::new(method, path)));
                assert_eq!(is_let, is_needed, "{method} {path} of {chosen:?}: {:?}", needed.entries);
            }
            for without in 0..needed.entries.len() {
                let mut fewer = needed.entries.clone();
                fewer.remove(without);
                let is_missed =
                    |(method, path): &&(&str, String)| !lets(&fewer, &target, Some(Asked::new(method, path)));
                assert!(
                    chosen.iter().copied().any(|one| is_missed(&one)),
                    "{without} of {:?}",
                    needed.entries
                );
            }
        }
    }

    #[test]
    fn there_is_an_end_to_it() {
        let target = NetTarget::parse("a.example:80").unwrap();
        let mut seen = Observations::default();
        (0..2_000).for_each(|number| seen.see(&target, Some(Asked::new("GET", &format!("/{number}")))));
        let needed = seen.needed();
        assert_eq!((needed.entries.len(), needed.left_out), (MAX_SEEN, 2_000 - MAX_SEEN as u64));
    }
}
