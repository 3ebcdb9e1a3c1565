//! Limits that processes and machines share.
#![cfg(any(feature = "redis", feature = "sqlite"))]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "clients are threads, and a test may panic"
)]

#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
mod steps;

use std::sync::atomic::{AtomicU64, Ordering};

use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::budget::Allowance;
use stockade_limits::store::{AgentLimits, CallVerdict, LimitStore, SharedLimits};

/// What all clients together may use, and what each call asks for.
const CAP: u64 = 1_000;
const CALL: u64 = 30;

fn limits() -> AgentLimits {
    let mut limits = AgentLimits::default();
    limits.budget.per_hour = Allowance::tokens(CAP);
    limits
}

/// Runs many clients at once, each with a connection of its own, until each is refused. Returns what they used together.
fn use_up<S: LimitStore>(clients: u32, connect: impl Fn() -> S + Sync) -> u64 {
    let used = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (used, connect) = (&used, &connect);
            scope.spawn(move || {
                let limits = SharedLimits::new(limits(), connect());
                while let CallVerdict::Granted(permit) = limits.admit("agent", "task", Usage::tokens(CALL)) {
                    let actual = CALL - u64::from(client % 3);
                    limits.settle(permit, Usage::tokens(actual), CallOutcome::Success).unwrap();
                    used.fetch_add(actual, Ordering::Relaxed);
                }
            });
        }
    });
    used.into_inner()
}

/// Many clients use the budget up together and never pass it; one that comes later finds nothing left.
fn assert_shared<S: LimitStore>(clients: u32, connect: impl Fn() -> S + Sync) {
    let used = use_up(clients, &connect);
    assert!(used <= CAP, "{used} of {CAP}");
    assert!(used > CAP - 2 * CALL, "{used} of {CAP}: calls were refused too early");
    let late = SharedLimits::new(limits(), connect()).admit("agent", "task", Usage::tokens(CALL));
    assert!(matches!(late, CallVerdict::Refused(_)), "{late:?}");
    let other = SharedLimits::new(limits(), connect()).admit("other agent", "task", Usage::tokens(CALL));
    assert!(matches!(other, CallVerdict::Granted(_)), "{other:?}");
}
