//! Auto traits that users rely on to share results between threads.

use stockade_text::{
    DocumentError, Escaped, Format, LineIndex, Node, PositionCursor, TableEntry, TextPosition, Value,
};

fn is_send_sync_debug<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn results_can_be_shared_and_shown() {
    is_send_sync_debug::<DocumentError>();
    is_send_sync_debug::<Escaped<'_>>();
    is_send_sync_debug::<Format>();
    is_send_sync_debug::<LineIndex<'_>>();
    is_send_sync_debug::<Node>();
    is_send_sync_debug::<PositionCursor<'_>>();
    is_send_sync_debug::<TableEntry>();
    is_send_sync_debug::<TextPosition>();
    is_send_sync_debug::<Value>();
}
