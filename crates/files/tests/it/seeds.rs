//! The properties, with the seeds of the fuzz targets and with random bytes.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use proptest::prelude::*;

use crate::properties;

/// A fuzz target and its property.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[("text_readings", properties::text_readings)];

#[test]
fn every_seed_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    for (target, property) in TARGETS {
        let seeds: Vec<_> =
            std::fs::read_dir(folder.join(target)).unwrap().map(|seed| seed.unwrap().path()).collect();
        assert!(!seeds.is_empty(), "{target} has no seeds");
        for seed in seeds {
            property(&std::fs::read(&seed).unwrap());
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(data: Vec<u8>) {
        properties::text_readings(&data);
    }
}
