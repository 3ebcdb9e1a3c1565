//! Whether the hooks of an agent observe or enforce: a value of the user's config file, which `stockade undo` takes back.

use stockade_guard::config::{Config, HookMode};

use super::edits::{self, ListEdit};
use super::journal::{Journal, JournaledApproval, RuleChanges};
use super::{ApprovalChange, ApprovalKind, agent_guard, check_agent, names_first_agent};
use crate::StateError;
use crate::saved_rules::{SavedRules, config_on_disk, config_with};

/// Sets the mode of an agent's hooks in the user's config file and adds that to the journal; with `writes` false, only tries to.
///
/// # Errors
/// When the agent is unknown, the configuration cannot be used, or another layer determines the mode.
pub fn set_hook_mode(agent: &str, mode: HookMode, writes: bool) -> Result<ApprovalChange, StateError> {
    let store = SavedRules::of_agent(agent)?;
    let journal = Journal::of_user()?;
    if writes {
        journal.check()?;
    }
    let path = store.path();
    let (_, edits) = edits::change(path, writes, |text| {
        let before = config_on_disk()?;
        check_agent(&before, agent)?;
        if agent_guard::settings(&before, agent)?.hook_mode == mode {
            return Ok((text.to_owned(), Vec::new()));
        }
        let key = format!("agents.{agent}.hookMode");
        let is_set = |text: &str| Ok::<_, StateError>(effective(&config_with(path, text)?, agent)? == mode);
        // Without a value of its own, the agent has the default, unless `agents.*` or another layer sets it.
        let tries: &[ListEdit] = match mode {
            HookMode::Observe => &[ListEdit::set(&key, "observe")],
            HookMode::Enforce => &[ListEdit::unset(&key, "observe"), ListEdit::set(&key, "enforce")],
        };
        for edit in tries {
            let (mut after, mut edits) = edits::apply(path, text, std::slice::from_ref(edit))?;
            if !is_set(&after)? {
                continue;
            }
            if names_first_agent(&before, &config_with(path, &after)?) {
                let kept = ListEdit::set("security.unnamedAgents", "allow");
                let (text, more) = edits::apply(path, &after, &[kept])?;
                after = text;
                edits.extend(more);
            }
            return Ok((after, edits));
        }
        Err(StateError::input(format_args!("another layer of the configuration sets `{key}`"))
            .with_help(format!("see `stockade config get {key}`")))
    })?;
    let kind = if mode == HookMode::Observe { ApprovalKind::Allow } else { ApprovalKind::Deny };
    let change = ApprovalChange {
        told: edits.iter().map(|edit| edit.told(&stockade_text::escape_path(path))).collect(),
        extent: format!("extent: agent {agent} alone, in all projects: calls that its hook decides about"),
        is_there: edits.is_empty().then(|| format!("the mode of the hook of {agent} is already so")),
    };
    if writes && !edits.is_empty() {
        let mut entry = JournaledApproval::of_rules(agent, kind, "", RuleChanges::default());
        entry.what = "what its hook would only stop by rules (hookMode)".to_owned();
        entry.edits = edits;
        journal.push(entry)?;
    }
    Ok(change)
}

fn effective(config: &Config, agent: &str) -> Result<HookMode, StateError> {
    Ok(agent_guard::settings(config, agent)?.hook_mode)
}
