//! Cost of an evaluation, compared with Node.js evaluating the same source in a separate context: `cargo xtask bench
//! eval`.
//!
//! Both parse the source each time, as a harness does that receives its conditions as text. They take turns, and
//! count their own CPU time; the table shows medians, and the number of our allocations.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench runs Node and reports"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use stockade_eval::{Data, EvalError, EvalOptions, eval};
use testkit::bench::{cpu_time, median};

const ROUNDS: usize = 9;

/// How often an expression is evaluated in a round.
const TIMES: u32 = 300;

/// Typical variables of a harness.
const VARS: &str = r#"{"output": {"score": 7, "status": "approved", "tags": ["a", "b"]},
    "items": [{"name": "x", "price": 3}, {"name": "y", "price": 4}, {"name": "z", "price": 5}]}"#;

const EXPRESSIONS: [&str; 5] = [
    "output.score > 5",
    "output.status === 'approved' && output.tags.includes('b')",
    "items.filter(item => item.price > 3).map(item => item.name).join(', ')",
    "items.reduce((sum, item) => sum + item.price, 0) * 1.2",
    "let n = 0; for (let i = 0; i < 1000; i++) n += i % 7; n",
];

/// Evaluates one expression as often as asked, and prints the nanoseconds of processor time.
const NODE: &str = "
const [expression, vars, times] = process.argv.slice(1);
const vm = require('vm');
const once = () => vm.runInNewContext(expression, JSON.parse(vars), { timeout: 5000 });
once();
const start = process.cpuUsage();
for (let i = 0; i < Number(times); i++) once();
const { user, system } = process.cpuUsage(start);
console.log((user + system) * 1000);
";

fn main() {
    let vars: BTreeMap<&str, Data> = serde_json::from_str(VARS).expect("variables");
    let vars: Vec<(&str, Data)> = vars.into_iter().collect();
    println!("{:>9} {:>7} {:>9} {:>6}", "ours", "allocs", "Node", "ratio");
    for expression in EXPRESSIONS {
        let allocations = allocation_counter::measure(|| drop(once(expression, &vars))).count_total;
        let (mut ours, mut nodes) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(our_round(expression, &vars));
            nodes.extend(node_round(expression));
        }
        let ours = median(ours);
        let node = match nodes.is_empty() {
            true => format!("{:>9} {:>6}", "no node", ""),
            false => compared(median(nodes), ours),
        };
        println!("{:>9} {allocations:>7} {node}  {expression}", micros(ours));
    }
}

fn compared(node: Duration, ours: Duration) -> String {
    format!("{:>9} {:>6.1}", micros(node), node.as_secs_f64() / ours.as_secs_f64())
}

fn once(expression: &str, vars: &[(&str, Data)]) -> Result<Data, EvalError> {
    eval(black_box(expression), vars, &EvalOptions::default())
}

/// The time of one evaluation of ours.
fn our_round(expression: &str, vars: &[(&str, Data)]) -> Duration {
    let start = cpu_time();
    for _ in 0..TIMES {
        black_box(once(expression, vars)).expect("a value");
    }
    cpu_time().saturating_sub(start) / TIMES
}

/// Returns the time of one evaluation in Node.js, if it is installed.
fn node_round(expression: &str) -> Option<Duration> {
    let output =
        Command::new("node").args(["-e", NODE, expression, VARS, &TIMES.to_string()]).output().ok()?;
    let nanos: f64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(Duration::from_nanos(nanos as u64) / TIMES)
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}
