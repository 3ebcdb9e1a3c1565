//! The properties, with the seeds of the fuzz targets and with random changes to a sound trail.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[
    ("audit_note", properties::note),
    ("audit_record", properties::record),
    ("audit_verify", properties::verify),
];

fn seeds(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target)
}

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

/// The seeds would say little if none of them were a trail as this program writes it.
#[test]
fn the_sound_seed_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::fs::copy(seeds("audit_verify").join("sound"), &path).unwrap();
    let verified = stockade_audit::AuditTrail::open_to_read(&path).unwrap().verify(None).unwrap();
    assert!(verified.intact() && verified.records == 5, "{verified:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_changed_trail_has_an_answer(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut trail = std::fs::read(seeds("audit_verify").join("sound")).unwrap();
        for (at, byte) in edits {
            let at = at.index(trail.len());
            trail[at] = byte;
        }
        properties::verify(&trail);
        trail.split(|byte| *byte == b'\n').for_each(properties::record);
    }

    #[test]
    fn any_text_has_an_answer(text in any::<String>()) {
        properties::verify(text.as_bytes());
        properties::record(text.as_bytes());
        properties::note(text.as_bytes());
    }
}
