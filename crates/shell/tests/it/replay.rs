//! Runs the properties on random commands, and on every seed of the fuzz targets.

use proptest::prelude::{ProptestConfig, proptest};

use crate::properties;
use crate::seeds::{Property, replay};
use crate::texts::texts;

/// Fuzz targets: the directory of seeds, the property.
const TARGETS: &[(&str, Property)] = &[
    ("reading_is_bounded", properties::reading_is_bounded),
    ("quoting_changes_nothing", properties::quoting_changes_nothing),
    ("suffix_hides_nothing", properties::suffix_hides_nothing),
    ("canonical_text_runs_the_same", properties::canonical_text_runs_the_same),
];

#[test]
fn every_seed_is_replayed() {
    replay(TARGETS);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_properties_hold_for_random_commands(text in texts()) {
        for (_, property) in TARGETS {
            property(&text);
        }
    }
}
