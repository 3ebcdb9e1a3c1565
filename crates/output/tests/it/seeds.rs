//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use crate::extraction;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] =
    &[("extraction", extraction::extraction), ("hidden_text", extraction::hidden_text)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}
