//! The seeds of the fuzz targets, and everything that ever crashed them, as ordinary tests.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use crate::properties;

/// What has to be true of every input.
type Property = fn(&[u8]);

/// Each target, and the property that it checks.
const TARGETS: &[(&str, Property)] = &[
    ("plans", properties::plans_hold),
    #[cfg(feature = "egress")]
    ("net_target", properties::net_target),
    #[cfg(feature = "egress")]
    ("host_list", properties::host_list),
    #[cfg(feature = "egress")]
    ("proxy_request", properties::proxy_request),
];

#[test]
fn every_seed_passes() {
    for (target, property) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
        let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
        assert!(!seeds.is_empty(), "{target}: there are no seeds");
        for seed in seeds {
            property(&std::fs::read(&seed).unwrap());
        }
    }
}
