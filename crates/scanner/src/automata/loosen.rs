//! Makes patterns take more, so that their automata are smaller.

use regex_syntax::hir::{Hir, HirKind, Repetition};

/// What is repeated more often than this is not counted.
const MOST: u32 = 16;

/// Returns a pattern that takes all that the given one does, and counts no further than to sixteen.
pub(super) fn loosened(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Repetition(repetition) => Hir::repetition(without_counting(repetition)),
        HirKind::Capture(capture) => loosened(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(loosened).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(loosened).collect()),
        _ => hir.clone(),
    }
}

fn without_counting(repetition: &Repetition) -> Repetition {
    let max = repetition.max.filter(|&max| max <= MOST);
    Repetition {
        min: repetition.min.min(MOST),
        max,
        sub: Box::new(loosened(&repetition.sub)),
        greedy: repetition.greedy,
    }
}
