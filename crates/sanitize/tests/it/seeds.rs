//! Every seed of the fuzzer, and every input that ever broke a property, on the stable toolchain.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use crate::properties;
use replay::{Property, replay};

const TARGETS: [(&str, Property); 3] = [
    ("sanitizes", properties::sanitizes),
    ("steps_hold_alone", properties::steps_hold_alone),
    ("reads_hidden_messages", properties::reads_hidden_messages),
];

#[test]
fn seeds_hold() {
    replay(&TARGETS);
}
