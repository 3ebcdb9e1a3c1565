//! Approvals and denials of commands: rules for exactly their words.

use std::path::Path;
use std::time::Duration;

use stockade_guard::admission::answers::{
    AnswerStore, AnswerTerms, AskedCommand, CommandAnswers, CommandQuestion,
};
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::answers::CommandAnswer;
use stockade_guard::command::rules::{CommandPattern, Example};
use stockade_guard::command::shell::{ReadOptions, Shell};
use stockade_guard::command::{Cause, CommandContext, CommandRule, Effect};
use stockade_guard::config::Config;
use stockade_text::{escape, with_causes};

use super::edits::{self, ListEdit};
use super::journal::{Journal, JournaledApproval, RuleChanges};
use super::{ApprovalChange, ApprovalKind, check_agent, names_first_agent};
use crate::StateError;
use crate::command_rules::sources_with;
use crate::saved_rules::{SavedRuleChange, SavedRules, config_on_disk, config_with, edited, user_rules};

/// A rule file without rules.
const HEAD: &str = "version = 1\n\n";

/// Allows or denies an agent exactly this command, by rules in the user's config file. With `writes` false, only tries to.
///
/// # Errors
/// When the agent is unknown, the configuration cannot be used, or no rule has the intended effect.
pub fn decide_command(
    agent: &str,
    kind: ApprovalKind,
    command: &str,
    place: &CommandContext,
    writes: bool,
) -> Result<ApprovalChange, StateError> {
    let store = SavedRules::of_agent(agent)?;
    let journal = Journal::of_user()?;
    if writes {
        journal.check()?;
    }
    let path = store.path();
    let (_, (changes, told, edits)) = edits::change(path, writes, |text| {
        let before = config_on_disk()?;
        check_agent(&before, agent)?;
        let own = user_rules(agent, path, None)?;
        let exact = exact_rules(&before, agent, command, place)?;
        let opposite: Vec<CommandRule> =
            own.iter().filter(|one| is_opposite(kind, one, &exact)).cloned().collect();
        let ids: Vec<String> = opposite.iter().map(|rule| rule.id.clone()).collect();
        let (mut new, mut left) = (text.to_owned(), own);
        if !ids.is_empty() {
            let gone = edited(agent, path, &new, left.clone(), &SavedRuleChange::Remove(ids.clone()))?;
            new = gone.0;
            left.retain(|rule| !ids.contains(&rule.id));
        }
        let wanted = match kind {
            ApprovalKind::Deny => denials(exact)?,
            ApprovalKind::Allow => suggested(&config_with(path, &new)?, agent, command, place)?,
        };
        let (with, added) = edited(agent, path, &new, left, &SavedRuleChange::Add(wanted))?;
        if let Some((_, problem)) = added.refused.first() {
            return Err(StateError::input(problem));
        }
        let mut edits = Vec::new();
        new = with;
        if names_first_agent(&before, &config_with(path, &new)?) {
            (new, edits) = edits::apply(path, &new, &[ListEdit::set("security.unnamedAgents", "allow")])?;
        }
        let told = told(&store, &opposite, &added.changed, &edits);
        let changes = RuleChanges {
            added: added.changed.into_iter().map(|rule| rule.id).collect(),
            removed: opposite.iter().map(|rule| format!("{HEAD}{}", rule.to_toml())).collect(),
        };
        Ok((new, (changes, told, edits)))
    })?;
    if writes && !told.is_empty() {
        let mut entry = JournaledApproval::of_rules(agent, kind, command, changes);
        entry.edits = edits;
        journal.push(entry)?;
    }
    let state = if kind == ApprovalKind::Allow { "allowed" } else { "denied" };
    let is_there = told.is_empty().then(|| format!("command {command} is already {state}"));
    let whose = if agent == "*" { "all agents".to_owned() } else { format!("agent {agent} alone") };
    let extent = format!("extent: {whose}, in all projects: exactly these words, without further ones");
    Ok(ApprovalChange { told, extent, is_there })
}

fn told(store: &SavedRules, gone: &[CommandRule], new: &[CommandRule], edits: &[ListEdit]) -> Vec<String> {
    let what =
        |rule: &CommandRule| escape(&format!("{}: {} {}", rule.id, rule.effect, rule.pattern)).into_owned();
    let gone = gone.iter().map(|rule| format!("remove {} from {}", what(rule), store.place()));
    let new = new.iter().map(|rule| format!("add {} to {}", what(rule), store.place()));
    let place = stockade_text::escape_path(store.path());
    gone.chain(new).chain(edits.iter().map(|edit| edit.told(&place))).collect()
}

/// Whether a rule decides the opposite about one of the same commands.
fn is_opposite(kind: ApprovalKind, rule: &CommandRule, exact: &[CommandRule]) -> bool {
    let is_other = match kind {
        ApprovalKind::Allow => rule.effect == Effect::Deny,
        ApprovalKind::Deny => rule.effect < Effect::Deny,
    };
    is_other && exact.iter().any(|one| one.pattern == rule.pattern)
}

/// Returns a rule for exactly the words of each program that the command runs, as far as they are known.
pub(super) fn exact_rules(
    config: &Config,
    agent: &str,
    command: &str,
    place: &CommandContext,
) -> Result<Vec<CommandRule>, StateError> {
    let policy = sources_with(config, agent, &[])?.policy;
    let options = ReadOptions::default();
    let (decision, _) = decide_on_disk(place.clone(), |place| policy.decide(command, &options, place));
    let runs = decision.parts.iter().filter_map(|part| part.run()).filter(|run| run.is_known());
    let words = runs.map(|run| run.argv.iter().filter_map(|arg| arg.known().map(str::to_owned)).collect());
    words.map(|words: Vec<String>| exact_rule(&words)).collect()
}

/// Returns a rule that denies exactly these words.
fn exact_rule(words: &[String]) -> Result<CommandRule, StateError> {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\"'\"'"))).collect::<Vec<_>>();
    let rule = CommandRule::from_words(&format!("deny {}", quoted.join(" ")));
    let mut rule = rule.map_err(|error| StateError::input(&error))?;
    if let CommandPattern::Prefix(words) = rule.pattern {
        rule.pattern = CommandPattern::Exact(words);
    }
    rule.reason = "denied as exactly this command".to_owned();
    rule.matches = vec![Example::Argv(words.to_vec())];
    let longer = words.iter().cloned().chain(["more".to_owned()]).collect();
    rule.not_matches = vec![Example::Argv(longer)];
    Ok(rule)
}

/// Returns the rules of a denial. To deny one of several commands would deny more than the text.
pub(super) fn denials(exact: Vec<CommandRule>) -> Result<Vec<CommandRule>, StateError> {
    match exact.len() {
        1 => Ok(exact),
        0 => {
            Err(StateError::input("no program of this command is known before it runs, so no rule denies it")
                .with_help("add a rule in words: stockade policy add 'deny PROGRAM' --agent AGENT"))
        }
        _ => Err(StateError::input(
            "this runs several programs, and a rule would deny each of them everywhere",
        )
        .with_help("deny one of them at a time")),
    }
}

/// Returns the rules that are suggested to allow a command; none if it is allowed already.
pub(super) fn suggested(
    config: &Config,
    agent: &str,
    command: &str,
    place: &CommandContext,
) -> Result<Vec<CommandRule>, StateError> {
    let policy = sources_with(config, agent, &[])?.policy;
    let options = ReadOptions::default();
    let (decision, place) = decide_on_disk(place.clone(), |place| policy.decide(command, &options, place));
    let rules: Vec<CommandRule> =
        policy.suggest(&decision, &options, &place).into_iter().map(|one| one.rule).collect();
    if !rules.is_empty() || decision.effect == Effect::Allow {
        return Ok(rules);
    }
    let cause = decision.decisive().next().map(|part| &part.cause);
    let reason = cause.map(ToString::to_string).unwrap_or_default();
    let id = cause.map(Cause::id).unwrap_or_default();
    let message =
        format_args!("the decision {} stays, whatever rule allows it: {reason} ({id})", decision.effect);
    Err(StateError::input(message)
        .with_help("`stockade why 'COMMAND'` shows what decides; to run it yourself, type it in a terminal"))
}

/// How often a saved answer is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerUses {
    /// The next time alone.
    Once,
    /// As often as the command runs before the answer ends.
    Any,
}

/// Allows an agent exactly this command in this directory for a time, as a saved answer: it ends by itself, and earlier if a file
/// that the command names changes. With `writes` false, only tries to.
///
/// # Errors
/// When the agent is unknown, the configuration or the answers cannot be used, or the command is denied.
pub fn allow_command_for(
    agent: &str,
    command: &str,
    place: &CommandContext,
    (time, uses): (Duration, AnswerUses),
    writes: bool,
) -> Result<ApprovalChange, StateError> {
    let config = config_on_disk()?;
    check_agent(&config, agent)?;
    if super::agent_guard::settings(&config, agent)?.kept_answers.is_zero() {
        let key = format!("agents.{agent}.commands.keptAnswerDays");
        return Err(StateError::input(format_args!("`{key}` is 0, so no answer is saved"))
            .with_help(format!("raise `{key}`, or allow the command without --for")));
    }
    let journal = Journal::of_user()?;
    let answers =
        CommandAnswers::new(AnswerTerms { session: Duration::ZERO, always: time }, AnswerStore::of_user());
    let policy = sources_with(&config, agent, &[])?.policy;
    let mut entry = JournaledApproval::of_rules(agent, ApprovalKind::Allow, command, RuleChanges::default());
    // The user's own shell may read the text differently, and each reading is a question of its own.
    for shell in [Shell::Bash, Shell::Zsh] {
        let options = ReadOptions::for_shell(shell);
        let (decision, place) =
            decide_on_disk(place.clone(), |place| policy.decide(command, &options, place));
        if decision.effect == Effect::Deny {
            let cause = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
            return Err(StateError::input(format_args!("a denial stays: {cause}"))
                .with_help("`stockade why 'COMMAND'` shows what decides"));
        }
        let asked = AskedCommand { agent, shell, place: &place, variables: None };
        let Some(question) = CommandQuestion::of(&decision, &asked) else { continue };
        if let Some(why) = &question.once {
            return Err(StateError::input(format_args!("it can be allowed only once: {why}"))
                .with_help("answer the question of the agent's own program"));
        }
        entry.answers.push(question.id.clone());
        if writes {
            let kept = match uses {
                AnswerUses::Once => answers.allow_next(&question, time),
                AnswerUses::Any => answers.answer(&question, CommandAnswer::AllowAlways).map(drop),
            };
            kept.map_err(|error| StateError::unavailable(with_causes(&error)))?;
        }
    }
    let is_there = entry.answers.is_empty().then(|| format!("command {command} is already allowed"));
    let told = match is_there {
        Some(_) => Vec::new(),
        None => {
            let uses = if uses == AnswerUses::Once { "one use of " } else { "" };
            vec![format!(
                "add a saved answer for {uses}{}, which ends after {} s",
                escape(command),
                time.as_secs()
            )]
        }
    };
    if writes && is_there.is_none() {
        journal.push(entry)?;
    }
    let extent = format!(
        "extent: agent {agent} alone, in this directory: exactly this text, until a file that it names changes"
    );
    Ok(ApprovalChange { told, extent, is_there })
}

/// The context of a command in a directory.
#[must_use]
pub fn place_of(workspace: &Path) -> CommandContext {
    CommandContext::new(Some(workspace.to_owned()), Some(workspace.to_owned()))
}
