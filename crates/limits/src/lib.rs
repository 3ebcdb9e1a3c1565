//! Keeps an AI agent's spending, its retries and what its tools bring back within bounds.
//!
//! - [`budget`]: tokens and money per execution, hour and day. A call is reserved before and settled after, so calls that
//!   run side by side cannot overshoot together.
//! - [`breaker`]: a circuit breaker: stops calling a service that keeps failing, and tries again with exactly one call.
//! - [`steps`], [`retry`], [`turns`]: how often a tool is used, a mistake repeated, an answer continued.
//! - [`store`]: budgets and breakers that several processes or machines share.
//! - [`costs`]: who spent what.
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
//! use stockade_limits::Usage;
//! use stockade_limits::budget::{Allowance, Budget, BudgetLimits, Reserved};
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
//! Features: `serde` reads settings and writes states and reports. Without features the crate has no dependencies. The crate
//! `stockade-limits-replay` replays events written in JSON.
#![forbid(unsafe_code)]

mod amount;
pub mod breaker;
pub mod budget;
mod clock;
pub mod costs;
#[cfg(feature = "serde")]
mod millis;
pub mod retry;
pub mod steps;
pub mod store;
pub mod turns;

pub use amount::{AmountError, Cap, MicroUsd, Usage, count_from_f64, estimate_tokens};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
