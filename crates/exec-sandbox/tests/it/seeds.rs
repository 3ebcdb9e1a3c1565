//! The seeds of the fuzz target, and everything that ever crashed it, as an ordinary test.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use crate::properties::plans_hold;

#[test]
fn every_seed_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/plans");
    let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    assert!(!seeds.is_empty(), "there are no seeds");
    for seed in seeds {
        plans_hold(&std::fs::read(&seed).unwrap());
    }
}
