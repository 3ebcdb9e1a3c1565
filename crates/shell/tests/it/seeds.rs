//! Replays what fuzzing has kept.

/// What must hold for every input.
pub(crate) type Property = fn(&[u8]);

/// Runs each property on every seed of the fuzz target of its name.
pub(crate) fn replay(targets: &[(&str, Property)]) {
    for (target, property) in targets {
        let folder = format!("{}/fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
        let seeds: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|seed| seed.unwrap().path()).collect();
        assert!(!seeds.is_empty(), "{folder} has no seeds");
        for seed in seeds {
            property(&std::fs::read(seed).unwrap());
        }
    }
}
