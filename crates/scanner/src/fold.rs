//! The folded view: the text with its disguises taken off.
//!
//! `ｂａｓｈ`, `bаsh` (a Cyrillic а), `ba<zero width>sh`, `b''ash` and `curl${IFS}x` are read by some machine as what they
//! look like. The folded view spells them plainly, so that the same rules see them, and maps every finding back to the
//! text as it stands. Words that are honestly written in another script stay as they are.

mod quoting;
mod tables;

use std::ops::Range;

use quoting::{Quoted, unquote};
use tables::{Glyph, glyph, is_space_form};

/// Byte patterns without which the folded view cannot differ in a way that matters. Written like a shape's pattern.
///
/// They are selective on purpose: most real skills hold some non-ASCII text, and nearly all hold quotes and backslashes.
pub(crate) const TRIGGERS: &[&str] = &[
    // Full-width and mathematical letters.
    r"\xEF\xBC[\xA1-\xBA]|\xEF\xBD[\x81-\x9A]|\xF0\x9D[\x90-\x9F]",
    // Other forms of letters, digits and signs; those signs that stand in honest texts only between visible ASCII.
    r"{letter-form}|{digit-form}|{sign-form}|(?:^|[!-~])[ \t]*{common-sign-form}\s*[!-~]",
    // Look-alike letters of Greek, Cyrillic, Armenian and the phonetic alphabet beside an ASCII letter.
    r"[A-Za-z]{idle}{0,2}(?:[\xC9\xCA\xCE-\xD6]|\xC4\xB1)|(?:[\xC9\xCA\xCE-\xD6][\x80-\xBF]|\xC4\xB1){idle}{0,2}[A-Za-z]",
    // Words made of look-alikes only need letters that ordinary Russian, Greek or Armenian text does not hold.
    r"(?:\xD1\x95|\xD2\xBB|\xD4[\x81\x9B\x9D]){idle}{0,2}[\xD0-\xD6]|[\xD0-\xD6][\x80-\xBF]{idle}{0,2}(?:\xD1\x95|\xD2\xBB|\xD4[\x81\x9B\x9D])",
    // Invisible characters beside visible ASCII. Variation selectors behind anything else, or behind a digit that becomes a
    // key, belong to emoji, unless a letter follows.
    r"[!-~](?:{invisible}|\xEF\xBB\xBF)",
    r"(?:{invisible}|[ \t]\xEF\xBB\xBF)[!-~]",
    r"[\t-\x22$-)+-/:-~]\xEF\xB8[\x80-\x8F]|[0-9#*]\xEF\xB8[\x80-\x8F][^\xE2]|\xEF\xB8[\x80-\x8F][A-Za-z]",
    // Spaces that are not the ASCII space, with no more than such spaces between them and visible ASCII.
    r"[!-~][ \t]*{other-space}",
    r"{other-space}[ \t]*[!-~]",
    // Idle quoting inside a word of `quoting::WORDS`, at its first place.
    r"\b(?:b{idle}a|ba{idle}s|bas{idle}[eh]|base{idle}6|base6{idle}4|c{idle}u|cu{idle}r|cur{idle}l|w{idle}g|wg{idle}e|wge{idle}t|e{idle}[vn]|ev{idle}a|eva{idle}l|en{idle}v|s{idle}[ho]|so{idle}c|soc{idle}a|soca{idle}t|[zkd]{idle}[sa]|[zk]s{idle}h|da{idle}s|das{idle}h|p{idle}[yehr]|pr{idle}i|pri{idle}n|prin{idle}t|print{idle}e|printe{idle}n|printen{idle}v|t{idle}c|tc{idle}p|u{idle}d|ud{idle}p|py{idle}t|pyt{idle}h|pyth{idle}o|pytho{idle}n|python{idle}3|pe{idle}r|per{idle}l|ph{idle}p|r{idle}u|ru{idle}b|rub{idle}y|n{idle}[co]|nc{idle}a|nca{idle}t|no{idle}d|nod{idle}e|i{idle}[ew]|ie{idle}x|iw{idle}r|x{idle}m|xm{idle}r|xmr{idle}i|xmri{idle}g)",
    // The same, quoted more than once at one place.
    r"\b(?:b{idle}{2,}a|ba{idle}{2,}s|bas{idle}{2,}[eh]|base{idle}{2,}6|base6{idle}{2,}4|c{idle}{2,}u|cu{idle}{2,}r|cur{idle}{2,}l|w{idle}{2,}g|wg{idle}{2,}e|wge{idle}{2,}t|e{idle}{2,}[vn]|ev{idle}{2,}a|eva{idle}{2,}l|en{idle}{2,}v|s{idle}{2,}[ho]|so{idle}{2,}c|soc{idle}{2,}a|soca{idle}{2,}t|[zkd]{idle}{2,}[sa]|[zk]s{idle}{2,}h|da{idle}{2,}s|das{idle}{2,}h|p{idle}{2,}[yehr]|pr{idle}{2,}i|pri{idle}{2,}n|prin{idle}{2,}t|print{idle}{2,}e|printe{idle}{2,}n|printen{idle}{2,}v|t{idle}{2,}c|tc{idle}{2,}p|u{idle}{2,}d|ud{idle}{2,}p|py{idle}{2,}t|pyt{idle}{2,}h|pyth{idle}{2,}o|pytho{idle}{2,}n|python{idle}{2,}3|pe{idle}{2,}r|per{idle}{2,}l|ph{idle}{2,}p|r{idle}{2,}u|ru{idle}{2,}b|rub{idle}{2,}y|n{idle}{2,}[co]|nc{idle}{2,}a|nca{idle}{2,}t|no{idle}{2,}d|nod{idle}{2,}e|i{idle}{2,}[ew]|ie{idle}{2,}x|iw{idle}{2,}r|x{idle}{2,}m|xm{idle}{2,}r|xmr{idle}{2,}i|xmri{idle}{2,}g)",
    r"\$(?:IFS\b|\{IFS)",
];

/// A text read as it looks, with the way back.
#[derive(Debug)]
pub(crate) struct Folded {
    text: String,
    edits: Vec<Edit>,
}

/// A stretch that reads differently than it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    raw: Range<usize>,
    folded: Range<usize>,
}

impl Folded {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns where a span of the folded text stands in the raw text.
    pub(crate) fn raw_span(&self, span: Range<usize>) -> Range<usize> {
        self.raw_start(span.start)..self.raw_end(span.end)
    }

    fn raw_start(&self, folded: usize) -> usize {
        let after = self.edits.partition_point(|edit| edit.folded.start <= folded);
        match after.checked_sub(1).and_then(|index| self.edits.get(index)) {
            Some(edit) if folded < edit.folded.end => edit.raw.start,
            Some(edit) => edit.raw.end + (folded - edit.folded.end),
            None => folded,
        }
    }

    fn raw_end(&self, folded: usize) -> usize {
        let after = self.edits.partition_point(|edit| edit.folded.start < folded);
        match after.checked_sub(1).and_then(|index| self.edits.get(index)) {
            Some(edit) if folded <= edit.folded.end => edit.raw.end,
            Some(edit) => edit.raw.end + (folded - edit.folded.end),
            None => folded,
        }
    }
}

/// Whether a text begins with what no trigger tells from the same within it: the mark that files begin with, or what
/// selects a variant of the character before it.
pub(crate) fn begins_with_mark(text: &str) -> bool {
    text.starts_with(|first| matches!(first, '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}'))
}

/// Folds a text; `None` if it reads as it stands.
pub(crate) fn fold(text: &str) -> Option<Folded> {
    let mut folder = Folder { text, copied: 0, out: String::new(), edits: Vec::new() };
    let mut at = 0;
    while let Some(Token { range, is_quoted, is_foreign }) = next_token(text, at) {
        at = range.end;
        if is_quoted || is_foreign {
            folder.token(range);
        }
    }
    folder.finish()
}

struct Folder<'t> {
    text: &'t str,
    /// How much of the raw text is in the output.
    copied: usize,
    out: String,
    edits: Vec<Edit>,
}

impl Folder<'_> {
    /// Folds the words of a token, which spaces beyond ASCII part.
    fn token(&mut self, token: Range<usize>) {
        let mut at = token.start;
        for part in self.text.get(token).unwrap_or_default().split_inclusive(is_space_form) {
            let end = at + part.trim_end_matches(is_space_form).len();
            self.word(at..end);
            at += part.len();
            self.glyphs(end..at);
        }
    }

    /// Folds the letters of one word, and if idle quoting hides a word of the rules, the quoting.
    fn word(&mut self, word: Range<usize>) {
        let mut at = word.start;
        while let Some(Quoted { range, plain }) = self.text.get(at..word.end).and_then(unquote) {
            self.glyphs(at..at + range.start);
            self.replace(at + range.start..at + range.end, plain);
            at += range.end;
        }
        self.glyphs(at..word.end);
    }

    fn glyphs(&mut self, word: Range<usize>) {
        let start = word.start;
        let word = self.text.get(word).unwrap_or_default();
        if word.chars().all(|letter| glyph(letter) == Glyph::Plain) {
            return;
        }
        let look_alikes_count = look_alikes_are_a_disguise(word);
        for (at, letter) in word.char_indices() {
            let raw = start + at..start + at + letter.len_utf8();
            let mut buffer = [0; 4];
            match glyph(letter) {
                Glyph::Plain => {}
                Glyph::Invisible => self.replace(raw, ""),
                Glyph::Compatible(ascii) => self.replace(raw, &ascii),
                Glyph::LookAlike(ascii) if look_alikes_count => {
                    self.replace(raw, ascii.encode_utf8(&mut buffer));
                }
                Glyph::LookAlike(_) => {}
            }
        }
    }

    fn replace(&mut self, raw: Range<usize>, plain: &str) {
        self.out.push_str(self.text.get(self.copied..raw.start).unwrap_or_default());
        let start = self.out.len();
        self.out.push_str(plain);
        self.copied = raw.end;
        self.edits.push(Edit { raw, folded: start..self.out.len() });
    }

    fn finish(mut self) -> Option<Folded> {
        if self.edits.is_empty() {
            return None;
        }
        self.out.push_str(self.text.get(self.copied..).unwrap_or_default());
        Some(Folded { text: self.out, edits: self.edits })
    }
}

/// A word of look-alikes is a disguise if it also holds ASCII letters, or if all of it spells a word of the rules.
/// A letter that looks like nothing in ASCII makes it an honest word.
fn look_alikes_are_a_disguise(word: &str) -> bool {
    let (mut ascii, mut spelled) = (false, String::new());
    for letter in word.chars() {
        match glyph(letter) {
            Glyph::Plain if letter.is_ascii_alphabetic() => {
                ascii = true;
                spelled.push(letter);
            }
            Glyph::Plain if letter.is_alphabetic() => return false,
            Glyph::Plain => {}
            Glyph::Invisible => {}
            Glyph::Compatible(plain) => spelled.push_str(&plain),
            Glyph::LookAlike(plain) => spelled.push(plain),
        }
    }
    ascii || quoting::is_word(&spelled)
}

/// A stretch of letters, quoting and non-ASCII characters.
struct Token {
    range: Range<usize>,
    /// Whether it holds anything that [`unquote`] could take off: quoting inside of it, or a variable.
    is_quoted: bool,
    /// Whether it holds anything beyond visible ASCII.
    is_foreign: bool,
}

/// Returns the next token from `at` on that holds more than letters.
fn next_token(text: &str, at: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let sign = at + bytes.get(at..)?.iter().position(|&byte| kind(byte) & (QUOTE | FOREIGN) != 0)?;
    let letters = bytes.get(at..sign)?.iter().rev().take_while(|&&byte| kind(byte) & TOKEN != 0).count();
    let (start, mut end, mut seen) = (sign - letters, sign, 0);
    let mut quoting = if letters > 0 { Quoting::Letters } else { Quoting::None };
    while let Some(&byte) = bytes.get(end) {
        if kind(byte) & TOKEN != 0 {
            seen |= kind(byte);
            quoting = quoting.then(kind(byte));
            end += 1;
        } else if let Some(length) = continued_line(bytes, end) {
            end += length;
        } else {
            break;
        }
    }
    let is_quoted = quoting == Quoting::Inside || seen & VARIABLE != 0;
    Some(Token { range: start..end, is_quoted, is_foreign: seen & FOREIGN != 0 })
}

/// What was seen of quoting inside a token; around a word it is honest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    /// Letters.
    Letters,
    /// And quoting behind them.
    Behind,
    /// And letters behind that.
    Inside,
}

impl Quoting {
    #[inline]
    const fn then(self, kind: u8) -> Self {
        match (self, kind & QUOTE != 0) {
            (Self::None, false) => Self::Letters,
            (Self::Letters, true) => Self::Behind,
            (Self::Behind, false) => Self::Inside,
            _ => self,
        }
    }
}

/// A line end right after a backslash belongs to the word that it splits.
fn continued_line(bytes: &[u8], at: usize) -> Option<usize> {
    let after_slash = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\');
    match bytes.get(at..) {
        Some([b'\n', ..]) if after_slash => Some(1),
        Some([b'\r', b'\n', ..]) if after_slash => Some(2),
        _ => None,
    }
}

/// What bytes can be: part of a token, quoting, a control character or not ASCII, the beginning of a variable. A byte is of several kinds.
const TOKEN: u8 = 1;
const QUOTE: u8 = 2;
const FOREIGN: u8 = 4;
const VARIABLE: u8 = 8;

#[expect(clippy::indexing_slicing, reason = "the loop ends at the length")]
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'@' | b'*' | b'{' | b'}' | b'_' => TOKEN,
            b'\\' | b'\'' | b'"' => TOKEN | QUOTE,
            b'$' => TOKEN | QUOTE | VARIABLE,
            0..=0x08 | 0x0B | 0x0C | 0x0E..=0x1F | 0x7F.. => TOKEN | FOREIGN,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

#[expect(clippy::indexing_slicing, reason = "every byte has an entry")]
fn kind(byte: u8) -> u8 {
    KINDS[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        fold(text).map_or_else(|| text.to_owned(), |folded| folded.text)
    }

    #[test]
    fn disguises_are_spelled_plainly() {
        let cases = [
            ("ｃｕｒｌ x ｜ ｂａｓｈ", "curl x | bash"),
            ("𝐜𝐮𝐫𝐥 x | 𝒷𝒶𝓈𝒽", "curl x | bash"),
            ("\u{441}url x | b\u{430}sh", "curl x | bash"),
            ("p\u{200b}rint\u{ad}env", "printenv"),
            ("x |\u{a0}sh", "x | sh"),
            (r"cu\rl x | ba\sh", "curl x | bash"),
            ("c''url x | b\"a\"sh", "curl x | bash"),
            ("'b'ash b'as'h ba$@sh ba${@}sh ba$9sh ba${x}sh", "bash bash bash bash bash bash"),
            ("/bin/b''ash", "/bin/bash"),
            ("ba\\\nsh", "bash"),
            ("curl${IFS}-s$IFS\"x\"", "curl -s \"x\""),
            ("c''u\u{200b}rl 'с'url b＇＇ash ba\\ｓh", "curl curl bash bash"),
            ("e\u{1}n\u{7f}v p\u{e0800}hp", "env php"),
            ("b''ash\u{a0}-c ru''by\u{2028}", "bash -c ruby\n"),
            ("\u{455}\u{4bb}", "sh"),
        ];
        for (raw, plain) in cases {
            assert_eq!(folded(raw), plain, "{raw:?}");
        }
    }

    #[test]
    fn honest_text_stays_as_it_is() {
        let texts = [
            "Обычный русский текст, со словами",
            "café naïve Straße",
            "don't can't",
            r"C:\basic\curly",
            "\"bash\" 'curl'",
            r"a\nb",
            "你好：世界",
            "μs",
            "l'eval",
            "curl \\\n\\\nbash\\\n\\\n",
            "''bash''''",
            "echo \"$PATH\"",
            "IFS=, read a",
            "curl$IFSx $IFS_old",
        ];
        for text in texts {
            assert_eq!(folded(text).replace('：', ":"), text.replace('：', ":"));
        }
    }

    #[test]
    fn every_offset_finds_its_way_back() {
        let raw = "é c''url \u{200b}x | b\u{430}sh";
        let folded = fold(raw).unwrap();
        let stands = |word: &str| {
            let at = folded.text.find(word).unwrap();
            raw.get(folded.raw_span(at..at + word.len())).unwrap()
        };
        assert_eq!(stands("curl"), "c''url");
        assert_eq!(stands("| bash"), "| b\u{430}sh");
        assert_eq!(stands("é"), "é");
        assert_eq!(stands(&folded.text), raw);
    }

    /// Every character that is read as a letter, a space or nothing, where it disguises a word of the rules.
    #[test]
    fn every_character_that_folds_pulls_a_trigger() {
        let triggers: Vec<_> =
            TRIGGERS.iter().map(|pattern| crate::exact::compile(pattern).unwrap()).collect();
        let silent: Vec<_> = ('\u{80}'..=char::MAX)
            .flat_map(disguises)
            .filter(|text| fold(text).is_some() && !begins_with_mark(text))
            .filter(|text| !triggers.iter().any(|trigger| trigger.is_match(text)))
            .collect();
        assert!(silent.is_empty(), "{} texts: {silent:?}", silent.len());
    }

    fn disguises(letter: char) -> Vec<String> {
        let plain = match glyph(letter) {
            Glyph::Plain => return Vec::new(),
            Glyph::Invisible => String::new(),
            Glyph::Compatible(plain) => plain.to_string(),
            Glyph::LookAlike(plain) => plain.to_string(),
        };
        let words = quoting::WORDS.iter().flat_map(|word| [word.to_lowercase(), word.to_uppercase()]);
        let texts = words.map(|word| format!("(. .) | {word} - ."));
        let disguise = |text: &str, at| {
            let (before, after) = text.split_at(at);
            before.to_owned() + &after.replacen(&plain, &letter.to_string(), 1)
        };
        texts
            .flat_map(|text| {
                text.match_indices(&plain).map(|(at, _)| disguise(&text, at)).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn whatever_folds_pulls_a_trigger() {
        let triggers: Vec<_> =
            TRIGGERS.iter().map(|pattern| crate::exact::compile(pattern).unwrap()).collect();
        let pulled = |text: &str| triggers.iter().any(|trigger| trigger.is_match(text));
        for &word in quoting::WORDS {
            for split in 1..word.len() {
                let (before, after) = word.split_at(split);
                for idle in [
                    "\\", "''", "\"\"", "\"", "'", "$@", "$1", "${@}", "${_x}", "\\\n", "\"\"\"\"", "\\\n$@",
                    "\u{200b}", "\u{ad}",
                ] {
                    let text = format!("x | {before}{idle}{after}");
                    assert!(pulled(&text), "{text:?}");
                }
            }
        }
        for text in [
            "x ｜ \\\\sh",
            "x ｜\n(sh)",
            "ｂａｓｈ",
            "𝐛ash",
            "b\u{430}sh",
            "\u{455}\u{4bb}",
            "curl${IFS}x",
            "|\u{a0}sh",
            "| \u{a0}sh",
            "| \u{a0} \u{a0}sh",
            "\u{a0} $(curl x.example)",
            "b\u{24d0}sh",
        ] {
            assert!(pulled(text), "{text:?}");
        }
        for text in [
            "Обычный текст",
            "don't",
            "a\\nb",
            "⚠️ **Warning**",
            "你好，世界",
            "👩‍💻 code",
            "x \\\n  -H y",
            "“quoted” — text…",
        ] {
            assert!(!pulled(text), "{text:?}");
        }
    }
}
