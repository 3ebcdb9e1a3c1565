//! What a decision costs. Run with `cargo xtask bench limits`.
//!
//! Each round runs every case once, so that a busy moment of the machine hits all of them; the table shows medians.

#![expect(clippy::indexing_slicing, clippy::print_stdout, reason = "a bench reports to a person")]

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use stockade_limits::Usage;
use stockade_limits::breaker::{Breaker, BreakerAdmission, BreakerSettings, CallOutcome};
use stockade_limits::budget::{Budget, BudgetLimits, Reserved};

const ROUNDS: usize = 15;

/// What is measured, and its name.
type Case = (&'static str, Box<dyn FnMut()>);

fn main() {
    decisions();
}

/// Runs all cases in turn, round after round, and returns the median time of each.
fn medians(cases: &mut [Case]) -> Vec<Duration> {
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for ((_, run), times) in cases.iter_mut().zip(&mut times) {
            let start = processor_time();
            run();
            times.push(processor_time().saturating_sub(start));
        }
    }
    times
        .iter_mut()
        .map(|times| {
            times.sort();
            times[times.len() / 2]
        })
        .collect()
}

/// Returns the time that this thread was computing, so that other work on the machine does not count.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
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
    let medians = medians(&mut cases);
    for ((name, _), time) in cases.iter().zip(medians) {
        println!("{name:<60} {:>12.0}", time.as_nanos() as f64 / f64::from(CALLS));
    }
}
