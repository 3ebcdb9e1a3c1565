//! Names with one meaning: in the whole workspace, and for a reader who is new.

use std::collections::BTreeMap;

use super::items::{Item, items, words};
use super::problem::Problem;
use super::tree::{File, OWN_TOOLS, Tree};

/// Words that a limit is not called by; it is `MAX_…`.
const NOT_MAX: &[&str] = &["most", "longest", "heaviest", "deepest", "largest"];

/// Private words for which the field has a term, and that term. A few synonyms are one term.
const SYNONYMS: &[(&str, &str)] = &[
    ("sieve", "prefilter"),
    ("sift", "run"),
    ("quarry", "prefilter input"),
    ("sightings", "hits"),
    ("loosen", "relax"),
    ("outline", "over-approximating DFA"),
    ("excuse", "exception"),
    ("excuses", "exceptions"),
    ("disguise", "obfuscation"),
    ("disguises", "obfuscations"),
    ("idle quoting", "no-op quoting"),
    ("wish", "request"),
    ("wishes", "requests"),
    ("door", "egress socket"),
    ("doorway", "listener handoff"),
    ("doors", "listener handoff"),
    ("furniture", "rootfs plan"),
    ("furnish", "build rootfs"),
    ("way out", "egress"),
    ("let out", "attach egress"),
    ("wall", "landlock ruleset"),
    ("appetite", "demand"),
];

/// Returns names with two meanings, or that a newcomer could not guess.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = doubles(tree);
    for (file, item) in declared(tree) {
        let messages = [place(&item), not_max(&item), private_word(&item)].into_iter().flatten();
        problems.extend(messages.map(|message| Problem::new(&file.path, item.line, message)));
    }
    problems
}

fn declared(tree: &Tree) -> impl Iterator<Item = (&File, Item<'_>)> {
    let is_tool = |file: &File| OWN_TOOLS.iter().any(|tool| file.path.starts_with(&format!("{tool}/src/")));
    let files = tree.rust().filter(move |file| tree.is_product(file) || is_tool(file));
    files.flat_map(|file| items(file).map(move |item| (file, item)))
}

/// Public types of the same name. A type that is written once for each system in one file counts once.
fn doubles(tree: &Tree) -> Vec<Problem> {
    let mut places: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    // What is never published shares no name with a user's `use`.
    let types = declared(tree).filter(|(file, _)| tree.is_product(file));
    let types = types.filter(|(_, item)| item.is_public && item.is_outermost && item.is_type());
    for (file, item) in types {
        places.entry(item.name).or_default().entry(&file.path).or_insert(item.line);
    }
    let mut problems = Vec::new();
    for (name, files) in &places {
        let Some((first, _)) = files.first_key_value() else { continue };
        problems.extend(files.iter().skip(1).map(|(path, line)| {
            let message = format!("`{name}` means something else in {first}; one public name, one meaning");
            Problem::new(path, *line, message)
        }));
    }
    problems
}

fn place(item: &Item<'_>) -> Option<String> {
    let is_place = item.is_type() && matches!(item.name, "Place" | "Places");
    is_place
        .then(|| format!("`{}` could be anywhere; say of what: a position, a folder, an address", item.name))
}

fn not_max(item: &Item<'_>) -> Option<String> {
    let is_bound = || words(item.name).first().is_some_and(|first| NOT_MAX.contains(&first.as_str()));
    (item.is_constant() && is_bound())
        .then(|| format!("`{}`: what bounds something is called MAX_…", item.name))
}

fn private_word(item: &Item<'_>) -> Option<String> {
    if !item.is_public {
        return None;
    }
    let name = words(item.name).join(" ");
    let (word, say) = SYNONYMS.iter().find(|(word, _)| contains_words(&name, word))?;
    Some(format!("`{}`: use `{say}` instead of `{word}`", item.name))
}

fn contains_words(name: &str, term: &str) -> bool {
    name.contains(term) && format!(" {name} ").contains(&format!(" {term} "))
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn a_public_name_means_one_thing() {
        let twice =
            [("crates/x/src/a.rs", "pub struct Gate;\n"), ("crates/y/src/b.rs", "\npub enum Gate {}\n")];
        let said_twice = said(check, &twice);
        assert!(matches!(said_twice.as_slice(), [one] if one.starts_with("crates/y/src/b.rs:2: `Gate`")));
        for other in [
            "pub(crate) enum Gate {}",
            "struct Gate;",
            "mod m {\n    pub struct Gate;\n}",
            "pub fn Gate() {}",
        ] {
            assert_eq!(said(check, &[twice[0], ("crates/y/src/b.rs", other)]), [""; 0], "{other}");
        }
        let per_system = "#[cfg(unix)]\npub struct Gate;\n#[cfg(windows)]\npub struct Gate;\n";
        assert_eq!(said(check, &[("crates/x/src/a.rs", per_system)]), [""; 0]);
        assert_eq!(said(check, &[twice[0], ("crates/y/tests/it/b.rs", "pub struct Gate;")]), [""; 0]);
    }

    #[test]
    fn names_that_say_nothing_or_something_private_are_refused() {
        for (text, count) in [
            ("struct Place;", 1),
            ("    pub enum Places {}", 1),
            ("pub struct Workplace;", 0),
            ("const MOST_LINES: u8 = 1;", 1),
            ("    const LONGEST: u8 = 1;", 1),
            ("const MAX_LINES: u8 = 1;", 0),
            ("fn most_lines() {}", 0),
            ("pub struct SieveWork;", 1),
            ("pub fn way_out() {}", 1),
            ("pub fn way_about() {}", 0),
            ("fn way_out() {}", 0),
            ("pub struct Wallet;", 0),
        ] {
            assert_eq!(said(check, &[("crates/x/src/a.rs", text)]).len(), count, "{text}");
        }
    }
}
