//! Reading by the file tools of a harness. The harness opens the file itself, so the question is the same as for a command that
//! reads it, and gets the same answer: a model that is refused one of them tries the other.

use std::ops::ControlFlow;
use std::path::Path;

use stockade_admission::Reads;
use stockade_command::Effect;
use stockade_command::shell::ReadOptions;
use stockade_config::Config;
use stockade_policy::Access;

use super::why::Why;
use super::{GuardError, Session};

impl Session {
    /// Decides on reading a file by the file tool of a harness, and returns the origin of the decision: by the rules that the
    /// configuration has for the path, otherwise like the command that reads it.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn why_reading(&self, config: &Config, tool: &str, path: &Path) -> Result<Why, GuardError> {
        let by_rules = |session: &Self| session.why_path(config, tool, Access::Read, path);
        let is_inside = match self.read_by_rules(tool, Reads::File, path)? {
            ControlFlow::Break(_) => return by_rules(self),
            ControlFlow::Continue(is_inside) => is_inside,
        };
        let Some(text) = Reads::File.command(&self.guard.workspace().join(path)) else {
            return by_rules(self);
        };
        let place = self.guard.command_place();
        let effect = self.guard.decide_command(&text, &ReadOptions::default(), &place).effect;
        // A file tool reads in the workspace what a command reads in the sandbox.
        if is_inside && effect <= Effect::Sandbox { by_rules(self) } else { self.why_command(config, &text) }
    }
}
