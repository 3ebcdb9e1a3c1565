//! What a decision costs. Run with `cargo xtask bench limits`.
//!
//! Each round runs every case once, so that a busy moment of the machine hits all of them; the table shows medians.

#![expect(clippy::print_stdout, reason = "a bench reports to a person")]

use std::hint::black_box;
use std::time::Duration;

use stockade_limits::Usage;
use stockade_limits::breaker::{Breaker, BreakerAdmission, BreakerSettings, CallOutcome};
use stockade_limits::budget::{Budget, BudgetLimits, Reserved};
use testkit::bench::{Work, medians};

const ROUNDS: usize = 15;

/// The name of what is measured, and the work.
type Case = (&'static str, Work<'static>);

fn main() {
    decisions();
}

fn decisions() {
    const CALLS: u32 = 2_000;
    let mut quiet = Budget::new(BudgetLimits::default());
    let mut busy = Budget::new(BudgetLimits::default());
    let day = 24 * 60 * 60 * 1_000;
    for at in (0..day).step_by(1_000) {
        let _settled = busy.record("busy", Usage::tokens(1), Duration::from_millis(at));
    }
    let mut breaker = Breaker::new(BreakerSettings::default());
    let reserve_and_settle = |budget: &mut Budget, now: Duration| {
        for _ in 0..CALLS {
            if let Reserved::Granted(reservation) = budget.reserve("task", Usage::tokens(1), now) {
                black_box(budget.settle(reservation, Usage::tokens(1), now));
            }
        }
    };
    let mut cases: Vec<Case> = vec![
        (
            "budget: reserve and settle, new account",
            Box::new(move || reserve_and_settle(&mut quiet, Duration::from_secs(1))),
        ),
        (
            "budget: reserve and settle, a call every second for a day",
            Box::new(move || reserve_and_settle(&mut busy, Duration::from_millis(day))),
        ),
        (
            "breaker: admit and report",
            Box::new(move || {
                for _ in 0..CALLS {
                    if let BreakerAdmission::Admitted(permit) = breaker.admit(Duration::from_secs(1)) {
                        breaker.report(black_box(permit), CallOutcome::Success, Duration::from_secs(1));
                    }
                }
            }),
        ),
    ];
    println!("{:<60} {:>12}", "decision", "ns each");
    let medians = medians(ROUNDS, &mut cases);
    for ((name, _), time) in cases.iter().zip(medians) {
        println!("{name:<60} {:>12.0}", time.as_nanos() as f64 / f64::from(CALLS));
    }
}
