//! Compares the programs found by other parsers. Where they differ, `cargo xtask oracle` decides by asking bash.

use std::process::ExitCode;

use stockade_shell::{ReadOptions, Script};

use crate::{brush, shuck, tree_sitter};

/// Prints the programs that others find and ours does not.
pub(crate) fn compare(file: &str) -> ExitCode {
    let Ok(texts) = std::fs::read_to_string(file) else {
        eprintln!("cannot read {file}");
        return ExitCode::from(2);
    };
    let mut parser = tree_sitter::parser();
    let (mut read, mut differ) = (0, 0);
    for text in texts.split_terminator('\0') {
        let Some(ours) = ours(text) else { continue };
        read += 1;
        let opinions = [
            ("brush", brush::names(text)),
            ("shuck", shuck::names(text)),
            ("tree-sitter", tree_sitter::names(text, &mut parser)),
        ];
        for (peer, names) in opinions {
            for name in names.iter().filter(|name| is_plain(name) && !ours.contains(name)) {
                println!("{peer} sees {name:?} in {text:?}");
                differ += 1;
            }
        }
    }
    println!("{read} commands read without reservation, {differ} differences");
    ExitCode::SUCCESS
}

/// The names of the programs, when nothing is uncertain.
fn ours(text: &str) -> Option<Vec<String>> {
    let script = Script::read(text, &ReadOptions::default()).ok()?;
    let actions = script.actions();
    let names = actions.runs.iter().map(|run| run.program().map(str::to_owned)).collect::<Option<_>>()?;
    actions.hazards.is_empty().then_some(names)
}

/// Words that the others take for programs where bash does not.
const RESERVED: &[&str] = &[
    "time", "coproc", "do", "done", "for", "in", "if", "then", "elif", "else", "fi", "while", "until",
    "case", "esac", "select", "function",
];

/// Whether a name is written as it is read.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !RESERVED.contains(&name)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+@%,:".contains(&byte))
}
