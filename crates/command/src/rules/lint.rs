//! Warnings about valid rules that probably do not have the intended effect.

use std::cmp::Ordering;
use std::collections::HashMap;

use stockade_text::{Escaped, nearest};

use super::builtin::lookup::BUILTIN;
use super::check::LAUNCHERS;
use super::disguises;
use super::effect::{Effect, Layer};
pub use super::lint_finding::Lint;
use super::matcher::Compiled;
use super::program::base;
use super::rule::{CommandPattern, CommandRule};
use super::shadow::{ShadowedRule, shadowed};
use super::token::Token;

/// Returns warnings about the rules of one layer.
#[must_use]
pub fn lint(rules: &[CommandRule]) -> Vec<Lint> {
    let compiled: Vec<Compiled> = rules.iter().map(|rule| Compiled::new(rule.clone(), Layer::User)).collect();
    let known: Vec<String> = BUILTIN.all().flat_map(names).collect();
    let never_deciding = never_deciding(&compiled);
    let mut lints = Vec::new();
    for rule in &compiled {
        let never = never_deciding.get(&rule.rule.id).cloned();
        let messages = alone(rule).into_iter().chain(never).chain(unknown(rule, &known));
        lints.extend(messages.map(|message| Lint { rule: rule.rule.id.clone(), message }));
    }
    lints.extend(disguises::missed(rules));
    lints
}

/// Returns warnings about a single rule.
fn alone(rule: &Compiled) -> Vec<String> {
    let mut messages = Vec::new();
    let written = &rule.rule;
    if !written.enabled {
        messages.push("it is disabled: remove it, or write `enabled = true`".to_owned());
    }
    let is_regex = matches!(written.pattern, CommandPattern::Regex { .. });
    if !is_regex && written.matches.is_empty() {
        messages.push("it has no `match`: add a command that it must match, to detect mistakes".to_owned());
    }
    if written.effect == Effect::Allow && written.not_matches.is_empty() {
        messages.push("it allows, and has no `not_match`: add a command that it must not match".to_owned());
    }
    if written.reason.is_empty() {
        messages.push("it has no `reason`: a refused user sees no explanation".to_owned());
    }
    messages.extend(launchers(rule));
    messages
}

/// Returns warnings about what a rule allows beyond its own words. Options that run or write something are dangerous in every
/// rule that allows their program.
fn launchers(rule: &Compiled) -> Vec<String> {
    if rule.rule.effect != Effect::Allow || matches!(rule.rule.pattern, CommandPattern::Exact(_)) {
        return Vec::new();
    }
    let told = names(rule).into_iter().filter(|name| LAUNCHERS.contains(&base(name)) && rule.rule.i_know);
    let message = |name: String| {
        format!("`{}` runs other programs from its arguments: this allows every command", Escaped(&name))
    };
    told.map(message).collect()
}

/// Returns the reasons why rules never decide, by their ids.
fn never_deciding(all: &[Compiled]) -> HashMap<String, String> {
    let by_id: HashMap<&str, &CommandRule> =
        all.iter().map(|one| (one.rule.id.as_str(), &*one.rule)).collect();
    let message = |one: ShadowedRule| {
        let (rule, by) = (by_id.get(one.id.as_str())?, by_id.get(one.by.as_str())?);
        let why = match (by.priority.cmp(&rule.priority), by.effect.cmp(&rule.effect)) {
            (Ordering::Greater, _) => "has a higher priority",
            (_, Ordering::Greater) => "is stricter",
            _ => "comes first",
        };
        let message = format!("it never decides: `{}` matches the same commands and {why}", Escaped(&one.by));
        Some((one.id, message))
    };
    shadowed(all).into_iter().filter_map(message).collect()
}

/// Returns a warning for a name that is almost the name of a program.
fn unknown(rule: &Compiled, known: &[String]) -> Option<String> {
    names(rule).into_iter().find_map(|name| {
        let name = base(&name).to_owned();
        if name.len() < 3 || known.contains(&name) || LAUNCHERS.contains(&name.as_str()) {
            return None;
        }
        let meant = nearest(&name, known.iter().map(String::as_str).filter(|one| one.len() > 2))?;
        // Many short names are similar to each other.
        (name.len() > 3).then(|| format!("unknown program `{}`: did you mean `{meant}`?", Escaped(&name)))
    })
}

fn names(rule: &Compiled) -> Vec<String> {
    rule.words.first().into_iter().flatten().filter_map(Token::literal).map(str::to_owned).collect()
}
