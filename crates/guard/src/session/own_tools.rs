//! The tools of the program that runs an agent, which touch nothing by themselves.

use stockade_policy::ToolVerdict;
use stockade_policy::tools::Removal;

use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, Effect, GuardError, Session};

impl Session {
    /// Decides on a tool that belongs to the program that runs the agent and touches nothing by itself: a list of what is to do, a
    /// question to the user, another agent whose tools are asked about in turn. Profiles are lists of tools that touch something,
    /// so that none has it says nothing; it is there unless somebody took it away by name.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn own_tool(&self, name: &str) -> Result<Decision, GuardError> {
        match self.decide_tool(name) {
            ToolVerdict::Removed(Removal::NotInProfile { .. }) => self.decided(DecisionDraft {
                layer: DecisionLayer::Tools,
                effect: Effect::Allow,
                subject: name,
                rule: DecisionRule::ToolGranted,
                reason: "it belongs to the program that runs the agent, and nobody took it away".to_owned(),
                fix: None,
            }),
            _ => self.tool(name, None),
        }
    }
}
