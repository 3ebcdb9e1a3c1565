//! Runs the properties of what decides about shell commands on random commands, and on every seed of the fuzz targets.

use proptest::prelude::{ProptestConfig, proptest};

use crate::decision_properties::decisions_only_get_stricter;
use crate::seeds::{Property, replay};
use crate::shell_properties;

/// The commands that the reader itself is tried with.
#[path = "../../../shell/tests/it/texts.rs"]
mod shell_texts;

/// Fuzz targets: the folder of the seeds, the property.
const TARGETS: &[(&str, Property)] = &[
    ("shell_accepted_text_hides_nothing", shell_properties::shell_accepted_text_hides_nothing),
    ("shell_hazards_stay_found", shell_properties::shell_hazards_stay_found),
    ("decisions_only_get_stricter", decisions_only_get_stricter),
];

#[test]
fn every_shell_seed_is_replayed() {
    replay(TARGETS);
}

#[cfg(feature = "rule-files")]
#[test]
fn every_rule_file_is_replayed() {
    replay(&[("rule_files_reload", crate::rule_file_properties::rule_files_reload)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_properties_hold_for_random_commands(text in shell_texts::texts()) {
        for (_, property) in TARGETS {
            property(&text);
        }
    }
}
