//! What is true of every line that a client sends, however hostile. The fuzz target calls these functions, and so do ordinary
//! tests: with the seeds, and with random bytes. The files are compiled once more here, since the library does not export them.

#[expect(dead_code, reason = "reading requests needs few of the faults")]
#[path = "../../src/fault.rs"]
mod fault;
#[path = "../../src/requests.rs"]
mod requests;

use requests::{MAX_BATCH, MAX_ID, Message, Refused, Request};
use serde_json::value::RawValue;

/// An answer has room for its id, a batch is bounded, and what was read of a line stands in it, whatever is around it.
pub(crate) fn requests(line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    let Some(message) = requests::read(line) else {
        assert!(text.trim_matches([' ', '\t', '\r']).is_empty());
        return;
    };
    let is_json = serde_json::from_slice::<&RawValue>(line).is_ok();
    let elements = match message {
        Message::One(one) => vec![one],
        Message::Batch(elements) => {
            assert!(is_json && (1..=MAX_BATCH).contains(&elements.len()));
            elements
        }
    };
    for element in elements {
        let (id, parameters) = match element {
            Ok(Request { method, parameters, id }) => {
                assert!(is_json && method.len() <= line.len());
                (id, parameters)
            }
            Err(Refused { fault, id }) => {
                assert!(fault.code < 0 && !fault.message.is_empty());
                (id, None)
            }
        };
        for part in [id, parameters].into_iter().flatten() {
            assert!(text.contains(part.get()));
        }
        assert!(id.is_none_or(|id| id.get().len() <= MAX_ID && !id.get().starts_with(['{', '['])));
    }
}
