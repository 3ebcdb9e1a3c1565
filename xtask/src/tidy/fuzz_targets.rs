//! Form of a fuzz target: one line that calls a property, which the stable tests call too.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::tree::{File, Tree, has_word};

/// The workspace that all of them belong to.
const WORKSPACE: &str = "fuzz/Cargo.toml";

/// Returns the fuzz targets that are not so.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let files = tree.rust().filter(|file| file.path.starts_with("crates/"));
    let targets: Vec<(&File, (&str, &str))> =
        files.filter_map(|file| Some((file, target_of(&file.path)?))).collect();
    let mut names = BTreeSet::new();
    let twice = targets.iter().filter(|(_, (_, name))| !names.insert(*name)).map(|(file, (_, name))| {
        Problem::new(
            &file.path,
            1,
            format!("`{name}` is the name of another target, which is built into the same folder"),
        )
    });
    let twice: Vec<Problem> = twice.collect();
    targets.into_iter().flat_map(|(file, at)| faults(tree, file, at)).chain(twice).collect()
}

/// Returns a crate's folder and the name of a target, from the path of the target.
fn target_of(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.split_once("/fuzz/fuzz_targets/")?;
    Some((folder, name.strip_suffix(".rs")?))
}

fn faults(tree: &Tree, file: &File, (folder, target): (&str, &str)) -> Vec<Problem> {
    let mut messages = Vec::new();
    let statements = file.code.lines().filter(|line| line.contains("fuzz_target!"));
    let property = statements.clone().next().and_then(property_called);
    if statements.count() != 1 || property.is_none() {
        messages
            .push("a target is one line: `fuzz_target!(|data: &[u8]| properties::name(data));`".to_owned());
    }
    let properties = format!("{folder}/tests/it/{}", file_borrowed(file).unwrap_or("properties.rs"));
    if let Some(property) = property {
        let known =
            tree.file(&properties).is_some_and(|file| has_word(&file.code, &format!("fn {property}")));
        if !known {
            messages.push(format!(
                "`{property}` is not a function of {properties}, where stable tests would call it"
            ));
        }
    }
    if !tree.has(&format!("{folder}/fuzz/seeds/{target}")) {
        messages.push(format!("the target has no seeds; put some into {folder}/fuzz/seeds/{target}/"));
    }
    let manifest = format!("{folder}/fuzz/Cargo.toml");
    let is_named = |file: &File| file.text.contains(&format!("fuzz_targets/{target}.rs"));
    if !tree.file(&manifest).is_some_and(is_named) {
        messages.push(format!("{manifest}: it is not a [[bin]] there"));
    }
    let member = format!("\"../{folder}/fuzz\"");
    if !tree.file(WORKSPACE).is_some_and(|workspace| workspace.text.contains(&member)) {
        messages.push(format!("{WORKSPACE}: {folder}/fuzz is not a member"));
    }
    messages.into_iter().map(|message| Problem::new(&file.path, 1, message)).collect()
}

/// The file of tests that a target borrows: `#[path = "../../tests/it/properties.rs"]`.
fn file_borrowed(target: &File) -> Option<&str> {
    target.text.split_once("#[path = \"../../tests/it/")?.1.split('"').next()
}

/// `fuzz_target!(|data: &[u8]| properties::name(data));` calls `name`.
fn property_called(line: &str) -> Option<&str> {
    line.split_once("properties::")?.1.split('(').next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const TARGET: &str = "#![no_main]\nfuzz_target!(|data: &[u8]| properties::settles(data));\n";
    const MANIFEST: &str = "[[bin]]\nname = \"settle\"\npath = \"fuzz_targets/settle.rs\"\n";

    fn files(target: &'static str) -> Vec<(&'static str, &'static str)> {
        vec![
            ("crates/x/fuzz/fuzz_targets/settle.rs", target),
            ("crates/x/fuzz/Cargo.toml", MANIFEST),
            ("fuzz/Cargo.toml", "members = [\"../crates/x/fuzz\"]"),
            ("crates/x/fuzz/seeds/settle/empty", ""),
            ("crates/x/tests/it/properties.rs", "pub fn settles(data: &[u8]) {}"),
        ]
    }

    #[test]
    fn a_target_as_it_should_be() {
        assert_eq!(said(check, &files(TARGET)), [""; 0]);
    }

    #[test]
    fn each_missing_part_is_named() {
        for part in 1..5 {
            let mut files = files(TARGET);
            files.remove(part);
            assert_eq!(said(check, &files).len(), 1, "without part {part}");
        }
    }

    #[test]
    fn the_properties_may_stand_in_another_file_of_the_tests() {
        let target = "#[path = \"../../tests/it/other.rs\"]\nmod properties;\n\
                      fuzz_target!(|data: &[u8]| properties::settles(data));\n";
        let mut files = files(target);
        assert_eq!(said(check, &files).len(), 1);
        files.push(("crates/x/tests/it/other.rs", "pub fn settles(data: &[u8]) {}"));
        assert_eq!(said(check, &files), [""; 0]);
    }

    #[test]
    fn names_are_unique() {
        let mut files = files(TARGET);
        files.extend([
            ("crates/y/fuzz/fuzz_targets/settle.rs", TARGET),
            ("crates/y/fuzz/Cargo.toml", MANIFEST),
            ("crates/y/fuzz/seeds/settle/empty", ""),
            ("crates/y/tests/it/properties.rs", "pub fn settles(data: &[u8]) {}"),
        ]);
        files.retain(|file| file.0 != "fuzz/Cargo.toml");
        files.push(("fuzz/Cargo.toml", "members = [\"../crates/x/fuzz\", \"../crates/y/fuzz\"]"));
        let said = said(check, &files);
        assert!(matches!(said.as_slice(), [one] if one.contains("name of another target")), "{said:?}");
    }

    #[test]
    fn a_target_with_its_own_logic_is_refused() {
        let own = "fuzz_target!(|data: &[u8]| {\n    let x = data.len();\n    assert!(x < 9);\n});\n";
        assert_eq!(said(check, &files(own)).len(), 1);
    }
}
