//! Replays the calls of an AI agent against limits, and returns what each limit answers.
//!
//! - [`simulate`]: a trace of calls, run through all limits together.
//! - [`script`]: a list of events for one limit.
//!
//! Both are read from JSON with serde. Time is part of the trace, so that a replay has the same result every time.
#![forbid(unsafe_code)]

mod fingerprint;
pub mod script;
pub mod simulate;

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
