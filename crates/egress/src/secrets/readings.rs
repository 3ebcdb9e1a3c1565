//! Streaming decoders for escapes: `%41` in URLs and forms, `\u0041` in JSON, `&#x41;` in HTML.
//!
//! Nothing is refused here, and the input need not be well-formed: text that is not an escape decodes to itself. A decoder that
//! decodes more than another finds more.

use stockade_text::{hex_byte, hex_digit};

/// A kind of escape: its first character and decoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escape {
    begins: u8,
    /// Decodes text that begins with that byte.
    read: fn(&[u8]) -> Read,
    /// An additional character for a blank.
    blank: Option<u8>,
    /// Whether numbers are bytes rather than characters.
    is_of_bytes: bool,
}

/// The result of decoding the beginning of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// More bytes are needed.
    More,
    /// All of the bytes decode to this character.
    Stands(u32),
    /// The first byte decodes to itself, and decoding continues after it.
    Itself,
    /// The first two bytes decode to this byte, and decoding continues after them.
    Two(u8),
}

/// Percent-encoding of a byte in URLs and forms: `%41`.
pub(super) const PERCENT: Escape = Escape { begins: b'%', read: percent, blank: None, is_of_bytes: true };

/// Percent-encoding in forms, where `+` is a blank. In URLs, it is a plus sign.
pub(super) const FORM: Escape = Escape { blank: Some(b'+'), ..PERCENT };

/// `\u0041`, `\/`. An escape after a backslash is decoded as well, because programs embed JSON in JSON.
pub(super) const JSON: Escape = Escape { begins: b'\\', read: json, blank: None, is_of_bytes: false };

/// HTML character references: numeric (`&#x2F;`, `&#47;`) or named (`&sol;`).
pub(super) const HTML: Escape = Escape { begins: b'&', read: html, blank: None, is_of_bytes: false };

/// Maximum length of an escape.
pub(super) const MAX_ESCAPE: usize = 12;

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

fn percent(bytes: &[u8]) -> Read {
    match bytes {
        [_] => Read::More,
        [_, high] if high.is_ascii_hexdigit() => Read::More,
        [_, high, low] => hex_byte(*high, *low).map_or(Read::Itself, |byte| Read::Stands(byte.into())),
        _ => Read::Itself,
    }
}

fn html(bytes: &[u8]) -> Read {
    let number = |digits: &[u8], radix| {
        let digit = |byte: &u8| char::from(*byte).to_digit(radix);
        digits.iter().try_fold(0_u32, |sum, byte| sum.checked_mul(radix)?.checked_add(digit(byte)?))
    };
    let numbered = |digits: &[u8], radix| match digits {
        [] => Read::More,
        [digits @ .., b';'] => {
            number(digits, radix).filter(|_| !digits.is_empty()).map_or(Read::Itself, Read::Stands)
        }
        digits if bytes.len() < MAX_ESCAPE && number(digits, radix).is_some() => Read::More,
        _ => Read::Itself,
    };
    match bytes {
        [_] | [_, b'#'] => Read::More,
        [_, b'#', b'x' | b'X', digits @ ..] => numbered(digits, 16),
        [_, b'#', digits @ ..] => numbered(digits, 10),
        [_, name @ .., b';'] => {
            let row = ENTITIES.iter().find(|row| row.0 == name);
            row.map_or(Read::Itself, |row| Read::Stands(u32::from(row.1)))
        }
        [_, name @ ..] => match ENTITIES.iter().any(|row| row.0.starts_with(name)) {
            true => Read::More,
            false => Read::Itself,
        },
        [] => Read::Itself,
    }
}

fn json(bytes: &[u8]) -> Read {
    /// JSON escapes of a single letter.
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
    match bytes {
        [_] => Read::More,
        // `\\u0041` and `\\"` contain another escape; `\\x` is a backslash.
        [_, b'\\'] => Read::More,
        [_, b'\\', b'u'] => Read::Itself,
        [_, b'\\', next] if LETTERS.iter().any(|row| row.0 == *next) => Read::Itself,
        [_, b'\\', _] => Read::Two(b'\\'),
        [_, b'u'] => Read::More,
        [_, b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => match digits.len() {
            4 => Read::Stands(
                digits
                    .iter()
                    .filter_map(|digit| hex_digit(*digit))
                    .fold(0, |sum, digit| sum * 16 + u32::from(digit)),
            ),
            _ => Read::More,
        },
        [_, letter] => match LETTERS.iter().find(|row| row.0 == *letter) {
            Some((_, stands)) => Read::Stands(u32::from(*stands)),
            None => Read::Itself,
        },
        _ => Read::Itself,
    }
}

/// A streaming decoder that returns each byte with its start and end in the input.
#[derive(Debug)]
pub(super) struct Decoder {
    escape: Escape,
    /// Bytes that may begin an escape.
    begun: Vec<u8>,
}

/// Receives a decoded byte, with its start and end in the input.
type Emit<'e> = dyn FnMut(u8, u64, u64) + 'e;

impl Decoder {
    pub(super) fn new(escape: Escape) -> Self {
        Self { escape, begun: Vec::with_capacity(MAX_ESCAPE) }
    }

    pub(super) const fn has_nothing_begun(&self) -> bool {
        self.begun.is_empty()
    }

    pub(super) fn has_escape(&self, piece: &[u8]) -> bool {
        // memchr2 searches for both characters at once. Without a blank, the same character is searched twice.
        let blank = self.escape.blank.unwrap_or(self.escape.begins);
        memchr::memchr2(self.escape.begins, blank, piece).is_some()
    }

    /// Decodes a byte that is not part of an escape.
    fn itself(&self, byte: u8) -> u8 {
        if self.escape.blank == Some(byte) { b' ' } else { byte }
    }

    /// Decodes a piece at this position of the stream.
    pub(super) fn feed(&mut self, piece: &[u8], began: u64, emit: &mut Emit<'_>) {
        for (byte, at) in piece.iter().zip(began..) {
            if self.begun.is_empty() && *byte != self.escape.begins {
                emit(self.itself(*byte), at, at + 1);
                continue;
            }
            self.begun.push(*byte);
            self.settle(at + 1, IsOver::No, emit);
        }
    }

    /// Decodes the rest at the end of the stream.
    pub(super) fn end(&mut self, at: u64, emit: &mut Emit<'_>) {
        self.settle(at, IsOver::Yes, emit);
    }

    /// Decodes as much of the buffered bytes as is certain. Each round consumes at least one byte.
    fn settle(&mut self, to: u64, is_over: IsOver, emit: &mut Emit<'_>) {
        while let Some(first) = self.begun.first().copied() {
            let from = to.saturating_sub(self.begun.len() as u64);
            let read = match first == self.escape.begins {
                true => self.read(),
                false => Read::Itself,
            };
            let taken = match read {
                Read::More if is_over == IsOver::No => return,
                Read::Stands(character) => {
                    let length = self.begun.len();
                    stands(character, self.escape, &mut |byte| emit(byte, from, from + length as u64));
                    length
                }
                Read::Two(byte) => {
                    emit(byte, from, from + 2);
                    2
                }
                Read::Itself | Read::More => {
                    emit(self.itself(first), from, from + 1);
                    1
                }
            };
            self.begun.drain(..taken.min(self.begun.len()));
        }
    }

    /// Decodes the shortest complete prefix.
    fn read(&self) -> Read {
        (self.escape.read)(&self.begun)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsOver {
    Yes,
    No,
}

/// A percent-escape is a byte; a JSON escape is a character, and an unpaired surrogate matches nothing.
fn stands(character: u32, escape: Escape, emit: &mut dyn FnMut(u8)) {
    match (u8::try_from(character), char::from_u32(character)) {
        (Ok(byte), _) if escape.is_of_bytes || byte.is_ascii() => emit(byte),
        (_, Some(character)) => {
            character.encode_utf8(&mut [0; 4]).bytes().for_each(emit);
        }
        _ => emit(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(escape: Escape, text: &str, piece: usize) -> String {
        let (mut decoder, mut out, mut at) = (Decoder::new(escape), Vec::new(), 0);
        let mut last = 0;
        let mut emit = |byte, from, to| {
            assert!(from <= to && from >= last, "{text}");
            last = from;
            out.push(byte);
        };
        for piece in text.as_bytes().chunks(piece) {
            decoder.feed(piece, at, &mut emit);
            at += piece.len() as u64;
        }
        decoder.end(at, &mut emit);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn escapes_are_read_wherever_pieces_end() {
        for (escape, text, expected) in [
            (PERCENT, "a%41%6a%", "aAj%"),
            (PERCENT, "%4g%%41%4", "%4g%A%4"),
            (PERCENT, "%%%41", "%%A"),
            (JSON, r#"a\u0041\/\"x\n"#, "aA/\"x\n"),
            (JSON, r"\\u0041", r"\A"),
            (JSON, r"\\\u0041", r"\A"),
            (JSON, r"\\x\\", r"\x\\"),
            (JSON, r"\u00e4\uZ\u004", "\u{e4}\\uZ\\u004"),
            (JSON, r"\\n", "\\\n"),
            (HTML, "a&#x41;&#106;&sol;&lowbar;&#X2f;&amp;&#x0000002f;", "aAj/_/&/"),
            (
                HTML,
                "&#;&#x;&;&nosuch;&amp&&lt;&#99999999999;&#xzz;&",
                "&#;&#x;&;&nosuch;&amp&<&#99999999999;&#xzz;&",
            ),
            (FORM, "a+b%41%+%4+", "a bA% %4 "),
            (PERCENT, "a+b%2b", "a+b+"),
        ] {
            for piece in 1..9 {
                assert_eq!(decoded(escape, text, piece), expected, "{text} in pieces of {piece}");
            }
        }
    }
}
