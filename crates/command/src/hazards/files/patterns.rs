//! Path patterns from the table of names, in the notation of [`Target::fits`](super::Target::fits).

use stockade_names::{Scope, fold, names};

use super::shape::FileShape;

/// Returns every pattern of a shape. They live as long as the program, like the table.
pub(super) fn files(shape: &FileShape) -> Vec<&'static str> {
    let rows = names().filter(|name| (shape.names)(name));
    let named = rows.flat_map(|name| {
        let paths = name.paths.iter().filter(|path| !is_below_another(path, name.paths));
        paths.map(|path| spelled(name.scope, path))
    });
    shape.files.iter().copied().chain(named.map(|pattern| &*pattern.leak())).collect()
}

/// Whether another path of the row is a directory around a path, and covers it. Sandboxes need both: they hide files.
fn is_below_another(path: &str, paths: &[&str]) -> bool {
    let mut around = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    around.any(|folder| paths.contains(&folder))
}

/// Returns the exceptions of a shape, case-folded.
pub(super) fn exceptions(shape: &FileShape) -> Vec<&'static str> {
    let rows = names().filter(|name| (shape.names)(name));
    let ends = rows.flat_map(|name| name.but).map(|end| format!("**/{end}"));
    let all = shape.but.iter().map(|&pattern| pattern.to_owned()).chain(ends);
    all.map(|pattern| folded(&pattern)).collect()
}

/// Returns a pattern that can be compared with a case-folded path.
pub(super) fn folded(pattern: &str) -> &'static str {
    let parts: Vec<_> = pattern.split('/').map(fold).collect();
    parts.join("/").leak()
}

/// Returns patterns for a path: the file, and everything below if it is a directory. A name with a glob is a file, so that it
/// need not be searched at every depth.
fn spelled(scope: Scope, path: &str) -> String {
    let ends_in_a_pattern = path.rsplit('/').next().is_some_and(|last| last.contains('*'));
    match scope {
        Scope::Anywhere if ends_in_a_pattern => format!("**/{path}"),
        Scope::Anywhere => format!("**/{path}/**"),
        Scope::Home => format!("~/{path}/**"),
        Scope::Repository => format!("**/.git/{path}/**"),
        Scope::Machine => format!("/{path}/**"),
    }
}
