//! In which execution steps are counted where the host names none: the session of a harness, or that of a terminal or job.
#![expect(
    clippy::disallowed_methods,
    reason = "asks the kernel when the session began, and which boot this is"
)]

use std::fs;

use stockade_guard::Guard;

/// The most characters of a session's name that are kept.
const MAX_NAME: usize = 100;

/// Returns the execution of a command that names none. The default number of steps is meant for executions that a host begins and
/// ends, so that only a number that was set is counted here.
pub(crate) fn unnamed(guard: &Guard) -> Option<String> {
    guard.config().steps_are_set.then(of_terminal)
}

/// Returns the execution of a call at a hook.
pub(crate) fn of_harness(harness: &str, session: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let session: String = session.chars().filter(is_plain).take(MAX_NAME).collect();
    // A harness that names no session is one process, which began at a terminal or as a job.
    if session.is_empty() { of_terminal() } else { format!("{harness}-{session}") }
}

/// The session that this process belongs to, as setsid(2) makes them: what runs in one terminal, or as one job. Its number alone would
/// come again, so the time of its beginning and the boot stand beside it.
fn of_terminal() -> String {
    let session = rustix::process::getsid(None).map_or(0, |session| session.as_raw_nonzero().get());
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot = boot.get(..8).unwrap_or("0");
    let began = began(session).unwrap_or_default();
    format!("terminal-{boot}-{session}-{began}")
}

/// When a process began, as proc_pid_stat(5) has it: the 22nd field, and the 20th behind the name, which may hold anything.
fn began(process: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_terminal_is_one_execution_and_a_session_of_a_harness_another() {
        assert_eq!(of_terminal(), of_terminal());
        assert_eq!(of_harness("claude", "a-1"), "claude-a-1");
        assert_eq!(of_harness("claude", "\u{1b}[2J a"), "claude-2Ja");
        assert_eq!(of_harness("claude", ""), of_terminal());
        assert!(crate::args::execution(&of_terminal()).is_ok());
    }
}
