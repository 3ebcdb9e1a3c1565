//! The second judge of the oracle: `judged SHELL TEXTS` writes what the policy says of each text under rules that allow every program
//! of the jail.
//!
//! `cargo xtask oracle` finds texts that run programs which the crate `shell` did not list. That is no hole where the decision is
//! not to allow them: what changes a `PATH` is asked about, whatever it runs. So that only this decides, and no caution about
//! the programs themselves, all of them are allowed here. Texts are separated by NUL; each answer is a line.

#![expect(clippy::disallowed_methods, reason = "reads its arguments, and the file that they name")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "writes decisions")]

use std::process::ExitCode;

use stockade_command::rules::{CommandPattern, Redirects};
use stockade_command::{
    CommandContext, CommandDefaults, CommandPolicy, CommandRule, Effect, Layer, RuleLayer,
};
use stockade_shell::{ReadOptions, Shell};

/// The programs that the oracle runs, and the builtins that it uses. `.` and `source` are missing: what they run is in a file.
const PROGRAMS: &str = "rm id ls git curl cat echo tee unknown find nohup nice timeout setsid stdbuf xargs env sudo time sh bash zsh : [ \
    alias autoload break builtin caller case command compgen continue coproc declare dirs disable echo emulate enable eval exec \
    exit export false fc fg float functions getln getopts hash history integer jobs kill let local mapfile print printf private pushd \
    pwd read readarray readonly return select set setopt shift shopt strftime sysread test trap true type typeset ulimit umask \
    unalias unset unsetopt vared wait zmodload zparseopts zstyle ./evil.sh /bin/rm noglob nocorrect";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shell, file] = arguments.as_slice() else { return wrong() };
    let (Some(shell), Ok(texts), Some(policy)) =
        (Shell::named(shell), std::fs::read_to_string(file), policy())
    else {
        return wrong();
    };
    for text in texts.split_terminator('\0') {
        let decision = policy.decide(text, &ReadOptions::for_shell(shell), &CommandContext::default());
        let causes: Vec<&str> = decision.decisive().map(|part| part.cause.id()).collect();
        println!("{} {text:?} {}", decision.effect, causes.join(" "));
    }
    ExitCode::SUCCESS
}

/// Allows every program, and every file that a redirection writes.
fn policy() -> Option<CommandPolicy> {
    let rule = |(number, program): (usize, &str)| {
        let pattern = CommandPattern::Prefix(vec![vec![program.to_owned()]]);
        let mut rule = CommandRule::new(format!("program-{number}"), pattern, Effect::Allow);
        rule.guards.redirects = Redirects::Any;
        CommandRule { i_know: true, ..rule }
    };
    let rules = PROGRAMS.split_whitespace().enumerate().map(rule).collect();
    let layer = RuleLayer { layer: Layer::User, rules, overrides: Vec::new() };
    CommandPolicy::compile(vec![layer], CommandDefaults::default()).map_err(|error| eprintln!("{error}")).ok()
}

fn wrong() -> ExitCode {
    eprintln!("usage: judged SHELL TEXTS");
    ExitCode::from(2)
}
