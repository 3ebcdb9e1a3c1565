//! What came of a text.

use std::borrow::Cow;

use crate::invisible::InvisibleStripped;
use crate::notes::{Note, Seen, take_notes};

/// A cleaned text, and what was done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Sanitized<'t> {
    /// The text to use in place of the original; borrowed exactly when it is the original.
    pub body: Cow<'t, str>,
    /// How many HTML comments were removed. Those that only came to be through normalisation are counted as far as the
    /// text was normalised, that is up to the size limit.
    pub html_comments_stripped: usize,
    /// Whether the size limit was hit.
    pub truncated: bool,
    /// Whether characters of the tag block were removed: somebody hid text in them.
    pub tag_block_detected: bool,
    /// What invisible characters were removed, counted over the whole text.
    pub invisible_stripped: InvisibleStripped,
    /// The message that the removed characters spell, when they spell one; its first 4,096 bytes.
    pub hidden_text: Option<String>,
    /// What the notes need to know besides the body.
    pub(crate) seen: Seen,
}

impl Sanitized<'_> {
    /// Whether the body differs from the original.
    #[must_use]
    pub fn changed(&self) -> bool {
        matches!(self.body, Cow::Owned(_))
    }

    /// Returns what a person should look at, each kind once, in the order of the type. Looks at the body for it.
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
