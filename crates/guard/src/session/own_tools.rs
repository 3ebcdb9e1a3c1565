//! Tools that the lists of an agent say nothing of: those of the program that runs it, and those that another program turns away.

use stockade_policy::ToolVerdict;
use stockade_policy::tools::Removal;

use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, Effect, GuardError, Session};

impl Session {
    /// Decides on a tool that belongs to the program that runs the agent and touches nothing by itself: a list of what is to do,
    /// a question to the user, another agent whose tools are asked about in turn. Profiles are lists of tools that touch
    /// something, so that their absence from a profile means nothing; it is allowed unless a deny list names it.
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
                reason: "it belongs to the program that runs the agent, and no rule removes it".to_owned(),
                fix: None,
            }),
            _ => self.tool(name, None),
        }
    }

    /// Refuses a tool for a reason that the caller knows and the policy does not, such as that its definition changed since it
    /// was approved. `rule` names the reason.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn turn_away(
        &self,
        name: &str,
        rule: &str,
        reason: String,
        fix: Option<String>,
    ) -> Result<Decision, GuardError> {
        self.decided(DecisionDraft {
            layer: DecisionLayer::Tools,
            effect: Effect::Deny,
            subject: name,
            rule: DecisionRule::Named(rule.to_owned()),
            reason,
            fix,
        })
    }
}
