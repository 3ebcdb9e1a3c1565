//! Tasks, steps and calls, counted against the limits of an agent.

use stockade_command::Effect;
use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::budget::Settled;
use stockade_limits::store::{CallPermit, CallRefusal, CallVerdict};

use super::Session;
use crate::guard::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError};

/// One task of an agent, from its first call to its answer. Its steps are counted in the store of limits, for every process that
/// continues the task of this name.
#[derive(Debug, Clone)]
pub struct Execution {
    name: String,
}

/// A call that the limits permit.
#[derive(Debug)]
#[must_use = "a call that is never settled is charged in full"]
pub struct Call {
    permit: CallPermit,
}

impl Call {
    /// Returns the number of steps that its task has left.
    #[must_use]
    pub const fn steps_left(&self) -> Option<u32> {
        self.permit.steps_left()
    }
}

impl Session {
    /// Begins or continues a task.
    #[must_use]
    pub fn begin(&self, name: impl Into<String>) -> Execution {
        Execution { name: name.into() }
    }

    /// Ends a task: its steps and its own usage are deleted. Hourly and daily usage include it further on.
    ///
    /// # Errors
    /// When the end cannot be stored. The task then continues.
    #[expect(clippy::needless_pass_by_value, reason = "consumes the task, so that it cannot be continued")]
    pub fn end(&self, execution: Execution) -> Result<(), GuardError> {
        Ok(self.limits.end_execution(self.guard.agent(), &execution.name)?)
    }

    /// Decides whether a call that costs up to `estimate` may be made: by the remaining steps, then the budgets, then the circuit
    /// breaker. A permitted call must be settled.
    ///
    /// # Errors
    /// When the decision cannot be recorded. Nothing is charged then.
    pub fn begin_call(
        &self,
        execution: &Execution,
        estimate: Usage,
    ) -> Result<(Decision, Option<Call>), GuardError> {
        let subject = execution.name.as_str();
        match self.limits.admit(self.guard.agent(), subject, estimate) {
            CallVerdict::Granted(permit) => Ok((within_limits(subject)?, Some(Call { permit }))),
            CallVerdict::Refused(refusal) => Ok((self.limited(subject, &refusal)?, None)),
        }
    }

    /// Decides whether a task may take a step without a cost, such as a command: it may while it has a step and any budget left
    /// and the circuit breaker is closed. Such a step is not settled.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn take_step(&self, execution: &Execution) -> Result<Decision, GuardError> {
        let subject = execution.name.as_str();
        match self.limits.take_step(self.guard.agent(), subject) {
            Ok(_) => within_limits(subject),
            Err(refusal) => self.limited(subject, &refusal),
        }
    }

    /// Decides whether the agent may act at all, in any task: whether any budget is left and the circuit breaker is closed.
    /// Nothing is counted.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn check_limits(&self) -> Result<Decision, GuardError> {
        let agent = self.guard.agent();
        match self.limits.check(agent) {
            Ok(()) => within_limits(agent),
            Err(refusal) => self.limited(agent, &refusal),
        }
    }

    /// Charges the actual cost of a call, and records whether it succeeded.
    ///
    /// # Errors
    /// When the cost cannot be stored. The call is then charged in full when its lease ends.
    pub fn end_call(&self, call: Call, actual: Usage, outcome: CallOutcome) -> Result<Settled, GuardError> {
        Ok(self.limits.settle(call.permit, actual, outcome)?)
    }

    fn limited(&self, subject: &str, refusal: &CallRefusal) -> Result<Decision, GuardError> {
        let (layer, effect) = (DecisionLayer::Limits, Effect::Deny);
        let (rule, fix) = match refusal {
            CallRefusal::Steps { .. } => {
                (DecisionRule::Steps, Some("finish with the current results, or raise `maxSteps`".to_owned()))
            }
            CallRefusal::BreakerOpen { .. } => (DecisionRule::Breaker, None),
            CallRefusal::Store(_) => {
                (DecisionRule::LimitStore, Some(self.guard.limit_store().fix().to_owned()))
            }
            _ => (DecisionRule::Budget, None),
        };
        let reason = refusal.to_string();
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })
    }
}

/// Calls within their limits are not recorded as events.
fn within_limits(subject: &str) -> Result<Decision, GuardError> {
    let decision = DecisionDraft {
        layer: DecisionLayer::Limits,
        effect: Effect::Allow,
        subject,
        rule: DecisionRule::WithinLimits,
        reason: "steps and budget are sufficient".to_owned(),
        fix: None,
    };
    decision.named()
}
