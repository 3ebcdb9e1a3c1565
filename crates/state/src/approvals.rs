//! What the user allows and denies an agent: one change of the user's config file each, which is tried before it is written, and
//! a journal by which the last one is undone.
//!
//! ```text
//!  subject ──► edits of the agent's lists ──► configuration as it would be ──► does it have the effect? ──► file, journal
//! ```
//!
//! A denial has exactly the extent of the approval of the same subject: it removes the entry that an approval adds, and adds the
//! entry that an approval removes.

pub(crate) mod agent_guard;
mod commands;
mod edits;
mod hook_mode;
mod journal;
mod paths;
mod project_commands;
mod scope;

use std::path::Path;

use serde::{Deserialize, Serialize};
use stockade_guard::config::{Config, KNOWN_AGENTS};
use stockade_guard::egress::{HostList, NetPolicy, NetTarget};
use stockade_guard::policy::Access;
use stockade_text::{escape, escape_path, nearest};

use crate::StateError;
use crate::saved_rules::{SavedRules, config_in, config_on_disk, config_with, format_of};
use edits::ListEdit;

pub use commands::{AnswerUses, allow_command_for, decide_command, place_of};
pub use hook_mode::set_hook_mode;
pub use journal::{Journal, JournaledApproval, RuleChanges, Undone};
pub use paths::ApprovedPath;
pub use project_commands::decide_command_in;
pub use scope::ApprovalScope;

/// Whether something is allowed or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalKind {
    /// The agent may use it.
    Allow,
    /// The agent may not use it.
    Deny,
}

impl ApprovalKind {
    /// Returns the name, which is that of the command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// What is allowed or denied, except commands, which have rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalSubject {
    /// A tool by its name, or a pattern of names.
    Tool(String),
    /// An entry of a host list.
    Host(String),
    /// A file or directory.
    Path(ApprovedPath),
}

impl ApprovalSubject {
    /// Names it: `host docs.rs`.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Tool(name) => format!("tool {name}"),
            Self::Host(entry) => format!("host {entry}"),
            Self::Path(path) => path.what(),
        }
    }
}

/// An approval or a denial for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The agent; `*` for all agents.
    pub agent: String,
    /// Whether it is allowed or denied.
    pub kind: ApprovalKind,
    /// What is allowed or denied.
    pub subject: ApprovalSubject,
    /// Where, and until when.
    pub scope: ApprovalScope,
}

/// The changes that an approval makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalChange {
    /// Description of each change, for users.
    pub told: Vec<String>,
    /// The extent, in a sentence.
    pub extent: String,
    /// Why nothing has to be changed; then there are no changes.
    pub is_there: Option<String>,
}

/// Parses the entry of a host list from a host, a URL, or an entry with conditions.
///
/// # Errors
/// When it names no host that a list can contain.
pub fn host_entry(text: &str) -> Result<String, StateError> {
    let entry = match text.contains("://") {
        true => NetTarget::parse(text).map(|target| target.to_string()).map_err(|refused| {
            let error =
                StateError::input(format_args!("`{}` names no host: {}", escape(text), refused.reason));
            error.with_help(refused.fix.unwrap_or_else(|| "write a name, such as docs.rs".to_owned()))
        })?,
        false => text.trim_start_matches('!').to_owned(),
    };
    match HostList::compile(std::slice::from_ref(&entry)) {
        Ok(_) => Ok(entry),
        Err(error) => Err(StateError::input(&error).with_help(error.fix)),
    }
}

/// The entries of a table with a scope, and its text.
type ScopedEdits = (Vec<ListEdit>, Option<String>);

impl Approval {
    /// Makes the changes in the user's config file and adds them to the journal; with `writes` false, only tries to. Nothing is
    /// written unless the changed configuration has the intended effect in this workspace.
    ///
    /// # Errors
    /// When the agent is unknown, the configuration cannot be used, or another setting or a fixed limit takes precedence.
    pub fn apply(&self, workspace: &Path, writes: bool) -> Result<ApprovalChange, StateError> {
        let store = SavedRules::of_agent(&self.agent)?;
        let journal = Journal::of_user()?;
        if writes {
            // An unusable journal must not be found out after the change.
            journal.check()?;
        }
        let (_, (edits, table)) = edits::change(store.path(), writes, |text| {
            let before = match self.scope.is_unlimited() {
                true => config_on_disk()?,
                false => config_in(workspace, self.scope.session.as_deref(), store.path(), text)?,
            };
            check_agent(&before, &self.agent)?;
            if self.kind == ApprovalKind::Allow && self.is_allowed(&before, workspace)? {
                return Ok((text.to_owned(), (Vec::new(), None)));
            }
            if !self.scope.is_unlimited() {
                return self.scoped(store.path(), text, &before, workspace);
            }
            let (mut after, mut edits) = edits::apply(store.path(), text, &self.edits(&before, workspace)?)?;
            let config = config_with(store.path(), &after)?;
            if names_first_agent(&before, &config) {
                let kept = ListEdit::set("security.unnamedAgents", "allow");
                let (text, more) = edits::apply(store.path(), &after, &[kept])?;
                after = text;
                edits.extend(more);
            }
            self.check_effect(&config_with(store.path(), &after)?, workspace)?;
            Ok((after, (edits, None)))
        })?;
        if writes && !edits.is_empty() {
            let edits = if table.is_none() { edits.clone() } else { Vec::new() };
            journal.push(JournaledApproval { table, ..JournaledApproval::of_lists(self, edits) })?;
        }
        let is_there = edits.is_empty().then(|| self.already());
        let place = escape_path(store.path());
        let told = edits.iter().map(|edit| match self.scope.is_unlimited() {
            true => edit.told(&place),
            false => format!("{}, {}", edit.told(&place), self.scope.told()),
        });
        let told = told.collect();
        Ok(ApprovalChange { told, extent: self.extent(), is_there })
    }

    /// Adds what is allowed or denied as a table with its scope. Returns the new text, and the entries and text of the table.
    fn scoped(
        &self,
        path: &Path,
        text: &str,
        before: &Config,
        workspace: &Path,
    ) -> Result<(String, ScopedEdits), StateError> {
        let all = self.edits(before, workspace)?;
        let adds: Vec<ListEdit> = all.into_iter().filter(ListEdit::is_added).collect();
        if adds.is_empty() {
            return Err(StateError::input(format_args!("{} can only be denied everywhere", self.what()))
                .with_help("omit --project"));
        }
        let is_there = |edit: &ListEdit| {
            let list = before.get(&edit.key).map(|value| value.value);
            list.is_some_and(|list| {
                list.as_array().is_some_and(|list| list.iter().any(|one| *one == edit.value))
            })
        };
        if adds.iter().all(is_there) {
            return Ok((text.to_owned(), (Vec::new(), None)));
        }
        let table = self.scope.table_of(&adds)?;
        let after = scope::add_table(text, format_of(path), &table)?;
        let config = config_in(workspace, self.scope.session.as_deref(), path, &after)?;
        self.check_effect(&config, workspace)?;
        Ok((after, (adds, Some(table))))
    }

    /// Names the subject: `host docs.rs`.
    #[must_use]
    pub fn what(&self) -> String {
        self.subject.what()
    }

    /// Returns the extent for users, in the same words for approvals and denials.
    fn extent(&self) -> String {
        let whose = match self.agent.as_str() {
            "*" => format!("all agents, {}", self.scope.told()),
            agent => format!("agent {agent} alone, {}", self.scope.told()),
        };
        let uses = match &self.subject {
            ApprovalSubject::Tool(_) => "all calls of this tool".to_owned(),
            ApprovalSubject::Host(_) => "tools that load web pages, and commands in the sandbox".to_owned(),
            ApprovalSubject::Path(path) => path.uses(),
        };
        format!("extent: {whose}: {uses}")
    }

    fn already(&self) -> String {
        let state = if self.kind == ApprovalKind::Allow { "allowed" } else { "denied" };
        format!("{} is already {state}", self.what())
    }

    /// Returns the edits. The opposite decision about the same subject is removed.
    fn edits(&self, config: &Config, workspace: &Path) -> Result<Vec<ListEdit>, StateError> {
        let key = |rest: &str| format!("agents.{}.{rest}", self.agent);
        let pair = |allow: (&str, String), deny: (&str, String)| match self.kind {
            ApprovalKind::Allow => {
                vec![ListEdit::remove(&key(deny.0), &deny.1), ListEdit::add(&key(allow.0), &allow.1)]
            }
            ApprovalKind::Deny => {
                vec![ListEdit::remove(&key(allow.0), &allow.1), ListEdit::add(&key(deny.0), &deny.1)]
            }
        };
        Ok(match &self.subject {
            ApprovalSubject::Tool(name) => {
                pair(("toolPolicy.allow", name.clone()), ("toolPolicy.deny", name.clone()))
            }
            ApprovalSubject::Host(entry) => {
                let hosts = "allowedNetHosts";
                if self.kind == ApprovalKind::Deny && self.has_open_network(config)? {
                    return Err(StateError::input(format_args!(
                        "the network of agent `{}` is open, and a host list would be without effect",
                        self.agent
                    ))
                    .with_help("set `execSandbox.network` to `none`, and allow hosts by `stockade allow`"));
                }
                pair((hosts, entry.clone()), (hosts, format!("!{entry}")))
            }
            ApprovalSubject::Path(path) => return path.edits(self.kind, config, &self.agent, workspace),
        })
    }

    /// Whether it is allowed without an entry of its own.
    fn is_allowed(&self, config: &Config, workspace: &Path) -> Result<bool, StateError> {
        match &self.subject {
            // A profile may have the tool, but an entry shows in the list what the user allowed.
            ApprovalSubject::Tool(_) => Ok(false),
            ApprovalSubject::Host(entry) => Ok(self.host_refusal(config, entry)?.is_none()),
            ApprovalSubject::Path(path) => Ok(path.refusal(config, &self.agent, workspace)?.is_none()),
        }
    }

    /// Fails if the approval or denial has no effect, because another setting or a fixed limit takes precedence.
    fn check_effect(&self, config: &Config, workspace: &Path) -> Result<(), StateError> {
        if self.kind == ApprovalKind::Deny {
            return match &self.subject {
                ApprovalSubject::Path(path) if path.refusal(config, &self.agent, workspace)?.is_none() => {
                    Err(StateError::input(format_args!("{} stays allowed: commands in the sandbox see it", self.what()))
                        .with_help("only paths of the workspace can be denied; elsewhere, the sandbox decides what is visible"))
                }
                _ => Ok(()),
            };
        }
        let refusal = match &self.subject {
            ApprovalSubject::Tool(name) => self.tool_refusal(config, name),
            ApprovalSubject::Host(entry) => self.host_refusal(config, entry)?,
            ApprovalSubject::Path(path) => path.refusal(config, &self.agent, workspace)?,
        };
        let Some((reason, help)) = refusal else { return Ok(()) };
        let message = format!("{} stays refused: {}", escape(&self.what()), escape(&reason));
        Err(StateError::input(message).with_help(help))
    }

    fn tool_refusal(&self, config: &Config, name: &str) -> Option<(String, String)> {
        let key = format!("agents.{}.toolPolicy.deny", self.agent);
        let denied = config.get(&key)?;
        let is_denied = denied.value.as_array()?.iter().any(|one| one == name);
        is_denied.then(|| {
            let place = denied.origin.place.unwrap_or_default();
            (format!("`toolPolicy.deny` takes precedence ({place})"), "remove it there".to_owned())
        })
    }

    /// Returns why a host is refused, with the fix.
    fn host_refusal(&self, config: &Config, entry: &str) -> Result<Option<(String, String)>, StateError> {
        let agent = agent_guard::settings(config, &self.agent)?;
        let policy =
            agent.exec.net_policy().map_err(|error| StateError::input(&error).with_help(error.fix))?;
        let is_listed = agent.exec.hosts.iter().any(|one| one == entry);
        // Entries with a wildcard or conditions are no single target.
        let Ok(target) = NetTarget::parse(entry) else {
            return Ok((!is_listed && policy != NetPolicy::Open).then(|| {
                ("no entry of the list is the same".to_owned(), "see `stockade config get`".to_owned())
            }));
        };
        let verdict = policy.decide(&target);
        let help = match &verdict.written {
            Some(written) => {
                format!("`{written}` stands in a list of another layer: see `stockade config get`")
            }
            None => "no setting of this user changes that".to_owned(),
        };
        Ok((!verdict.is_allowed()).then_some((verdict.reason, help)))
    }

    fn has_open_network(&self, config: &Config) -> Result<bool, StateError> {
        let policy = agent_guard::settings(config, &self.agent)?.exec.net_policy();
        Ok(matches!(policy, Ok(NetPolicy::Open)))
    }
}

/// Fails for an agent that the configuration does not know, or whose id looks like a mistyped one of a harness.
///
/// # Errors
/// When the agent is unknown.
pub fn check_agent(config: &Config, agent: &str) -> Result<(), StateError> {
    config.agent(agent).map_err(|unknown| StateError::input(&unknown).with_help(unknown.fix()))?;
    let prefix = format!("agents.{agent}.");
    let is_named = || {
        let default = stockade_guard::config::ConfigLayer::Default;
        config.values().iter().any(|value| value.path.starts_with(&prefix) && value.origin.layer != default)
    };
    if agent == "*" || KNOWN_AGENTS.contains(&agent) || is_named() {
        return Ok(());
    }
    match nearest(agent, KNOWN_AGENTS.iter().copied()) {
        Some(near) => Err(StateError::input(format_args!("unknown agent `{agent}`: did you mean `{near}`?"))
            .with_help(format!(
                "if it is another agent, add `[agents.{agent}]` to your configuration first"
            ))),
        None => Ok(()),
    }
}

/// Whether a change names an agent for the first time, so that the agents that no section names would be refused. To allow one
/// agent something must not stop another one.
fn names_first_agent(before: &Config, after: &Config) -> bool {
    const ANY_OTHER: &str = "any-other-agent";
    before.agent(ANY_OTHER).is_ok() && after.agent(ANY_OTHER).is_err()
}

/// Returns the words for access to a path.
const fn access_name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}
