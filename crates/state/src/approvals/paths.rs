//! Files and directories that an agent may use: within the workspace by the lists of its file tools, elsewhere by the list of what
//! its commands see in the sandbox, which its file tools follow.
#![expect(clippy::disallowed_methods, reason = "asks where the home is, and whether a path is a directory")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use stockade_guard::Session;
use stockade_guard::admission::{Authorization, Reads};
use stockade_guard::command::Effect;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::config::Config;
use stockade_guard::policy::Access;
use stockade_text::{escape_path, with_causes};

use super::edits::ListEdit;
use super::{ApprovalKind, access_name, agent_guard};
use crate::StateError;

/// A file or directory, and the access to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedPath {
    /// The path, absolute and without symlinks as far as it exists.
    pub path: PathBuf,
    /// Whether it may be written, too.
    pub access: Access,
}

impl ApprovedPath {
    pub(super) fn what(&self) -> String {
        format!("{} of {}", access_name(self.access), escape_path(&self.path))
    }

    pub(super) fn uses(&self) -> String {
        match self.access {
            Access::Read => "reading by file tools and by commands in the sandbox".to_owned(),
            Access::Write => "reading and writing by file tools".to_owned(),
        }
    }

    /// Returns the accesses: to write a file, a tool has to read it.
    fn accesses(&self) -> &'static [Access] {
        match self.access {
            Access::Read => &[Access::Read],
            Access::Write => &[Access::Read, Access::Write],
        }
    }

    pub(super) fn edits(
        &self,
        kind: ApprovalKind,
        config: &Config,
        agent: &str,
        workspace: &Path,
    ) -> Result<Vec<ListEdit>, StateError> {
        let (session, _folder) = agent_guard::open(config, agent, workspace)?;
        let inside = self.path.strip_prefix(session.guard().workspace()).ok().map(Path::to_owned);
        match inside {
            Some(inside) => self.edits_inside(&inside, kind, agent),
            None if self.access == Access::Write && kind == ApprovalKind::Allow => {
                let message =
                    format!("{} is outside of the workspace, and agents write only in theirs", self.what());
                Err(StateError::input(message).with_help(format!(
                    "run one command with it yourself: stockade exec --rw {} -- COMMAND",
                    quote_argv([self.path.to_string_lossy().as_ref()])
                )))
            }
            None => {
                let text = text_of(&self.path)?;
                let key = format!("agents.{agent}.skills.execSandbox.readOnlyAllowPaths");
                Ok(vec![match kind {
                    ApprovalKind::Allow => ListEdit::add(&key, text),
                    ApprovalKind::Deny => ListEdit::remove(&key, text),
                }])
            }
        }
    }

    fn edits_inside(
        &self,
        inside: &Path,
        kind: ApprovalKind,
        agent: &str,
    ) -> Result<Vec<ListEdit>, StateError> {
        let glob = escaped_glob(text_of(inside)?);
        if glob.is_empty() {
            let message = "this is the workspace itself, which the agent may read and write".to_owned();
            return Err(StateError::input(message).with_help("name a file or directory in it"));
        }
        let mut edits = Vec::new();
        for access in self.accesses() {
            let list = |name: &str| match access {
                Access::Read => format!("agents.{agent}.files.{name}Read"),
                Access::Write => format!("agents.{agent}.files.{name}Write"),
            };
            // A glob that denies a directory denies all that is in it. One that allows it is about the directory alone.
            let below = self.path.is_dir().then(|| format!("{glob}/**"));
            let allowed = [Some(glob.clone()), below].into_iter().flatten();
            match kind {
                ApprovalKind::Allow => {
                    edits.push(ListEdit::remove(&list("deny"), &glob));
                    edits.extend(allowed.map(|glob| ListEdit::add(&list("allow"), &glob)));
                }
                ApprovalKind::Deny => {
                    edits.extend(allowed.map(|glob| ListEdit::remove(&list("allow"), &glob)));
                    edits.push(ListEdit::add(&list("deny"), &glob));
                }
            }
        }
        Ok(edits)
    }

    /// Returns why the access is refused or asked about, with the fix.
    pub(super) fn refusal(
        &self,
        config: &Config,
        agent: &str,
        workspace: &Path,
    ) -> Result<Option<(String, String)>, StateError> {
        let (session, _folder) = agent_guard::open(config, agent, workspace)?;
        let undecided = |error| StateError::unavailable(with_causes(&error));
        let workspace = session.guard().workspace().to_owned();
        let inside = self.path.strip_prefix(&workspace).ok();
        for access in self.accesses() {
            let path = inside.unwrap_or(&self.path);
            match access {
                // A file that is not there yet is only written.
                Access::Read if self.path.symlink_metadata().is_err() => {}
                Access::Read => match session.read_by_rules("read", Reads::File, path).map_err(undecided)? {
                    ControlFlow::Break(decision) => return Ok(Some(fixed(decision.reason))),
                    ControlFlow::Continue(may_read) if inside.is_some() && !may_read => {
                        return Ok(Some(fixed(
                            "its name is one of those that no file tool reads".to_owned(),
                        )));
                    }
                    ControlFlow::Continue(_) => {}
                },
                Access::Write => {
                    let answer = session.path("write", Access::Write, path).map_err(undecided)?;
                    if !matches!(answer.authorization, Authorization::Granted(_)) {
                        return Ok(Some(fixed(answer.decision.reason)));
                    }
                }
            }
        }
        if inside.is_none() {
            let (seen, never) = session.seen_by_commands(Access::Read, &self.path).map_err(undecided)?;
            if !seen.is_allowed() {
                return Ok(Some((
                    seen.reason,
                    never.unwrap_or_else(|| "no setting changes that".to_owned()),
                )));
            }
        }
        match self.access {
            Access::Read => self.command_refusal(&session),
            Access::Write => Ok(None),
        }
    }

    /// Returns why the command that reads it is refused: file tools get the same answer.
    fn command_refusal(&self, session: &Session) -> Result<Option<(String, String)>, StateError> {
        // Rules know the names in a home by the sign for it.
        let home = std::env::var("HOME").ok().filter(|home| home.len() > 1);
        let below = home.and_then(|home| self.path.strip_prefix(home).ok());
        let command = match below {
            Some(below) => format!("cat -- ~/{}", quote_argv([text_of(below)?])),
            None => format!("cat -- {}", quote_argv([text_of(&self.path)?])),
        };
        let decision =
            session.command(&command).map_err(|error| StateError::unavailable(with_causes(&error)))?;
        Ok((decision.effect > Effect::Sandbox).then(|| {
            let help = decision.fix.unwrap_or_else(|| "no setting changes that".to_owned());
            (format!("{} ({})", decision.reason, decision.rule), help)
        }))
    }
}

fn fixed(reason: String) -> (String, String) {
    (reason, "no approval changes that: secrets, and files that start programs, stay as they are".to_owned())
}

fn text_of(path: &Path) -> Result<&str, StateError> {
    let named = || StateError::input(format_args!("{}: the name is not valid UTF-8", escape_path(path)));
    path.to_str().ok_or_else(named)
}

/// Returns a glob that matches this path alone.
fn escaped_glob(path: &str) -> String {
    path.chars().flat_map(|c| "*?[]{}!\\~".contains(c).then_some('\\').into_iter().chain([c])).collect()
}
