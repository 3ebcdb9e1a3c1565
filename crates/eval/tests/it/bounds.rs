//! Generated programs and patterns keep to their limits of memory and time, whatever they do.
//!
//! `STOCKADE_EVAL_CASES=10000 cargo xtask test eval by_chance` tries more than the few of every run.

use std::time::Duration;

use allocation_counter::measure;
use stockade_eval::{EvalLimits, EvalOptions, eval};
use testkit::bench::cpu_time;

use crate::node::{Chance, cases};

const MAX_BYTES: usize = 1 << 20;

/// What the documentation permits: three times the limit, and a MiB.
const MOST_BYTES: u64 = (3 * MAX_BYTES + (1 << 20)) as u64;

/// In processor time, so that a busy machine does not count.
const DEADLINE: Duration = Duration::from_millis(400);

/// How long an evaluation may take: half as long again.
const MOST_TIME: Duration = Duration::from_millis(600);

/// Evaluates each source twice: with a limit of memory, and with a deadline in place of a limit of steps.
pub(crate) fn keeps_to_its_limits(sources: &[String]) {
    let (mut most, mut longest, mut stopped) = (0, Duration::ZERO, 0);
    for source in sources {
        let limits = EvalLimits { max_bytes: MAX_BYTES, max_steps: 200_000, ..EvalLimits::default() };
        let options = EvalOptions { limits, ..EvalOptions::default() };
        let info = measure(|| drop(eval(source, &[], &options)));
        assert!(info.bytes_max <= MOST_BYTES, "{} bytes: {source}", info.bytes_max);
        most = most.max(info.bytes_max);

        let begin = cpu_time();
        let deadline = || cpu_time() - begin > DEADLINE;
        let limits = EvalLimits { max_steps: u64::MAX, ..EvalLimits::default() };
        let options = EvalOptions { limits, deadline: Some(&deadline), ..EvalOptions::default() };
        let error = eval(source, &[], &options).err();
        let took = cpu_time() - begin;
        stopped += usize::from(error.is_some_and(|error| error.to_string() == "stopped at the deadline"));
        assert!(took <= MOST_TIME, "{took:?}: {source}");
        longest = longest.max(took);
    }
    println!(
        "{} sources: at most {most} bytes with a limit of {MAX_BYTES}, {longest:?} with a deadline of {DEADLINE:?}; {stopped} stopped",
        sources.len()
    );
}

/// What programs begin with.
const SEEDS: &[&str] = &[
    "'x'",
    "'\\u{1f600}\\u00e9'",
    "[1]",
    "({k: 1})",
    "new Map([[1, 'x']])",
    "new Set(['x'])",
    "Array(300).fill('abc')",
    "'a,'.repeat(300)",
    "new Error('x')",
    "(() => 1)",
];

/// What programs do with `a`, again and again. What fails is caught.
const STEPS: &[&str] = &[
    "a = a + a",
    "a = `${a}${a}`",
    "a = [a, a]",
    "a = [...a, ...a]",
    "a = {a, b: a}",
    "a = a.concat(a)",
    "a = String(a).repeat(9)",
    "a = JSON.stringify(a)",
    "a = JSON.parse(JSON.stringify([a]))",
    "a = String(a).split('')",
    "a = a.join(String(a))",
    "a = a.flatMap(x => [x, x])",
    "a = a.map((x, i) => x + i)",
    "a = a.filter(x => x)",
    "a = a.toSorted()",
    "a.sort((x, y) => x < y ? 1 : -1)",
    "a = new Map(Object.entries(a))",
    "a = new Set(a)",
    "a = Object.assign({}, a, {[a]: a})",
    "a = Object.fromEntries([[a, a]])",
    "a = String(a).replace(/./g, '$&$&')",
    "a = String(a).replaceAll('a', x => x + a)",
    "a = [...String(a).matchAll(/(.)(.)?/g)]",
    "a = String(a).match(/(?=(.))*?z/)",
    "a = String(a).normalize('NFKD').toUpperCase()",
    "a = String(a).padStart(4 * String(a).length, a)",
    "a = encodeURIComponent(a)",
    "a = Array.from({length: 5000}, (_, i) => a)",
    "a = new Error(a, {cause: a})",
    "a = new RegExp(String(a), 'iu')",
    "a = (b => () => b)(a)",
    "a = a()",
    "k.push(a)",
    "k.push(...k)",
    "for (const x of a) k.push(x)",
    "Promise.all([a]).then(x => k.push(x))",
    "(function f(n) { k.push(a); if (n) f(n - 1) })(900)",
    "throw a",
];

#[test]
fn programs_by_chance_take_no_more_than_allowed() {
    let mut chance = Chance(5);
    let program = |_| {
        let count = 1 + chance.below(5);
        let steps: Vec<_> =
            (0..count).map(|_| format!("try {{ {} }} catch (e) {{}}", chance.pick(STEPS))).collect();
        let rounds = ["3", "40", "100000"][chance.below(3)];
        format!(
            "let a = {}; const k = []; for (let i = 0; i < {rounds}; i++) {{ {} }} k.length",
            chance.pick(SEEDS),
            steps.join(" ")
        )
    };
    keeps_to_its_limits(&(0..cases(100)).map(program).collect::<Vec<_>>());
}
