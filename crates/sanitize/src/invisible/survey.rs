//! Counts removed characters and decodes hidden messages over the whole text, including the part behind the size
//! limit.

use std::iter;

use crate::class::{Class, class};
use crate::invisible::hidden_text::HiddenText;
use crate::invisible::names::invisible_name;
use crate::invisible::{InvisibleStripped, is_tag, kept_len};
use crate::pipeline::SanitizeOptions;
use crate::plain::skip_plain;
use crate::work;

/// The invisible contents of a text.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) stripped: InvisibleStripped,
    pub(crate) tag_block_detected: bool,
    /// Whether bidirectional controls are among the removed characters.
    pub(crate) bidi: bool,
    pub(crate) hidden_text: Option<String>,
}

/// Inspects every character of `text`.
pub(crate) fn survey(text: &str, options: &SanitizeOptions) -> Survey {
    let mut survey = Survey::default();
    let mut hidden = HiddenText::default();
    for c in removed(text, options) {
        survey.add(c);
        hidden.add(c);
    }
    survey.hidden_text = hidden.message();
    survey
}

/// Iterates over the characters of `text` that are removed.
pub(crate) fn removed<'t>(text: &'t str, options: &'t SanitizeOptions) -> impl Iterator<Item = char> + 't {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            at = skip_plain(text.as_bytes(), at);
            let c = text.get(at..)?.chars().next()?;
            work::step();
            let kept = if class(c) == Class::Stripped { kept_len(text, at, options) } else { c.len_utf8() };
            at += kept.max(c.len_utf8());
            if kept == 0 {
                return Some(c);
            }
        }
    })
}

impl Survey {
    fn add(&mut self, c: char) {
        let Some(name) = invisible_name(c) else { return };
        self.stripped.count += 1;
        *self.stripped.by_name.entry(name).or_default() += 1;
        self.tag_block_detected |= is_tag(c);
        self.bidi |= matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    }
}
