//! Keeps an AI agent's spending, its retries and what its tools bring back within bounds.
//!
//! - [`Budget`]: tokens and money per execution, hour and day. A call is reserved before and settled after, so calls that
//!   run side by side cannot overshoot together.
//! - [`Breaker`]: stops calling a service that keeps failing, and tries again with exactly one call.
//! - [`Steps`], [`Retries`], [`TurnBudget`]: how often a tool is used, a mistake repeated, an answer continued.
//! - [`SourceProfiles`] and [`Extractor`]: how much of a tool's result reaches the model, and which part.
//! - [`SharedLimits`] and [`LimitStore`]: budgets and breakers that several processes or machines share.
//! - [`CostLedger`]: who spent what.
//!
//! Every limit is a state machine without clock or I/O: time is an argument, counted as a [`Duration`](std::time::Duration)
//! from any fixed moment. Amounts are integers, so what is not a number cannot pass a cap and what is negative cannot
//! refund; sums stop at the largest number; time that is set back is not believed.
//!
//! It does **not** know prices or count tokens, and it does not stop a call that is under way. A clock that jumps ahead frees
//! windows early: count from a steady one.
//!
//! ```
//! use std::time::Duration;
//! use stockade_limits::{Allowance, Budget, BudgetLimits, Reserved, Usage};
//!
//! let limits = BudgetLimits { per_execution: Allowance::tokens(10_000), ..BudgetLimits::default() };
//! let mut budget = Budget::new(limits);
//! let now = Duration::from_secs(1);
//!
//! let Reserved::Granted(call) = budget.reserve("task", Usage::tokens(4_000), now) else { panic!() };
//! budget.settle(call, Usage::tokens(3_500), now);
//!
//! let Reserved::Refused(refusal) = budget.reserve("task", Usage::tokens(7_000), now) else { panic!() };
//! assert_eq!(
//!     refusal.to_string(),
//!     "the per-execution token budget of 10000 is exhausted: 3500 used, 7000 more asked for",
//! );
//! ```
//!
//! Features: `serde` reads settings and writes states and reports; `script` replays events written in JSON.
#![forbid(unsafe_code)]

mod amount;
mod breaker;
mod budget;
mod clock;
mod costs;
#[cfg(feature = "serde")]
mod millis;
mod retry;
#[cfg(feature = "script")]
mod script;
#[cfg(feature = "script")]
mod simulate;
mod source;
mod steps;
mod store;
mod turns;

pub use amount::{AmountError, Cap, MicroUsd, Usage, count_from_f64, estimate_tokens};
pub use breaker::{Admission, Breaker, BreakerPermit, BreakerPhase, BreakerSettings, BreakerState, Outcome};
pub use budget::{
    Allowance, Balance, Budget, BudgetLimits, BudgetRefusal, BudgetState, Exhausted, MAX_EXECUTIONS,
    MAX_IN_FLIGHT, Measure, Reservation, Reserved, Scope, Settled, Trajectory, calls_left,
};
pub use costs::{CostLedger, CostRecord, CostTotal};
pub use retry::{ErrorClass, Fingerprint, Retries, RetryRefusal, RetrySettings};
#[cfg(feature = "script")]
pub use script::{Script, ScriptError, ScriptStep, run_script};
#[cfg(feature = "script")]
pub use simulate::{
    SimulatedBudget, SimulatedEvent, SimulatedStep, Trace, TraceCall, TraceError, TraceLimits, chart,
    simulate,
};
pub use source::{
    Appetite, DEFAULT_MCP, Extracted, Extractor, FALLBACK, Hidden, MAX_CHARS_CEILING, MAX_CHARS_FLOOR,
    MAX_RESPONSE_BYTES_CEILING, MAX_RESPONSE_BYTES_FLOOR, ProfileOverride, SourceProfile, SourceProfiles,
    Strategy, TailLimits, TextTail, Truncation, extract, format_size, resolve_source, shorten_line, tail_of,
};
pub use steps::{Step, Steps};
pub use store::{
    AgentLimits, AgentState, AgentStatus, CallPermit, CallRefusal, CallVerdict, Change, LimitReset,
    LimitStore, MemoryStore, SharedLimits, StoreError, Swap, Versioned, VersionedStore,
    update_optimistically,
};
pub use turns::{TurnBudget, TurnDirective, TurnVerdict, turn_directive};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
