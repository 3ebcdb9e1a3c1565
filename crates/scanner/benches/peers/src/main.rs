//! `cargo run --release` in this folder: the scanner beside YARA-X and Node.js.
//!
//! Twice: with the eighteen documented rules as usually written (`documented.mjs`), and with the scanner's own table,
//! as far as YARA-X accepts it. Only the scanner evaluates regions, conditions and obfuscations; the peers count bare
//! matches, YARA-X only which rules match.
//!
//! The engines run in turn, each measured by its own CPU time. `STOCKADE_CORPUS=FOLDER` measures real skills.
//! Building YARA-X takes many minutes. Without Node.js its rows are omitted.

mod documented;
mod node;
mod yara;

#[path = "../../support/mod.rs"]
mod support;

use stockade_scanner::{FRAGMENTS, Scanner};
use support::{compare, engine};

/// Fewer than in the bench: a round of the slowest peer takes seconds.
const ROUNDS: usize = 5;

fn main() {
    let scanner = Scanner::builtin();
    let patterns: Vec<Pattern> = scanner
        .rules()
        .iter()
        .flat_map(|rule| &rule.patterns)
        .map(|pattern| Pattern::new(&pattern.regex))
        .collect();
    let set = support::skills();
    let documented = documented::scanner();
    let mut engines = vec![
        engine("stockade-scanner, documented rules", |text| documented.scan(text).findings.len()),
        engine("stockade-scanner, its own rules", |text| scanner.scan(text).findings.len()),
    ];
    engines.extend(node::engine("Node.js, documented rules", "documented", &set, &patterns));
    compare(&set, ROUNDS, &mut engines);

    let mut engines =
        vec![engine("stockade-scanner, its own rules", |text| scanner.scan(text).findings.len())];
    engines.extend(node::engine("Node.js, the same patterns", "same", &set, &patterns));
    engines.push(yara::engine(&patterns));
    compare(&set, ROUNDS, &mut engines);
}

/// A pattern of the table, for engines without named fragments and without flags inside a pattern.
struct Pattern {
    text: String,
    ignores_case: bool,
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        // A fragment uses those above it in the table, so expand the last ones first.
        let expanded = FRAGMENTS.iter().rev().fold(pattern.to_owned(), |pattern, fragment| {
            pattern.replace(&format!("{{{}}}", fragment.name), fragment.pattern)
        });
        let text = expanded.replace("(?i)", "").replace("(?i:", "(?:");
        Self { ignores_case: text != expanded, text }
    }
}
