//! How fast results are brought into form. Run with `cargo xtask bench output`.
//!
//! Each round runs every case once, so that a busy moment of the machine hits all of them; the table shows medians.

#![expect(clippy::print_stdout, reason = "a bench reports to a person")]

use std::hint::black_box;

use stockade_output::{Extractor, ProfileOverride, Strategy, resolve_source};
use testkit::bench::{Work, medians};

const ROUNDS: usize = 15;

/// The name of what is measured, and the work.
type Case = (&'static str, Work<'static>);

fn main() {
    extractions();
}

fn extractions() {
    let log = "2026-01-01T00:00:00Z INFO  compiled module number 17 in 12 ms\n".repeat(32_000);
    let results =
        r#"{"title": "A page about something", "url": "https://x.example/1", "rank": 12},"#.repeat(5_000);
    let json = format!("{{\"results\": [{results}{{}}]}}");
    let page =
        format!("<!doctype html><title>t</title><nav>{}</nav><main>{}</main>", links(500), paragraphs(6_000));
    let nested = "<div><b>".repeat(200_000);
    let sources: [(&'static str, &str, Strategy); 6] = [
        ("tail of a log", &log, Strategy::Tail),
        ("beginning of a log", &log, Strategy::Raw),
        ("JSON results", &json, Strategy::Structured),
        ("a web page", &page, Strategy::Readability),
        ("hostile page: nesting without end", &nested, Strategy::Readability),
        ("baseline: bytes to text", &log, Strategy::Raw),
    ];
    let wish = |strategy| ProfileOverride {
        strategy: Some(strategy),
        max_chars: Some(500_000),
        max_response_bytes: Some(5_000_000),
        ..ProfileOverride::default()
    };
    let mut cases: Vec<Case> = Vec::new();
    for (name, text, strategy) in sources {
        let text = text.to_owned();
        cases.push(if name.starts_with("baseline") {
            (name, Box::new(move || drop(black_box(String::from_utf8_lossy(text.as_bytes()).into_owned()))))
        } else {
            let profile = resolve_source("web_search", &wish(strategy));
            (
                name,
                Box::new(move || {
                    let mut extractor = Extractor::new(profile, None);
                    for piece in text.as_bytes().chunks(16_384) {
                        extractor.push(piece);
                    }
                    black_box(extractor.finish());
                }),
            )
        });
    }
    println!("{:<60} {:>12}", "result brought into form", "MB/s");
    let medians = medians(ROUNDS, &mut cases);
    for ((source, _), time) in sources.iter().zip(&cases).zip(medians) {
        println!("{:<60} {:>12.0}", source.0, source.1.len() as f64 / 1e6 / time.as_secs_f64());
    }
}

fn links(count: usize) -> String {
    (0..count).map(|n| format!("<a href=\"/{n}\">Entry {n}</a> ")).collect()
}

fn paragraphs(count: usize) -> String {
    (0..count).map(|n| format!("<p class=\"text\">Paragraph <b>{n}</b> says &amp; repeats <i>something</i> of some length, as paragraphs do.</p>\n")).collect()
}
