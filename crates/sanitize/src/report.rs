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

/// The cleaned text, and what was removed.
#[cfg(feature = "serde")]
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Cleaned"))]
struct SanitizedJson<'a> {
    /// The text to use instead of the original.
    body: &'a str,
    html_comments_stripped: usize,
    /// Whether it was truncated.
    truncated: bool,
    /// Whether text was hidden in Unicode tag characters.
    tag_block_detected: bool,
    invisible_stripped: &'a InvisibleStripped,
    /// The message in the removed characters, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_text: Option<&'a str>,
    /// Notes that a user should review.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    notes: Vec<Note>,
    /// Whether the body differs from the text.
    changed: bool,
}

#[cfg(feature = "serde")]
impl serde::Serialize for Sanitized<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = SanitizedJson {
            body: &self.body,
            html_comments_stripped: self.html_comments_stripped,
            truncated: self.truncated,
            tag_block_detected: self.tag_block_detected,
            invisible_stripped: &self.invisible_stripped,
            hidden_text: self.hidden_text.as_deref(),
            notes: self.notes(),
            changed: self.changed(),
        };
        json.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Sanitized<'_> {
    fn schema_name() -> Cow<'static, str> {
        SanitizedJson::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SanitizedJson::json_schema(generator)
    }
}
