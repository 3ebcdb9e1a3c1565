//! Random sequences of operations, whose answers all stores must agree on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::budget::Allowance;
use stockade_limits::store::{AgentLimits, CallPermit, CallVerdict, LimitStore, SharedLimits};
#[cfg(feature = "redis")]
use stockade_limits::store::{LimitAnswer, LimitOperation, StateStore, StoreError};
use stockade_limits::{Cap, MicroUsd, Usage};

const TASKS: [&str; 4] = ["", "one", "two", "a task: \"three\"\n"];
/// From the middle of 2026, in milliseconds.
const BEGIN: u64 = 1_780_000_000_000;

/// A clock that a test sets, in whole milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Clock(Arc<AtomicU64>);

/// One operation, some time after the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Milliseconds; a clock may also be set back.
    pass: i64,
    task: usize,
    action: Action,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Admit(Usage),
    TakeStep,
    Check,
    /// Which of the calls in flight, at how many hundredths of its estimate.
    Settle(usize, u64, CallOutcome),
    Withdraw(usize),
    End,
}

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(BEGIN)))
    }
}

impl Clock {
    pub(super) fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    pub(super) fn pass(&self, step: &Step) {
        self.0.store(self.0.load(Ordering::Relaxed).saturating_add_signed(step.pass), Ordering::Relaxed);
    }
}

impl Step {
    #[cfg(feature = "sqlite")]
    pub(super) const ADMIT: Self = Self { pass: 0, task: 0, action: Action::Admit(Usage::ZERO) };

    /// Takes the step, and returns the answer as text. `calls` are those in flight.
    pub(super) fn take(
        &self,
        limits: &SharedLimits<impl LimitStore>,
        calls: &mut Vec<(CallPermit, Usage)>,
    ) -> String {
        let task = TASKS.get(self.task).unwrap();
        match self.action {
            Action::Admit(estimate) => match limits.admit("agent", task, estimate) {
                CallVerdict::Granted(permit) => {
                    let answer = format!("{permit:?}");
                    calls.push((permit, estimate));
                    answer
                }
                CallVerdict::Refused(refusal) => format!("{refusal:?}"),
            },
            Action::TakeStep => format!("{:?}", limits.take_step("agent", task)),
            Action::Check => format!("{:?}", limits.check("agent")),
            Action::Settle(which, hundredths, outcome) => taken(calls, which, |(permit, estimate)| {
                let part = |amount: u64| amount / 100 * hundredths;
                let actual = Usage {
                    tokens: part(estimate.tokens),
                    cost: MicroUsd::new(part(estimate.cost.micros())),
                };
                format!("{:?}", limits.settle(permit, actual, outcome))
            }),
            Action::Withdraw(which) => {
                taken(calls, which, |(permit, _)| format!("{:?}", limits.withdraw(permit)))
            }
            Action::End => format!("{:?}", limits.end_execution("agent", task)),
        }
    }
}

fn taken<C>(calls: &mut Vec<C>, which: usize, work: impl FnOnce(C) -> String) -> String {
    match calls.len() {
        0 => String::new(),
        len => work(calls.swap_remove(which % len)),
    }
}

/// A store in memory that also keeps what time changed when it was only asked, as the server does.
#[cfg(feature = "redis")]
#[derive(Debug)]
pub(super) struct Persisting<S>(pub(super) S);

#[cfg(feature = "redis")]
impl<S: LimitStore + StateStore> LimitStore for Persisting<S> {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        let mut answer = None;
        self.0.update(agent, &mut |state, now| {
            answer = Some(operation.run(limits, &mut state.budget, &mut state.breaker, now));
        })?;
        Ok(answer.unwrap())
    }
}

/// Limits that random calls reach now and then.
pub(super) fn limits() -> AgentLimits {
    let allow =
        |tokens, micros| Allowance { tokens: Cap::AtMost(tokens), cost: Cap::AtMost(MicroUsd::new(micros)) };
    let mut limits = AgentLimits { max_steps: Some(12), ..AgentLimits::default() };
    limits.budget.per_execution = allow(9_000, 12_000);
    limits.budget.per_hour = allow(20_000, 25_000);
    limits.budget.per_day = allow(60_000, 90_000);
    limits.breaker.failure_threshold = std::num::NonZeroU32::MIN.saturating_add(1);
    limits
}

pub(super) fn scripts() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..60)
}

fn step() -> impl Strategy<Value = Step> {
    let pass = prop_oneof![
        4 => 0..5_000_i64,
        2 => 0..120_000_i64,
        1 => 0..3_700_000_i64,
        1 => 0..90_000_000_i64,
        1 => -10_000..0_i64,
    ];
    (pass, 0..TASKS.len(), action()).prop_map(|(pass, task, action)| Step { pass, task, action })
}

fn action() -> impl Strategy<Value = Action> {
    let outcome = prop_oneof![3 => Just(CallOutcome::Success), 1 => Just(CallOutcome::Failure)];
    prop_oneof![
        6 => usage().prop_map(Action::Admit),
        1 => Just(Action::TakeStep),
        1 => Just(Action::Check),
        5 => (any::<usize>(), 0..150_u64, outcome).prop_map(|(which, part, how)| Action::Settle(which, part, how)),
        1 => any::<usize>().prop_map(Action::Withdraw),
        1 => Just(Action::End),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    let amount = || prop_oneof![8 => 0..4_000_u64, 1 => 0..30_000_u64];
    (amount(), amount()).prop_map(|(tokens, micros)| Usage { tokens, cost: MicroUsd::new(micros) })
}
