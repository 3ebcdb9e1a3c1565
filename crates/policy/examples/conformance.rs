//! Runs the vectors for tools, joined paths and shell commands: `conformance FOLDER` prints a score for each file.
//!
//! Vectors that need a disk (links below a base, everything in `comma-guard.json`) run in `stockade-guard`.

#![expect(clippy::disallowed_methods, reason = "reads the vectors it is given")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "prints the scores")]

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use stockade_policy::paths::safe_join;
use stockade_policy::tools::{Group, ToolSet};
use stockade_policy::{Profile, ToolCatalog, ToolPolicy, ToolPolicyConfig};

#[path = "conformance/dangerous.rs"]
mod dangerous;
#[path = "conformance/exec.rs"]
mod exec;
#[path = "conformance/shell.rs"]
mod shell;

/// Requirements that are decided otherwise, with the reason.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    ("pol-p28", "an asterisk in an allow list is a pattern, so that tools of MCP servers can be named"),
    (
        "pol-p29",
        "an asterisk in a deny list is a pattern; taking it literally left `browser*` without effect",
    ),
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
    (
        "config_default",
        "without a word in the configuration the profile is `coding`, not `full`: what is not named is not granted",
    ),
];

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: conformance FOLDER, where FOLDER has vectors/comis-tool-policy.json");
        return ExitCode::from(2);
    };
    let vectors = Path::new(&folder).join("vectors");
    let mut failed = false;
    for (name, run) in [
        ("comis-tool-policy.json", tool_policy as fn(&Value) -> Vec<Outcome>),
        ("comis-safepath.json", safe_paths),
        ("shell-commands.json", shell::commands),
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

fn tool_policy(data: &Value) -> Vec<Outcome> {
    let mut outcomes = tables(data);
    outcomes.extend(list(&data["cases"]).iter().map(case));
    outcomes.extend(list(&data["expand"]).iter().map(|row| {
        let names: Vec<&str> = strings(&row["names"]);
        let found = Value::from(Group::expand(&names));
        Outcome::compare(format!("expand {names:?}"), &found, &row["expect"])
    }));
    outcomes
}

fn tables(data: &Value) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (name, expected) in data["profiles"].as_object().into_iter().flatten() {
        let tools = match Profile::from_name(name).map(Profile::tools) {
            Some(ToolSet::All) => Value::from(Vec::<&str>::new()),
            Some(ToolSet::Only(tools)) => Value::from(tools),
            None => Value::Null,
        };
        outcomes.push(Outcome::compare(format!("profile {name}"), &tools, expected));
    }
    for (name, expected) in data["groups"].as_object().into_iter().flatten() {
        let tools = Group::from_name(name).map_or(Value::Null, |group| Value::from(group.tools));
        outcomes.push(Outcome::compare(name, &tools, expected));
    }
    let accepted: Vec<_> =
        strings(&data["config_enum"]).into_iter().filter(|name| Profile::from_name(name).is_some()).collect();
    outcomes.push(Outcome::compare("config_enum", &Value::from(accepted), &data["config_enum"]));
    let default =
        serde_json::json!({ "profile": ToolPolicyConfig::default().profile, "allow": [], "deny": [] });
    outcomes.push(Outcome::compare("config_default", &default, &data["config_default"]));
    outcomes
}

/// Cases are compared leniently, as their source has no errors at load; that a slip is an error is checked beside it.
fn case(row: &Value) -> Outcome {
    let id = row["id"].as_str().unwrap_or("?");
    let tools = strings(&row["tools"]);
    let Ok(config) = serde_json::from_value::<ToolPolicyConfig>(row["policy"].clone()) else {
        return Outcome { id: id.to_owned(), passed: false, detail: "the policy cannot be read".to_owned() };
    };
    let catalog =
        ToolCatalog { tools: tools.iter().map(|&tool| tool.to_owned()).collect(), ..ToolCatalog::default() };
    let (policy, problems) = ToolPolicy::compile_leniently(&config, &catalog);
    let slips = Profile::from_name(&config.profile).is_none();
    if slips && (problems.is_empty() || ToolPolicy::compile(&config, &catalog).is_ok()) {
        return Outcome {
            id: id.to_owned(),
            passed: false,
            detail: "an unknown profile went unnoticed".to_owned(),
        };
    }
    // Where the source throws, an error at load is what is wanted.
    if row.get("comis_throws").is_some() {
        return Outcome {
            id: id.to_owned(),
            passed: slips,
            detail: "a profile that does not exist was accepted".to_owned(),
        };
    }
    let resolution = policy.resolve(tools);
    let allowed: Vec<_> = resolution.allowed.iter().map(|tool| tool.tool).collect();
    let filtered: Vec<_> = resolution.filtered.iter().map(flat).collect();
    let found = serde_json::json!([allowed, filtered]);
    Outcome::compare(id, &found, &serde_json::json!([row["expect_allowed"], row["expect_filtered"]]))
}

/// The shape of the vectors: the reason beside the tool, in snake case.
fn flat(filtered: &stockade_policy::tools::FilteredTool<'_, '_>) -> Value {
    let Ok(Value::Object(reason)) = serde_json::to_value(filtered.reason) else { return Value::Null };
    let snake = |(key, value): (String, Value)| {
        (if key == "denyEntry" { "deny_entry".to_owned() } else { key }, value)
    };
    let mut flat: serde_json::Map<_, _> = reason.into_iter().map(snake).collect();
    flat.insert("tool".to_owned(), Value::from(filtered.tool));
    Value::Object(flat)
}

/// Rows that need links on a disk are left to `stockade-guard`.
fn safe_paths(data: &Value) -> Vec<Outcome> {
    let rows = list(data).iter().filter(|row| row["needs_symlinks"] != true);
    rows.map(|row| {
        let arguments = strings(&row["args"]);
        let (base, segments) = arguments.split_first().map_or(("", &[][..]), |(base, rest)| (*base, rest));
        let joined = safe_join(Path::new(base), segments).ok();
        let found = joined.map_or(Value::Null, |path| Value::from(path.to_string_lossy()));
        let expected = if row["throws"] == true { &Value::Null } else { &row["result"] };
        Outcome::compare(row["note"].as_str().unwrap_or("?"), &found, expected)
    })
    .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}
