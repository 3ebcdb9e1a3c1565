//! The properties, with the seeds of the fuzz target and with random bytes.
#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use proptest::prelude::*;

use crate::properties;

#[test]
fn every_seed_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/requests");
    let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    assert!(!seeds.is_empty());
    for seed in seeds {
        properties::requests(&std::fs::read(&seed).unwrap());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(line: Vec<u8>) {
        properties::requests(&line);
    }

    #[test]
    fn whatever_looks_like_a_request_is_read(
        line in r#"\[?\{("(jsonrpc|method|params|id)":("2\.0"|"scan"|null|-?[0-9]{1,3}|\{\}|\[1\]),?){0,4}\}?,?\]?"#
    ) {
        properties::requests(line.as_bytes());
    }
}
