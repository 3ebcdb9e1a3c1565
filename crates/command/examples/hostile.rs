//! `hostile [BYTES]`: how long a decision takes on texts that repeat what is costly, and how large its answer is.
//!
//! It prints the slowest first. The tests count the work for the same texts; this shows the milliseconds of a machine.

#![expect(clippy::disallowed_methods, reason = "reads its argument")]
#![expect(clippy::print_stdout, reason = "prints a table")]

use stockade_command::{CommandContext, CommandPolicy};
use stockade_shell::{Arg, ReadOptions};
use testkit::bench::cpu_time;

#[path = "../../shell/tests/it/repeated.rs"]
mod repeated;

fn main() {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(64 << 10);
    let policy = CommandPolicy::builtin();
    let mut rows: Vec<(u128, String)> =
        repeated::REPEATED.iter().map(|parts| row(&policy, parts, bytes)).collect();
    rows.sort_by(|one, other| other.cmp(one));
    println!("{:>9} {:>7} {:>9}  text", "µs", "parts", "answer");
    rows.iter().for_each(|(_, line)| println!("{line}"));
}

/// The best of three, since other programs run beside it.
fn row(policy: &CommandPolicy, (start, repeated, end): &(&str, &str, &str), bytes: usize) -> (u128, String) {
    let count = bytes.saturating_sub(start.len() + end.len()) / repeated.len();
    let text = format!("{start}{}{end}", repeated.repeat(count));
    let context = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
    let mut best = u128::MAX;
    let mut shape = (0, 0);
    for _ in 0..3 {
        let begun = cpu_time();
        let decision = policy.decide(&text, &ReadOptions::default(), &context);
        best = best.min(cpu_time().saturating_sub(begun).as_micros());
        let words = |argv: &[Arg<'_>]| argv.iter().map(|arg| arg.to_string().len()).sum::<usize>();
        let answer = decision
            .parts
            .iter()
            .map(|part| part.cause.to_string().len() + part.run().map_or(0, |run| words(&run.argv)));
        shape =
            (decision.parts.len(), answer.sum::<usize>() + decision.rendered().map_or(0, |text| text.len()));
    }
    (best, format!("{best:>9} {:>7} {:>9}  {start}{repeated}…{end}", shape.0, shape.1))
}
