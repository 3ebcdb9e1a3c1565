//! The `use` declarations of a source, with groups written out.

/// One path that is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// Its words, without `*` and without the name after `as`.
    pub(super) path: Vec<String>,
    /// Whether it is handed on to other crates: `pub use`.
    pub(super) is_public: bool,
}

/// Returns the imports of a source without comments and literals.
pub(super) fn uses(code: &str) -> Vec<Use> {
    let mut found = Vec::new();
    let statements = code.split(';').filter_map(|statement| {
        let words = statement.rsplit('\n').scan(true, |goes_on, line| {
            let is_in = *goes_on;
            *goes_on &= !begins_use(line);
            is_in.then_some(line)
        });
        let mut lines: Vec<&str> = words.collect();
        lines.reverse();
        let first = lines.first().filter(|line| begins_use(line))?;
        let (before, path) = first.split_once("use ")?;
        Some((before.trim() == "pub", [path, &lines.get(1..)?.concat()].concat()))
    });
    for (is_public, statement) in statements {
        let mut paths = Vec::new();
        spell(&[], &statement.split_whitespace().collect::<Vec<_>>().join(" "), &mut paths);
        found.extend(paths.into_iter().map(|path| Use { path, is_public }));
    }
    found
}

fn begins_use(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "))
}

/// Writes out `a::{b, c::{d, e}}` below a prefix.
fn spell(prefix: &[String], text: &str, paths: &mut Vec<Vec<String>>) {
    let text = text.trim();
    let (path, group) = text.split_once('{').map_or((text, None), |(path, group)| (path, Some(group)));
    let path = path.split(" as ").next().unwrap_or_default();
    let words = path.split("::").map(str::trim).filter(|word| !word.is_empty() && *word != "*");
    let here: Vec<String> = prefix.iter().cloned().chain(words.map(str::to_owned)).collect();
    match group {
        Some(group) => {
            let inside = group.trim_end().strip_suffix('}').unwrap_or(group);
            members(inside).into_iter().for_each(|member| spell(&here, member, paths));
        }
        None if !text.is_empty() => paths.push(here),
        None => {}
    }
}

/// The members of a group, whose own groups are kept whole.
fn members(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let split = group.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_written_out_and_told_apart() {
        let code = "use std::fmt;\npub use a::{\n    b::{C, D as E},\n    f::*,\n};\npub(crate) use g::H;\nfn f() {}\n";
        let read: Vec<(String, bool)> =
            uses(code).into_iter().map(|used| (used.path.join("::"), used.is_public)).collect();
        let expected =
            [("std::fmt", false), ("a::b::C", true), ("a::b::D", true), ("a::f", true), ("g::H", false)];
        assert_eq!(read, expected.map(|(path, is_public)| (path.to_owned(), is_public)));
    }
}
