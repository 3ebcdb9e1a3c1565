//! The cleaning steps in order.

use std::borrow::Cow;

use crate::html_comments::strip_html_comments;
use crate::invisible::{Joiners, survey};
use crate::nfkc::clean;
use crate::notes::Seen;
use crate::report::Sanitized;
use crate::size::{BEYOND_LIMIT, enforce};

/// Default size limit in characters.
pub const DEFAULT_MAX_CHARS: usize = 20_000;

/// Size limit and treatment of joiners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SanitizeOptions {
    /// Maximum number of characters in the body, not counting the truncation marker.
    pub max_chars: usize,
    /// How zero-width joiners and non-joiners are treated.
    pub joiners: Joiners,
}

impl Default for SanitizeOptions {
    fn default() -> Self {
        Self { max_chars: DEFAULT_MAX_CHARS, joiners: Joiners::default() }
    }
}

/// Cleans `text`: strips HTML comments, normalises to NFKC, strips invisible characters and enforces the size limit, in
/// this order.
///
/// The result is a fixed point, `sanitize(sanitize(text).body).body == sanitize(text).body`: a comment that a later
/// step creates is removed as well, and characters that a removal brings together are normalised again. The body is
/// in NFKC and contains none of the characters that [`strip_invisible`](crate::strip_invisible) removes, no `<!--`,
/// no line end but the line feed, and at most 30 consecutive combining marks.
///
/// Time is linear in the length of the text. Additional memory is at most the length of the text if it has comments,
/// plus a few bytes for each character of the limit, however much the text expands by normalisation.
///
/// ```
/// use stockade_sanitize::{SanitizeOptions, sanitize};
///
/// let options = SanitizeOptions { max_chars: 5, ..SanitizeOptions::default() };
/// assert_eq!(sanitize("too long", &options).body, "too l\n[TRUNCATED]");
/// ```
pub fn sanitize<'t>(text: &'t str, options: &SanitizeOptions) -> Sanitized<'t> {
    let comments = strip_html_comments(text);
    let bound = options.max_chars.saturating_add(BEYOND_LIMIT);
    let cleaned = clean(&comments.text, bound, options);
    let survey = if cleaned.survey_needed { survey(&comments.text, options) } else { Default::default() };
    let html_comments_stripped = comments.count + cleaned.comments;
    let seen = Seen {
        unterminated: comments.unterminated || cleaned.unterminated,
        bidi: survey.bidi,
        marks_clipped: cleaned.marks_clipped > 0,
    };
    let cleaned = match cleaned.text {
        Cow::Owned(owned) => Cow::Owned(owned),
        Cow::Borrowed(_) => comments.text,
    };
    let (body, truncated) = enforce(cleaned, options.max_chars);
    Sanitized {
        body,
        html_comments_stripped,
        truncated,
        tag_block_detected: survey.tag_block_detected,
        invisible_stripped: survey.stripped,
        hidden_text: survey.hidden_text,
        seen,
    }
}

#[cfg(test)]
mod tests {
    use super::{SanitizeOptions, sanitize};
    use crate::invisible::Joiners;
    use crate::work;

    type Flood = (&'static str, fn(usize) -> String);

    /// Texts of about `n` characters that need the most work.
    const FLOODS: &[Flood] = &[
        ("one mark", |n| format!("a{}", "\u{301}".repeat(n))),
        ("marks out of order", |n| format!("a{}", "\u{301}\u{316}".repeat(n / 2))),
        ("marks between zero widths", |n| "\u{301}\u{200b}".repeat(n / 2)),
        ("marks and joiners", |n| format!("\u{915}{}", "\u{94d}\u{200d}".repeat(n / 2))),
        ("decomposing marks", |n| format!("a{}", "\u{344}".repeat(n))),
        ("hangul vowels", |n| "\u{1161}".repeat(n)),
        ("hangul syllables to compose", |n| "\u{1100}\u{1161}\u{11a8}".repeat(n / 3)),
        ("letters to compose", |n| "e\u{301}".repeat(n / 2)),
        ("letters that stay", |n| "x\u{301}".repeat(n / 2)),
        ("phrase ligatures", |n| "\u{fdfa}".repeat(n)),
        ("tags", |n| "\u{1f3f4}\u{e0067}".repeat(n / 2)),
        ("selectors", |n| "\u{2764}\u{fe0f}\u{fe0f}".repeat(n / 3)),
        ("openers", |n| "<!--".repeat(n / 4)),
        ("comments", |n| "<!---->".repeat(n / 7)),
        ("comments in openers", |n| "<!-<!---->".repeat(n / 10)),
        ("false ends", |n| format!("<!--{}", "->".repeat(n / 2))),
        ("openers to be", |n| "\u{ff1c}!-".repeat(n / 3)),
        ("comments to be", |n| "\u{ff1c}!---->".repeat(n / 7)),
        ("false ends, in a future comment", |n| format!("\u{ff1c}!--{}", "->".repeat(n / 2))),
    ];

    fn steps(flood: fn(usize) -> String, n: usize, options: &SanitizeOptions) -> usize {
        let text = flood(n);
        work::count(|| drop(sanitize(&text, options)))
    }

    #[test]
    fn work_is_linear_in_the_length_of_the_text() {
        for joiners in [Joiners::Strip, Joiners::KeepMeaningful] {
            for max_chars in [100, 20_000, usize::MAX] {
                let options = SanitizeOptions { max_chars, joiners };
                for (name, flood) in FLOODS {
                    for n in [5_000, 80_000] {
                        let steps = steps(*flood, n, &options);
                        // The most expensive character expands to 18, which are inspected twice when the result is
                        // compared with the text.
                        assert!(steps <= 40 * n, "{name}, {max_chars}: {steps} steps for {n} characters");
                    }
                }
            }
        }
    }
}
