//! Visual equivalents of single characters.

use arrayvec::ArrayString;
use unicode_normalization::char::decompose_compatible;

/// How a character reads to a person who knows only ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glyph {
    /// A character that reads as itself.
    Plain,
    /// An invisible character of no width.
    Invisible,
    /// Another form of ASCII characters, which Unicode normalization (NFKC) removes, or a space.
    Compatible(Ascii),
    /// A letter of another script that looks like an ASCII letter.
    LookAlike(char),
}

/// ASCII equivalent of a character. The longest are units and Roman numerals.
pub(super) type Ascii = ArrayString<4>;

/// Letters that look like an ASCII letter in common fonts. Mere resemblance is not enough.
const LOOK_ALIKES: &[(&[char], u8)] = &[
    (&['а', 'ɑ', 'α'], b'a'),
    (&['ʙ'], b'b'),
    (&['с', 'ϲ'], b'c'),
    (&['ԁ', 'ɗ'], b'd'),
    (&['е', 'є'], b'e'),
    (&['ғ'], b'f'),
    (&['ɡ', 'ց'], b'g'),
    (&['һ', 'հ'], b'h'),
    (&['і', 'ı', 'ɩ', 'ι'], b'i'),
    (&['ј', 'ϳ'], b'j'),
    (&['к', 'κ'], b'k'),
    (&['ӏ', 'ʟ'], b'l'),
    (&['ո', 'ռ'], b'n'),
    (&['о', 'ο', 'օ'], b'o'),
    (&['р', 'ρ'], b'p'),
    (&['ԛ', 'զ'], b'q'),
    (&['ʀ'], b'r'),
    (&['ѕ'], b's'),
    (&['т'], b't'),
    (&['ս', 'υ', 'ʋ'], b'u'),
    (&['ѵ', 'ν'], b'v'),
    (&['ԝ', 'ѡ'], b'w'),
    (&['х', 'χ'], b'x'),
    (&['у', 'ү', 'γ', 'ʏ'], b'y'),
    (&['ʐ'], b'z'),
    (&['А', 'Α'], b'A'),
    (&['В', 'Β'], b'B'),
    (&['С', 'Ϲ'], b'C'),
    (&['Е', 'Ε'], b'E'),
    (&['Ԍ'], b'G'),
    (&['Н', 'Η'], b'H'),
    (&['І', 'Ӏ', 'Ι'], b'I'),
    (&['Ј'], b'J'),
    (&['К', 'Κ'], b'K'),
    (&['М', 'Μ'], b'M'),
    (&['Ν'], b'N'),
    (&['О', 'Ο', 'Օ'], b'O'),
    (&['Р', 'Ρ'], b'P'),
    (&['Ԛ'], b'Q'),
    (&['Ѕ'], b'S'),
    (&['Т', 'Τ'], b'T'),
    (&['Ս'], b'U'),
    (&['Ѵ'], b'V'),
    (&['Ԝ'], b'W'),
    (&['Х', 'Χ'], b'X'),
    (&['У', 'Υ', 'Ү'], b'Y'),
    (&['Ζ'], b'Z'),
    (&['ɪ'], b'i'),
    (&['ɴ'], b'n'),
    (&['ʜ'], b'h'),
    (&['ᴀ'], b'a'),
    (&['ᴄ'], b'c'),
    (&['ᴅ'], b'd'),
    (&['ᴇ'], b'e'),
    (&['ᴊ'], b'j'),
    (&['ᴋ'], b'k'),
    (&['ᴍ'], b'm'),
    (&['ᴏ'], b'o'),
    (&['ᴘ'], b'p'),
    (&['ᴛ'], b't'),
    (&['ᴜ'], b'u'),
    (&['ᴠ'], b'v'),
    (&['ᴡ'], b'w'),
    (&['ᴢ'], b'z'),
];

/// Returns the visual equivalent of `letter`.
pub(super) fn glyph(letter: char) -> Glyph {
    match letter {
        // The usual characters of honest texts, which are not forms of ASCII.
        '\t' | '\n' | '\r' | ' '..='~' => Glyph::Plain,
        '\u{2010}'..='\u{2023}'
        | '\u{2190}'..='\u{245F}'
        | '\u{2500}'..='\u{27FF}'
        | '\u{3001}'..='\u{3130}'
        | '\u{3400}'..='\u{A7F0}'
        | '\u{AC00}'..='\u{FAFF}'
        | char::REPLACEMENT_CHARACTER
        | '\u{1F300}'..='\u{1FAFF}' => Glyph::Plain,
        '\u{380}'..='\u{58F}' => look_alike(letter).unwrap_or(Glyph::Plain),
        _ if is_invisible(letter) => Glyph::Invisible,
        '\u{1680}' => form(' '),
        '\u{2028}' | '\u{2029}' => form('\n'),
        '\u{80}'..='\u{37F}' | '\u{1D00}'..='\u{1D6F}' => look_alike(letter).unwrap_or_else(|| form(letter)),
        _ => form(letter),
    }
}

/// Characters without width that no ASCII word needs.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{34F}' | '\u{61C}'
        | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FDD0}'..='\u{FDEF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFC}' | '\u{13441}' | '\u{13442}'
        | '\u{16FE4}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D159}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
        // The last two of each plane are noncharacters.
        || u32::from(letter) & 0xFFFE == 0xFFFE
}

/// Returns the NFKC of a character, if that is ASCII: letters and digits, or a single sign.
fn form(letter: char) -> Glyph {
    let (mut ascii, mut is_ascii) = (Ascii::new(), true);
    decompose_compatible(letter, |part| {
        is_ascii = is_ascii && part.is_ascii() && ascii.try_push(part).is_ok();
    });
    let is_one = ascii.len() == 1 || ascii.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_ascii && is_one { Glyph::Compatible(ascii) } else { Glyph::Plain }
}

fn look_alike(letter: char) -> Option<Glyph> {
    match LOOK_ALIKE_AT.get(place(letter)) {
        None | Some(0) => None,
        Some(&ascii) => Some(Glyph::LookAlike(char::from(ascii))),
    }
}

/// [`LOOK_ALIKES`] by [`place`]; zero where no look-alike is known.
#[expect(clippy::indexing_slicing, reason = "the compiler sees that every letter has a place")]
static LOOK_ALIKE_AT: [u8; 0x600] = {
    let mut table = [0; _];
    let mut rows = LOOK_ALIKES;
    while let [(letters, ascii), rest @ ..] = rows {
        let mut letters = *letters;
        while let [letter, rest @ ..] = letters {
            table[place(*letter)] = *ascii;
            letters = rest;
        }
        rows = rest;
    }
    table
};

/// The few letters from U+1D00 on follow those of the first blocks.
const fn place(letter: char) -> usize {
    let letter = letter as usize;
    if letter < 0x590 { letter } else { letter - 0x1D00 + 0x590 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_ascii_come_back() {
        for (form, ascii) in [
            ('Ａ', "A"),
            ('ｚ', "z"),
            ('｜', "|"),
            ('𝐀', "A"),
            ('𝓏', "z"),
            ('𝟘', "0"),
            ('ⓩ', "z"),
            ('Ⓐ', "A"),
            ('🄰', "A"),
            ('ˢ', "s"),
            ('ₛ', "s"),
            ('ℯ', "e"),
            ('ſ', "s"),
            ('ⅷ', "viii"),
            ('ﬁ', "fi"),
            ('㏌', "in"),
            ('\u{3000}', " "),
            ('\u{2028}', "\n"),
        ] {
            assert_eq!(glyph(form), Glyph::Compatible(Ascii::from(ascii).unwrap()), "{form}");
        }
        for other in ['…', '½', '⑴', 'é', 'Ω', 'щ', '你', '한', '\u{FDFA}'] {
            assert_eq!(glyph(other), Glyph::Plain, "{other}");
        }
    }

    #[test]
    fn every_row_is_found() {
        for &(letters, ascii) in LOOK_ALIKES {
            let looks = |&letter: &char| glyph(letter) == Glyph::LookAlike(char::from(ascii));
            assert!(letters.iter().all(looks), "{letters:?}");
        }
    }

    /// Proves that the skipped blocks contain none.
    #[test]
    fn every_form_of_ascii_is_found() {
        for letter in '\u{80}'..=char::MAX {
            assert_eq!(glyph(letter) == Glyph::Invisible, is_invisible(letter), "{letter:?}");
            assert!(glyph(letter) != Glyph::Plain || form(letter) == Glyph::Plain, "{letter:?}");
        }
    }

    #[test]
    fn no_letter_looks_like_two() {
        let mut seen = std::collections::HashSet::new();
        assert!(
            LOOK_ALIKES
                .iter()
                .flat_map(|(letters, _)| letters.iter())
                .all(|letter| !letter.is_ascii() && seen.insert(letter))
        );
    }
}
