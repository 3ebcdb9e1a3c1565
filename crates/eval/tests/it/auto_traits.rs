//! Auto traits that users rely on to share results between threads.

use stockade_eval::{Data, ErrorKind, EvalError, EvalLimits, SourceSpan};

fn is_send_sync_debug<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn results_can_be_shared_and_shown() {
    is_send_sync_debug::<Data>();
    is_send_sync_debug::<EvalError>();
    is_send_sync_debug::<ErrorKind>();
    is_send_sync_debug::<EvalLimits>();
    is_send_sync_debug::<SourceSpan>();
}
