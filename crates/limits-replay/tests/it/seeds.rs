//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use crate::scripts;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] =
    &[("limit_script", scripts::limit_script), ("limit_trace", scripts::limit_trace)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}
