use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::families::names;

/// A row, and one of its paths in folded components.
type Row = (&'static Name, Vec<Cow<'static, str>>);

/// Every path of every row, in folded components.
static PATHS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let paths = names().flat_map(|name| name.paths.iter().map(move |path| (name, *path)));
    paths.map(|(name, path)| (name, path.split('/').map(fold).collect())).collect()
});

/// The same lookup without an index: every row is tried at every component.
fn hits_without_index(root: Root, path: &[&str]) -> Vec<Hit> {
    let path: Vec<Cow<'_, str>> = path.iter().map(|name| fold(name)).collect();
    let mut found = Vec::new();
    let mut inside = if root == Root::Repository { Inside::Repository } else { Inside::None };
    for (at, component) in path.iter().enumerate() {
        let counts = |scope| match scope {
            Scope::Anywhere => true,
            Scope::Home => root == Root::Home && at == 0,
            Scope::Machine => root == Root::Machine && at == 0,
            Scope::Repository => inside.may_begin_a_repository(),
        };
        for (name, parts) in PATHS.iter().filter(|(name, _)| counts(name.scope)) {
            let rest = path.get(at..).unwrap_or_default();
            let leads_there =
                rest.len() >= parts.len() && rest.iter().zip(parts).all(|(name, part)| fits(name, part));
            if leads_there && !is_excepted(name, &path) {
                found.push(Hit { name, length: at + parts.len() });
            }
        }
        inside = inside.after(component);
    }
    found
}

const ROOTS: [Root; 4] = [Root::Folder, Root::Home, Root::Repository, Root::Machine];

fn sorted(mut hits: Vec<Hit>) -> Vec<(usize, &'static str)> {
    hits.sort_by_key(|hit| (hit.length, hit.name.id));
    hits.iter().map(|hit| (hit.length, hit.name.id)).collect()
}

fn check(path: &str) {
    let path: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    for root in ROOTS {
        assert_eq!(sorted(hits(root, &path)), sorted(hits_without_index(root, &path)), "{root:?} {path:?}");
    }
}

#[test]
fn the_index_answers_as_the_rows_do() {
    for name in names() {
        for path in name.paths.iter().chain(name.but).chain(name.matches).chain(name.clean) {
            for filler in if path.contains('*') { &["", "x", "Key.b"][..] } else { &[""] } {
                let plain = path.replace('*', filler);
                check(&format!("{plain}x"));
                check(&format!(".git/modules/{plain}/y"));
            }
        }
    }
}

#[test]
fn beginnings_are_those_of_the_wanted_rows() {
    let is_wanted = |name: &Name| name.is_obeyed();
    let beginnings = Beginnings::of(is_wanted);
    let wanted = || names().filter(|name| name.scope == Scope::Anywhere && is_wanted(name));
    let paths = wanted().flat_map(|name| name.paths.iter().map(move |path| (name, *path)));
    assert!(beginnings.paths().eq(paths), "in the order of the table");
    for path in names().flat_map(|name| name.paths) {
        let first = path.split('/').next().unwrap_or_default().replace('*', "x");
        let of_row = |name: &'static Name| name.paths.iter().map(move |path| (name, *path));
        let fitting = wanted().flat_map(of_row).filter_map(|(name, path)| {
            let (part, rest) = path.split_once('/').map_or((path, None), |(part, rest)| (part, Some(rest)));
            let excepted = rest.is_none() && is_excepted(name, &[fold(&first)]);
            (fits(&fold(&first), &fold(part)) && !excepted).then_some(Beginning { name, rest })
        });
        let key = |beginning: &Beginning| (beginning.name.id, beginning.rest);
        let (mut expected, mut found) = (fitting.collect::<Vec<_>>(), beginnings.with(&first));
        expected.sort_by_key(key);
        found.sort_by_key(key);
        assert_eq!(found, expected, "{first}");
    }
}

proptest! {
    /// Components of the rows, cut and joined at random.
    #[test]
    fn the_index_answers_as_the_rows_do_for_any_path(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, ".{0,3}"), 1..5),
    ) {
        let parts: Vec<&str> = names().flat_map(|name| name.paths).flat_map(|path| path.split('/')).collect();
        let components = picks.iter().map(|(index, way, noise)| {
            let part = parts.get(index.index(parts.len())).copied().unwrap_or_default();
            match way {
                0 => part.replace('*', noise),
                1 => format!("{noise}{part}"),
                2 => format!("{part}{noise}"),
                _ => part.to_uppercase().replace('*', noise),
            }
        });
        check(&components.collect::<Vec<_>>().join("/"));
    }
}
