//! What it costs to take secrets out of the texts of an event. Run with `cargo xtask bench credentials`.
//!
//! Each round runs every case once, so that a busy moment of the machine hits all of them; the table shows medians of
//! processor time for one text.

#![expect(clippy::print_stdout, reason = "a bench reports to a person")]

use std::hint::black_box;

use stockade_credentials::Redactor;
use testkit::bench::{cpu_time_of, median};

const ROUNDS: usize = 41;
const REPEATS: u32 = 200;

fn main() {
    let secrets: Vec<String> =
        (0..50).map(|number| format!("a value of the environment {number:02}")).collect();
    let (plain, told) = (Redactor::default(), Redactor::default().hide(secrets));
    let prose = "cargo build --release && cp target/release/tool /usr/local/bin; echo done\n".repeat(28);
    let secret =
        format!("{prose}curl -H 'Authorization: Bearer abcdef123456' --token abc https://me:pw@x.example");
    let cases: [(&str, &Redactor, &str); 6] = [
        ("a short command", &plain, "cargo test --workspace"),
        ("a short command, 50 known secrets", &told, "cargo test --workspace"),
        ("a command with a secret", &plain, "git clone https://me:hunter2@x.example/r"),
        ("2 KiB without a secret", &plain, &prose),
        ("2 KiB without a secret, 50 known secrets", &told, &prose),
        ("2 KiB with secrets", &plain, &secret),
    ];
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for ((_, redactor, text), times) in cases.iter().zip(&mut times) {
            let redact = || (0..REPEATS).for_each(|_| drop(black_box(redactor.redact(black_box(text)))));
            times.push(cpu_time_of(redact) / REPEATS);
        }
    }
    for ((name, ..), times) in cases.iter().zip(times) {
        println!("{:>10.2?}  {name}", median(times));
    }
}
