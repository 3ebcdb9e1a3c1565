//! Text output of `sanitize`.

use std::fmt::Write as _;

use stockade_guard::sanitize::Sanitized;

use stockade_text::escape;

/// Result for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was clean already.
    Untouched,
    /// It was cleaned and printed.
    Cleaned,
    /// It needs cleaning, but was only checked.
    NeedsCleaning,
}

/// Formats the verdict, and a line for each finding.
pub(crate) fn report(name: &str, cleaned: &Sanitized<'_>, verdict: Verdict) -> String {
    let verdict = match verdict {
        Verdict::Untouched => "nothing to clean",
        Verdict::Cleaned => "cleaned",
        Verdict::NeedsCleaning => "needs cleaning",
    };
    let mut out = format!("{}: {verdict}\n", escape(name));
    if cleaned.html_comments_stripped > 0 {
        writeln!(out, "  HTML comments: {}", cleaned.html_comments_stripped).ok();
    }
    for (kind, count) in &cleaned.invisible_stripped.by_name {
        writeln!(out, "  {kind}: {count}").ok();
    }
    if let Some(hidden) = &cleaned.hidden_text {
        writeln!(out, "  hidden message: {}", escape(hidden)).ok();
    }
    if cleaned.truncated {
        writeln!(out, "  too long: only the first --max-chars characters were kept").ok();
    }
    for note in cleaned.notes() {
        writeln!(out, "  note: {}", note.description()).ok();
    }
    out
}
