//! The operations on an agent's limits, as data, and their answers.

use std::time::Duration;

use super::agent_limits::AgentLimits;
use super::refusal::CallRefusal;
use crate::amount::Usage;
use crate::breaker::{Breaker, BreakerAdmission, BreakerPermit, BreakerState, CallOutcome};
use crate::budget::{Account, Ledger, Reserved, Settled};
use crate::steps::Step;

/// An operation on the limits of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitOperation<'o> {
    /// Reserves a share for a call, which is one step of its execution. Answered by [`LimitAnswer::Granted`].
    Admit {
        /// Execution that makes the call.
        execution: &'o str,
        /// Most that the call can cost.
        estimate: Usage,
    },
    /// Takes a step that costs nothing by itself. Answered by [`LimitAnswer::Step`].
    TakeStep {
        /// Execution that takes the step.
        execution: &'o str,
    },
    /// Asks whether anything is left, and counts nothing. Answered by [`LimitAnswer::Done`].
    Check,
    /// Charges a call that was made. Answered by [`LimitAnswer::Settled`].
    Settle {
        /// The call.
        call: AdmittedCall<'o>,
        /// What it did cost.
        actual: Usage,
        /// How it went.
        outcome: CallOutcome,
    },
    /// Frees the share of a call that was never made. Answered by [`LimitAnswer::Done`].
    Withdraw {
        /// The call.
        call: AdmittedCall<'o>,
    },
    /// Closes an execution. Answered by [`LimitAnswer::Done`].
    End {
        /// The execution.
        execution: &'o str,
    },
}

/// A call that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmittedCall<'o> {
    /// Execution that makes the call.
    pub execution: &'o str,
    /// What was reserved for it.
    pub estimate: Usage,
    /// The answer by which it was admitted.
    pub grant: &'o Grant,
}

/// What a store answers when it admits a call, and needs to know when the call is over.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant {
    /// Number of the call in the ledger.
    pub hold: u64,
    /// Permit of the circuit breaker.
    pub breaker: BreakerPermit,
    /// Steps that the execution has left; nothing where they are not bounded.
    pub steps_left: Option<u32>,
}

/// The answer to an [`LimitOperation`].
#[derive(Debug)]
#[must_use]
pub enum LimitAnswer {
    /// The call may be made.
    Granted(Grant),
    /// The step may be taken.
    Step {
        /// Steps that the execution has left; nothing where they are not bounded.
        left: Option<u32>,
    },
    /// The call was charged.
    Settled(Settled),
    /// There is nothing to report.
    Done,
    /// The call or step must not be made.
    Refused(CallRefusal),
}

impl LimitOperation<'_> {
    /// Returns whether the operation only asks, so that a store may discard what [`LimitOperation::run`] changed. That is only what
    /// time changes by itself, and the next operation changes it again.
    #[must_use]
    pub const fn only_asks(&self) -> bool {
        matches!(self, Self::Check)
    }

    /// Decides on the operation at `now`, and changes the rows and the circuit breaker of the agent.
    pub fn run(
        &self,
        limits: &AgentLimits,
        ledger: &mut impl Ledger,
        service: &mut BreakerState,
        now: Duration,
    ) -> LimitAnswer {
        if let Self::End { execution } = self {
            ledger.remove_execution(execution);
            return LimitAnswer::Done;
        }
        let account = Account::at(&limits.budget, ledger, now);
        let breaker = Breaker::resume(limits.breaker, std::mem::take(service));
        let mut turn = Turn { max_steps: limits.max_steps, account, breaker, now };
        let answer = turn.answer(self);
        *service = turn.breaker.into_state();
        answer
    }
}

/// An agent's machines, woken up for one operation.
struct Turn<'t, L> {
    max_steps: Option<u32>,
    account: Account<'t, L>,
    breaker: Breaker,
    now: Duration,
}

impl<L: Ledger> Turn<'_, L> {
    fn answer(&mut self, operation: &LimitOperation<'_>) -> LimitAnswer {
        match *operation {
            LimitOperation::Admit { execution, estimate } => {
                self.decide(execution, estimate).map_or_else(LimitAnswer::Refused, LimitAnswer::Granted)
            }
            LimitOperation::TakeStep { execution } => match self.decide(execution, Usage::ZERO) {
                Ok(grant) => {
                    // The call never started, so it tells nothing about the health of the service.
                    self.withdraw(&grant);
                    LimitAnswer::Step { left: grant.steps_left }
                }
                Err(refusal) => LimitAnswer::Refused(refusal),
            },
            LimitOperation::Check => self.check().map_or_else(LimitAnswer::Refused, |()| LimitAnswer::Done),
            LimitOperation::Settle { call: AdmittedCall { execution, estimate, grant }, actual, outcome } => {
                self.breaker.report(grant.breaker.again(), outcome, self.now);
                LimitAnswer::Settled(self.account.settle(grant.hold, execution, estimate, actual))
            }
            LimitOperation::Withdraw { call } => {
                self.withdraw(call.grant);
                LimitAnswer::Done
            }
            // Needs neither the time nor the breaker.
            LimitOperation::End { .. } => LimitAnswer::Done,
        }
    }

    fn decide(&mut self, execution: &str, estimate: Usage) -> Result<Grant, CallRefusal> {
        if let Some(limit) = self.max_steps
            && self.account.steps(execution) >= limit
        {
            return Err(CallRefusal::Steps { limit });
        }
        let reservation = match self.account.reserve(execution, estimate) {
            Reserved::Granted(reservation) => reservation,
            Reserved::Refused(refusal) => return Err(CallRefusal::Budget(refusal)),
        };
        // The breaker is asked last: a probe that the budget refuses would keep its place for nothing.
        match self.breaker.admit(self.now) {
            BreakerAdmission::Admitted(breaker) => {
                let steps_left = self.max_steps.map(|most| match self.account.take_step(execution, most) {
                    Step::Taken { left, .. } => left,
                    Step::Complete { .. } => 0,
                });
                Ok(Grant { hold: reservation.id(), breaker, steps_left })
            }
            BreakerAdmission::Refused { retry_at } => {
                self.account.cancel(reservation.id());
                Err(CallRefusal::BreakerOpen { retry_at })
            }
        }
    }

    /// A check belongs to no execution, and takes no step and no place of a probe.
    fn check(&mut self) -> Result<(), CallRefusal> {
        self.account.check("", Usage::ZERO).map_err(CallRefusal::Budget)?;
        match self.breaker.clone().admit(self.now) {
            BreakerAdmission::Admitted(_) => Ok(()),
            BreakerAdmission::Refused { retry_at } => Err(CallRefusal::BreakerOpen { retry_at }),
        }
    }

    fn withdraw(&mut self, grant: &Grant) {
        self.account.cancel(grant.hold);
        self.breaker.withdraw(grant.breaker.again(), self.now);
    }
}
