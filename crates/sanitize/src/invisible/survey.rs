//! Counts what goes, and reads what it spells, over the whole text: also past the place where the text is cut.

use std::iter;

use crate::class::{Class, class};
use crate::invisible::hidden_text::HiddenText;
use crate::invisible::names::invisible_name;
use crate::invisible::{InvisibleStripped, is_tag, kept_len};
use crate::pipeline::SanitizeOptions;
use crate::plain::skip_plain;
use crate::work;

/// What a text holds that nobody sees.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) stripped: InvisibleStripped,
    pub(crate) tag_block_detected: bool,
    /// Whether characters that reorder the text on the screen are among the removed.
    pub(crate) bidi: bool,
    pub(crate) hidden_text: Option<String>,
}

/// Looks at every character of `text`.
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

/// Returns the characters of `text` that go.
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
