//! Replays what fuzzing has kept. The tests of every crate include this file; the seeds are those of the crate that does.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

/// What must hold for every input.
pub(crate) type Property = fn(&[u8]);

/// Checks each property with every seed of the fuzz target that it is listed with.
pub(crate) fn replay(targets: &[(&str, Property)]) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    for (target, property) in targets {
        let files: Vec<_> =
            std::fs::read_dir(seeds.join(target)).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{target} has no seeds");
        for file in files {
            property(&std::fs::read(file).unwrap());
        }
    }
}
