//! The vectors for rules on commands, and for where commands run.

use serde_json::Value;
use stockade_command::router::{Fallback, Machine, Route, RouterConfig, route};
use stockade_command::rules::CommandPattern;
use stockade_command::{
    CommandContext, CommandDefaults, CommandPolicy, CommandRule, Effect, Layer, RuleLayer,
};
use stockade_shell::ReadOptions;
use testkit::vectors::Outcome;

/// `cb-execpolicy.json`: what becomes of a command. `expect_min` is the mildest answer that will do.
pub(super) fn policy(data: &Value) -> Vec<Outcome> {
    rows(data).iter().map(policy_row).collect()
}

fn policy_row(row: &Value) -> Outcome {
    let id = word(row, "id");
    // Rules of a custom file that pose as built-in ones do not count.
    let is_own = |rule: &&Value| !rows(&rule["tags"]).iter().any(|tag| tag == "builtin");
    let rules =
        rows(&row["rules"]).iter().filter(is_own).enumerate().map(|(number, value)| rule(number, value));
    let layer = RuleLayer { layer: Layer::User, rules: rules.collect(), overrides: Vec::new() };
    let compiled = CommandPolicy::compile(vec![layer], CommandDefaults::default());
    let policy = match compiled {
        Ok(policy) => policy,
        Err(error) => return Outcome::new(id, row["expect_error"].is_string(), error.to_string()),
    };
    if row["expect_error"].is_string() {
        return Outcome::new(id, false, "the rule was accepted");
    }
    let text = text(row);
    let place = CommandContext::new(row["cwd"].as_str().map(Into::into), None);
    let decision = policy.decide(&text, &ReadOptions::default(), &place);
    let effect = |key: &str| row[key].as_str().and_then(Effect::from_name);
    let passed = match (effect("expect_min"), effect("expect_action")) {
        (Some(least), _) => decision.effect >= least,
        (None, expected) => Some(decision.effect) == expected,
    };
    let reasons: Vec<String> =
        decision.parts.iter().map(|part| format!("{}: {}", part.effect, part.cause)).collect();
    Outcome::new(
        id,
        passed,
        format!("{text:?} is {}, not {}: {reasons:?}", decision.effect, row["expect_action"]),
    )
}

fn text(row: &Value) -> String {
    match row["argv"].as_array() {
        Some(words) => words
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
            .collect::<Vec<_>>()
            .join(" "),
        None => word(row, "command"),
    }
}

/// Translates a rule of the vectors. Their expressions look at the name of a program or at one argument, and are
/// anchored: that is a word.
fn rule(number: usize, value: &Value) -> CommandRule {
    let effect = value["action"].as_str().and_then(Effect::from_name).unwrap_or(Effect::Deny);
    let words: Vec<Vec<String>> = match value["kind"].as_str() {
        Some("prefix") => rows(&value["prefix"]).iter().map(|word| vec![string(word)]).collect(),
        _ => vec![vec![anchored(&word(value, "pattern"))]],
    };
    let mut rule = CommandRule::new(format!("rule-{number}"), CommandPattern::Prefix(words), effect);
    rule.enabled = value["enabled"] != false;
    rule.priority = value["priority"].as_i64().and_then(|number| i32::try_from(number).ok()).unwrap_or(0);
    let constraints = &value["constraints"];
    let list = |key: &str| rows(&constraints[key]).iter().map(|one| anchored(&string(one))).collect();
    rule.guards.deny = list("deniedArgs");
    rule.guards.require = list("allowedArgs");
    rule.guards.cwd = list("allowedDirs");
    rule.guards.not_cwd = list("deniedDirs");
    rule
}

fn anchored(pattern: &str) -> String {
    match (pattern.strip_prefix('^'), pattern.strip_suffix('$')) {
        (Some(_), Some(_)) => pattern.trim_start_matches('^').trim_end_matches('$').to_owned(),
        (Some(start), None) => format!("{start}*"),
        _ => pattern.to_owned(),
    }
}

/// The sandboxes that the rows speak of.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Native,
    Container,
}

/// `cb-autosandbox.json`: whether a command needs a sandbox, and what happens without one.
pub(super) fn router(data: &Value) -> Vec<Outcome> {
    rows(data)
        .iter()
        .map(|row| if row["expect_config"].is_object() { variables(row) } else { routed(row) })
        .collect()
}

fn variables(row: &Value) -> Outcome {
    let variable = |name: &str| row["env"].get(name)?.as_str().map(str::to_owned);
    let config = RouterConfig::<Kind>::from_variables(variable, |_| None);
    let expected = &row["expect_config"];
    let mut found = serde_json::json!({
        "enabled": config.enabled,
        "fail_closed": config.fallback == Fallback::Block,
    });
    if let (Machine::Remote { host }, Some(found)) = (&config.machine, found.as_object_mut()) {
        found.insert("explicit_backend".to_owned(), "ssh".into());
        found.insert("explicit_host".to_owned(), host.as_str().into());
    }
    Outcome::compare(word(row, "id"), &found, expected)
}

fn routed(row: &Value) -> Outcome {
    let (id, text) = (word(row, "id"), word(row, "command"));
    let given = &row["config"];
    let backends = vec![Kind::Native, Kind::Container];
    let mut config = RouterConfig { enabled: given["enabled"] == true, backends, ..RouterConfig::default() };
    for (key, list) in [("always", &mut config.always), ("never", &mut config.never)] {
        if given[key].is_array() {
            *list = rows(&given[key]).iter().map(string).collect();
        }
    }
    if given["fail_closed"] == false || given["failClosedOnUnavailable"] == false {
        config.fallback = Fallback::Ask;
    }
    let available = if row["docker_available"] == false { vec![] } else { vec![Kind::Container] };
    let policy = CommandPolicy::builtin();
    let decision = policy.decide(&text, &ReadOptions::default(), &CommandContext::default());
    let routing = route(&decision, &config, &available);
    let detail = format!("{text:?}: {routing:?}");
    if let Some(mode) = row["expect_mode"].as_str() {
        let found = match routing.route {
            Route::Direct => "direct",
            Route::Sandbox(_) | Route::AskFirst(Some(_)) => "sandbox",
            Route::AskFirst(None) => "ask",
            _ => "blocked",
        };
        return Outcome::new(id, found == mode, detail);
    }
    Outcome::new(id, Some(routing.needs_sandbox()) == row["expect_sandbox"].as_bool(), detail)
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(row: &Value, key: &str) -> String {
    string(&row[key])
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
