//! Every seed of the fuzzer, and every input that ever broke a property, on the stable toolchain.
#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use crate::properties;

type Property = fn(&[u8]);

const TARGETS: [(&str, Property); 3] = [
    ("sanitizes", properties::sanitizes),
    ("steps_hold_alone", properties::steps_hold_alone),
    ("reads_hidden_messages", properties::reads_hidden_messages),
];

#[test]
fn seeds_hold() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    for (target, property) in TARGETS {
        let files: Vec<_> =
            std::fs::read_dir(seeds.join(target)).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{target} has no seeds");
        for file in files {
            property(&std::fs::read(file).unwrap());
        }
    }
}
