//! The second judge of the oracle: `judged SHELL TEXTS` writes what the policy without anybody's rules says of each text.
//!
//! `cargo xtask oracle` finds texts that run programs which the crate `shell` did not list. That is no hole where the decision is
//! not to allow them: what changes a `PATH` is asked about, whatever it runs. Texts are separated by NUL; each answer is a line.

#![expect(clippy::disallowed_methods, reason = "reads its arguments, and the file that they name")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "writes decisions")]

use std::process::ExitCode;

use stockade_policy::{CommandContext, CommandPolicy};
use stockade_shell::{ReadOptions, Shell};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shell, file] = arguments.as_slice() else { return wrong() };
    let (Some(shell), Ok(texts)) = (Shell::named(shell), std::fs::read_to_string(file)) else {
        return wrong();
    };
    let policy = CommandPolicy::builtin();
    for text in texts.split_terminator('\0') {
        let decision = policy.decide(text, &ReadOptions::for_shell(shell), &CommandContext::default());
        let causes: Vec<&str> = decision.decisive().map(|part| part.cause.id()).collect();
        println!("{} {text:?} {}", decision.effect, causes.join(" "));
    }
    ExitCode::SUCCESS
}

fn wrong() -> ExitCode {
    eprintln!("usage: judged SHELL TEXTS");
    ExitCode::from(2)
}
