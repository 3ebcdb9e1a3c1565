//! A source of any size uses memory bounded by its profile.

use stockade_output::{Extractor, Hidden, ProfileOverride, Strategy, resolve_source};

/// Feeds a source of `megabytes` in pieces and returns the peak of what was allocated.
fn peak(strategy: Strategy, hidden: Hidden, megabytes: usize, piece: &str) -> u64 {
    let wish = ProfileOverride {
        strategy: Some(strategy),
        hidden: Some(hidden),
        max_response_bytes: Some(200_000),
        max_chars: Some(50_000),
    };
    let profile = resolve_source("bash", &wish);
    let piece = piece.repeat(16_384 / piece.len() + 1);
    let info = allocation_counter::measure(|| {
        let mut extractor = Extractor::new(profile, None);
        for _ in 0..megabytes * 1_000_000 / piece.len() {
            extractor.push(piece.as_bytes());
        }
        let extracted = extractor.finish();
        assert!(extracted.text.chars().count() <= 50_000);
    });
    info.bytes_max
}

#[test]
fn memory_does_not_grow_with_the_source() {
    let pieces = ["plain words on a line\n", "{\"a\":[", "<p>text", "\u{1f469}\u{200d}"];
    for strategy in [Strategy::Raw, Strategy::Tail, Strategy::Structured, Strategy::Readability] {
        for hidden in [Hidden::Keep, Hidden::Strip] {
            for piece in pieces {
                let (small, large) = (peak(strategy, hidden, 1, piece), peak(strategy, hidden, 4, piece));
                assert!(large <= small + 1_000, "{strategy:?} {hidden:?} {piece:?}: {small} to {large}");
            }
        }
    }
}

#[test]
fn what_is_kept_bounds_the_memory_of_streams() {
    for (strategy, most) in
        [(Strategy::Raw, 600_000), (Strategy::Tail, 1_600_000), (Strategy::Structured, 600_000)]
    {
        for piece in ["plain words on a line\n", "[{\"a\":", "\u{1f469}\u{200d}"] {
            let peak = peak(strategy, Hidden::Keep, 4, piece);
            assert!(peak <= most, "{strategy:?} {piece:?}: {peak}");
        }
    }
}

#[test]
fn a_page_takes_a_bounded_multiple_of_what_may_be_looked_at() {
    for piece in
        ["<p>text", "<p>a", "<div><b><i>", "&nGt;<a b=c d=e>", "<style>.a{display:none}</style>", "\u{0}"]
    {
        let peak = peak(Strategy::Readability, Hidden::Strip, 2, piece);
        assert!(peak <= 16 * 200_000, "{piece:?}: {peak}");
    }
}
