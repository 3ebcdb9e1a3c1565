//! Panics of this program: reported in one line of safe text, and never taken for a result.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

use stockade_text::escape;

/// Maximum number of characters of a panic message, which may contain a whole input.
const MAX_REASON: usize = 300;

/// Installs a panic hook that escapes messages, since they may quote untrusted text.
pub(crate) fn tell() {
    set_hook(Box::new(|info| {
        let trace = Backtrace::capture();
        let trace = match trace.status() {
            BacktraceStatus::Captured => trace.to_string(),
            _ => String::new(),
        };
        // A failure to write to standard error cannot be reported anywhere.
        io::stderr().write_all(format!("{}{trace}", line(info)).as_bytes()).ok();
    }));
}

/// Runs a closure; returns `None` if it panics.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let message: String = info.payload_as_str().unwrap_or("no message").chars().take(MAX_REASON).collect();
    let place =
        info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    format!("stockade: this is a bug in stockade, please report it: {}{place}\n", escape(&message))
}
