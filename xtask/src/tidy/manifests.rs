//! Rules for manifests: shared values are defined once, at the root.

use super::manifest::{Entry, entries};
use super::problem::Problem;
use super::tree::{File, OWN_TOOLS, Tree};

/// Keys that each crate inherits from the workspace.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "authors"];

/// Keys that each published crate inherits as well.
const INHERITED_BY_PUBLISHED: &[&str] = &["publish", "repository"];

/// Keys that each published crate sets itself, and why a reader of a registry needs them.
const SAID_BY_PUBLISHED: &[(&str, &str)] = &[
    ("readme", "the front page of the package"),
    ("documentation", "where the interface is explained"),
    ("keywords", "how users find it"),
    ("categories", "where a registry lists it"),
    ("exclude", "what a user has no use for: tests read seeds that are not in the package"),
];

/// Returns the faults of the crates' manifests.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let manifests = tree.crate_folders().into_iter().filter_map(|folder| {
        let manifest = tree.file(&format!("{folder}/Cargo.toml"))?;
        Some((folder, manifest))
    });
    let mut problems: Vec<Problem> =
        manifests.flat_map(|(folder, manifest)| problems_of_crate(folder, manifest)).collect();
    problems.extend(problems_of_root(tree));
    problems
}

fn problems_of_crate(folder: &str, manifest: &File) -> Vec<Problem> {
    let entries = entries(manifest);
    let has = |table: &str, key: &str, value: &str| {
        entries.iter().any(|entry| entry.table == table && entry.key == key && entry.value == value)
    };
    let mut problems = Vec::new();
    let is_published = !OWN_TOOLS.contains(&folder);
    let more = if is_published { INHERITED_BY_PUBLISHED } else { &[] };
    for field in INHERITED.iter().chain(more) {
        if !has("package", &format!("{field}.workspace"), "true") {
            let message = format!(
                "`{field}` is not inherited, so it can differ between crates; write `{field}.workspace = true`"
            );
            problems.push(Problem::new(&manifest.path, 1, message));
        }
    }
    if !has("lints", "workspace", "true") {
        let message = "the workspace's lints do not apply; write `[lints]` and `workspace = true`";
        problems.push(Problem::new(&manifest.path, 1, message));
    }
    let name = match folder.strip_prefix("crates/") {
        Some(short) => format!("\"stockade-{short}\""),
        None => format!("\"{folder}\""),
    };
    if !has("package", "name", &name) {
        problems.push(Problem::new(&manifest.path, 1, format!("the package of {folder} is called {name}")));
    }
    if !entries.iter().any(|entry| entry.table == "package" && entry.key == "description") {
        problems.push(Problem::new(
            &manifest.path,
            1,
            "a crate says in one sentence what it is; write `description`",
        ));
    }
    if is_published {
        problems.extend(unsaid(manifest, &entries));
    }
    problems.extend(own_versions(manifest, &entries));
    problems.extend(bare_features(manifest, &entries));
    problems
}

/// Missing keys of a published crate.
fn unsaid(manifest: &File, entries: &[Entry]) -> Vec<Problem> {
    let says = |key: &str| entries.iter().any(|entry| entry.table == "package" && entry.key == key);
    let unsaid = SAID_BY_PUBLISHED.iter().filter(|(key, _)| !says(key));
    unsaid.map(|(key, why)| Problem::new(&manifest.path, 1, format!("`{key}` is missing: {why}"))).collect()
}

/// Dependencies that state their own version.
fn own_versions(manifest: &File, entries: &[Entry]) -> Vec<Problem> {
    let own = entries.iter().filter(|entry| {
        let inherits =
            entry.key.ends_with(".workspace") || entry.value.replace(' ', "").contains("workspace=true");
        // A header such as `[dependencies.serde]` has no value; its lines are in a table of its own.
        entry.is_dependency() && !inherits && !entry.value.is_empty()
    });
    own.map(|entry| {
        let message = format!(
            "`{}` has a version of its own; put it into [workspace.dependencies] of the root and write `workspace = true`",
            entry.dependency()
        );
        Problem::new(&manifest.path, entry.line, message)
    })
    .collect()
}

/// Features without a comment about their purpose.
fn bare_features(manifest: &File, entries: &[Entry]) -> Vec<Problem> {
    let line_at = |line: usize| manifest.text.lines().nth(line - 1).unwrap_or_default();
    let features = entries.iter().filter(|entry| entry.table == "features" && entry.key != "default");
    let bare = features.filter(|feature| {
        let above = feature.line > 1 && line_at(feature.line - 1).trim_start().starts_with('#');
        !above && !line_at(feature.line).contains('#')
    });
    bare.map(|feature| {
        let message = format!("feature `{}` has no comment; say above it what it brings", feature.key);
        Problem::new(&manifest.path, feature.line, message)
    })
    .collect()
}

/// Workspace dependencies that no crate uses, or whose default features are left on.
fn problems_of_root(tree: &Tree) -> Vec<Problem> {
    let Some(root) = tree.file("Cargo.toml") else { return Vec::new() };
    let members =
        tree.crate_folders().into_iter().filter_map(|folder| tree.file(&format!("{folder}/Cargo.toml")));
    let used: Vec<String> = members
        .flat_map(entries)
        .filter(Entry::is_dependency)
        .map(|entry| entry.dependency().to_owned())
        .collect();
    let mut problems = Vec::new();
    for entry in entries(root).iter().filter(|entry| entry.table == "workspace.dependencies") {
        // A crate of our own may be listed before another one needs it.
        if !used.contains(&entry.key) && !entry.key.starts_with("stockade-") {
            let message = format!("no crate uses `{}`; take it out", entry.key);
            problems.push(Problem::new(&root.path, entry.line, message));
        }
        if !entry.value.replace(' ', "").contains("default-features=false") {
            let message = format!(
                "`{}` has its default features on; write `default-features = false` and name features where it is used",
                entry.key
            );
            problems.push(Problem::new(&root.path, entry.line, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const GOOD: &str = "[package]\nname = \"stockade-cli\"\ndescription = \"x\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\nauthors.workspace = true\n\
        publish.workspace = true\nrepository.workspace = true\nreadme = \"README.md\"\n\
        documentation = \"x\"\nkeywords = [\"x\"]\ncategories = [\"x\"]\nexclude = [\"/tests\"]\n[lints]\nworkspace = true\n";

    #[test]
    fn a_manifest_that_inherits_everything() {
        let dependencies = "[dependencies]\nserde = { workspace = true, features = [\"std\"] }\nclap.workspace = true\n\
            [features]\ndefault = []\n# Reports as JSON.\njson = []\nfast = [] # Speed.\n";
        let root = "[workspace.dependencies]\nserde = { version = \"1\", default-features = false }\n\
            clap = { version = \"4\", default-features = false }\n";
        let manifest = format!("{GOOD}{dependencies}");
        assert_eq!(said(check, &[("crates/cli/Cargo.toml", &manifest), ("Cargo.toml", root)]), [""; 0]);
    }

    #[test]
    fn each_missing_line_is_named() {
        for line in GOOD.lines().filter(|line| line.contains(" = ")) {
            let manifest = GOOD.replace(&format!("\n{line}\n"), "\n");
            let said = said(check, &[("crates/cli/Cargo.toml", &manifest)]);
            assert_eq!(said.len(), 1, "without `{line}`: {said:?}");
        }
    }

    #[test]
    fn own_versions_bare_features_and_unused_dependencies() {
        let manifest = format!("{GOOD}[dependencies]\nserde = \"1\"\n[features]\nfast = []\n");
        let root = "[workspace.dependencies]\nclap = { version = \"4\" }\n\
            stockade-cli = { path = \"x\", default-features = false }\n";
        let said = said(check, &[("crates/cli/Cargo.toml", &manifest), ("Cargo.toml", root)]);
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[0].starts_with("crates/cli/Cargo.toml:19: `serde` has a version of its own"));
        assert!(said[1].starts_with("crates/cli/Cargo.toml:21: feature `fast` has no comment"));
        assert!(said[2].starts_with("Cargo.toml:2: no crate uses `clap`"));
        assert!(said[3].starts_with("Cargo.toml:2: `clap` has its default features on"));
    }
}
