//! Decoders for escapes: `%41` in URLs and forms, `\u0041` in JSON, `&#x41;` in HTML, `=41` in e-mail, and line breaks.
//!
//! Nothing is refused here, and the input need not be well-formed: text that is not an escape decodes to itself. A decoder that
//! decodes more than another finds more. Only the surroundings of escapes are decoded: elsewhere, the decoded text is the text
//! itself, which is searched anyway.

use stockade_text::{hex_byte, hex_digit};

use super::decoded::Decoded;

/// A kind of escape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escape {
    /// The characters that begin one.
    begins: [u8; 2],
    /// Decodes text that begins with one of them.
    read: fn(&[u8]) -> Read,
    /// Whether numbers are bytes rather than characters.
    is_of_bytes: bool,
    /// Whether an escape only matters next to a part of a value: most texts contain line breaks.
    pub(super) is_common: bool,
}

/// The result of decoding the beginning of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// The text ends within what may be an escape.
    More,
    /// This many bytes decode to this character.
    Stands(u32, usize),
    /// This many bytes are left out.
    Nothing(usize),
    /// The first byte decodes to itself, and decoding continues after it.
    Itself,
}

const fn escape(begins: [u8; 2], read: fn(&[u8]) -> Read) -> Escape {
    Escape { begins, read, is_of_bytes: false, is_common: false }
}

/// Percent-encoding of a byte in URLs and forms: `%41`, and `%2541` in a URL within a URL.
pub(super) const PERCENT: Escape = Escape { is_of_bytes: true, ..escape(*b"%%", percent) };

/// Percent-encoding in forms, where `+` is a blank. In URLs, it is a plus sign.
pub(super) const FORM: Escape = Escape { is_of_bytes: true, ..escape(*b"%+", form) };

/// `\u0041`, `\x41`, `\101`, `\/`: strings of JSON, JavaScript, C and shells. The backslash of an escape may itself be escaped,
/// because programs embed JSON in JSON.
pub(super) const JSON: Escape = escape(*b"\\\\", json);

/// HTML character references: numeric (`&#x2F;`, `&#47`) or named (`&sol;`).
pub(super) const HTML: Escape = escape(*b"&&", html);

/// Quoted-printable text of e-mail: `=41`, and `=` at the end of a line that continues.
pub(super) const QUOTED: Escape = Escape { is_of_bytes: true, ..escape(*b"==", quoted) };

/// Line breaks, with the blanks that indent the next line: base64 and long tokens are wrapped.
pub(super) const WRAP: Escape = Escape { is_common: true, ..escape(*b"\r\n", wrap) };

/// Maximum length of an escape.
pub(super) const MAX_ESCAPE: usize = 12;

/// Maximum indentation of a wrapped line.
const MAX_INDENT: usize = 64;

/// Names of characters that programs escape, and of those in secrets (HTML, section 13.5).
const ENTITIES: &[(&[u8], u8)] = &[
    (b"quot", b'"'),
    (b"QUOT", b'"'),
    (b"amp", b'&'),
    (b"AMP", b'&'),
    (b"apos", b'\''),
    (b"lt", b'<'),
    (b"LT", b'<'),
    (b"gt", b'>'),
    (b"GT", b'>'),
    (b"excl", b'!'),
    (b"num", b'#'),
    (b"dollar", b'$'),
    (b"percnt", b'%'),
    (b"lpar", b'('),
    (b"rpar", b')'),
    (b"ast", b'*'),
    (b"midast", b'*'),
    (b"plus", b'+'),
    (b"comma", b','),
    (b"period", b'.'),
    (b"sol", b'/'),
    (b"colon", b':'),
    (b"semi", b';'),
    (b"equals", b'='),
    (b"quest", b'?'),
    (b"commat", b'@'),
    (b"lsqb", b'['),
    (b"lbrack", b'['),
    (b"bsol", b'\\'),
    (b"rsqb", b']'),
    (b"rbrack", b']'),
    (b"Hat", b'^'),
    (b"lowbar", b'_'),
    (b"UnderBar", b'_'),
    (b"grave", b'`'),
    (b"lcub", b'{'),
    (b"lbrace", b'{'),
    (b"verbar", b'|'),
    (b"vert", b'|'),
    (b"rcub", b'}'),
    (b"rbrace", b'}'),
];

fn percent(text: &[u8]) -> Read {
    let byte = |at: usize| hex_byte(*text.get(at)?, *text.get(at + 1)?);
    match (byte(1), byte(3)) {
        (Some(b'%'), Some(twice)) => Read::Stands(twice.into(), 5),
        (Some(byte), _) => Read::Stands(byte.into(), 3),
        (None, _) if is_begun(text, 3, u8::is_ascii_hexdigit) => Read::More,
        (None, _) => Read::Itself,
    }
}

fn form(text: &[u8]) -> Read {
    match text.first() {
        Some(b'+') => Read::Stands(b' '.into(), 1),
        _ => percent(text),
    }
}

fn quoted(text: &[u8]) -> Read {
    match text {
        [_] | [_, b'\r'] => Read::More,
        [_, b'\r', b'\n', ..] => Read::Nothing(3),
        [_, b'\n', ..] => Read::Nothing(2),
        [_, high, low, ..] => hex_byte(*high, *low).map_or(Read::Itself, |byte| Read::Stands(byte.into(), 3)),
        _ if is_begun(text, 3, u8::is_ascii_hexdigit) => Read::More,
        _ => Read::Itself,
    }
}

fn wrap(text: &[u8]) -> Read {
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace();
    match text.iter().take(MAX_INDENT).take_while(is_blank).count() {
        length if length == text.len() => Read::More,
        length => Read::Nothing(length),
    }
}

/// Whether a text ends within an escape of this length, of which all characters after the first are of this kind.
fn is_begun(text: &[u8], length: usize, is_of_kind: impl Fn(&u8) -> bool) -> bool {
    text.len() < length && text.iter().skip(1).all(is_of_kind)
}

fn html(text: &[u8]) -> Read {
    match text {
        [_] | [_, b'#'] | [_, b'#', b'x' | b'X'] => Read::More,
        [_, b'#', b'x' | b'X', digits @ ..] => numbered(digits, 3, 16),
        [_, b'#', digits @ ..] => numbered(digits, 2, 10),
        [_, rest @ ..] => named(rest),
        [] => Read::Itself,
    }
}

/// Decodes a numeric reference, of which browsers also accept one without `;`.
fn numbered(digits: &[u8], before: usize, radix: u32) -> Read {
    let most = MAX_ESCAPE - before;
    let count = digits.iter().take(most).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    if count == digits.len() && count < most {
        return Read::More;
    }
    let number = digits.iter().take(count).filter_map(|byte| char::from(*byte).to_digit(radix));
    let number = number.fold(0_u32, |sum, digit| sum.saturating_mul(radix).saturating_add(digit));
    let end = usize::from(digits.get(count) == Some(&b';'));
    if count == 0 { Read::Itself } else { Read::Stands(number, before + count + end) }
}

fn named(rest: &[u8]) -> Read {
    let most = rest.get(..MAX_ESCAPE - 1).unwrap_or(rest);
    match most.iter().position(|byte| *byte == b';') {
        Some(end) => {
            let row = ENTITIES.iter().find(|row| rest.get(..end) == Some(row.0));
            row.map_or(Read::Itself, |row| Read::Stands(u32::from(row.1), end + 2))
        }
        None if rest.len() < MAX_ESCAPE && ENTITIES.iter().any(|row| row.0.starts_with(rest)) => Read::More,
        None => Read::Itself,
    }
}

/// Escapes of a single letter.
const LETTERS: &[(u8, u8)] = &[
    (b'"', b'"'),
    (b'/', b'/'),
    (b'\'', b'\''),
    (b'b', 8),
    (b'f', 12),
    (b'n', b'\n'),
    (b'r', b'\r'),
    (b't', b'\t'),
];

fn json(text: &[u8]) -> Read {
    let hex = |from: usize, count: usize| {
        let digits = text.get(from..from + count)?;
        digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + u32::from(hex_digit(*digit)?)))
    };
    let in_hex = |count: usize| match hex(2, count) {
        Some(number) => Read::Stands(number, 2 + count),
        None if text.len() < 2 + count && text.iter().skip(2).all(u8::is_ascii_hexdigit) => Read::More,
        None => Read::Itself,
    };
    match text {
        [_] => Read::More,
        [_, b'\\'] => Read::More,
        // The backslash of another escape.
        [_, b'\\', b'u' | b'x' | b'\\' | b'0'..=b'3', ..] => Read::Nothing(1),
        [_, b'\\', next, ..] if LETTERS.iter().any(|row| row.0 == *next) => Read::Nothing(1),
        [_, b'\\', ..] => Read::Stands(b'\\'.into(), 2),
        [_, b'u', b'{', ..] => braced(text),
        [_, b'u', ..] => in_hex(4),
        [_, b'x', ..] => in_hex(2),
        [_, b'0'..=b'3', ..] => octal(text),
        [_, letter, ..] => {
            let row = LETTERS.iter().find(|row| row.0 == *letter);
            row.map_or(Read::Itself, |row| Read::Stands(row.1.into(), 2))
        }
        [] => Read::Itself,
    }
}

/// `\u{41}` in JavaScript and Rust.
fn braced(text: &[u8]) -> Read {
    let digits = text.get(3..).unwrap_or_default();
    let count = digits.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
    match digits.get(count) {
        Some(b'}') if count > 0 => {
            let number = digits.iter().take(count).filter_map(|digit| hex_digit(*digit));
            Read::Stands(number.fold(0, |sum, digit| sum * 16 + u32::from(digit)), count + 4)
        }
        Some(_) => Read::Itself,
        None => Read::More,
    }
}

/// `\101` in C and shells.
fn octal(text: &[u8]) -> Read {
    let is_octal = |byte: &u8| (b'0'..=b'7').contains(byte);
    match text.get(1..4) {
        Some(digits) if digits.iter().all(is_octal) => {
            Read::Stands(digits.iter().fold(0, |sum, digit| sum * 8 + u32::from(digit - b'0')), 4)
        }
        None if is_begun(text, 4, is_octal) => Read::More,
        _ => Read::Itself,
    }
}

/// Returns the positions of all characters that begin an escape of any kind but [`FORM`], in two lists.
///
/// Three characters are searched at once, so that a text is read twice for all escapes.
pub(super) fn begins(text: &[u8]) -> [Vec<usize>; 2] {
    [
        memchr::memchr3_iter(b'%', b'\\', b'&', text).collect(),
        memchr::memchr3_iter(b'=', b'\r', b'\n', text).collect(),
    ]
}

impl Escape {
    /// Returns the position of the next character that may begin an escape.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let [one, other] = self.begins;
        Some(from + memchr::memchr2(one, other, text.get(from..)?)?)
    }

    /// Whether a text contains a character that may begin an escape.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.next(text, 0).is_some()
    }

    /// Decodes a text from this position, until so many bytes follow the last escape. Returns where it ended.
    fn decode(&self, text: &[u8], from: usize, context: usize, into: &mut Decoded) -> usize {
        let mut at = from;
        loop {
            let next = self.next(text, at).unwrap_or(text.len());
            if next - at >= context && at > from {
                into.copy(text, at, at + context);
                return at + context;
            }
            into.copy(text, at, next);
            let Some(rest) = text.get(next..).filter(|rest| !rest.is_empty()) else { return text.len() };
            at = next + self.step(rest, next, into);
        }
    }

    /// Decodes what begins with the character of an escape. Returns its length.
    fn step(&self, rest: &[u8], at: usize, into: &mut Decoded) -> usize {
        match (self.read)(rest) {
            Read::Stands(character, length) => {
                into.stands(character, self.is_of_bytes, at, at + length);
                length
            }
            Read::Nothing(length) => length,
            // The rest is decoded when it has arrived.
            Read::More => rest.len(),
            Read::Itself => {
                into.copy_byte(rest.first().copied().unwrap_or_default(), at);
                1
            }
        }
    }

    /// Decodes a text from this position to its end.
    pub(super) fn decode_all(&self, text: &[u8], from: usize) -> Decoded {
        let mut decoded = Decoded::default();
        self.decode(text, from, usize::MAX, &mut decoded);
        decoded
    }

    /// Decodes the surroundings of each escape that passes a check: `context` bytes before it and after it. `begins` are the
    /// positions from [`begins`].
    pub(super) fn regions(
        &self,
        (text, [first, second]): (&[u8], &[Vec<usize>; 2]),
        context: usize,
        matters: &dyn Fn(usize) -> bool,
        each: &mut dyn FnMut(&Decoded),
    ) {
        let (mut at, mut decoded) = (0, Decoded::default());
        let of_forms: Vec<usize>;
        let begins = match self.begins {
            [b'%', b'+'] => {
                of_forms = memchr::memchr2_iter(b'%', b'+', text).collect();
                &of_forms
            }
            [b'%' | b'\\' | b'&', _] => first,
            _ => second,
        };
        for next in begins.iter().copied() {
            if !text.get(next).is_some_and(|byte| self.begins.contains(byte)) {
                continue;
            }
            let rest = text.get(next..).unwrap_or_default();
            if next < at || self.is_common && !matters(next) || matches!((self.read)(rest), Read::Itself) {
                continue;
            }
            decoded.clear();
            decoded.copy(text, next.saturating_sub(context), next);
            at = self.decode(text, next, context, &mut decoded);
            each(&decoded);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(escape: Escape, text: &str) -> String {
        String::from_utf8_lossy(escape.decode_all(text.as_bytes(), 0).bytes()).into_owned()
    }

    #[test]
    fn escapes_are_decoded() {
        for (escape, text, expected) in [
            (PERCENT, "a%41%6a.", "aAj."),
            (PERCENT, "%4g%%41.", "%4g%A."),
            (PERCENT, "%2541%25zz", "A%zz"),
            (PERCENT, "a+b%2b", "a+b+"),
            (FORM, "a+b%41%+.", "a bA% ."),
            (JSON, r#"a\u0041\/\"x\n."#, "aA/\"x\n."),
            (JSON, r"\x41\101\u{41}\9", r"AAA\9"),
            (JSON, r"\\u0041\\x41\\\u0041", "AAA"),
            (JSON, r"\\q\u00e4\uZZZZ", "\\q\u{e4}\\uZZZZ"),
            (HTML, "a&#x41;&#106&sol;&lowbar;&#X2f;&amp;&#x0000002f;.", "aAj/_/&/."),
            (HTML, "&#;&#x;&;&nosuch;&amp&&lt;&#xzz;.", "&#;&#x;&;&nosuch;&amp&<&#xzz;."),
            (QUOTED, "a=41=\r\nb=\nc=zz", "aAbc=zz"),
            (WRAP, "ab\r\n  cd\n\tef", "abcdef"),
        ] {
            assert_eq!(decoded(escape, text), expected, "{text}");
        }
    }

    /// What may become an escape when more arrives is not decoded yet.
    #[test]
    fn an_incomplete_escape_waits() {
        for (escape, begun) in [
            (PERCENT, "%4"),
            (JSON, r"\u004"),
            (JSON, r"\x4"),
            (JSON, r"\10"),
            (JSON, r"\u{4"),
            (HTML, "&#4"),
            (HTML, "&am"),
            (QUOTED, "=\r"),
            (WRAP, "\r\n  "),
        ] {
            assert_eq!(decoded(escape, &format!("a{begun}")), "a", "{begun}");
        }
    }
}
