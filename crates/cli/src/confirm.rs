//! Confirmation of a change by the user, at the terminal.
#![expect(clippy::disallowed_methods, reason = "asks at the terminal")]

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use crate::failure::Failure;

/// Maximum length of an answer in bytes.
const MAX_ANSWER: u64 = 64;

/// Asks for confirmation. Every answer except yes means no. `help` says how to confirm without a terminal.
pub(crate) fn confirmed(question: &str, help: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage("cannot ask for confirmation without a terminal").with_help(help));
    }
    let mut answer = String::new();
    let mut read = || {
        io::stderr().write_all(question.as_bytes())?;
        io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer)
    };
    read().map_err(|error| Failure::incomplete(format_args!("cannot read the answer: {error}")))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
