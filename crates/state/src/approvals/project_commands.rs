//! Approvals and denials of commands in one directory: rules in a table with that scope.

use std::collections::HashSet;
use std::path::Path;

use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::rules::free_id;
use stockade_guard::command::shell::ReadOptions;
use stockade_guard::command::{CommandContext, CommandRule, Effect};
use stockade_guard::config::Config;
use stockade_text::{escape, escape_path};

use super::commands::{denials, exact_rules, place_of, suggested};
use super::edits;
use super::journal::{Journal, JournaledApproval, RuleChanges};
use super::scope::{self, ApprovalScope};
use super::{ApprovalChange, ApprovalKind, check_agent};
use crate::StateError;
use crate::command_rules::sources_with;
use crate::saved_rules::{SavedRules, config_in, format_of, ids_of};

/// Allows or denies an agent exactly this command in a scope, by rules in a table of the user's config file. The agent works in
/// `directory`. With `writes` false, only tries to.
///
/// # Errors
/// As [`decide_command`](super::decide_command).
pub fn decide_command_in(
    agent: &str,
    kind: ApprovalKind,
    command: &str,
    directory: &Path,
    scope: &ApprovalScope,
    writes: bool,
) -> Result<ApprovalChange, StateError> {
    let store = SavedRules::of_agent(agent)?;
    let (journal, session) = (Journal::of_user()?, scope.session.as_deref());
    if writes {
        journal.check()?;
    }
    let (path, place) = (store.path(), &place_of(directory));
    let (_, (rules, table)) = edits::change(path, writes, |text| {
        let before = config_in(directory, session, path, text)?;
        check_agent(&before, agent)?;
        let wanted = match kind {
            ApprovalKind::Deny => denials(exact_rules(&before, agent, command, place)?)?,
            ApprovalKind::Allow => suggested(&before, agent, command, place)?,
        };
        if wanted.is_empty() || kind == ApprovalKind::Deny && is_denied(&before, agent, command, place)? {
            return Ok((text.to_owned(), (Vec::new(), None)));
        }
        let rules = with_free_ids(wanted, &ids_of(text, format_of(path)));
        let values: Vec<String> = rules.iter().map(CommandRule::to_toml_values).collect();
        let table = scope.table_of_rules(agent, &values)?;
        let after = scope::add_table(text, format_of(path), &table)?;
        let config = config_in(directory, session, path, &after)?;
        // Fails where another rule decides all the same.
        if kind == ApprovalKind::Allow && !suggested(&config, agent, command, place)?.is_empty() {
            return Err(StateError::input("another rule decides all the same")
                .with_help("`stockade why 'COMMAND'` shows what decides"));
        }
        Ok((after, (rules, Some(table))))
    })?;
    let place = escape_path(path);
    let what =
        |rule: &CommandRule| escape(&format!("{}: {} {}", rule.id, rule.effect, rule.pattern)).into_owned();
    let told: Vec<String> =
        rules.iter().map(|rule| format!("add {} to {place}, {}", what(rule), scope.told())).collect();
    let state = if kind == ApprovalKind::Allow { "allowed" } else { "denied" };
    let is_there = table.is_none().then(|| format!("command {command} is already {state}"));
    if let Some(table) = table.filter(|_| writes) {
        let entry = JournaledApproval::of_rules(agent, kind, command, RuleChanges::default());
        journal.push(JournaledApproval { table: Some(table), ..entry })?;
    }
    let whose = if agent == "*" { "all agents".to_owned() } else { format!("agent {agent} alone") };
    let extent = format!("extent: {whose}, {}: exactly these words, without further ones", scope.told());
    Ok(ApprovalChange { told, extent, is_there })
}

fn is_denied(
    config: &Config,
    agent: &str,
    command: &str,
    place: &CommandContext,
) -> Result<bool, StateError> {
    let policy = sources_with(config, agent, &[])?.policy;
    let options = ReadOptions::default();
    let (decision, _) = decide_on_disk(place.clone(), |place| policy.decide(command, &options, place));
    Ok(decision.effect == Effect::Deny)
}

/// Gives rules ids that are not taken.
fn with_free_ids(rules: Vec<CommandRule>, taken: &HashSet<String>) -> Vec<CommandRule> {
    let mut taken = taken.clone();
    let named = rules.into_iter().map(|rule| {
        let id = free_id(&rule.id, |id| taken.contains(id));
        taken.insert(id.clone());
        CommandRule { id, ..rule }
    });
    named.collect()
}
