//! Display of untrusted text to a person who decides by reading it.
//!
//! An agent can ask for a command that looks harmless: its dangerous part hides behind four hundred spaces, behind a
//! line end, or in invisible characters. So text in a question is shown on one line, characters without a glyph are
//! written between `⟨` and `⟩`, and repetitions are counted. The brackets themselves are escaped in the text, so two
//! different texts are never shown alike.

use std::fmt;
use std::ops::Range;

use crate::escape::is_printable;
use crate::look_alikes::is_disguised;

/// Maximum run of spaces shown as is, enough for code; longer runs are counted.
const MAX_SPACES: usize = 8;

/// Maximum run of one visible character; longer runs are counted.
const MAX_REPEATED: usize = 32;

/// Characters shown by name instead of by number.
const NAMES: &[(char, &str)] = &[
    (' ', "space"),
    ('\t', "tab"),
    ('\n', "newline"),
    ('\r', "carriage return"),
    ('\u{a0}', "no-break space"),
];

/// Accents and other combining marks. One on a letter is visible; more of them cover it.
const MARKS: &[(char, char)] = &[
    ('\u{300}', '\u{36f}'),
    ('\u{483}', '\u{489}'),
    ('\u{1ab0}', '\u{1aff}'),
    ('\u{1dc0}', '\u{1dff}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe20}', '\u{fe2f}'),
];

/// Wrapper that displays text on one line without hiding anything, for questions and reasons.
///
/// ```
/// use stockade_text::Shown;
///
/// let text = format!("ls{}; rm -rf /", " ".repeat(400));
/// assert_eq!(Shown(&text).to_string(), "ls⟨400 spaces⟩; rm -rf /");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown<'t>(pub &'t str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Pieces::of(self.0).try_for_each(|piece| piece.fmt(f))
    }
}

/// Displays text as [`Shown`] does, in about `most` characters. A longer text keeps its beginning, its end and the
/// part that begins at `keep`; brackets count the omitted characters between them.
///
/// ```
/// use stockade_text::shown_within;
///
/// let text = format!("echo {0}; rm -rf /; echo {0}", "a b".repeat(100));
/// let at = text.find("rm").unwrap();
/// let shown = shown_within(&text, &(at..at + 8), 60);
/// assert!(shown.contains("rm -rf /") && shown.contains(" more characters⟩"), "{shown}");
/// ```
#[must_use]
pub fn shown_within(text: &str, keep: &Range<usize>, most: usize) -> String {
    let pieces: Vec<(Piece<'_>, usize)> = Pieces::of(text).map(|piece| (piece, piece.width())).collect();
    let total: usize = pieces.iter().map(|(_, width)| width).sum();
    if total <= most {
        return Shown(text).to_string();
    }
    let ranges = kept(&pieces, keep, total, most);
    let (mut shown, mut at, mut left_out) = (String::new(), 0, 0);
    for (piece, width) in &pieces {
        if ranges.iter().any(|range| range.contains(&at)) {
            push_gap(&mut shown, &mut left_out);
            shown.push_str(&piece.to_string());
        } else {
            left_out += piece.times;
        }
        at += width;
    }
    push_gap(&mut shown, &mut left_out);
    shown
}

/// Returns the three kept ranges in terminal cells: beginning, `keep` (half of the space) and end.
fn kept(pieces: &[(Piece<'_>, usize)], keep: &Range<usize>, total: usize, most: usize) -> [Range<usize>; 3] {
    let before: usize =
        pieces.iter().take_while(|(piece, _)| piece.end <= keep.start).map(|(_, width)| width).sum();
    let quarter = most / 4;
    // A little context before `keep` is kept as well.
    let from = before.saturating_sub(quarter / 4);
    [0..quarter, from..from + most / 2, total.saturating_sub(quarter)..total]
}

fn push_gap(shown: &mut String, left_out: &mut usize) {
    if *left_out > 0 {
        shown.push_str(&format!("⟨{left_out} more characters⟩"));
        *left_out = 0;
    }
}

/// One character and its repetitions.
#[derive(Debug, Clone, Copy)]
struct Piece<'t> {
    character: char,
    times: usize,
    form: Form,
    /// Offset of its end in the text.
    end: usize,
    text: &'t str,
}

/// How a piece is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The character as it is.
    Plain,
    /// Once, with a repeat count.
    Counted,
    /// By name or number.
    Written,
}

impl Piece<'_> {
    /// Returns the approximate width in terminal cells.
    fn width(self) -> usize {
        match self.form {
            Form::Plain => self.times,
            Form::Counted | Form::Written => self.to_string().chars().count(),
        }
    }
}

impl fmt::Display for Piece<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { character, times, form, text, .. } = *self;
        let name = NAMES.iter().find(|(known, _)| *known == character).map(|(_, name)| *name);
        match (form, name, times) {
            (Form::Plain, ..) => f.write_str(text),
            (_, Some(name), 1) => write!(f, "⟨{name}⟩"),
            (_, Some(name), _) => write!(f, "⟨{times} {name}s⟩"),
            (Form::Counted, None, _) => write!(f, "⟨{times} × {character}⟩"),
            (Form::Written, None, 1) => write!(f, "⟨U+{:04X}⟩", u32::from(character)),
            (Form::Written, None, _) => write!(f, "⟨{times} × U+{:04X}⟩", u32::from(character)),
        }
    }
}

/// Iterator over the pieces of a text.
struct Pieces<'t> {
    text: &'t str,
    at: usize,
    /// The end of the last inspected word, and whether it poses as Latin.
    word: (usize, bool),
    /// Whether the previous character can carry one mark.
    carries: bool,
}

impl<'t> Pieces<'t> {
    const fn of(text: &'t str) -> Self {
        Self { text, at: 0, word: (0, false), carries: false }
    }

    /// Whether the character belongs to a word of look-alikes. Each word is inspected once.
    fn is_in_disguise(&mut self, character: char) -> bool {
        if !character.is_alphabetic() {
            return false;
        }
        if self.at >= self.word.0 {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let length = rest.len() - rest.trim_start_matches(char::is_alphabetic).len();
            let word = rest.get(..length).unwrap_or_default();
            self.word = (self.at + length, is_disguised(word));
        }
        self.word.1 && !character.is_ascii()
    }

    fn form(&mut self, character: char, times: usize, end: usize) -> Form {
        let is_at_edge = self.at == 0 || end == self.text.len();
        match character {
            ' ' if times > MAX_SPACES || is_at_edge => Form::Written,
            ' ' => Form::Plain,
            _ if is_within(MARKS, character) && (times > 1 || !self.carries) => Form::Written,
            '⟨' | '⟩' => Form::Written,
            _ if character.is_whitespace() || !is_printable(character) || is_private(character) => {
                Form::Written
            }
            _ if self.is_in_disguise(character) => Form::Written,
            _ if times > MAX_REPEATED => Form::Counted,
            _ => Form::Plain,
        }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let rest = self.text.get(self.at..)?;
        let character = rest.chars().next()?;
        let length = rest.len() - rest.trim_start_matches(character).len();
        let (end, times) = (self.at + length, length / character.len_utf8());
        let form = self.form(character, times, end);
        self.carries = character.is_alphabetic() && form == Form::Plain;
        self.at = end;
        Some(Piece { character, times, form, end, text: rest.get(..length).unwrap_or_default() })
    }
}

/// Whether the character is in a private use area, where fonts define the glyph.
const fn is_private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

fn is_within(ranges: &[(char, char)], character: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

#[cfg(test)]
mod tests {
    use super::{Shown, shown_within};

    #[test]
    fn what_would_not_be_seen_is_written_out() {
        let cases = [
            ("git push origin main", "git push origin main"),
            ("žluťoučký 漢字 🎉 e\u{301} привет", "žluťoučký 漢字 🎉 e\u{301} привет"),
            ("a        b", "a        b"),
            ("a         b", "a⟨9 spaces⟩b"),
            ("ls ", "ls⟨space⟩"),
            ("  ls", "⟨2 spaces⟩ls"),
            ("ls\n\n\nrm", "ls⟨3 newlines⟩rm"),
            ("a\tb\rc", "a⟨tab⟩b⟨carriage return⟩c"),
            ("a\u{a0}b\u{3000}c", "a⟨no-break space⟩b⟨U+3000⟩c"),
            ("\u{1b}[2J", "⟨U+001B⟩[2J"),
            ("c\u{200b}\u{200b}url", "c⟨2 × U+200B⟩url"),
            ("\u{202e}txt.exe", "⟨U+202E⟩txt.exe"),
            ("\u{e0041}", "⟨U+E0041⟩"),
            ("\u{e000}", "⟨U+E000⟩"),
            // Cyrillic letters among Latin ones.
            ("\u{441}url", "⟨U+0441⟩url"),
            ("cur\u{301}\u{302}l", "cur\u{301}⟨U+0302⟩l"),
            ("a\\u{1b}b", "a\\u{1b}b"),
            ("⟨3 spaces⟩", "⟨U+27E8⟩3 spaces⟨U+27E9⟩"),
        ];
        for (text, shown) in cases {
            assert_eq!(Shown(text).to_string(), shown, "{text:?}");
        }
        assert_eq!(Shown(&"#".repeat(500)).to_string(), "⟨500 × #⟩");
        assert_eq!(Shown(&"#".repeat(32)).to_string(), "#".repeat(32));
    }

    #[test]
    fn a_long_text_keeps_what_must_be_seen_and_says_what_is_left_out() {
        let filler = "abc ".repeat(10_000) + "abc";
        for (text, at) in [
            (format!("rm -rf /; {filler}"), 0),
            (format!("{filler}; rm -rf /; {filler}"), filler.len() + 2),
            (format!("{filler}; rm -rf /"), filler.len() + 2),
        ] {
            let shown = shown_within(&text, &(at..at + 8), 200);
            assert!(shown.contains("rm -rf /") && shown.contains(" more characters⟩"), "{shown}");
            assert!(shown.chars().count() < 300, "{shown}");
            let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(
                (words(&shown).first(), words(&shown).last()),
                (words(&text).first(), words(&text).last())
            );
        }
        assert_eq!(shown_within("ls", &(0..2), 200), "ls");
        assert_eq!(shown_within("ls", &(7..900), 1), "⟨2 more characters⟩");
    }
}
