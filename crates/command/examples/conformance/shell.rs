//! The vectors for the shell reader and the validator.

use serde_json::Value;
use stockade_command::validator::{ValidatorChecks, ValidatorOptions, validate};
use stockade_shell::{Actions, HazardKind, InvocationKind, ReadOptions, Run, Script, Shell};
use testkit::vectors::Outcome;

use super::dangerous::is_stopped;

type Argv = Vec<Option<String>>;

/// `shell-commands.json`: what a text runs. A text that is refused can never be allowed, so it satisfies every
/// row but those that ask for a reason to deny; for these, what it would run is still listed.
pub(super) fn commands(data: &Value) -> Vec<Outcome> {
    rows(&data["vectors"]).iter().map(command).collect()
}

fn command(row: &Value) -> Outcome {
    let (id, text) = (word(row, "id"), word(row, "command"));
    let options = ReadOptions::for_shell(shell(row));
    let is_error = row["verdict_hint"] == "unparseable";
    let read = Script::read(&text, &options);
    if is_error || (read.is_err() && row["must_deny_under"].is_null()) {
        return Outcome::new(id, read.is_err(), format!("{text:?} was read"));
    }
    let Ok(script) = read.or_else(|_| Script::read_despite_appearance(&text, &options)) else {
        return Outcome::new(id, false, format!("{text:?} was refused"));
    };
    let actions = script.actions();
    let problem = missing(row, &actions).or_else(|| files(row, &actions));
    Outcome::new(id, problem.is_none(), format!("{text:?}: {}", problem.unwrap_or_default()))
}

/// Returns what is not listed, or listed although it does not run.
fn missing(row: &Value, actions: &Actions<'_>) -> Option<String> {
    let of = |invocation: InvocationKind| {
        actions.runs.iter().filter(move |run| run.invocation == invocation).map(argv).collect::<Vec<_>>()
    };
    let (written, through) = (of(InvocationKind::AsWritten), of(InvocationKind::Nested));
    let left = unmatched(&row["simple_commands"], written)?;
    if !left.missing.is_empty() || (row["dynamic"] == false && !left.extra.is_empty()) {
        return Some(format!("misses {:?}, adds {:?}", left.missing, left.extra));
    }
    let left = unmatched(&row["unwrapped"], through)?;
    (!left.missing.is_empty()).then(|| format!("does not follow {:?}", left.missing))
}

/// What one side has and the other has not.
struct Left {
    missing: Vec<Argv>,
    extra: Vec<Argv>,
}

fn unmatched(expected: &Value, mut found: Vec<Argv>) -> Option<Left> {
    let mut missing = Vec::new();
    for row in expected.as_array()? {
        let wanted: Argv = row.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect();
        let exact = found.iter().position(|argv| *argv == wanted);
        match exact.or_else(|| found.iter().position(|argv| fits(&wanted, argv))) {
            Some(at) => drop(found.remove(at)),
            None => missing.push(wanted),
        }
    }
    Some(Left { missing, extra: found })
}

/// Compares two commands; an unknown word matches any number of words.
fn fits(left: &[Option<String>], right: &[Option<String>]) -> bool {
    match (left.split_first(), right.split_first()) {
        (None, None) => true,
        (Some((None, rest)), _) if fits(rest, right) => true,
        (Some((None, _)), Some((_, rest))) => fits(left, rest),
        (_, Some((None, rest))) if fits(left, rest) => true,
        (Some((_, rest)), Some((None, _))) => fits(rest, right),
        (Some((one, left)), Some((other, right))) => one == other && fits(left, right),
        _ => false,
    }
}

fn files(row: &Value, actions: &Actions<'_>) -> Option<String> {
    let expected: Vec<(String, Option<String>)> = row["redirects"]
        .as_array()?
        .iter()
        .map(|redirect| (word(redirect, "op"), redirect["target"].as_str().map(str::to_owned)))
        .collect();
    let opened = actions.redirects.iter().filter(|redirect| redirect.opens_file());
    let found: Vec<(String, Option<String>)> = opened
        .map(|redirect| (redirect.operator.as_str().to_owned(), redirect.target.known().map(str::to_owned)))
        .collect();
    (found != expected).then(|| format!("opens {found:?} instead of {expected:?}"))
}

fn argv(run: &Run<'_>) -> Argv {
    run.argv.iter().map(|arg| arg.known().map(str::to_owned)).collect()
}

/// `shell-validator.json`: verdict and kind. `any` must hold for both shells.
pub(super) fn validator(data: &Value) -> Vec<Outcome> {
    let row = |row: &Value| {
        let (id, text) = (word(row, "id"), word(row, "input"));
        let shells: &[Shell] = match row["shell"].as_str() {
            Some("any") => &[Shell::Bash, Shell::Zsh],
            Some("zsh") => &[Shell::Zsh],
            _ => &[Shell::Bash],
        };
        let wrong = shells.iter().find_map(|shell| {
            let kind = rejected(&text, *shell);
            let expected = row["kind"].as_str().map(str::to_owned);
            (kind != expected).then(|| format!("{text:?} in {shell:?}: {kind:?} instead of {expected:?}"))
        });
        Outcome::new(id, wrong.is_none(), wrong.unwrap_or_default())
    };
    rows(&data["vectors"]).iter().map(row).collect()
}

fn rejected(text: &str, shell: Shell) -> Option<String> {
    let options = ValidatorOptions { read: ReadOptions::for_shell(shell), checks: ValidatorChecks::All };
    validate(text, &options).rejection().map(|rejection| rejection.kind.code().to_owned())
}

/// `comis-exec-validator.json`: the gate that looks for substitutions is the validator; what the other gates reject
/// must not run by itself, and what they let pass must be no hazard. Rows that only record what another system did
/// are no requirements, but for substitutions.
pub(super) fn gate(data: &Value) -> Vec<Outcome> {
    let is_substitution = |row: &Value| row["gate"] == "substitution" || row["kind"] == "substitution";
    let is_required =
        |row: &Value| row["source"].as_str().is_some_and(|source| source != "probe") && row["env"].is_null();
    let row = |row: &Value| {
        let (id, text) = (word(row, "id"), word(row, "command"));
        let passes =
            if is_substitution(row) { validated(&text) } else { validated(&text) && !is_stopped(&text) };
        let verdict = if passes { "allow" } else { "reject" };
        let expected = row["gate_verdict"].as_str().or(row["verdict"].as_str());
        Outcome::new(id, Some(verdict) == expected, format!("{text:?}: {verdict}"))
    };
    rows(data).iter().filter(|row| is_substitution(row) || is_required(row)).map(row).collect()
}

/// `comis-exec-gaps.json`: what slipped through a validator of this kind, and what it should have let pass. What hides
/// a command the validator rejects; the rest must not run by itself.
pub(super) fn gaps(data: &Value) -> Vec<Outcome> {
    let row = |row: &Value| {
        let (id, text) = (word(row, "id"), word(row, "command"));
        let wants_reject = row["want"] == "reject";
        let passes =
            validated(&text) && (is_for_the_reader(row, &text) || !wants_reject || !is_stopped(&text));
        Outcome::new(id, passes != wants_reject, format!("{text:?}"))
    };
    rows(data).iter().map(row).collect()
}

/// Substitutions, evaluated text and characters are the reader's business; what a named interpreter does is not.
fn is_for_the_reader(row: &Value, text: &str) -> bool {
    let documented = row["scope"].as_str().is_some_and(|scope| scope.starts_with("documented"));
    let hides_something = Script::read(text, &ReadOptions::default()).map_or(true, |script| {
        let actions = script.actions();
        let is_evaluated = |kind| matches!(kind, HazardKind::EvaluatedText | HazardKind::PromptText);
        !actions.substitutions.is_empty() || actions.hazards.iter().any(|hazard| is_evaluated(hazard.kind))
    });
    documented && hides_something
}

/// `comis-exec-units.json`: the parts of a command.
pub(super) fn units(data: &Value) -> Vec<Outcome> {
    let row = |row: &Value| {
        let text = word(row, "command");
        let expected: Vec<&str> = rows(&row["expect"]).iter().filter_map(Value::as_str).collect();
        let Ok(script) = Script::read(&text, &ReadOptions::default()) else {
            return Outcome::new(text, false, "refused");
        };
        let found: Vec<String> =
            script.actions().runs.iter().map(|run| run.span.of(&text).to_owned()).collect();
        Outcome::new(text, found == expected, format!("{found:?}"))
    };
    rows(&data["split"]).iter().map(row).collect()
}

fn validated(text: &str) -> bool {
    validate(text, &ValidatorOptions::default()).rejection().is_none()
}

fn shell(row: &Value) -> Shell {
    if row["shell"] == "zsh" { Shell::Zsh } else { Shell::Bash }
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}
