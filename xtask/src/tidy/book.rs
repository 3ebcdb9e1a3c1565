//! The book in `docs`: every page is in its table of contents, in `llms.txt` and in `stockade docs`, and includes files that are there.

use super::markdown::resolve;
use super::problem::Problem;
use super::tree::{File, Tree, numbered};

const PAGES: &str = "docs/src/";
const CONTENTS: &str = "docs/src/SUMMARY.md";
const FOR_MODELS: &str = "docs/llms.txt";
const IN_TERMINALS: &str = "crates/cli/src/commands/docs/pages.rs";

/// Pages of one task, and the most lines that such a page has.
const TASKS: &str = "docs/src/how-to/";
const MAX_LINES: usize = 80;

/// Returns pages that readers do not find, and that show nothing.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let is_page =
        |file: &&File| file.path.starts_with(PAGES) && file.path.ends_with(".md") && file.path != CONTENTS;
    let pages: Vec<&File> = tree.files.iter().filter(is_page).collect();
    let listed = pages.iter().flat_map(|page| unlisted(tree, page));
    let included = pages.iter().flat_map(|page| missing_includes(tree, page));
    let long = pages.iter().filter_map(|page| too_long(page));
    listed.chain(included).chain(long).collect()
}

fn unlisted(tree: &Tree, page: &File) -> Vec<Problem> {
    let name = page.path.strip_prefix(PAGES).unwrap_or(&page.path);
    let lists = [
        (CONTENTS, format!("]({name})")),
        (FOR_MODELS, format!("](src/{name})")),
        (IN_TERMINALS, format!("/docs/{name}\"")),
    ];
    let missing = lists.iter().filter(|(list, link)| {
        let listed = tree.file(list).map_or(0, |list| list.text.matches(link.as_str()).count());
        listed != 1
    });
    let problem =
        |list: &str| Problem::new(list, 1, format!("the page `{name}` is not listed exactly once; list it"));
    missing.map(|(list, _)| problem(list)).collect()
}

fn missing_includes(tree: &Tree, page: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in numbered(&page.text) {
        let Some((_, rest)) = text.split_once("{{#include ") else { continue };
        let target = rest.split([':', '}']).next().unwrap_or_default();
        if tree.file(&resolve(&page.path, target)).is_none() {
            problems.push(Problem::new(&page.path, line, format!("`{target}` is included, but not there")));
        }
    }
    problems
}

fn too_long(page: &File) -> Option<Problem> {
    let lines = page.text.lines().count();
    let is_long = page.path.starts_with(TASKS) && lines > MAX_LINES;
    is_long.then(|| {
        Problem::new(&page.path, lines, format!("a page of one task has at most {MAX_LINES} lines; split it"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn pages_are_listed_and_complete() {
        let pages = [
            ("docs/src/SUMMARY.md", "- [A](how-to/a.md)\n"),
            ("docs/llms.txt", "- [A](src/how-to/a.md): about a\n"),
            ("crates/cli/src/commands/docs/pages.rs", "include_str!(\"../docs/how-to/a.md\")\n"),
            ("docs/src/how-to/a.md", "# A\n{{#include ../../../x/B.md:3:}}\n"),
            ("x/B.md", "# B\n"),
        ];
        assert_eq!(said(check, &pages), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_reported() {
        let long = "\n".repeat(MAX_LINES + 1);
        let pages = [
            ("docs/src/SUMMARY.md", "- [A](a.md)\n- [A](a.md)\n"),
            ("docs/llms.txt", "- [A](src/a.md)\n"),
            ("crates/cli/src/commands/docs/pages.rs", "\"../docs/a.md\" \"../docs/how-to/b.md\"\n"),
            ("docs/src/a.md", "# A\n{{#include ../../x/B.md}}\n"),
            ("docs/src/how-to/b.md", long.as_str()),
        ];
        assert_eq!(
            said(check, &pages),
            [
                "docs/src/SUMMARY.md:1: the page `a.md` is not listed exactly once; list it",
                "docs/src/SUMMARY.md:1: the page `how-to/b.md` is not listed exactly once; list it",
                "docs/llms.txt:1: the page `how-to/b.md` is not listed exactly once; list it",
                "docs/src/a.md:2: `../../x/B.md` is included, but not there",
                "docs/src/how-to/b.md:81: a page of one task has at most 80 lines; split it",
            ]
        );
    }
}
