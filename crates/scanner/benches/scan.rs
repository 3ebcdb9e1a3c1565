//! `cargo bench -p stockade-scanner`: the speed-up by the prefilter.
//!
//! `STOCKADE_CORPUS=FOLDER` measures the Markdown files in FOLDER instead of synthetic ones. The comparison with
//! programs in other languages is in `benches/peers`.
#![expect(clippy::print_stdout, reason = "prints tables")]
#![expect(clippy::expect_used, reason = "a bench may stop")]

#[path = "../tests/it/hostile.rs"]
mod hostile;
mod support;

use regex::bytes::{Regex, RegexBuilder};
use stockade_scanner::{FRAGMENTS, Method, ScanOptions, ScanReport, Scanner, Work};
use support::{Texts, compare, engine};

const ROUNDS: usize = 9;

/// Together with the eighteen built-in ones, a hundred and thirty.
const MADE_UP_RULES: usize = 112;

fn main() {
    let scanner = Scanner::builtin();
    let skills = support::skills();
    speed(scanner, &skills);
    let is_clean = |text: &&String| scanner.scan(text).clean();
    let clean = skills.texts.iter().filter(is_clean).cloned().collect();
    let clean = Texts { name: format!("clean {}", skills.name), texts: clean };
    speed(scanner, &clean);
    growth(scanner, &clean);
    work(scanner, &skills);
    floods(scanner);
}

/// Scanning with and without the prefilter.
fn speed(scanner: &Scanner, set: &Texts) {
    let patterns = patterns(scanner);
    let by =
        |method| move |text: &str| scanner.scan_by(text, &ScanOptions::default(), method).0.findings.len();
    let mut engines = [
        engine("scan", by(Method::Prefiltered)),
        engine("every pattern on every text", by(Method::Exhaustive)),
        engine("a loop of regex find_iter", |text| {
            patterns.iter().map(|regex| regex.find_iter(text.as_bytes()).count()).sum()
        }),
        engine("memchr", |text| usize::from(memchr::memchr(0, text.as_bytes()).is_some())),
    ];
    compare(set, ROUNDS, &mut engines);
}

/// The built-in rules beside more than a hundred others that find nothing, a possible future size of the table.
fn growth(scanner: &Scanner, clean: &Texts) {
    let many = Scanner::with_rules(support::made_up_rules(MADE_UP_RULES, clean)).expect("good rules");
    let with = |scanner: &Scanner, text: &str| scanner.scan(text).findings.len();
    let mut engines = [
        engine("scan", |text| with(scanner, text)),
        engine("scan with 112 more rules", |text| with(&many, text)),
    ];
    compare(clean, ROUNDS, &mut engines);
    work(scanner, clean);
    work(&many, clean);
}

/// The patterns of all rules, compiled by the regex crate.
fn patterns(scanner: &Scanner) -> Vec<Regex> {
    let patterns = scanner.rules().iter().flat_map(|rule| &rule.patterns);
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern).unicode(false).multi_line(true).size_limit(1 << 30).build()
    };
    patterns.map(|pattern| compile(&expand(&pattern.regex)).expect("a pattern of the table")).collect()
}

/// Replaces named fragments. A fragment uses those above it in the table, so the last go first.
fn expand(pattern: &str) -> String {
    let replace = |pattern: String, fragment: &stockade_scanner::Fragment| {
        pattern.replace(&format!("{{{}}}", fragment.name), fragment.pattern)
    };
    FRAGMENTS.iter().rev().fold(pattern.to_owned(), replace)
}

/// The cost of scanning all texts, in the units of `Work`.
fn work(scanner: &Scanner, set: &Texts) {
    let (mut total, mut candidates) = (Work::default(), 0);
    for text in &set.texts {
        let (_, work) = scanner.scan_by(text, &ScanOptions::default(), Method::Prefiltered);
        total.prefilter += work.prefilter;
        total.exact += work.exact;
        total.deobfuscated += work.deobfuscated;
        candidates += usize::from(work.exact.searched > 0);
    }
    println!("\n{}: work\n  {total:?}\n  texts in which some expression ran: {candidates}", set.name);
}

/// The hostile generators with the highest cost per byte, and its growth when the size doubles.
fn floods(scanner: &Scanner) {
    println!("\nhostile texts: nanoseconds a byte at 160 kB, and the mean growth a doubling from 10 kB");
    let time = |text: &str| {
        let rounds: Vec<f64> = (0..9).map(|_| timed(|| scanner.scan(text))).collect();
        support::median(rounds)
    };
    let mut rows: Vec<(f64, f64, &str)> = Vec::new();
    for (name, generate) in hostile::GENERATORS {
        let times: Vec<f64> = hostile::SIZES.iter().map(|&size| time(&generate(size))).collect();
        if let (Some(first), Some(last)) = (times.first(), times.last()) {
            rows.push((last * 1e9 / 160e3, (last / first).powf(1.0 / 4.0), name));
        }
    }
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (per_byte, growth, name) in rows.iter().take(12) {
        println!("  {per_byte:>8.2} ns/B   x{growth:.2}   {name}");
    }
    let steepest = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    println!("  steepest growth of all {}: x{steepest:.2}", rows.len());
}

fn timed<'t>(scan: impl FnOnce() -> ScanReport<'t>) -> f64 {
    let start = support::cpu_seconds();
    drop(std::hint::black_box(scan()));
    support::cpu_seconds() - start
}
