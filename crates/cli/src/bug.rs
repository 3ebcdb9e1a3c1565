//! A bug of this program: told in one line that is safe to show, and never taken for an answer.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

use stockade_text::escape;

/// The most characters of a message that are shown; it may hold a whole text.
const MAX_REASON: usize = 300;

/// Has panics told in these words from here on: what they say may repeat what a stranger wrote.
pub(crate) fn tell() {
    set_hook(Box::new(|info| {
        let trace = Backtrace::capture();
        let trace = match trace.status() {
            BacktraceStatus::Captured => trace.to_string(),
            _ => String::new(),
        };
        // Nobody is left to tell when even this fails.
        io::stderr().write_all(format!("{}{trace}", line(info)).as_bytes()).ok();
    }));
}

/// Does some work; nothing comes of it where a bug ends it.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let message: String =
        info.payload_as_str().unwrap_or("it gives no reason").chars().take(MAX_REASON).collect();
    let place =
        info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    format!("stockade: this is a bug in stockade, please report it: {}{place}\n", escape(&message))
}
