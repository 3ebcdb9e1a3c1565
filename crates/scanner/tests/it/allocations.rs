//! Memory use of a scan, counted in allocations.

use allocation_counter::measure;
use stockade_scanner::{RuleBuf, Scanner};

/// Allocations of a scan. The first scan of a text compiles patterns for all later ones.
fn allocations(text: &str) -> u64 {
    let scanner = Scanner::builtin();
    drop(scanner.scan(text));
    measure(|| drop(scanner.scan(text))).count_total
}

#[test]
fn a_clean_text_costs_nothing() {
    let texts = [
        "Use the skill when the user asks for a report.\n\n```bash\nnpm install\n```\n".repeat(200),
        "→ Symbols — “quotes” │ boxes ─ ✅ and emoji 👩‍💻 ⚠️.\n".repeat(200),
        "日本語と한국어、русский язык, ελληνικά.\n".repeat(200),
        "| a | table |\n|---|---|\n| of | rows |\n".repeat(200),
    ];
    for text in texts {
        assert!(Scanner::builtin().scan(&text).clean());
        assert_eq!(allocations(&text), 0, "{text}");
    }
}

#[test]
fn the_very_first_scan_of_a_clean_text_costs_only_the_scanner_itself() {
    // Scanning the empty text builds the scanner; no pattern is compiled for the next text.
    drop(Scanner::builtin().scan(""));
    let text = "Plain words, `code`, and a https://example.com/link.\n".repeat(100);
    assert_eq!(measure(|| drop(Scanner::builtin().scan(&text))).count_total, 0);
}

#[test]
fn candidates_that_turn_out_innocent_cost_next_to_nothing_once_their_patterns_are_compiled() {
    // Code spans need memory for their positions.
    let rows = [
        ("Use curl to fetch the page, then read it.\n", 0),
        ("curl -s https://api.example.com | jq .\n", 0),
        ("base64 -d file.txt\n", 0),
        ("Pipe it: `curl -s https://api.example.com | jq .`\n", 2),
    ];
    // A separate scanner: tests in other threads share compiled patterns and scratch memory with the built-in one.
    let scanner = Scanner::with_rules::<RuleBuf>([]).unwrap();
    for (text, most) in rows {
        assert!(scanner.scan(text).clean(), "{text}");
        let took = measure(|| drop(scanner.scan(text))).count_total;
        assert!(took <= most, "to compile a pattern takes hundreds; {text} took {took}");
    }
}
