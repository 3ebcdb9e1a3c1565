//! Node.js, as a process that processes the texts on request.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;

use crate::Pattern;
use crate::support::{Engine, Texts, engine_of_all};

/// Starts Node.js with one way of scanning, or returns `None` if it is not installed.
pub(crate) fn engine<'a>(
    name: &'static str,
    way: &str,
    set: &Texts,
    patterns: &[Pattern],
) -> Option<Engine<'a>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scan.mjs");
    let spawned =
        Command::new("node").arg(script).arg(way).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut node = Node::new(spawned.ok()?)?;
    let patterns: Vec<_> =
        patterns.iter().map(|pattern| (&pattern.text, if pattern.ignores_case { "i" } else { "" })).collect();
    node.tell(&json!({ "texts": set.texts, "patterns": patterns }).to_string());
    Some(engine_of_all(name, move |_| node.go()))
}

struct Node {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Node {
    fn new(mut child: Child) -> Option<Self> {
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        Some(Self { child, input, output: BufReader::new(output) })
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("Node.js reads");
        self.input.flush().expect("Node.js reads");
    }

    /// Processes the texts once; returns the CPU time in seconds, as Node.js reports it.
    fn go(&mut self) -> f64 {
        self.tell("go");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Node.js answers");
        let micros = line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
        micros.expect("Node.js answers with a number") / 1e6
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}
