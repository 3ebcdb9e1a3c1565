//! Full normalisation, character by character, for the stretches that need it.

use std::cell::Cell;
use std::iter;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use crate::class::replacement;
use crate::work;

/// Maximum number of consecutive combining marks. No language comes near it, and the Stream-Safe Text Format (UAX
/// #15) draws the same line. It bounds the memory and time that one base letter can consume.
const MAX_MARKS: usize = 30;

/// Returns the NFKC of `chars` lazily, without the marks beyond [`MAX_MARKS`], which are counted in `clipped`.
pub(crate) fn compose<'a>(
    chars: impl Iterator<Item = char> + 'a,
    clipped: &'a Cell<usize>,
) -> impl Iterator<Item = char> + 'a {
    let mut marks = 0;
    let within_limit = move |c: &char| {
        work::step();
        marks = if canonical_combining_class(*c) == 0 { 0 } else { marks + 1 };
        if marks > MAX_MARKS {
            clipped.set(clipped.get() + 1);
        }
        marks <= MAX_MARKS
    };
    chars.map(|c| replacement(c).unwrap_or(c)).flat_map(|c| iter::once(c).nfkd()).filter(within_limit).nfc()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{MAX_MARKS, compose};

    fn composed(text: &str) -> (String, usize) {
        let clipped = Cell::new(0);
        (compose(text.chars(), &clipped).collect(), clipped.get())
    }

    #[test]
    fn marks_beyond_the_limit_go_and_the_rest_stays_that_way() {
        let (once, clipped) = composed(&format!("a{}b", "\u{301}\u{316}".repeat(20)));
        assert_eq!(clipped, 40 - MAX_MARKS);
        assert_eq!(composed(&once), (once, 0));
    }

    #[test]
    fn a_mark_inside_a_letter_counts() {
        let (once, clipped) = composed(&format!("\u{1EA5}{}", "\u{316}".repeat(30)));
        assert_eq!(clipped, 2);
        assert_eq!(composed(&once), (once, 0));
    }
}
