//! What single characters look like.

/// What a character is to a reader who only knows ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glyph {
    /// Itself.
    Plain,
    /// Nothing.
    Invisible,
    /// Another form of an ASCII character, which Unicode normalization (NFKC) undoes.
    Compatible(char),
    /// A letter of another script that looks like an ASCII letter.
    LookAlike(char),
}

/// Letters that are drawn like an ASCII letter in common fonts. Those that only resemble one are left out.
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
    (&['ѕ', 'ſ'], b's'),
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

/// Letters that mathematics uses in other styles and that stand outside the block of such letters.
const LETTER_LIKE: &[(char, char)] = &[
    ('ℊ', 'g'),
    ('ℋ', 'H'),
    ('ℌ', 'H'),
    ('ℍ', 'H'),
    ('ℎ', 'h'),
    ('ℐ', 'I'),
    ('ℑ', 'I'),
    ('ℒ', 'L'),
    ('ℓ', 'l'),
    ('ℕ', 'N'),
    ('ℙ', 'P'),
    ('ℚ', 'Q'),
    ('ℛ', 'R'),
    ('ℜ', 'R'),
    ('ℝ', 'R'),
    ('ℤ', 'Z'),
    ('ℨ', 'Z'),
    ('\u{212A}', 'K'),
    ('ℬ', 'B'),
    ('ℭ', 'C'),
    ('ℯ', 'e'),
    ('ℰ', 'E'),
    ('ℱ', 'F'),
    ('ℳ', 'M'),
    ('ℴ', 'o'),
    ('ℹ', 'i'),
    ('ⅰ', 'i'),
    ('ⅴ', 'v'),
    ('ⅹ', 'x'),
    ('ⅼ', 'l'),
    ('ⅽ', 'c'),
    ('ⅾ', 'd'),
    ('ⅿ', 'm'),
    ('Ⅰ', 'I'),
    ('Ⅴ', 'V'),
    ('Ⅹ', 'X'),
    ('Ⅼ', 'L'),
    ('Ⅽ', 'C'),
    ('Ⅾ', 'D'),
    ('Ⅿ', 'M'),
];

/// Returns what `letter` looks like.
pub(super) fn glyph(letter: char) -> Glyph {
    match letter {
        '\0'..='\u{7F}' => Glyph::Plain,
        _ if is_invisible(letter) => Glyph::Invisible,
        '\u{A0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200A}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202F}'
        | '\u{205F}'
        | '\u{3000}' => Glyph::Compatible(' '),
        '\u{FF01}'..='\u{FF5E}' => shifted(letter, '\u{FF01}', '!', 94),
        '\u{24B6}'..='\u{24CF}' => shifted(letter, '\u{24B6}', 'A', 26),
        '\u{24D0}'..='\u{24E9}' => shifted(letter, '\u{24D0}', 'a', 26),
        '\u{1D400}'..='\u{1D6A3}' => mathematical(letter),
        '\u{1D7CE}'..='\u{1D7FF}' => shifted(letter, '\u{1D7CE}', '0', 10),
        // The tables lie in these blocks, and most characters of honest texts do not.
        '\u{2100}'..='\u{218F}' => letter_like(letter),
        '\u{80}'..='\u{58F}' | '\u{1D00}'..='\u{1D6F}' => look_alike(letter),
        _ => Glyph::Plain,
    }
}

/// Characters that take no space and that no word needs, as far as ASCII words go.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Maps a character of a block that begins at `first` onto the `count` ASCII characters from `ascii` on, round and round.
fn shifted(letter: char, first: char, ascii: char, count: u32) -> Glyph {
    let offset = (u32::from(letter) - u32::from(first)) % count;
    char::from_u32(u32::from(ascii) + offset).map_or(Glyph::Plain, Glyph::Compatible)
}

/// Mathematical letters come in alphabets of 52: capitals, then small letters.
fn mathematical(letter: char) -> Glyph {
    match (u32::from(letter) - 0x1D400) % 52 {
        0..26 => shifted(letter, '\u{1D400}', 'A', 52),
        // Small letters follow the capitals directly, six characters earlier than in ASCII.
        _ => shifted(letter, '\u{1D400}', 'G', 52),
    }
}

fn letter_like(letter: char) -> Glyph {
    let row = LETTER_LIKE.iter().find(|(like, _)| *like == letter);
    row.map_or(Glyph::Plain, |&(_, ascii)| Glyph::Compatible(ascii))
}

fn look_alike(letter: char) -> Glyph {
    match LOOK_ALIKE_AT.get(place(letter)) {
        None | Some(0) => Glyph::Plain,
        Some(&ascii) => Glyph::LookAlike(char::from(ascii)),
    }
}

/// [`LOOK_ALIKES`] by [`place`]; zero where there is none.
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

/// The letters from U+1D00 on, of which there are few, follow those of the first blocks.
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
            ('Ａ', 'A'),
            ('ｚ', 'z'),
            ('｜', '|'),
            ('𝐀', 'A'),
            ('𝐚', 'a'),
            ('𝓏', 'z'),
            ('𝚣', 'z'),
            ('𝟘', '0'),
            ('ⓩ', 'z'),
        ] {
            assert_eq!(glyph(form), Glyph::Compatible(ascii), "{form}");
        }
    }

    #[test]
    fn every_row_is_found() {
        for &(letter, ascii) in LETTER_LIKE {
            assert_eq!(glyph(letter), Glyph::Compatible(ascii), "{letter}");
        }
        for &(letters, ascii) in LOOK_ALIKES {
            let looks = |&letter: &char| glyph(letter) == Glyph::LookAlike(char::from(ascii));
            assert!(letters.iter().all(looks), "{letters:?}");
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
