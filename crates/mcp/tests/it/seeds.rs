//! The properties, with the seeds of the fuzz target and with random bytes.

#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::replay;

#[test]
fn every_seed_passes() {
    replay(&[("mcp_messages", properties::messages)]);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_rejected(line: Vec<u8>) {
        properties::messages(&line);
    }

    #[test]
    fn accepted_messages_are_unambiguous(
        line in r#"\{"jsonrpc":"2.0"(,"(id|method|params|result|error|Method|ID)":("a"|[0-9.e-]{1,4}|null|\{("(name|Name|a|A)":["a ]{0,3},?){0,3}\})){0,4}\}"#
    ) {
        properties::messages(line.as_bytes());
    }
}
