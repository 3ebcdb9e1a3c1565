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
const LOOK_ALIKES: &[(&str, char)] = &[
    ("аɑα", 'a'),
    ("ʙ", 'b'),
    ("сϲ", 'c'),
    ("ԁɗ", 'd'),
    ("еє", 'e'),
    ("ғ", 'f'),
    ("ɡց", 'g'),
    ("һհ", 'h'),
    ("іıɩι", 'i'),
    ("јϳ", 'j'),
    ("кκ", 'k'),
    ("ӏʟ", 'l'),
    ("ոռ", 'n'),
    ("оοօ", 'o'),
    ("рρ", 'p'),
    ("ԛզ", 'q'),
    ("ʀ", 'r'),
    ("ѕſ", 's'),
    ("т", 't'),
    ("սυʋ", 'u'),
    ("ѵν", 'v'),
    ("ԝѡ", 'w'),
    ("хχ", 'x'),
    ("уүγʏ", 'y'),
    ("ʐ", 'z'),
    ("АΑ", 'A'),
    ("ВΒ", 'B'),
    ("СϹ", 'C'),
    ("ЕΕ", 'E'),
    ("Ԍ", 'G'),
    ("НΗ", 'H'),
    ("ІӀΙ", 'I'),
    ("Ј", 'J'),
    ("КΚ", 'K'),
    ("МΜ", 'M'),
    ("Ν", 'N'),
    ("ОΟՕ", 'O'),
    ("РΡ", 'P'),
    ("Ԛ", 'Q'),
    ("Ѕ", 'S'),
    ("ТΤ", 'T'),
    ("Ս", 'U'),
    ("Ѵ", 'V'),
    ("Ԝ", 'W'),
    ("ХΧ", 'X'),
    ("УΥҮ", 'Y'),
    ("Ζ", 'Z'),
    ("ɪ", 'i'),
    ("ɴ", 'n'),
    ("ʜ", 'h'),
    ("ᴀ", 'a'),
    ("ᴄ", 'c'),
    ("ᴅ", 'd'),
    ("ᴇ", 'e'),
    ("ᴊ", 'j'),
    ("ᴋ", 'k'),
    ("ᴍ", 'm'),
    ("ᴏ", 'o'),
    ("ᴘ", 'p'),
    ("ᴛ", 't'),
    ("ᴜ", 'u'),
    ("ᴠ", 'v'),
    ("ᴡ", 'w'),
    ("ᴢ", 'z'),
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
        '\u{80}'..='\u{58F}' | '\u{1D00}'..='\u{1D7F}' => look_alike(letter),
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
    let row = LOOK_ALIKES.iter().find(|(letters, _)| letters.contains(letter));
    row.map_or(Glyph::Plain, |&(_, ascii)| Glyph::LookAlike(ascii))
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
            assert!(letters.chars().all(|letter| glyph(letter) == Glyph::LookAlike(ascii)), "{letters}");
        }
    }

    #[test]
    fn no_letter_looks_like_two() {
        let mut seen = std::collections::HashSet::new();
        assert!(
            LOOK_ALIKES
                .iter()
                .flat_map(|(letters, _)| letters.chars())
                .all(|letter| !letter.is_ascii() && seen.insert(letter))
        );
    }
}
