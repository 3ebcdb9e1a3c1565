//! Time is linear in the text, also for hostile ones: proven by counting steps, which load cannot falsify.

use stockade_scanner::{
    Category, Method, PatternBuf, Regions, RuleBuf, ScanOptions, Scanner, Severity, Work,
};

use crate::hostile::{GENERATORS, SIZES};

/// Maximum steps per byte, for any text and the built-in rules. A step is an inspected byte, or a gram. Most are
/// taken by conditions, which inspect 256 bytes of the line around every match; without those it is a dozen.
const STEPS_PER_BYTE: usize = 250;

/// Fixed cost of any text.
const STEPS_FOR_ANY_TEXT: usize = 20_000;

fn work(text: &str, method: Method) -> Work {
    Scanner::builtin().scan_by(text, &ScanOptions::default(), method).1
}

#[test]
fn work_is_bounded_by_the_size_of_the_text() {
    for (name, generate) in GENERATORS {
        let text = generate(160_000);
        let work = work(&text, Method::Prefiltered);
        let limit = STEPS_PER_BYTE * text.len() + STEPS_FOR_ANY_TEXT;
        assert!(work.steps() <= limit, "{name}: {} steps for {} bytes: {work:?}", work.steps(), text.len());
    }
}

#[test]
fn twice_the_text_is_at_most_little_more_than_twice_the_work() {
    for (name, generate) in GENERATORS {
        let steps = SIZES.map(|size| work(&generate(size), Method::Prefiltered).steps());
        for (smaller, larger) in steps.iter().zip(&steps[1..]) {
            let limit = smaller * 22 / 10 + STEPS_FOR_ANY_TEXT;
            assert!(*larger <= limit, "{name}: {steps:?}");
        }
    }
}

#[test]
fn an_ordinary_text_costs_little_more_than_reading_it() {
    let text = "Use the skill when the user asks for a report. It reads `data.json` and writes a summary.\n"
        .repeat(500);
    let work = work(&text, Method::Prefiltered);
    assert_eq!((work.prefilter.hits, work.exact.searched, work.deobfuscated), (0, 0, 0));
    assert!(work.steps() < 4 * text.len(), "{work:?}");
}

#[test]
fn a_text_of_what_is_nearly_a_long_run_costs_little_more_than_reading_it() {
    let pattern = "[a-z]{2000,}".to_owned();
    let pattern = PatternBuf {
        note: "A run".to_owned(),
        regex: pattern,
        regions: Regions::ANY,
        exceptions: Vec::new(),
    };
    let rule = RuleBuf {
        id: "LONG_RUN".to_owned(),
        category: Category::ObfuscatedEncoding,
        severity: Severity::Warn,
        summary: "A long run".to_owned(),
        remedy: "Shorten it.".to_owned(),
        patterns: vec![pattern],
        matches: vec!["a".repeat(2000)],
        clean: vec!["a".repeat(1999)],
    };
    let scanner = Scanner::only([rule]).unwrap();
    let text = format!("{}-", "a".repeat(1999)).repeat(40);
    let (report, work) = scanner.scan_by(&text, &ScanOptions::default(), Method::Prefiltered);
    assert!(report.findings.is_empty());
    assert!(work.steps() < 8 * text.len(), "{work:?}");
}
