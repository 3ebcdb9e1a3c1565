//! Runs the vectors for tools and joined paths: `conformance FOLDER` prints a score for each file.
//!
//! Vectors that need a disk (links below a base, everything in `comma-guard.json`) run in `stockade-guard`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use stockade_policy::paths::safe_join;
use stockade_policy::tools::{Group, ToolSet};
use stockade_policy::{Profile, ToolCatalog, ToolPolicy, ToolPolicyConfig};
use testkit::vectors::{Deviations, Outcome, Vectors};

/// Requirements that are decided otherwise, with the reason.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    ("pol-p28", "an asterisk in an allow list is a pattern, so that tools of MCP servers can be named"),
    (
        "pol-p29",
        "an asterisk in a deny list is a pattern; taking it literally left `browser*` without effect",
    ),
    (
        "config_default",
        "without a word in the configuration the profile is `coding`, not `full`: what is not named is not granted",
    ),
];

const VECTORS: Vectors = Vectors {
    files: &[("comis-tool-policy", tool_policy), ("comis-safepath", safe_paths)],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::Counted,
};

fn main() -> ExitCode {
    VECTORS.main()
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
        return Outcome::new(id, false, "the policy cannot be read");
    };
    let catalog =
        ToolCatalog { tools: tools.iter().map(|&tool| tool.to_owned()).collect(), ..ToolCatalog::default() };
    let (policy, problems) = ToolPolicy::compile_leniently(&config, &catalog);
    let slips = Profile::from_name(&config.profile).is_none();
    if slips && (problems.is_empty() || ToolPolicy::compile(&config, &catalog).is_ok()) {
        return Outcome::new(id, false, "an unknown profile went unnoticed");
    }
    // Where the source throws, an error at load is what is wanted.
    if row.get("comis_throws").is_some() {
        return Outcome::new(id, slips, "a profile that does not exist was accepted");
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
