//! Step 3: invisible characters.

mod context;
mod hidden_text;
mod names;
mod survey;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) use context::kept_len;
#[cfg(test)]
pub(crate) use names::invisible_name;
use survey::removed;
pub(crate) use survey::survey;

use crate::class::{Class, class};
use crate::pipeline::SanitizeOptions;

/// How zero-width joiners and non-joiners are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Joiners {
    /// Removes all of them. Nothing can be hidden in them, but joined emoji fall apart, and Persian or Indic words
    /// lose a distinction of spelling.
    #[default]
    Strip,
    /// Keeps a single joiner between two letters of the same joining script or between two emoji, where it has a
    /// meaning. Its presence is one bit that a reader may not see.
    KeepMeaningful,
}

/// The invisible characters that were removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "StrippedCharacters"))]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct InvisibleStripped {
    /// Total.
    pub count: usize,
    /// Count by kind.
    pub by_name: BTreeMap<&'static str, usize>,
}

/// A text without its invisible characters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WithoutInvisible<'t> {
    /// The remaining text; borrowed if nothing was removed.
    pub text: Cow<'t, str>,
    /// The removed characters.
    pub stripped: InvisibleStripped,
    /// Whether tag characters were removed.
    pub tag_block_detected: bool,
    /// The message that the removed characters encode.
    pub hidden_text: Option<String>,
}

/// Removes every invisible character and makes every line end a line feed, without normalising the text.
///
/// Kept are the tags of the three subdivision flags that Unicode recommends for interchange (England, Scotland,
/// Wales), and a presentation selector right after an emoji or inside a keycap.
///
/// ```
/// use stockade_sanitize::strip_invisible;
///
/// let without = strip_invisible("pass\u{200b}word \u{2764}\u{fe0f}");
/// assert_eq!(without.text, "password \u{2764}\u{fe0f}");
/// ```
#[must_use]
pub fn strip_invisible(text: &str) -> WithoutInvisible<'_> {
    let options = SanitizeOptions::default();
    let survey = survey(text, &options);
    let changes = survey.stripped.count > 0 || text.contains(['\r', '\u{2028}', '\u{2029}']);
    WithoutInvisible {
        text: if changes { visible(text, &options).map(line_end).collect() } else { Cow::Borrowed(text) },
        stripped: survey.stripped,
        tag_block_detected: survey.tag_block_detected,
        hidden_text: survey.hidden_text,
    }
}

/// Whether `text` contains tag characters (U+E0000 to U+E007F) other than those of the three subdivision flags.
#[must_use]
pub fn contains_tag_block(text: &str) -> bool {
    removed(text, &SanitizeOptions::default()).any(is_tag)
}

/// Iterates over the characters of `text` that are kept, before normalisation.
pub(crate) fn visible<'t>(text: &'t str, options: &'t SanitizeOptions) -> impl Iterator<Item = char> + 't {
    let mut keep_until = 0;
    text.char_indices().filter_map(move |(at, c)| {
        if class(c) == Class::Stripped && at >= keep_until {
            keep_until = at + kept_len(text, at, options);
            return (at < keep_until).then_some(c);
        }
        // The carriage return of a CR LF is dropped; the line feed remains.
        let half = c == '\r' && text.as_bytes().get(at + 1) == Some(&b'\n');
        (!half).then_some(c)
    })
}

fn line_end(c: char) -> char {
    match c {
        '\r' | '\u{2028}' | '\u{2029}' => '\n',
        other => other,
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}
