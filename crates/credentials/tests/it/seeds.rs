//! The seeds of the fuzz target, and every input that ever crashed it, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[("redaction", properties::redaction)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_redacted(text in "([a-z]{1,4}|[-_=:'\"$ \n\\\\]|https://|token|mysql -p|ghp_|-----BEGIN PRIVATE KEY-----|eyJ){0,24}|.{0,60}") {
        properties::redaction(text.as_bytes());
    }
}
