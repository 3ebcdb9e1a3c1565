//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

#[cfg(feature = "extract")]
use crate::extraction;
use crate::properties;
#[cfg(feature = "script")]
use crate::scripts;

/// A fuzz target and its property.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("budget", properties::budget),
    ("breaker", properties::breaker),
    #[cfg(feature = "extract")]
    ("extraction", extraction::extraction),
    #[cfg(feature = "extract")]
    ("hidden_text", extraction::hidden_text),
    #[cfg(feature = "script")]
    ("limit_script", scripts::limit_script),
    #[cfg(feature = "script")]
    ("limit_trace", scripts::limit_trace),
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
