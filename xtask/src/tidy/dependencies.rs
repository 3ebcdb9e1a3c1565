//! The table of dependencies in ARCHITECTURE.md: each dependency, its purpose, and code of our own beside it.

use std::collections::BTreeSet;

use super::manifest::entries;
use super::problem::Problem;
use super::tree::{OWN_TOOLS, Tree, numbered};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Dependencies";

/// Returns the dependencies without a row, and the rows without a dependency.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let (Some(root), Some(document)) = (tree.file("Cargo.toml"), tree.file(DOCUMENT)) else {
        return Vec::new();
    };
    let compiled = compiled(tree);
    let normal: Vec<(usize, String)> = entries(root)
        .into_iter()
        .filter(|entry| entry.table == "workspace.dependencies" && compiled.contains(&entry.key))
        .map(|entry| (entry.line, entry.key))
        .collect();
    let rows = rows(&document.text);
    let has_row = |name: &str| rows.iter().any(|(_, row)| row == name);
    let unexplained = normal.iter().filter(|(_, name)| !has_row(name)).map(|(line, name)| {
        let message = format!("`{name}` has no row under \"{HEADING}\" of {DOCUMENT}; describe its purpose");
        Problem::new(&root.path, *line, message)
    });
    let is_used = |name: &str| normal.iter().any(|(_, known)| known == name);
    let gone = rows.iter().filter(|(_, name)| !is_used(name)).map(|(line, name)| {
        Problem::new(DOCUMENT, *line, format!("`{name}` is no dependency of the product; take the row out"))
    });
    unexplained.chain(gone).collect()
}

/// External packages that are compiled into the product; not those of tests, benches and builds.
fn compiled(tree: &Tree) -> BTreeSet<String> {
    let published = tree.crate_folders().into_iter().filter(|folder| !OWN_TOOLS.contains(folder));
    let crates = published.filter_map(|folder| tree.file(&format!("{folder}/Cargo.toml")));
    let named = crates.flat_map(entries).filter(|entry| {
        let of_system = entry.table.starts_with("target.") && entry.table.ends_with(".dependencies");
        entry.table == "dependencies" || of_system
    });
    let is_ours = |name: &String| name.starts_with("stockade-") || OWN_TOOLS.contains(&name.as_str());
    named.map(|entry| entry.dependency().to_owned()).filter(|name| !is_ours(name)).collect()
}

/// The packages that the first column of the table names, with their lines.
fn rows(document: &str) -> Vec<(usize, String)> {
    let section = numbered(document).skip_while(|(_, line)| *line != HEADING).skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let cells = section.filter_map(|(line, text)| Some((line, text.strip_prefix('|')?.split('|').next()?)));
    cells
        .flat_map(|(line, cell)| {
            let names = cell.split('`').skip(1).step_by(2);
            names.map(|name| (line, name.to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const FILES: [(&str, &str); 2] = [
        (
            "Cargo.toml",
            "[workspace.dependencies]\nstockade-x = \"1\"\nserde = \"1\"\ntoml = \"1\"\nregex = \"1\"\n",
        ),
        (
            "crates/y/Cargo.toml",
            "[dependencies]\nstockade-x.workspace = true\nserde.workspace = true\n\
             [target.'cfg(unix)'.dependencies]\ntoml.workspace = true\n[dev-dependencies]\nregex.workspace = true\n",
        ),
    ];

    fn said_of(document: &str) -> Vec<String> {
        said(check, &[FILES[0], FILES[1], (DOCUMENT, document)])
    }

    #[test]
    fn every_dependency_has_a_row_and_every_row_a_dependency() {
        let document = "# A\n## Dependencies\n\n| package | for |\n|---|---|\n| `serde`, `toml` | data |\n## B\n| `x` |\n";
        assert_eq!(said_of(document), [""; 0]);
        let said = said_of("## Dependencies\n| `serde` | data |\n| `regex` | tests |\n");
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("Cargo.toml:4: `toml` has no row"), "{said:?}");
        assert!(said[1].starts_with("ARCHITECTURE.md:3: `regex` is no dependency"), "{said:?}");
    }
}
