//! The properties, with the seeds of the fuzz targets and with random bytes.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] =
    &[("git_index", properties::git_index), ("git_settings", properties::git_settings)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

proptest! {
    #[test]
    fn any_bytes_are_read(data: Vec<u8>) {
        properties::git_settings(&data);
        properties::git_index(&data);
    }

    #[test]
    fn any_settings_are_read(text in "(\\[[a-c.]{0,3}( \"[a\\\\\"\n]{0,2}\")?\\]|[ \t\r\n]|[a-c]{1,2}|=|[\"\\\\#;\n]){0,24}") {
        properties::git_settings(text.as_bytes());
    }

    #[test]
    fn any_index_is_read(rest: Vec<u8>, version in 2_u8..5, count in 0_u8..4) {
        properties::git_index(&[b"DIRC\0\0\0", &[version, 0, 0, 0, count][..], &rest].concat());
    }
}
