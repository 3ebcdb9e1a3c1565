//! The narrowest host list entry that allows a request.

use super::conditions::Asked;
use super::host_list::{HostList, Ruling};
use super::target::NetTarget;
use super::{path_glob, query_names};

/// Maximum number of query names in a suggested entry.
const MAX_NAMES: usize = 32;

/// Returns the entry; nothing if every entry that allows the request would also allow other paths.
pub(super) fn entry_for(target: &NetTarget, asked: Option<Asked<'_>>) -> Option<String> {
    let Some(Asked { method, path: whole, reading, .. }) = asked else { return Some(target.to_string()) };
    let path = whole.split('?').next().unwrap_or_default();
    // A literal star cannot be written in a pattern.
    let is_plain = path_glob::plain(path).is_some_and(|plain| !plain.contains('*'));
    let names = query_names::written(whole).filter(|names| is_plain && names.len() <= MAX_NAMES)?;
    let entry = format!("{target} {method} {path} ?{}", names.join("|"));
    // A body that was read is one that an entry has conditions on.
    let entry = match reading.filter(|reading| !reading.is_empty()) {
        Some(reading) => format!("{entry} {}", reading.written()?),
        None => entry,
    };
    let list = HostList::compile(std::slice::from_ref(&entry)).ok()?;
    matches!(list.rule_on(target, asked), Ruling::Allowed(_)).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_as_narrow_as_it_can_be_written() {
        let target = NetTarget::parse("a.example:80").unwrap();
        for (method, path, expected) in [
            ("GET", "/v1/x", Some("a.example:80 GET /v1/x ?")),
            ("POST", "/v1/x?b=1&a=2&b=3", Some("a.example:80 POST /v1/x ?a|b")),
            ("GET", "/a%20b?q%5B%5D=1", Some("a.example:80 GET /a%20b ?q[]")),
            ("GET", "/a*b", None),
            ("GET", "/a%2Ab", None),
            ("GET", "/a/../b", None),
            ("GET", "/a?%71=1", None),
            ("GET", "/a?x;y=1", None),
            ("GET", "/a?x|y=1", None),
            ("get", "/a", None),
        ] {
            let asked = Asked::new(method, path);
            let entry = entry_for(&target, Some(asked));
            assert_eq!(entry.as_deref(), expected, "{method} {path}");
            let Some(entry) = entry else { continue };
            let list = HostList::compile(&[entry]).unwrap();
            for (method, path) in
                [("PUT", path), (method, "/other"), (method, "/v1/x?z=1"), (method, "/v1/x/y")]
            {
                let other = Asked::new(method, path);
                assert!(matches!(list.rule_on(&target, Some(other)), Ruling::Denied(..)), "{method} {path}");
            }
        }
        for (names, is_written) in [(MAX_NAMES, true), (MAX_NAMES + 1, false)] {
            let path = format!("/?{}", (0..names).map(|name| format!("n{name}&")).collect::<String>());
            assert_eq!(entry_for(&target, Some(Asked::new("GET", &path))).is_some(), is_written);
        }
        assert_eq!(entry_for(&target, None).as_deref(), Some("a.example:80"));
    }
}
