//! The execution for step limits, if the host names none: the session of a harness, or of a terminal or job.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the session, its start time and the boot ID from /proc"
)]

use std::fs;

use stockade_guard::Guard;

/// Maximum number of characters of a session's name.
const MAX_NAME: usize = 100;

/// Parses the name of an execution.
///
/// # Errors
/// When it is empty or longer than 128 bytes.
pub fn parse_name(text: &str) -> Result<String, String> {
    match (1..=128).contains(&text.len()) {
        true => Ok(text.to_owned()),
        false => Err("the name of an execution has 1 to 128 bytes".to_owned()),
    }
}

/// Returns the execution of a command that names none. The default limit is meant for executions that a host starts and ends, so
/// only an explicit limit applies here.
pub fn unnamed(guard: &Guard) -> Option<String> {
    guard.config().steps_are_set.then(of_terminal)
}

/// Returns the execution of a hook call.
pub fn of_harness(harness: &str, session: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let session: String = session.chars().filter(is_plain).take(MAX_NAME).collect();
    // Without a session id, the harness is one process, in a terminal session or a job.
    if session.is_empty() { of_terminal() } else { format!("{harness}-{session}") }
}

/// Returns the name of this process's terminal session or job, as setsid(2) creates them. Session numbers are reused, so the name
/// includes the start time of the session leader and the boot id.
fn of_terminal() -> String {
    let session = field("self", SESSION).unwrap_or_else(|| std::os::unix::process::parent_id().to_string());
    // The kernel reports 0 if the leader is outside of this PID namespace. All such processes then share its first process.
    let leader = if session == "0" { "1" } else { &session };
    let started = field(leader, START_TIME).unwrap_or_default();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot = boot.get(..8).unwrap_or("0");
    format!("terminal-{boot}-{session}-{started}")
}

/// Field positions in proc_pid_stat(5) after the program's name, which may contain any byte.
const SESSION: usize = 3;
const START_TIME: usize = 19;

/// Reads a field of a process's `stat` file. Not `getsid`, since `rustix` expects a number above 0 from it.
fn field(process: &str, position: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(position).map(str::to_owned)
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
        assert!(parse_name(&of_terminal()).is_ok());
    }
}
