//! The journal of approvals and denials, by which the last one is undone. It is bounded, and only its owner may read it.
#![expect(clippy::disallowed_methods, reason = "reads the clock, and where the state directory is")]

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use stockade_files::{KeptFile, KeptFileError};
use stockade_guard::admission::answers::{AnswerStore, AnswerTerms, CommandAnswers};
use stockade_guard::audit::private;
use stockade_guard::command::rules::CustomRules;
use stockade_text::{escape, escape_path, to_printable_json, with_causes};

use super::edits::{self, ListEdit};
use super::scope;
use super::{Approval, ApprovalKind};
use crate::StateError;
use crate::saved_rules::{SavedRuleChange, SavedRules, config_on_disk, config_with, format_of};

/// Maximum number of entries; the oldest are dropped.
const MAX_ENTRIES: usize = 200;

/// Maximum size of the file in bytes.
const MAX_JOURNAL_BYTES: u64 = 4 << 20;

const VERSION: u32 = 1;

/// The journal of this user.
#[derive(Debug)]
pub struct Journal {
    file: KeptFile,
}

/// An approval or denial in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JournaledApproval {
    /// Time, in milliseconds since 1970.
    pub at_ms: u64,
    /// The agent; `*` for all agents.
    pub agent: String,
    /// Whether it was allowed or denied.
    pub kind: ApprovalKind,
    /// What was allowed or denied, in words.
    pub what: String,
    /// Edits of lists and values in the user's config file.
    #[serde(default)]
    pub edits: Vec<ListEdit>,
    /// Changes of the agent's rules.
    #[serde(default)]
    pub rules: RuleChanges,
    /// Ids of saved answers.
    #[serde(default)]
    pub answers: Vec<String>,
    /// The text of a table with a scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// Changes of an agent's rules for commands in the user's config file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleChanges {
    /// Ids of the added rules.
    pub added: Vec<String>,
    /// Removed rules, each as a rule file.
    pub removed: Vec<String>,
}

/// An approval or denial that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The approval or denial.
    pub approval: JournaledApproval,
    /// Description of each change, for users. Empty if all of its changes were gone already.
    pub told: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    approvals: Vec<JournaledApproval>,
}

impl JournaledApproval {
    /// Creates an entry for changes of lists.
    pub(super) fn of_lists(approval: &Approval, edits: Vec<ListEdit>) -> Self {
        Self {
            at_ms: now_ms(),
            agent: approval.agent.clone(),
            kind: approval.kind,
            what: approval.what(),
            edits,
            rules: RuleChanges::default(),
            answers: Vec::new(),
            table: None,
        }
    }

    /// Creates an entry for changes of rules for commands.
    #[must_use]
    pub fn of_rules(agent: &str, kind: ApprovalKind, command: &str, rules: RuleChanges) -> Self {
        let what = format!("command {command}");
        Self {
            at_ms: now_ms(),
            agent: agent.to_owned(),
            kind,
            what,
            edits: Vec::new(),
            rules,
            answers: Vec::new(),
            table: None,
        }
    }

    /// Takes the changes back, as far as they are still there; with `writes` false, only tries to. Returns their descriptions.
    fn take_back(&self, writes: bool) -> Result<Vec<String>, StateError> {
        let store = SavedRules::of_agent(&self.agent)?;
        config_on_disk()?;
        let place = escape_path(store.path());
        let inverse: Vec<ListEdit> = self.edits.iter().rev().map(ListEdit::inverse).collect();
        let (_, undone) = edits::change(store.path(), writes && !inverse.is_empty(), |text| {
            let (text, undone) = edits::apply(store.path(), text, &inverse)?;
            config_with(store.path(), &text)?;
            Ok((text, undone))
        })?;
        let mut told: Vec<String> = undone.iter().map(|edit| edit.told(&place)).collect();
        if !self.rules.added.is_empty() {
            let gone = store.apply(&SavedRuleChange::Remove(self.rules.added.clone()), writes)?;
            told.extend(gone.changed.iter().map(|rule| format!("remove rule {} from {place}", rule.id)));
        }
        for document in &self.rules.removed {
            let rules = CustomRules::parse(document).map_err(|error| StateError::input(&error))?;
            let back = store.apply(&SavedRuleChange::Add(rules.rules().to_vec()), writes)?;
            told.extend(back.changed.iter().map(|rule| format!("add rule {} to {place}", rule.id)));
        }
        told.extend(self.table_removed(store.path(), writes)?);
        told.extend(self.revoked(writes)?);
        Ok(told)
    }

    /// Removes the table with a scope, if it is still there.
    fn table_removed(&self, path: &Path, writes: bool) -> Result<Option<String>, StateError> {
        let Some(table) = &self.table else { return Ok(None) };
        let (_, is_gone) = edits::change(path, writes, |text| {
            let Some(left) = scope::remove(text, format_of(path), table)? else {
                return Ok((text.to_owned(), false));
            };
            config_with(path, &left)?;
            Ok((left, true))
        })?;
        Ok(is_gone.then(|| format!("remove {} from {}", escape(&self.what), escape_path(path))))
    }

    /// Revokes the saved answers that are still valid.
    fn revoked(&self, writes: bool) -> Result<Option<String>, StateError> {
        let unusable = |error| StateError::unavailable(with_causes(&error));
        let answers = CommandAnswers::new(AnswerTerms::MAX_TERMS, AnswerStore::of_user());
        let is_ours = |id: &String| self.answers.contains(id);
        let listed = if self.answers.is_empty() { Vec::new() } else { answers.list().map_err(unusable)? };
        let valid: Vec<_> = listed.into_iter().filter(|one| is_ours(&one.id)).collect();
        for answer in valid.iter().filter(|_| writes) {
            answers.revoke(Some(&answer.id)).map_err(unusable)?;
        }
        Ok((!valid.is_empty()).then(|| format!("remove the saved answer for {}", escape(&self.what))))
    }
}

impl Journal {
    /// Returns the journal of this user: `stockade/approvals.json` in `$XDG_STATE_HOME`, or in `~/.local/state`.
    ///
    /// # Errors
    /// When neither variable contains an absolute path.
    pub fn of_user() -> Result<Self, StateError> {
        let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from));
        let folder = folder
            .ok_or_else(|| StateError::unavailable("cannot find the state directory: HOME is not set"))?;
        Ok(Self { file: KeptFile::new(folder.join("approvals.json"), MAX_JOURNAL_BYTES).private() })
    }

    /// Returns the entries, the oldest first.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn list(&self) -> Result<Vec<JournaledApproval>, StateError> {
        let text = self.file.read().map_err(|error| self.unusable(&error))?;
        self.parse(text.as_deref())
    }

    /// Fails if the journal cannot be used.
    ///
    /// # Errors
    /// As [`Journal::push`].
    pub fn check(&self) -> Result<(), StateError> {
        self.change(|_| Ok(()))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is damaged.
    pub fn push(&self, entry: JournaledApproval) -> Result<(), StateError> {
        self.change(|entries| {
            entries.push(entry);
            Ok(())
        })
    }

    /// Takes the last approval or denial back and removes its entry; with `writes` false, only tries to. Returns nothing if the
    /// journal is empty.
    ///
    /// # Errors
    /// When the journal or the configuration cannot be used. Nothing is changed then.
    pub fn undo(&self, writes: bool) -> Result<Option<Undone>, StateError> {
        let undone = |last: &JournaledApproval| {
            last.take_back(writes).map(|told| Undone { approval: last.clone(), told })
        };
        if !writes {
            return self.list()?.last().map(undone).transpose();
        }
        self.change(|entries| {
            let undone = entries.last().map(undone).transpose()?;
            entries.pop();
            Ok(undone)
        })
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<JournaledApproval>) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let folder = self.file.path().parent().filter(|folder| *folder != Path::new(""));
        if let Some(folder) = folder {
            private::create_private_folder(folder).map_err(|error| self.unusable(&error.into()))?;
        }
        let changed = self.file.change(|text| {
            let mut entries = self.parse(text)?;
            let before = entries.clone();
            let value = change(&mut entries)?;
            let first = entries.len().saturating_sub(MAX_ENTRIES);
            entries.drain(..first);
            let written = Written { version: VERSION, approvals: entries };
            let text = (written.approvals != before).then(|| format!("{}\n", to_printable_json(&written)));
            Ok((text, value))
        });
        changed.map_err(|error| self.unusable(&error))?
    }

    fn parse(&self, text: Option<&str>) -> Result<Vec<JournaledApproval>, StateError> {
        let Some(text) = text else { return Ok(Vec::new()) };
        let damaged = |why: &dyn std::fmt::Display| {
            StateError::unavailable(format_args!("{} is damaged: {why}", escape_path(self.file.path())))
                .with_help("move the file away; approvals until then stay, and are removed by hand")
        };
        let written: Written = serde_json::from_str(text).map_err(|error| damaged(&error))?;
        match written.version {
            VERSION => Ok(written.approvals),
            other => Err(damaged(&format_args!("version {other} is unknown"))),
        }
    }

    fn unusable(&self, error: &KeptFileError) -> StateError {
        let message = format_args!("cannot use {}: {}", escape_path(self.file.path()), with_causes(error));
        StateError::unavailable(message)
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
