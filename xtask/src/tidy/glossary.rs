//! The glossary of ARCHITECTURE.md: few words, each with a meaning and with a place where it is at home.

use super::problem::Problem;
use super::tree::{Tree, numbered};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Glossary";

/// The most words that a newcomer can be asked to learn.
const MAX_TERMS: usize = 50;

/// Returns the faults of the glossary.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(document) = tree.file(DOCUMENT) else { return Vec::new() };
    let rows = rows(&document.text);
    let mut problems = Vec::new();
    if rows.is_empty() {
        problems.push(Problem::new(
            DOCUMENT,
            1,
            format!("there is no glossary; write it under \"{HEADING}\""),
        ));
    }
    if rows.len() > MAX_TERMS {
        let message = format!(
            "the glossary has {} words, more than {MAX_TERMS}; a word that needs none goes",
            rows.len()
        );
        problems.push(Problem::new(DOCUMENT, 1, message));
    }
    for (line, cells) in rows {
        let [term, meaning, home] = cells.as_slice() else {
            problems.push(Problem::new(DOCUMENT, line, "a row is: term, meaning, where"));
            continue;
        };
        if meaning.is_empty() {
            problems.push(Problem::new(DOCUMENT, line, format!("`{term}` has no meaning")));
        }
        let paths = home.split('`').skip(1).step_by(2);
        problems.extend(paths.filter(|path| !tree.has(path)).map(|path| {
            Problem::new(
                DOCUMENT,
                line,
                format!("`{term}` is not at home in {path}: there is no such file or folder"),
            )
        }));
    }
    problems
}

/// The cells of each row of the table, without its head.
fn rows(document: &str) -> Vec<(usize, Vec<&str>)> {
    let section = numbered(document).skip_while(|(_, line)| *line != HEADING).skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let table = section.filter(|(_, line)| line.starts_with('|')).skip(2);
    table.map(|(number, line)| (number, cells(line))).collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const HEAD: &str = "## Glossary\n\n| term | meaning | where |\n|---|---|---|\n";

    fn said_of(rows: &str) -> Vec<String> {
        let document = format!("{HEAD}{rows}\n## Next\n| a |\n");
        said(check, &[(DOCUMENT, &document), ("crates/x/src/a.rs", "")])
    }

    #[test]
    fn a_glossary_as_it_should_be() {
        assert_eq!(said_of("| gate | what lets one in | `crates/x`, `crates/x/src/a.rs` |\n"), [""; 0]);
    }

    #[test]
    fn rows_that_do_not_help() {
        for (row, part) in [
            ("", "there is no glossary"),
            ("| gate | | `crates/x` |\n", "has no meaning"),
            ("| gate | lets in | `crates/y` |\n", "not at home in crates/y"),
            ("| gate | lets in |\n", "a row is"),
        ] {
            let said = said_of(row);
            assert!(matches!(said.as_slice(), [one] if one.contains(part)), "{row}: {said:?}");
        }
        assert!(said_of(&"| gate | lets in | `crates/x` |\n".repeat(51))[0].contains("51 words"));
    }
}
