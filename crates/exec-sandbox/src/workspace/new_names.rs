//! Names of files that are hidden or protected, by their path.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use stockade_names::{Root, Scope, hits};

use super::PACKAGES;
use crate::protect::{Answer, answer};

/// How a file is treated because of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TreatedName {
    /// It is read-only, because other programs obey it.
    Protected,
    /// It is hidden if it contains a secret.
    HiddenWithSecret,
    /// It is hidden, whatever it contains.
    Hidden,
}

/// Returns how a file with this path, relative to a writable directory, is treated, the strictest first: some names are those of
/// programs' settings and of secrets. Parts of repositories are not among them.
pub(crate) fn treated_name(path: &Path) -> BTreeSet<Reverse<TreatedName>> {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    if parts.iter().any(|part| PACKAGES.contains(&&**part)) {
        return BTreeSet::new();
    }
    let rows = hits(Root::Folder, &parts).into_iter();
    let rows = rows.filter(|hit| hit.length == parts.len() && hit.name.scope == Scope::Anywhere);
    let kinds = rows.filter_map(|hit| match answer(hit.name)? {
        Answer::Hide => Some(TreatedName::Hidden),
        Answer::HideWithSecret => Some(TreatedName::HiddenWithSecret),
        Answer::Protect => Some(TreatedName::Protected),
        Answer::ReportSecrets | Answer::Report => None,
    });
    kinds.map(Reverse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_path() {
        use TreatedName::{Hidden, HiddenWithSecret, Protected};
        for (path, expected) in [
            (".env", &[Hidden, HiddenWithSecret][..]),
            ("a/b/.ENV.local", &[Hidden]),
            ("prod.env", &[HiddenWithSecret]),
            ("config/master.key", &[Hidden, HiddenWithSecret]),
            ("a/.Claude", &[Protected]),
            (".mcp.json", &[Protected]),
            (".envrc", &[HiddenWithSecret, Protected]),
            (".claude/settings.json", &[]),
            (".git/config", &[]),
            (".env.example", &[]),
            ("node_modules/x/.env", &[]),
            ("src/main.rs", &[]),
            ("", &[]),
        ] {
            let found: Vec<TreatedName> = treated_name(Path::new(path)).into_iter().map(|it| it.0).collect();
            assert_eq!(found, expected, "{path}");
        }
    }
}
