//! The vectors for dangerous commands.
//!
//! The source of these rows knows categories and severities; what is compared is what they lead to. A command that
//! is *dangerous* or *denied* must not run by itself: its least decision is to ask, and without a person who can be asked
//! that is a refusal.

use serde_json::Value;
use stockade_command::hazards::{Floor, all_hazards};
use stockade_command::validator::validate;
use stockade_shell::{Actions, ReadOptions, Script};
use testkit::vectors::Outcome;

use super::strings;

/// `cb-dangerous.json`. Rows with rules of their own are for the rules.
pub(super) fn rows(data: &Value) -> Vec<Outcome> {
    super::list(data).iter().filter_map(row).collect()
}

fn row(row: &Value) -> Option<Outcome> {
    let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let id = word("id");
    let problem = match row["kind"].as_str()? {
        "name" => named(&word("name")),
        "parse" => parsed(&word("input"), &strings(&row["expect_names_unordered"])),
        "contains" => contains(&word("command"), &strings(&row["expect_contains"])),
        "pattern" => pattern(&word("command"), row["expect_category"].is_string()),
        "secret_path" => (!is_stopped(&word("command"))).then(|| "may run by itself".to_owned()),
        _ => return None,
    };
    Some(Outcome::new(id, problem.is_none(), problem.unwrap_or_default()))
}

/// A program by itself does nothing: it is dangerous with something to destroy.
fn named(name: &str) -> Option<String> {
    let uses = [format!("{name} -rf /"), format!("{name} /dev/sda"), format!("{name} rm -rf /")];
    (!uses.iter().any(|text| is_stopped(text))).then(|| "is not dangerous with anything".to_owned())
}

fn parsed(text: &str, expected: &[&str]) -> Option<String> {
    let Ok(script) = Script::read(text, &ReadOptions::default()) else { return Some("refused".to_owned()) };
    let mut found = names(&script.actions());
    // `[[` is a part of the grammar, which runs nothing.
    let mut expected: Vec<String> =
        expected.iter().filter(|name| **name != "[[").map(|name| (*name).to_owned()).collect();
    found.sort();
    expected.sort();
    (found != expected).then(|| format!("{found:?} instead of {expected:?}"))
}

/// What is looked for is found, and with the root in place of its file it is stopped.
fn contains(text: &str, expected: &[&str]) -> Option<String> {
    let Ok(script) = Script::read(text, &ReadOptions::default()) else { return Some("refused".to_owned()) };
    let found = names(&script.actions());
    let misses =
        expected.iter().any(|name| !found.iter().any(|found| found.rsplit('/').next() == Some(*name)));
    if misses {
        return Some(format!("{found:?}"));
    }
    let worse =
        text.replace("rm x", "rm -rf /").replace("rm {}", "rm -rf /").replace("rm ::: a b", "rm -rf ::: /");
    (!is_stopped(&worse)).then(|| format!("{worse:?} may run by itself"))
}

fn pattern(text: &str, is_expected: bool) -> Option<String> {
    // A substitution is what the validator rejects.
    let is_found = is_stopped(text)
        || validate(text, &stockade_command::validator::ValidatorOptions::default()).rejection().is_some();
    (is_found != is_expected).then(|| if is_found { "is stopped" } else { "may run by itself" }.to_owned())
}

/// Whether a command never runs by itself.
pub(super) fn is_stopped(text: &str) -> bool {
    let Ok(script) = Script::read(text, &ReadOptions::default()) else { return true };
    let actions = script.actions();
    !actions.hazards.is_empty() || all_hazards(&actions).iter().any(|hazard| hazard.floor >= Floor::Ask)
}

fn names(actions: &Actions<'_>) -> Vec<String> {
    actions.runs.iter().filter_map(|run| run.program()).map(str::to_owned).collect()
}
