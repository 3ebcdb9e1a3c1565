//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[("budget", properties::budget), ("breaker", properties::breaker)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}
