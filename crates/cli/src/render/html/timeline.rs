//! A histogram over time as SVG.

use std::fmt::Write as _;

use super::bars::thousandths;
use super::{Tone, text};
use crate::report::timeline::Timeline;

/// Maximum width of a column, in thousandths of the picture.
const MAX_WIDTH: u64 = 100;

/// Formats the picture; empty without events. `kinds` are stacked from the bottom up.
pub(crate) fn figure<const N: usize>(timeline: &Timeline<N>, kinds: [(Tone, &str); N]) -> String {
    let (Some(first), Some(last)) = (timeline.first(), timeline.last()) else { return String::new() };
    let sum = |counts: &[u64; N]| counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let most = timeline.columns.values().map(sum).max().unwrap_or(1);
    let step = 1000 / (last - first + 1);
    let columns = timeline.columns.iter().map(|(column, counts)| {
        let title = format!("{}: {}", timeline.begin(*column), told(counts, kinds));
        format!("<g><title>{title}</title>{}</g>", stack(counts, kinds, (column - first) * step, step, most))
    });
    let drawn: String = columns.collect();
    let keys: String = kinds.iter().map(|(tone, name)| key(*tone, name)).collect();
    let (begin, end) = (timeline.begin(first), timeline.begin(last));
    format!(
        "<figure class=\"timeline\">\n<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{} from {begin} on\">{drawn}</svg>\n<p class=\"ends\"><span>{begin}</span><span>{end}</span></p>\n\
         <figcaption>{keys}&mdash; a column is {}, the tallest is {most}</figcaption>\n</figure>\n",
        told(&timeline.sums(), kinds),
        timeline.width_name(),
    )
}

/// Formats one column of stacked kinds.
fn stack<const N: usize>(
    counts: &[u64; N],
    kinds: [(Tone, &str); N],
    x: u64,
    step: u64,
    most: u64,
) -> String {
    let width = (step * 4 / 5).clamp(1, MAX_WIDTH);
    let mut drawn = String::new();
    let mut top = 1000;
    for ((tone, _), count) in kinds.iter().zip(counts) {
        let height = thousandths(*count, most).min(top);
        top -= height;
        if height > 0 {
            let class = tone.class();
            // Writing to a string cannot fail.
            write!(
                drawn,
                "<rect class=\"fill-{class}\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
            )
            .ok();
        }
    }
    drawn
}

fn key(tone: Tone, name: &str) -> String {
    format!("<span class=\"key-{}\">&#9632;</span> {} ", tone.class(), text(name))
}

fn told<const N: usize>(counts: &[u64; N], kinds: [(Tone, &str); N]) -> String {
    let parts: Vec<_> =
        kinds.iter().zip(counts).map(|((_, name), count)| format!("{count} {}", text(name))).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use stockade_guard::audit::Timestamp;

    use super::*;

    const KINDS: [(Tone, &str); 2] = [(Tone::Good, "allowed"), (Tone::Bad, "refused")];

    #[test]
    fn stacked_bars_have_a_text_for_each_kind() {
        let mut timeline = Timeline::<2>::default();
        assert_eq!(figure(&timeline, KINDS), "");
        for (second, kind) in [(0, 0), (1, 0), (2, 1), (61, 0)] {
            timeline.add(Timestamp::from_micros(second * 1_000_000), kind);
        }
        let figure = figure(&timeline, KINDS);
        for part in [
            "aria-label=\"3 allowed, 1 refused from 1970-01-01 00:00 on\"",
            "<title>1970-01-01 00:00: 2 allowed, 1 refused</title>",
            "<rect class=\"fill-good\" x=\"0\" y=\"334\" width=\"100\" height=\"666\"/>",
            "<rect class=\"fill-bad\" x=\"0\" y=\"1\" width=\"100\" height=\"333\"/>",
            "a column is a minute, the tallest is 3",
        ] {
            assert!(figure.contains(part), "{part} in {figure}");
        }
    }
}
