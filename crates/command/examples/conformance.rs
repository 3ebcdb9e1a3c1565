//! Runs the vectors for shell commands: `conformance FOLDER` prints a score for each file.

#![expect(clippy::disallowed_methods, reason = "reads the vectors it is given")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "prints the scores")]

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

#[path = "conformance/dangerous.rs"]
mod dangerous;
#[path = "conformance/exec.rs"]
mod exec;
#[path = "conformance/shell.rs"]
mod shell;

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

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: conformance FOLDER, where FOLDER has vectors/shell-commands.json");
        return ExitCode::from(2);
    };
    let vectors = Path::new(&folder).join("vectors");
    let mut failed = false;
    for (name, run) in [
        ("shell-commands.json", shell::commands as fn(&Value) -> Vec<Outcome>),
        ("shell-validator.json", shell::validator),
        ("comis-exec-validator.json", shell::gate),
        ("comis-exec-gaps.json", shell::gaps),
        ("comis-exec-units.json", shell::units),
        ("cb-dangerous.json", dangerous::rows),
        ("cb-execpolicy.json", exec::policy),
        ("cb-autosandbox.json", exec::router),
    ] {
        let Some(data) = read(&vectors.join(name)) else { return ExitCode::from(2) };
        let outcomes = run(&data);
        for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
            let otherwise = DECIDED_OTHERWISE.iter().find(|(id, _)| *id == outcome.id);
            match otherwise {
                Some((_, reason)) => eprintln!("{name} {}: decided otherwise: {reason}", outcome.id),
                None => eprintln!("{name} {}: {}", outcome.id, outcome.detail),
            }
            failed |= otherwise.is_none();
        }
        let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
        println!("{name}  {passed}/{}", outcomes.len());
    }
    ExitCode::from(u8::from(failed))
}

fn read(path: &Path) -> Option<Value> {
    let text =
        std::fs::read_to_string(path).map_err(|error| eprintln!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text.ok()?)
        .map_err(|error| eprintln!("cannot parse {}: {error}", path.display()))
        .ok()
}

/// What came of one vector.
struct Outcome {
    id: String,
    passed: bool,
    detail: String,
}

impl Outcome {
    fn new(id: String, passed: bool, detail: String) -> Self {
        Self { id, passed, detail }
    }

    fn compare(id: impl Into<String>, found: &Value, expected: &Value) -> Self {
        let detail = format!("expected {expected}, found {found}");
        Self { id: id.into(), passed: found == expected, detail }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}
