//! Text that a model reads and a person does not see.

use std::ops::Range;

use super::fact::{FactPlace, HiddenFact, HiddenKind};
use crate::report::MATCHED_TEXT_CHARS;

/// Returns comments of HTML.
pub(crate) fn hidden(text: &str) -> Vec<HiddenFact> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = memchr::memmem::find(text.as_bytes().get(from..).unwrap_or_default(), b"<!--") {
        let start = from + start;
        let rest = text.get(start..).unwrap_or_default();
        // A comment without an end hides everything behind it.
        let length = memchr::memmem::find(rest.as_bytes(), b"-->").map_or(rest.len(), |end| end + 3);
        found.push(HiddenFact::new(
            HiddenKind::Comment,
            rest.get(..length).unwrap_or_default(),
            start..start + length,
        ));
        from = start + length;
    }
    found
}

impl HiddenFact {
    /// The fact of a text at a place.
    pub(crate) fn new(kind: HiddenKind, text: &str, span: Range<usize>) -> Self {
        let text = text.chars().take(MATCHED_TEXT_CHARS).collect();
        Self { kind, text, place: FactPlace::of(&span) }
    }
}
