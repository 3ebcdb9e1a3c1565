//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use crate::properties;
#[cfg(feature = "script")]
use crate::scripts;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[
    ("budget", properties::budget),
    ("breaker", properties::breaker),
    #[cfg(feature = "script")]
    ("limit_script", scripts::limit_script),
    #[cfg(feature = "script")]
    ("limit_trace", scripts::limit_trace),
];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}
