//! Copies of repositories.

use stockade_shell::Run;

use super::commands::rest_of_line;
use super::wiring::{last_part, spelled};

/// The word that every copy of a repository has.
pub(super) const SIGN: &str = "clone";

/// Options with a value of their own.
const WITH_VALUE: &[&str] = &[
    "-b",
    "--branch",
    "--depth",
    "-o",
    "--origin",
    "-c",
    "--config",
    "--reference",
    "-j",
    "--jobs",
    "--filter",
];

/// Returns the directory that `git clone` makes.
pub(super) fn directory(run: &Run<'_>) -> Option<String> {
    let program = run.program().map(last_part)?;
    if !["git", "gh", "hub"].contains(&program) {
        return None;
    }
    let words: Vec<String> = run.argv.iter().skip(1).map(spelled).collect();
    let at = words.iter().position(|word| word == SIGN)?;
    let mut is_value = false;
    let mut named = words.iter().skip(at + 1).filter(|word| {
        let waits = WITH_VALUE.contains(&word.as_str());
        !std::mem::replace(&mut is_value, waits) && !word.starts_with('-')
    });
    let address = named.next()?;
    let of_address = || last_part(address.trim_end_matches('/')).trim_end_matches(".git").to_owned();
    Some(named.next().cloned().unwrap_or_else(of_address))
}

/// Returns the directory that a command changes to.
pub(super) fn entered(run: &Run<'_>) -> Option<String> {
    let program = run.program()?;
    ["cd", "pushd"].contains(&program).then(|| run.argv.get(1).map(spelled)).flatten()
}

/// Whether a text may copy a repository.
pub(super) fn may_clone(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), SIGN.as_bytes()).any(|at| {
        let before = text.get(text.floor_char_boundary(at.saturating_sub(64))..at).unwrap_or_default();
        let is_command = before.contains("git") || before.contains("gh ") || before.contains("hub ");
        is_command && rest_of_line(text.get(at..).unwrap_or_default()).is_none_or(|line| line.contains(' '))
    })
}
