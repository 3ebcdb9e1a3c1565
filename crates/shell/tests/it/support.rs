//! Short forms for the tests of the shell reader.

use stockade_shell::{InvocationKind, ReadErrorKind, ReadOptions, Run, Script, Shell};

/// Parses a text for a shell, or returns the kind of error.
pub(crate) fn read(text: &str, shell: Shell) -> Result<Script<'_>, ReadErrorKind> {
    Script::read(text, &ReadOptions::for_shell(shell)).map_err(|error| error.kind)
}

/// Everything that bash runs, each as one line: `rm -rf …` where the rest is not certain.
pub(crate) fn runs(text: &str) -> Vec<String> {
    runs_in(text, Shell::Bash)
}

/// Everything that a shell runs.
pub(crate) fn runs_in(text: &str, shell: Shell) -> Vec<String> {
    let script = read(text, shell).unwrap_or_else(|reason| panic!("{text:?} was refused: {reason:?}"));
    let actions = script.actions();
    actions.runs.iter().filter(|run| run.invocation != InvocationKind::Function).map(line).collect()
}

fn line(run: &Run<'_>) -> String {
    let words: Vec<String> = run.argv.iter().map(ToString::to_string).collect();
    words.join(" ")
}
