//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use crate::properties;

/// A fuzz target and its property.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("extraction", properties::extraction),
    ("hidden_text", properties::hidden_text),
    ("budget", properties::budget),
    ("breaker", properties::breaker),
];

#[test]
fn every_seed_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    for (target, property) in TARGETS {
        let seeds: Vec<_> =
            std::fs::read_dir(folder.join(target)).unwrap().map(|seed| seed.unwrap().path()).collect();
        assert!(!seeds.is_empty(), "{target} has no seeds");
        for seed in seeds {
            property(&std::fs::read(&seed).unwrap());
        }
    }
}
