//! `cargo run --release` in this folder compares the sanitizer with Node.js (the documented pipeline, `pipeline.mjs`)
//! and with the ICU normaliser preceded by a search for comments.
//!
//! The engines run in turn, each measured by its own CPU time. Both peers take each step once and report no findings.
//! `STOCKADE_CORPUS=FOLDER` measures real skills. Without Node.js its row is omitted.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use icu_normalizer::ComposingNormalizerBorrowed;
use memchr::memmem::Finder;
use stockade_sanitize::{SanitizeOptions, sanitize};

#[path = "../../support/mod.rs"]
mod support;

use support::{Engine, Texts, compare, engine, sets};

const ROUNDS: usize = 21;

fn main() {
    let options = SanitizeOptions::default();
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    let (opener, closer) = (Finder::new("<!--"), Finder::new("-->"));
    for set in sets() {
        let ours = engine("stockade-sanitize", |text| sanitize(text, &options).body.len());
        let icu = engine("memmem + icu_normalizer", |text| {
            let uncommented = strip_comments(text, &opener, &closer);
            let normal = nfkc.normalize(&uncommented);
            let visible = strip_invisible(normal);
            visible.chars().nth(20_000).map_or(visible.len(), |_| 20_000)
        });
        let mut engines = vec![ours, icu];
        engines.extend(node(&set));
        compare(&set, ROUNDS, &mut engines);
    }
}

fn strip_comments<'t>(text: &'t str, opener: &Finder<'_>, closer: &Finder<'_>) -> Cow<'t, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = opener.find(rest.as_bytes()) {
        let Some(end) = closer.find(rest[start..].as_bytes()) else { break };
        kept.push_str(&rest[..start]);
        rest = &rest[start + end + 3..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

fn strip_invisible(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_invisible) {
        return text;
    }
    Cow::Owned(text.chars().filter(|&c| !is_invisible(c)).collect())
}

/// The characters named by the documented pipeline.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

fn node(set: &Texts) -> Option<Engine<'static>> {
    let mut node = Node::start(&set.texts).ok()?;
    Some(Engine { name: "Node.js", run: Box::new(move |_| node.pass()) })
}

/// A Node.js process that holds the texts and processes them on request.
struct Node {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Node {
    fn start(texts: &[String]) -> std::io::Result<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/pipeline.mjs");
        let mut child =
            Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (ask, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut node = Self { child, ask, answers: BufReader::new(answers) };
        writeln!(node.ask, "{}", serde_json::to_string(texts)?)?;
        // Node.js optimises code that has run a few times.
        for _ in 0..5 {
            node.pass();
        }
        Ok(node)
    }

    fn pass(&mut self) -> f64 {
        writeln!(self.ask, "again").expect("Node.js listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Node.js answers");
        let micros = answer.split(' ').next().and_then(|word| word.parse::<f64>().ok());
        micros.expect("a number of microseconds") / 1e6
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
