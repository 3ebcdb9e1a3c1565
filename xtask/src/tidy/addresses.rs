//! The address of the project is in `Cargo.toml`. Pages that show it repeat it exactly, and placeholders are nowhere else.

use super::problem::Problem;
use super::tree::{File, Tree, numbered};
use crate::release::{Addresses, addresses};

/// Pages whose readers copy an address.
const PAGES: &[&str] =
    &["README.md", "packages/REGISTRIES.md", "docs/src/start/install.md", "docs/src/how-to/ci.md"];

/// Where placeholders may be: the manifest, and the code that knows them.
const SOURCES: &[&str] = &[
    "Cargo.toml",
    "xtask/src/tidy/addresses.rs",
    "xtask/src/release/facts.rs",
    "xtask/src/release/templates.rs",
];

/// Placeholders for what only an owner can fill in.
const PLACEHOLDERS: &[&str] = &["OWNER/", "example.invalid", "ADDRESS-OF-THIS-REPOSITORY"];

/// How an address of ours ends, and how it begins.
const MARKS: &[(&str, Form)] =
    &[("/releases/", Form::Repository), ("/stockade@v", Form::Slug), ("/stockade\n", Form::Repository)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `https://HOST/OWNER/stockade`, in front of the mark or up to its end.
    Repository,
    /// `OWNER/stockade@vVERSION`.
    Slug,
}

/// Returns addresses that differ from those of the manifest, and placeholders elsewhere.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(addresses) = tree.file("Cargo.toml").and_then(|manifest| addresses(&manifest.text)) else {
        return Vec::new();
    };
    tree.files.iter().flat_map(|file| problems_of(file, &addresses)).collect()
}

fn problems_of(file: &File, ours: &Addresses) -> Vec<Problem> {
    let path = file.path.as_str();
    let mut problems = Vec::new();
    for (line, text) in numbered(&file.text) {
        if PAGES.contains(&path) {
            problems.extend(other_address(text, ours).map(|message| Problem::new(path, line, message)));
        } else if !SOURCES.contains(&path)
            && let Some(word) = PLACEHOLDERS.iter().find(|word| text.contains(*word))
        {
            let message =
                format!("`{word}` is a placeholder; only Cargo.toml and the pages in {} have one", file!());
            problems.push(Problem::new(path, line, message));
        }
    }
    problems
}

/// What is wrong with an address in a line of a page.
fn other_address(text: &str, ours: &Addresses) -> Option<String> {
    let line = format!("{text}\n");
    let (at, mark, form) = MARKS.iter().find_map(|(mark, form)| Some((line.find(mark)?, *mark, *form)))?;
    let start = line.get(..at)?.rfind([' ', '(', '"', '<']).map_or(0, |blank| blank + 1);
    let (found, wanted) = match form {
        Form::Repository if mark == "/releases/" => (line.get(start..at)?, ours.repository.clone()),
        Form::Repository => (line.get(start..at + mark.len() - 1)?, ours.repository.clone()),
        Form::Slug => (line.get(start..)?.split_whitespace().next()?, ours.action.clone()),
    };
    let is_one = form == Form::Slug || found.contains("://");
    (is_one && found != wanted)
        .then(|| format!("`{found}` is another address than `{wanted}`, which follows from Cargo.toml"))
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const MANIFEST: (&str, &str) = (
        "Cargo.toml",
        "[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://git.example/acme/stockade\"\n",
    );

    #[test]
    fn pages_repeat_the_address_of_the_manifest() {
        let right = "curl https://git.example/acme/stockade/releases/latest/download/install.sh | sh\n\
                     - uses: acme/stockade@v1.2.3  # x\n- repo: https://git.example/acme/stockade\n\
                     see packages/stockade\n[x](https://other.example/releases)\n";
        assert_eq!(said(check, &[MANIFEST, ("README.md", right)]), [""; 0]);
        for wrong in [
            "curl https://example.invalid/stockade/releases/latest/download/install.sh | sh\n",
            "- uses: OWNER/stockade@v1.2.3\n",
            "- uses: acme/stockade@v1.2.2\n",
            "- repo: https://example.invalid/stockade\n",
            "- repo: https://git.example/other/stockade\n",
        ] {
            let said = said(check, &[MANIFEST, ("README.md", wrong)]);
            assert!(matches!(said.as_slice(), [one] if one.contains("another address")), "{wrong}{said:?}");
        }
    }

    #[test]
    fn placeholders_are_in_the_manifest_alone() {
        for placeholder in PLACEHOLDERS {
            let text = format!("see {placeholder}x\n");
            assert_eq!(said(check, &[MANIFEST, ("docs/src/x.md", &text)]).len(), 1, "{placeholder}");
            assert_eq!(said(check, &[MANIFEST, ("xtask/src/tidy/addresses.rs", &text)]), [""; 0]);
        }
    }
}
