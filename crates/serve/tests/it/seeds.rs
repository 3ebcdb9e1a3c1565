//! The properties, with the seeds of the fuzz target and with random bytes.

#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::replay;

#[test]
fn every_seed_passes() {
    replay(&[("requests", properties::requests)]);
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
