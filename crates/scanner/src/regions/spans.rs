//! Inline code spans: backticks, paired as in CommonMark.

use std::ops::Range;

use super::Border;
use crate::rule::Region;

/// A run of this many backticks or more opens nothing: it is never used, and the table of runs stays small.
const MAX_RUN_BYTES: usize = 16;

/// A run of backticks.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    length: usize,
    /// Whether a backslash precedes it, so that its first backtick opens nothing.
    escaped: bool,
}

/// Adds the borders of a stretch of text whose code spans are in `around`.
///
/// A span begins with its opening backticks and ends before its closing ones: a rule that begins with a backtick
/// means the opening one.
pub(super) fn push_code_spans(text: &str, span: Range<usize>, around: Region, borders: &mut Vec<Border>) {
    if span.is_empty() {
        return;
    }
    borders.push(Border { start: span.start, region: around });
    let runs: Vec<Run> = Runs { text, at: span.start, end: span.end }.collect();
    // For each length, the runs that can still close, walked forwards only: every run is passed once per length.
    let mut next_of_length = [0; MAX_RUN_BYTES];
    let mut index = 0;
    while let Some(&run) = runs.get(index) {
        let (start, length) =
            // CommonMark: a backslash escapes one backtick, and the rest of the run opens a span of its own.
            if run.escaped { (run.start + 1, run.length - 1) } else { (run.start, run.length) };
        match next_of_length.get_mut(length).and_then(|next| closer(&runs, index + 1, length, next)) {
            Some(closing) => {
                let end = runs.get(closing).map_or(span.end, |run| run.start);
                borders.push(Border { start, region: Region::InlineCode });
                borders.push(Border { start: end, region: around });
                index = closing + 1;
            }
            None => index += 1,
        }
    }
}

/// Returns the first run of `length` from `from` on. `next` is how far the runs were searched.
fn closer(runs: &[Run], from: usize, length: usize, next: &mut usize) -> Option<usize> {
    if length == 0 {
        return None;
    }
    // Never backwards. Otherwise thousands of unclosed openers would each walk to the end of the paragraph.
    *next = from.max(*next);
    while let Some(run) = runs.get(*next) {
        if run.length == length {
            return Some(*next);
        }
        *next += 1;
    }
    None
}

/// The runs of backticks in a stretch of text.
struct Runs<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let rest = self.text.as_bytes().get(self.at..self.end)?;
        let skip = memchr::memchr(b'`', rest)?;
        let length = rest.iter().skip(skip).take_while(|&&byte| byte == b'`').count();
        // Consecutive backslashes escape each other in pairs.
        let slashes = rest.iter().take(skip).rev().take_while(|&&byte| byte == b'\\').count();
        let run = Run { start: self.at + skip, length, escaped: slashes % 2 == 1 };
        self.at = run.start + length;
        Some(run)
    }
}
