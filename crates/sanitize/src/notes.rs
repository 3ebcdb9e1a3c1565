//! Findings for a person to review, about kept or removed text.

mod markup;

/// A noteworthy property of a text. No note changes the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Note {
    /// A comment was never closed; the rest of the text was removed with it.
    UnterminatedComment,
    /// Bidirectional controls, which reorder text on the screen, were removed.
    Bidi,
    /// A word contains look-alikes of Latin letters: `pаypal` with a Cyrillic `а`.
    Confusable,
    /// A link definition without a target contains text that no renderer shows: `[//]: # (text)`.
    HiddenMarkdown,
    /// An HTML element is styled to be invisible.
    HiddenHtml,
    /// More consecutive combining marks than any language uses; the excess was removed.
    CombiningMarks,
}

impl Note {
    /// Returns the name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnterminatedComment => "unterminated_comment",
            Self::Bidi => "bidi",
            Self::Confusable => "confusable",
            Self::HiddenMarkdown => "hidden_markdown",
            Self::HiddenHtml => "hidden_html",
            Self::CombiningMarks => "combining_marks",
        }
    }

    /// Returns a one-line description.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::UnterminatedComment => "an HTML comment was never closed and hid the rest of the text",
            Self::Bidi => "characters that reorder text on the screen were removed",
            Self::Confusable => "a word mixes Latin letters with look-alikes of another script",
            Self::HiddenMarkdown => "a link definition holds text that no renderer shows",
            Self::HiddenHtml => "an HTML element is set to be invisible",
            Self::CombiningMarks => "more combining marks than any language uses stood in a row",
        }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Note {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Observations of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) unterminated: bool,
    pub(crate) bidi: bool,
    pub(crate) marks_clipped: bool,
}

/// Returns the notes about a cleaned text.
pub(crate) fn take_notes(body: &str, seen: &Seen) -> Vec<Note> {
    let notes = [
        (seen.unterminated, Note::UnterminatedComment),
        (seen.bidi, Note::Bidi),
        (stockade_text::poses_as_latin(body), Note::Confusable),
        (markup::has_hidden_markdown(body), Note::HiddenMarkdown),
        (markup::has_hidden_html(body), Note::HiddenHtml),
        (seen.marks_clipped, Note::CombiningMarks),
    ];
    notes.into_iter().filter_map(|(noted, note)| noted.then_some(note)).collect()
}
