//! The seeds of the fuzz targets, and every input that ever crashed one, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;
use stockade_names::{Root, Treatment, names, treatment};

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[("lookup", properties::lookup)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

#[test]
fn every_path_of_the_table_passes() {
    for name in names() {
        for path in name.paths.iter().chain(name.matches).chain(name.clean) {
            properties::lookup(path.as_bytes());
        }
    }
}

fn part() -> impl Strategy<Value = String> {
    let paths: Vec<&str> = names().flat_map(|name| name.paths).copied().collect();
    prop_oneof![
        proptest::sample::select(paths).prop_map(str::to_owned),
        "[a-zA-Z.~*: é\u{200c}]{0,8}",
        ".{0,12}"
    ]
}

proptest! {
    #[test]
    fn any_path_passes(parts in prop::collection::vec(part(), 0..6)) {
        properties::lookup(parts.join("/").as_bytes());
    }

    /// What is in a directory is treated at least as strictly as the directory, but for the exceptions of rows.
    #[test]
    fn what_lies_below_is_meant_too(parts in prop::collection::vec(part(), 1..4)) {
        let path = parts.join("/");
        let above = treatment(Root::Folder, path.split('/').filter(|name| !name.is_empty()));
        let below = treatment(Root::Folder, path.split('/').chain(["x"]).filter(|name| !name.is_empty()));
        prop_assert!(below.covers(above), "{}", path);
    }
}

/// The lookup of a long path takes as long per component as that of a short one.
#[test]
fn long_paths_are_looked_up_without_harm() {
    let long = vec!["node_modules"; 100_000];
    assert_eq!(treatment(Root::Folder, &long), Treatment::default());
}
