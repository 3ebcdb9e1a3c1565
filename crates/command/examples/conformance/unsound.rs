//! Commands that did harm in a jail after they were allowed, `commands-unsound.json`: none of them may run outside of the sandbox.

use std::path::PathBuf;

use serde_json::Value;
use stockade_command::{CommandContext, CommandPolicy};
use stockade_shell::{ReadOptions, Shell};
use testkit::vectors::Outcome;

pub(super) fn rows(data: &Value) -> Vec<Outcome> {
    let policy = CommandPolicy::builtin();
    super::list(data).iter().enumerate().map(|(number, row)| outcome(&policy, number, row)).collect()
}

fn outcome(policy: &CommandPolicy, number: usize, row: &Value) -> Outcome {
    let word = |key: &str| row[key].as_str().unwrap_or_default();
    let shell = match word("shell") {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        _ => Shell::Sh,
    };
    let folder = |key: &str| Some(PathBuf::from(word(key)));
    let place = CommandContext::new(folder("cwd"), folder("workspace"));
    let text = word("command");
    let is_allowed = policy.decide(text, &ReadOptions::for_shell(shell), &place).is_allowed();
    Outcome::new(format!("unsound-{number}"), !is_allowed, format!("{text:?} is allowed: {}", word("class")))
}
