//! The result of cleaning a text.

use std::borrow::Cow;

use crate::invisible::InvisibleStripped;
use crate::notes::{Note, Seen, take_notes};

/// A cleaned text and a report of what was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Sanitized<'t> {
    /// The text to use instead of the original; borrowed exactly if it equals the original.
    pub body: Cow<'t, str>,
    /// Number of removed HTML comments. Comments that arise through normalisation are counted up to the size limit,
    /// since the text is normalised only that far.
    pub html_comments_stripped: usize,
    /// Whether the text was truncated.
    pub truncated: bool,
    /// Whether characters of the tag block were removed; they are used to hide text.
    pub tag_block_detected: bool,
    /// Removed invisible characters, counted over the whole text.
    pub invisible_stripped: InvisibleStripped,
    /// The message that the removed characters encode, if any; its first 4,096 bytes.
    pub hidden_text: Option<String>,
    /// Observations that the notes need besides the body.
    pub(crate) seen: Seen,
}

impl Sanitized<'_> {
    /// Whether the body differs from the original.
    #[must_use]
    pub fn changed(&self) -> bool {
        matches!(self.body, Cow::Owned(_))
    }

    /// Returns the notes for a person to review, each kind once, in the order of the type. Inspects the body.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        take_notes(&self.body, &self.seen)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Sanitized<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let fields = 7 + usize::from(self.hidden_text.is_some());
        let mut object = serializer.serialize_struct("Sanitized", fields)?;
        object.serialize_field("body", &self.body)?;
        object.serialize_field("htmlCommentsStripped", &self.html_comments_stripped)?;
        object.serialize_field("truncated", &self.truncated)?;
        object.serialize_field("tagBlockDetected", &self.tag_block_detected)?;
        object.serialize_field("invisibleStripped", &self.invisible_stripped)?;
        match &self.hidden_text {
            Some(text) => object.serialize_field("hiddenText", text)?,
            None => object.skip_field("hiddenText")?,
        }
        object.serialize_field("notes", &self.notes())?;
        object.serialize_field("changed", &self.changed())?;
        object.end()
    }
}
