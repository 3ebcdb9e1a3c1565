//! The judge of the oracle of options: `allowed commands` lists the leading words of everything that the built-in rules allow, and
//! `allowed decide SHELL TEXTS FOLDER` writes their decision on each text of a file, which are separated by NUL.

#![expect(clippy::disallowed_methods, reason = "reads its arguments, and the file that they name")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "writes decisions")]

use std::path::PathBuf;
use std::process::ExitCode;

use stockade_command::rules::CommandPattern;
use stockade_command::{CommandContext, CommandPolicy, CommandRule, Effect};
use stockade_shell::{ReadOptions, Shell};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["commands"] => commands(),
        ["decide", shell, texts, folder] => return decide(shell, texts, folder),
        _ => {
            eprintln!("usage: allowed commands | allowed decide SHELL TEXTS FOLDER");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Prints the words with which an allowed command begins, a line for each combination.
fn commands() {
    let policy = CommandPolicy::builtin();
    let mut lines: Vec<String> = policy
        .rules()
        .filter(|(_, rule)| rule.effect == Effect::Allow)
        .flat_map(|(_, rule)| beginnings(rule))
        .collect();
    lines.sort();
    lines.dedup();
    lines.iter().for_each(|line| println!("{line}"));
}

fn beginnings(rule: &CommandRule) -> Vec<String> {
    let CommandPattern::Prefix(words) = &rule.pattern else { return Vec::new() };
    let mut lines = vec![String::new()];
    for word in
        words.iter().chain(&rule.guards.require.iter().map(|word| vec![word.clone()]).collect::<Vec<_>>())
    {
        let then =
            |line: &String| word.iter().map(|one| format!("{line} {}", plain(one))).collect::<Vec<_>>();
        lines = lines.iter().flat_map(then).collect();
    }
    lines.into_iter().map(|line| line.trim_start().to_owned()).collect()
}

/// Returns a word that a pattern fits.
fn plain(pattern: &str) -> String {
    pattern.replace('*', "").replace('?', "-")
}

fn decide(shell: &str, texts: &str, folder: &str) -> ExitCode {
    let (Some(shell), Ok(texts)) = (Shell::named(shell), std::fs::read_to_string(texts)) else {
        return ExitCode::FAILURE;
    };
    let policy = CommandPolicy::builtin();
    let options = ReadOptions::for_shell(shell);
    let context = CommandContext::new(Some(PathBuf::from(folder)), Some(PathBuf::from(folder)));
    for text in texts.split_terminator('\0') {
        let decision = policy.decide(text, &options, &context);
        let causes: Vec<&str> = decision.decisive().map(|part| part.cause.id()).collect();
        println!("{}\t{}\t{text:?}", decision.effect, causes.join(" "));
    }
    ExitCode::SUCCESS
}
