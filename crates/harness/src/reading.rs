//! Reading by the file tools of a harness. The harness opens the file itself, so the question is the same as for a command that
//! reads it, and gets the same answer: a model that is refused one of them tries the other. `stockade why` decides the same way,
//! with `Session::why_reading`.
#![expect(clippy::disallowed_methods, reason = "finds where a path leads that the harness will open")]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use stockade_guard::admission::Reads;
use stockade_guard::command::Effect;
use stockade_guard::policy::Access;

use super::answer::HookVerdict;
use super::call::ToolCall;
use super::judge::{Agent, JudgedCommand, strictest};
use super::paths;

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
        let answer = self.session.read_by_rules(tool, reads, &path).map_err(|error| error.to_string())?;
        let is_inside = match answer {
            ControlFlow::Break(decision) => return Ok(self.stopped(&decision)),
            ControlFlow::Continue(is_inside) => is_inside,
        };
        let whole = call.origin.workspace.join(&path);
        let command = reads.command(&whole).ok_or("a path that it names is not valid UTF-8")?;
        let JudgedCommand { mut decision, effect, basis, .. } = self.command(&command, &call.origin)?;
        decision.effect = effect;
        match effect {
            Effect::Allow => Ok(HookVerdict::Silent),
            Effect::Sandbox if is_inside => Ok(HookVerdict::Silent),
            Effect::Sandbox => self.seen_in_sandbox(&fs::canonicalize(&whole).unwrap_or(whole)),
            Effect::Ask | Effect::Deny => Ok(self.stopped(&decision).on(basis)),
        }
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
