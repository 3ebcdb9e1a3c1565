//! What must hold of extraction for any bytes. Fuzz targets and ordinary tests both run these.

use stockade_output::{Extractor, Hidden, ProfileOverride, Strategy, extract, resolve_source};

/// A result in any form: bounded, never split within a character, the same in whatever pieces it comes; JSON parses, a tail
/// is an end, a head is a beginning.
pub(crate) fn extraction(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let strategies = [Strategy::Raw, Strategy::Tail, Strategy::Structured, Strategy::Readability];
    let strategy = strategies[usize::from(first & 3)];
    let hidden = if first & 4 == 0 { Hidden::Keep } else { Hidden::Strip };
    let content_type = [None, Some("text/html"), Some("application/json"), Some("text/plain; charset=utf-8")];
    let content_type = content_type[usize::from(first >> 3 & 3)];
    let max_chars = 100 + u64::from(first >> 5) * 40;
    let wish = ProfileOverride {
        strategy: Some(strategy),
        hidden: Some(hidden),
        max_chars: Some(max_chars),
        max_response_bytes: None,
    };
    let profile = resolve_source("bash", &wish);
    let run = |step: usize| {
        let mut extractor = Extractor::new(profile, content_type);
        for piece in data.chunks(step) {
            extractor.push(piece);
        }
        extractor.finish()
    };
    let whole = run(usize::MAX);
    assert_eq!(whole, run(7), "the pieces made a difference");
    assert!(whole.text.chars().count() <= profile.max_chars());
    assert_eq!(whole.original_bytes, data.len() as u64);
    let Ok(source) = std::str::from_utf8(data) else { return };
    if source.starts_with('\u{feff}') || hidden == Hidden::Strip || strategy == Strategy::Readability {
        return;
    }
    let declares = source.to_ascii_lowercase().contains("charset");
    if declares {
        return;
    }
    match strategy {
        Strategy::Raw => assert!(source.starts_with(&whole.text)),
        Strategy::Tail => assert!(source.ends_with(&whole.text)),
        _ => structured(source, &whole.text, whole.truncated),
    }
    // Space behind what is structured is no part of it.
    let is_whole = strategy == Strategy::Structured && is_only_space_missing(source, &whole.text);
    assert_eq!(whole.truncated, whole.text.len() < source.len() && !is_whole);
}

fn structured(source: &str, kept: &str, truncated: bool) {
    if !truncated {
        return;
    }
    if serde_json::from_str::<serde::de::IgnoredAny>(source).is_ok() && !is_bare_number(source) {
        let read = serde_json::from_str::<serde::de::IgnoredAny>(kept);
        assert!(read.is_ok(), "{kept}: {read:?}");
    }
}

/// A number of a hundred digits has no border to cut at.
fn is_bare_number(source: &str) -> bool {
    source.trim_start().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

fn is_only_space_missing(source: &str, kept: &str) -> bool {
    source.strip_prefix(kept).is_some_and(|rest| rest.trim_matches([' ', '\t', '\r', '\n']).is_empty())
}

/// Pages: whatever is written inside an element that hides, in whatever broken markup, does not come out.
pub(crate) fn hidden_text(data: &[u8]) {
    let markup = String::from_utf8_lossy(data);
    // What may follow could only end the element by its own end tag, or hide more.
    let markup = markup.to_ascii_lowercase();
    if markup.contains("</div") || markup.contains("seen") {
        return;
    }
    let page = format!("<p>seen</p><div hidden>{markup}SECRET</div>");
    let profile = resolve_source("web_fetch", &ProfileOverride::default());
    let text = extract(page.as_bytes(), &profile, Some("text/html")).text;
    assert!(!text.contains("SECRET"), "{page:?}: {text:?}");
}
