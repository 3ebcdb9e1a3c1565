//! Runs the vectors for shell commands: `conformance FOLDER` prints a score for each file.

use std::process::ExitCode;

use serde_json::Value;
use testkit::vectors::{Deviations, Vectors};

#[path = "conformance/dangerous.rs"]
mod dangerous;
#[path = "conformance/exec.rs"]
mod exec;
#[path = "conformance/shell.rs"]
mod shell;
#[path = "conformance/unsound.rs"]
mod unsound;

/// Requirements that are decided otherwise, with the reason.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    (
        "xp-264",
        "a variable of which nothing is known may name a program to the one that is started: it belongs into the sandbox",
    ),
    (
        "sc-1789",
        "a call of a function that the same text defines is listed as its body, as in every other row with a function",
    ),
    (
        "sv-258",
        "a `#` after `[[` makes bash stop with a syntax error: nothing runs, and the rejection says so",
    ),
    (
        "exec-t30",
        "after an escaped dollar the parenthesis is a syntax error: what no shell runs is not validated",
    ),
    ("exec-p450", "`=y` means nothing to bash, for which commands are read unless another shell is named"),
    ("exec-g9", "the text that the shell gets is known: it is read, and what it runs is judged as a command"),
    (
        "exec-g10",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g17",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g18",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g19",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g20",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g22",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g23",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g24",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g27",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g28",
        "the text that the shell gets is known: it is read, and what it runs is judged as a command",
    ),
    (
        "exec-g30",
        "code for an interpreter of a language is for the rules and the sandbox, unless it comes from the network",
    ),
    ("exec-g72", "a script of the workspace is for the rules, whichever way it is started"),
    ("exec-g122", "`=(` is an error inside `[[` for bash"),
    ("exec-t212", "what is set before `read` splits the line that it reads, and starts nothing"),
    ("exec-t229", "braces are expanded before a command is judged, so what they spell is seen"),
    ("exec-t252", "a comment is read where the shell reads one, so a quote in it hides nothing"),
    ("exec-t266", "a comment is read where the shell reads one, so a quote in it hides nothing"),
    ("exec-t293", "names a file of another system; the files of ours are named instead"),
    ("cd-274", "only opens a file: what it is, is judged as for every other redirection"),
    ("cd-280", "quoted text is data: it is judged where it is decoded and run"),
    ("cd-283", "prints text: it is judged where the text goes into a shell"),
    ("cd-284", "prints text: it is judged where the text goes into a shell"),
    ("xp-072", "a text that runs nothing needs no permission"),
    ("xp-307", "a commit changes the workspace: it belongs in the sandbox, not before a person"),
    (
        "xp-054",
        "within a layer the most specific rule decides, so that a denial can have exceptions; the seed has it so, and \
         the row calls the question open",
    ),
    (
        "as-062",
        "an interpreter runs whatever its script says: it needs a sandbox, which the row calls the better answer",
    ),
];

const VECTORS: Vectors = Vectors {
    files: &[
        ("shell-commands", shell::commands),
        ("shell-validator", shell::validator),
        ("comis-exec-validator", shell::gate),
        ("comis-exec-gaps", shell::gaps),
        ("comis-exec-units", shell::units),
        ("cb-dangerous", dangerous::rows),
        ("cb-execpolicy", exec::policy),
        ("cb-autosandbox", exec::router),
        ("commands-unsound", unsound::rows),
    ],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::Counted,
};

fn main() -> ExitCode {
    VECTORS.main()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}
