//! YARA-X, in this process.

use yara_x::{Compiler, Rules, Scanner};

use crate::Pattern;
use crate::support::{self, Engine};

/// Compiles every pattern that YARA-X accepts, and reports their number.
pub(crate) fn engine<'a>(patterns: &[Pattern]) -> Engine<'a> {
    let rules: &'static Rules = Box::leak(Box::new(compile(patterns)));
    let mut scanner = Scanner::new(rules);
    support::engine("YARA-X, the same patterns", move |text| {
        scanner.scan(text.as_bytes()).map_or(0, |results| results.matching_rules().len())
    })
}

fn compile(patterns: &[Pattern]) -> Rules {
    let mut compiler = Compiler::new();
    let sources = patterns.iter().enumerate().map(|(number, pattern)| source(number, pattern));
    let taken = sources.filter(|source| compiler.add_source(source.as_str()).is_ok()).count();
    eprintln!("YARA-X takes {taken} of {} patterns", patterns.len());
    compiler.build()
}

/// One rule per pattern. YARA-X does not mix greedy and lazy loops; this makes no difference to whether there is a
/// match. It has no line anchors; a line end before the pattern replaces them.
fn source(number: usize, pattern: &Pattern) -> String {
    let greedy = ["*", "+", "?", "}"]
        .iter()
        .fold(pattern.text.clone(), |text, end| text.replace(&format!("{end}?"), end));
    let lines =
        greedy.replace("(?:^", "(?:\\n").replace("^[ ", "\\n[ ").replace("$|", "\\n|").replace('/', "\\/");
    let flags = if pattern.ignores_case { "i" } else { "" };
    format!("rule shape_{number} {{ strings: $a = /{lines}/{flags} condition: $a }}")
}
