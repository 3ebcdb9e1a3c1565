//! Tools that the configured lists do not cover: those of the agent's harness, and those that the caller refuses.

use stockade_policy::ToolVerdict;
use stockade_policy::tools::Removal;

use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, Effect, GuardError, Session};

impl Session {
    /// Decides on a tool of the harness that accesses nothing itself: a to-do list, a question to the user, or a subagent whose
    /// tools are decided separately. Profiles list tools with an effect, so that absence from a profile is meaningless here. The
    /// tool is allowed unless a deny list names it.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn own_tool(&self, name: &str) -> Result<Decision, GuardError> {
        match self.decide_tool(name) {
            ToolVerdict::Removed(Removal::NotInProfile { .. }) => self.decided(DecisionDraft {
                layer: DecisionLayer::Tools,
                effect: Effect::Allow,
                subject: name,
                rule: DecisionRule::ToolGranted,
                reason: "it is provided by the harness of the agent, and no rule can remove it".to_owned(),
                fix: None,
            }),
            _ => self.tool(name, None),
        }
    }

    /// Decides about a tool like [`Session::tool`], for a caller that can ask the user: a tool that no list names is a question.
    /// Programs that run agents gain tools with every version, which no list here can know.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn tool_or_question(&self, name: &str, arguments: Option<&str>) -> Result<Decision, GuardError> {
        let ToolVerdict::Removed(removal @ Removal::NotInProfile { .. }) = self.decide_tool(name) else {
            return self.tool(name, arguments);
        };
        self.decided(DecisionDraft {
            layer: DecisionLayer::Tools,
            effect: Effect::Ask,
            subject: name,
            rule: DecisionRule::ToolUnlisted,
            reason: removal.to_string(),
            fix: self.tool_fix(name),
        })
    }

    /// Refuses a tool for a reason that only the caller knows, such as a definition that changed since its approval. `rule` names
    /// the reason.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
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
