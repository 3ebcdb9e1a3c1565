//! Steps 2 and 3 in one walk: NFKC without the invisible characters.
//!
//! The two share a walk because an invisible character is a starter that never composes with its neighbours.
//! Normalising, stripping and normalising again, which the fixed point requires, therefore equals normalising the
//! visible characters. Tests in `invisible/names.rs` prove the fact for every character.

mod compose;
mod writer;

use std::borrow::Cow;
use std::cell::Cell;

pub(crate) use compose::compose;
use writer::Writer;

use crate::class::{Class, class, expand, skip_inert};
use crate::html_comments::{CommentFree, find_opener};
use crate::invisible::{kept_len, visible};
use crate::pipeline::SanitizeOptions;
use crate::plain::skip_plain;
use crate::work;

/// A text after the walk, or its beginning if the walk stopped at the bound.
#[derive(Debug)]
pub(crate) struct Cleaned<'t> {
    /// Borrowed if nothing changed; it is the whole text then.
    pub(crate) text: Cow<'t, str>,
    /// Whether a character was removed, so that a survey is worth its time.
    pub(crate) survey_needed: bool,
    /// Combining marks beyond the limit that were left out.
    pub(crate) marks_clipped: usize,
    /// Comments that arose through normalisation.
    pub(crate) comments: usize,
    /// Whether the last of those was unclosed.
    pub(crate) unterminated: bool,
}

/// Normalises `text` without its invisible characters, up to `bound` characters.
pub(crate) fn clean<'t>(text: &'t str, bound: usize, options: &SanitizeOptions) -> Cleaned<'t> {
    let mut walk = Walk::new(text, bound, options);
    walk.run();
    let full = walk.writer.is_full();
    let (stripped, clipped) = (walk.stripped, walk.clipped.get());
    let cleaned = walk.writer.finish();
    if matches!(&cleaned, Cow::Owned(owned) if find_opener(owned).is_some()) {
        // Drop the first result before the second is built: memory is bounded by the limit.
        drop(cleaned);
        return clean_reformed(text, bound, options);
    }
    Cleaned {
        text: cleaned,
        survey_needed: stripped || full,
        marks_clipped: clipped,
        comments: 0,
        unterminated: false,
    }
}

/// Handles a text in which normalisation creates comments: `＜!-- … --＞`. They are removed from the stream, and the
/// seams are normalised once more. Once is enough: composing across a seam can turn `<` into `≮`, but never creates a
/// `<`, `!` or `-`.
fn clean_reformed<'t>(text: &str, bound: usize, options: &SanitizeOptions) -> Cleaned<'t> {
    let clipped = Cell::new(0);
    let mut comment_free = CommentFree::new(compose(visible(text, options), &clipped));
    let seams_clipped = Cell::new(0);
    let cleaned: String = compose(comment_free.by_ref(), &seams_clipped).take(bound).collect();
    let (comments, unterminated) = (comment_free.count, comment_free.unterminated);
    Cleaned {
        text: Cow::Owned(cleaned),
        survey_needed: true,
        marks_clipped: clipped.get() + seams_clipped.get(),
        comments,
        unterminated,
    }
}

/// One walk over the text: long inert stretches are copied whole, or not at all.
struct Walk<'t, 'o> {
    text: &'t str,
    options: &'o SanitizeOptions,
    writer: Writer<'t>,
    stripped: bool,
    clipped: Cell<usize>,
}

impl<'t, 'o> Walk<'t, 'o> {
    fn new(text: &'t str, bound: usize, options: &'o SanitizeOptions) -> Self {
        let writer = Writer::new(text, bound);
        Self { text, options, writer, stripped: false, clipped: Cell::new(0) }
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some((start, c, class)) = self.next_change(at) {
            let end = start + c.len_utf8();
            at = match class {
                Class::Inert => end,
                Class::Stripped => self.strip(start, end),
                Class::Mapped => self.map(start, end, c),
                Class::Complex => self.compose(start),
            };
            if self.writer.is_full() {
                return;
            }
        }
    }

    /// Returns the next character at or after `at` that is not inert, with its offset.
    fn next_change(&mut self, at: usize) -> Option<(usize, char, Class)> {
        let (bytes, mut at) = (self.text.as_bytes(), at);
        loop {
            at = skip_plain(bytes, at);
            loop {
                at = skip_inert(bytes, at);
                let c = self.text.get(at..)?.chars().next()?;
                let class = class(c);
                if class != Class::Inert {
                    return Some((at, c, class));
                }
                at += c.len_utf8();
                if c.is_ascii() {
                    break;
                }
            }
        }
    }

    fn strip(&mut self, start: usize, end: usize) -> usize {
        let kept = kept_len(self.text, start, self.options);
        if kept > 0 {
            return start + kept;
        }
        self.stripped = true;
        self.writer.skip(start, end);
        end
    }

    fn map(&mut self, start: usize, end: usize, c: char) -> usize {
        // Of CR LF, keep the LF.
        if c == '\r' && self.text.as_bytes().get(end) == Some(&b'\n') {
            self.writer.skip(start, end);
            return end;
        }
        self.writer.skip(start, end);
        expand(c, |part| self.writer.push(part));
        end
    }

    /// Normalises the stretch around `at`: the starter before it and everything up to the next inert character.
    fn compose(&mut self, at: usize) -> usize {
        let end = self.end_of_stretch(at);
        let start = self.writer.last_unchanged(at).unwrap_or(at);
        let stretch = |from, to| self.text.get(from..to).unwrap_or_default();
        let visible = stretch(at, end).chars().filter(|&c| class(c) != Class::Stripped);
        let source = stretch(start, at).chars().chain(visible);
        if self.writer.is_untouched()
            && compose(source.clone(), &Cell::new(0)).eq(stretch(start, end).chars())
        {
            return end;
        }
        let popped = if start == at { self.writer.pop() } else { None };
        self.stripped |= stretch(at, end).chars().any(|c| class(c) == Class::Stripped);
        self.writer.skip(start, end);
        for c in compose(popped.into_iter().chain(source), &self.clipped) {
            self.writer.push(c);
            if self.writer.is_full() {
                break;
            }
        }
        end
    }

    fn end_of_stretch(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let stops = |&(offset, c): &(usize, char)| {
            work::step();
            match class(c) {
                Class::Inert | Class::Mapped => true,
                Class::Stripped => kept_len(self.text, at + offset, self.options) > 0,
                Class::Complex => false,
            }
        };
        rest.char_indices().find(stops).map_or(self.text.len(), |(offset, _)| at + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::clean;
    use crate::pipeline::SanitizeOptions;

    #[test]
    fn what_is_beyond_the_bound_is_not_normalised() {
        let bomb = "\u{fdfa}".repeat(300_000);
        let cleaned = clean(&bomb, 1_000, &SanitizeOptions::default());
        assert_eq!(cleaned.text.chars().count(), 1_000);
    }
}
