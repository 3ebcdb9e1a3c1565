//! How many small requests a second one `stockade serve` answers.
//!
//! `cargo bench -p stockade-cli --bench serve`, with `STOCKADE_BINARY=…` for a binary that was built in another way. The
//! client sends without waiting for answers, as a harness with many agents does, and then one request after the other.
#![expect(clippy::disallowed_methods, reason = "runs a server and takes the time")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot run has to say so; it prints a table"
)]

use std::io::{BufRead as _, BufReader, BufWriter, Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

const REQUESTS: usize = 100_000;

/// A method and the parameters of a small request.
const KINDS: &[(&str, &str)] = &[
    (
        "sanitize",
        r#"{"text":"Look at the folder first.<!-- hidden --> Run the tests and read what they say."}"#,
    ),
    ("scan", r#"{"text":"Look at the folder first. Run the tests and read what they say."}"#),
    ("command.evaluate", r#"{"command":"git status --short"}"#),
    ("source.resolve", r#"{"tool":"bash"}"#),
];

fn main() {
    let stockade =
        std::env::var("STOCKADE_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_stockade").to_owned());
    println!("{:20}{:>16}{:>16}", "requests a second", "all at once", "one by one");
    for (method, params) in KINDS {
        let mut child = Command::new(&stockade)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut to = child.stdin.take().expect("its input");
        let mut from = BufReader::with_capacity(1 << 20, child.stdout.take().expect("its output"));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n");
        let alone = one_by_one(&mut to, &mut from, &line, REQUESTS / 20);
        let together = all_at_once(&mut to, &mut from, &line, REQUESTS);
        drop(to);
        child.wait().expect("an end");
        println!("{method:20}{together:>16.0}{alone:>16.0}");
    }
}

fn all_at_once(
    to: &mut (impl Write + Send),
    from: &mut BufReader<impl Read>,
    line: &str,
    requests: usize,
) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut to = BufWriter::with_capacity(1 << 16, to);
            for _ in 0..requests {
                to.write_all(line.as_bytes()).expect("a server that reads");
            }
            to.flush().expect("a server that reads");
        });
        (0..requests).for_each(|_| check(from));
    });
    requests as f64 / start.elapsed().as_secs_f64()
}

fn one_by_one(to: &mut impl Write, from: &mut BufReader<impl Read>, line: &str, requests: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..requests {
        to.write_all(line.as_bytes()).expect("a server that reads");
        to.flush().expect("a server that reads");
        check(from);
    }
    requests as f64 / start.elapsed().as_secs_f64()
}

fn check(from: &mut BufReader<impl Read>) {
    let mut answer = String::new();
    from.read_line(&mut answer).expect("an answer");
    assert!(answer.contains("\"result\""), "{answer}");
}
