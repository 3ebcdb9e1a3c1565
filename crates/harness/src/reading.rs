//! Reading by the file tools of a harness. The harness opens the file itself, so the question is the same as for a command that
//! reads it, and gets the same answer: a model that is refused one of them tries the other.
#![expect(
    clippy::disallowed_methods,
    reason = "finds the home, and where a path leads that the harness will open"
)]

use std::env;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use stockade_guard::Decision;
use stockade_guard::command::Effect;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::policy::Access;

use super::answer::HookVerdict;
use super::call::ToolCall;
use super::judge::{Agent, strictest};
use super::paths;

/// What a tool reads of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// The content of the file.
    File,
    /// The contents of the file, or of all files below the folder.
    Tree,
    /// The names in the folder.
    Names,
}

impl Reads {
    /// Returns the command that reads the same.
    fn command(self, path: &Path) -> Result<String, String> {
        let command = match self {
            Self::File => "cat --",
            Self::Tree => "grep -r -e x --",
            Self::Names => "ls --",
        };
        let path = path.to_str().ok_or("a path that it names is not valid UTF-8")?;
        // Rules know the names in a home by the sign for it.
        let home = env::var("HOME").ok().filter(|home| home.len() > 1);
        let below = home.and_then(|home| path.strip_prefix(&home)?.strip_prefix('/'));
        Ok(match below {
            Some(below) => format!("{command} ~/{}", quote_argv([below])),
            None => format!("{command} {}", quote_argv([path])),
        })
    }
}

impl Agent<'_> {
    /// Decides about reading paths.
    pub(super) fn reads(
        &self,
        call: &ToolCall,
        tool: &str,
        reads: Reads,
        paths: &[String],
    ) -> Result<HookVerdict, String> {
        strictest(paths, |path| self.reads_one(call, tool, reads, path))
    }

    fn reads_one(
        &self,
        call: &ToolCall,
        tool: &str,
        reads: Reads,
        path: &str,
    ) -> Result<HookVerdict, String> {
        let path = paths::asked(&call.origin, path);
        let answer = self.session.read_by_rules(tool, &path).map_err(|error| error.to_string())?;
        let is_inside = match answer {
            ControlFlow::Break(decision) => return Ok(self.stopped(&decision)),
            ControlFlow::Continue(is_inside) => is_inside,
        };
        let whole = call.origin.workspace.join(&path);
        // A link is judged by its own name and by where it leads.
        let real = fs::canonicalize(&whole).ok().filter(|real| *real != whole);
        let mut strictest = self.read_as_command(call, reads, &whole)?;
        if let Some(real) = &real {
            let there = self.read_as_command(call, reads, real)?;
            if there.effect > strictest.effect {
                strictest = there;
            }
        }
        match strictest.effect {
            Effect::Allow => Ok(HookVerdict::Silent),
            Effect::Sandbox if is_inside => Ok(HookVerdict::Silent),
            Effect::Sandbox => self.seen_in_sandbox(real.as_deref().unwrap_or(&whole)),
            Effect::Ask | Effect::Deny => Ok(self.stopped(&strictest)),
        }
    }

    /// Decides about the command that reads a path, with the effect after the user's saved answers.
    fn read_as_command(&self, call: &ToolCall, reads: Reads, path: &Path) -> Result<Decision, String> {
        let (mut decision, effect) = self.command(&reads.command(path)?, &call.origin)?;
        decision.effect = effect;
        Ok(decision)
    }

    /// Decides about a path that a command may read in the sandbox only: as far as the sandbox shows it.
    fn seen_in_sandbox(&self, path: &Path) -> Result<HookVerdict, String> {
        // Of what is not there, nothing can be read.
        if fs::symlink_metadata(path).is_err() {
            return Ok(HookVerdict::Silent);
        }
        let seen = self.session.seen_by_commands(Access::Read, path);
        let (mut decision, _) = seen.map_err(|error| error.to_string())?;
        decision.effect = decision.effect.min(Effect::Ask);
        Ok(self.stopped(&decision))
    }
}
