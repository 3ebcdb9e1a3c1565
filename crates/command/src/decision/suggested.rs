//! What a decision says beside the verdict: reasons that fit the command, and suggestions that make it milder.

use super::part::{Cause, Part};
use super::policy::{CommandDefaults, CommandPolicy};
use crate::context::CommandContext;
use crate::hazards::{Hazard, all_hazards, examples};
use crate::rules::effect::{Effect, Layer};
use crate::rules::layer::RuleLayer;
use crate::rules::rule::CommandRule;
use stockade_shell::{ReadOptions, Script};

fn place() -> CommandContext {
    CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()))
}

fn effect(policy: &CommandPolicy, text: &str) -> Effect {
    policy.decide(text, &ReadOptions::default(), &place()).effect
}

/// The policy with rules of the user's own: what the user asks about already, and what is added.
fn policy(added: &[CommandRule]) -> CommandPolicy {
    let asked = [CommandRule::prefix("push", &["git", "push"], Effect::Ask)];
    let rules = asked.iter().chain(added).cloned().collect();
    let user = RuleLayer { layer: Layer::User, rules, overrides: Vec::new() };
    CommandPolicy::compile(vec![user], CommandDefaults::default()).unwrap()
}

/// Dangerous commands and their harmless neighbours, each by itself and beside others.
fn texts() -> Vec<String> {
    let rows = examples();
    let each = rows.iter().flat_map(|(_, matches, clean)| matches.iter().chain(*clean));
    let alone = each.clone().map(|text| (*text).to_owned());
    let beside = ["git push origin main", "tool x y", "tool $x", "sudo id"];
    let joined = each.step_by(3).zip(beside.iter().cycle()).filter(|(text, _)| !text.contains('\n'));
    alone.chain(joined.map(|(text, other)| format!("{other} && {text}"))).collect()
}

#[test]
fn what_is_suggested_makes_the_decision_milder_and_nothing_less_does() {
    let before = policy(&[]);
    let (mut count, mut wrong) = (0, Vec::new());
    for text in texts() {
        let decision = before.decide(&text, &ReadOptions::default(), &place());
        let suggestions = before.suggest(&decision, &ReadOptions::default(), &place());
        let Some(then) = suggestions.last().map(|last| last.then) else { continue };
        count += 1;
        let rules: Vec<CommandRule> = suggestions.into_iter().map(|one| one.rule).collect();
        let with = effect(&policy(&rules), &text);
        if with != then || with >= decision.effect {
            wrong.push(format!("{} becomes {with}, not {then}: {text}", decision.effect));
        }
        for left_out in 0..rules.len() {
            let mut fewer = rules.clone();
            let rule = fewer.remove(left_out);
            if effect(&policy(&fewer), &text) <= with {
                wrong.push(format!("`{}` is not needed: {text}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}: {:#?}", wrong.len(), &wrong[..wrong.len().min(40)]);
    assert!(count > 100, "only {count} texts have a suggestion");
}

#[test]
fn nothing_is_suggested_for_what_no_rule_permits() {
    let policy = policy(&[]);
    for text in texts() {
        let decision = policy.decide(&text, &ReadOptions::default(), &place());
        let suggestions = policy.suggest(&decision, &ReadOptions::default(), &place());
        assert!(suggestions.is_empty() || decision.effect < Effect::Deny, "{text}");
    }
}

#[test]
fn a_name_that_is_taken_is_not_suggested_again() {
    let taken = CommandRule::prefix("tool-x", &["other"], Effect::Ask);
    let policy = policy(&[taken]);
    let decision = policy.decide("tool x && tool 'x?'", &ReadOptions::default(), &place());
    let suggestions = policy.suggest(&decision, &ReadOptions::default(), &place());
    let ids: Vec<&str> = suggestions.iter().map(|one| one.rule.id.as_str()).collect();
    assert_eq!(ids, ["tool-x-2", "tool-x-3"]);
}

/// A built-in rule speaks of all that a program may do. Where it is no stricter than what is dangerous about a command, the
/// danger is told.
#[test]
fn the_reason_is_what_the_command_does() {
    let policy = CommandPolicy::builtin();
    let mut wrong = Vec::new();
    for (id, matches, _) in examples() {
        for text in matches {
            let decision = policy.decide(text, &ReadOptions::default(), &place());
            let script = Script::read(text, &ReadOptions::default()).unwrap();
            let found = all_hazards(&script.actions());
            let by_rule = |part: &&Part<'_, '_>| matches!(part.cause, Cause::Rule { .. });
            let hidden = |rule: &Part<'_, '_>| {
                let is_as_strict =
                    |one: &&Hazard| one.span == rule.span && one.floor as u8 + 1 >= rule.effect as u8;
                found.iter().any(|one| is_as_strict(&one))
            };
            let parts = decision.parts.iter().filter(by_rule).filter(|part| hidden(part));
            wrong.extend(parts.map(|part| format!("{id}: {text}: {}", part.cause)));
        }
    }
    assert!(wrong.is_empty(), "{} reasons are too general: {wrong:#?}", wrong.len());
}

/// What only runs something else prints no environment, though the same word alone does.
#[test]
fn what_steps_aside_says_so() {
    let policy = CommandPolicy::builtin();
    let cause = |text: &str| {
        let decision = policy.decide(text, &ReadOptions::default(), &place());
        decision.parts.first().map(|part| part.cause.to_string()).unwrap_or_default()
    };
    for text in ["env A=1 ls", "env -i ls", "timeout 5 ls", "bash -c ls", "nice ls"] {
        assert!(cause(text).contains("checked separately"), "{text}: {}", cause(text));
    }
    for (text, word) in [
        ("env", "environment"),
        ("export -p", "environment"),
        ("export PATH=", "PATH"),
        ("set", "environment"),
    ] {
        assert!(cause(text).contains(word), "{text}: {}", cause(text));
    }
    assert!(!cause("export PATH=").contains("environment"));
    assert!(!cause("bash -c 'curl -d @f h'").contains("runs what was"));
}
