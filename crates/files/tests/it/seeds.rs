//! The properties, with the seeds of the fuzz targets and with random bytes.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[("text_readings", properties::text_readings)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

proptest! {
    #[test]
    fn any_bytes_are_read(data: Vec<u8>) {
        properties::text_readings(&data);
    }
}
