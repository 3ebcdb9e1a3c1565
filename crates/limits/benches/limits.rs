//! What a decision costs, and how fast results are brought into form. Run with `cargo xtask bench limits`.
//!
//! Each round runs every case once, so that a busy moment of the machine hits all of them; the table shows medians.

#![expect(clippy::indexing_slicing, clippy::print_stdout, reason = "a bench reports to a person")]

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use stockade_limits::Usage;
use stockade_limits::breaker::{Breaker, BreakerAdmission, BreakerSettings, CallOutcome};
use stockade_limits::budget::{Budget, BudgetLimits, Reserved};
use stockade_limits::source::{Extractor, ProfileOverride, Strategy, resolve_source};

const ROUNDS: usize = 15;

/// What is measured, and its name.
type Case = (&'static str, Box<dyn FnMut()>);

fn main() {
    decisions();
    extractions();
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

fn extractions() {
    let log = "2026-01-01T00:00:00Z INFO  compiled module number 17 in 12 ms\n".repeat(32_000);
    let results =
        r#"{"title": "A page about something", "url": "https://x.example/1", "rank": 12},"#.repeat(5_000);
    let json = format!("{{\"results\": [{results}{{}}]}}");
    let page =
        format!("<!doctype html><title>t</title><nav>{}</nav><main>{}</main>", links(500), paragraphs(6_000));
    let nested = "<div><b>".repeat(200_000);
    let sources: [(&'static str, &str, Strategy); 6] = [
        ("tail of a log", &log, Strategy::Tail),
        ("beginning of a log", &log, Strategy::Raw),
        ("JSON results", &json, Strategy::Structured),
        ("a web page", &page, Strategy::Readability),
        ("hostile page: nesting without end", &nested, Strategy::Readability),
        ("baseline: bytes to text", &log, Strategy::Raw),
    ];
    let wish = |strategy| ProfileOverride {
        strategy: Some(strategy),
        max_chars: Some(500_000),
        max_response_bytes: Some(5_000_000),
        ..ProfileOverride::default()
    };
    let mut cases: Vec<Case> = Vec::new();
    for (name, text, strategy) in sources {
        let text = text.to_owned();
        cases.push(if name.starts_with("baseline") {
            (name, Box::new(move || drop(black_box(String::from_utf8_lossy(text.as_bytes()).into_owned()))))
        } else {
            let profile = resolve_source("web_search", &wish(strategy));
            (
                name,
                Box::new(move || {
                    let mut extractor = Extractor::new(profile, None);
                    for piece in text.as_bytes().chunks(16_384) {
                        extractor.push(piece);
                    }
                    black_box(extractor.finish());
                }),
            )
        });
    }
    println!("\n{:<60} {:>12}", "result brought into form", "MB/s");
    let medians = medians(&mut cases);
    for ((source, _), time) in sources.iter().zip(&cases).zip(medians) {
        println!("{:<60} {:>12.0}", source.0, source.1.len() as f64 / 1e6 / time.as_secs_f64());
    }
}

fn links(count: usize) -> String {
    (0..count).map(|n| format!("<a href=\"/{n}\">Entry {n}</a> ")).collect()
}

fn paragraphs(count: usize) -> String {
    (0..count).map(|n| format!("<p class=\"text\">Paragraph <b>{n}</b> says &amp; repeats <i>something</i> of some length, as paragraphs do.</p>\n")).collect()
}
