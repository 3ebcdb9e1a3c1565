//! The deobfuscated view: the text without its obfuscations.
//!
//! `ｂａｓｈ`, `bаsh` (a Cyrillic а), `ba<zero width>sh`, `ba<!-- -->sh`, `b''ash` and `curl${IFS}x` are read as plain
//! words by some program or person. The deobfuscated view spells them plainly, so that the same rules match them, and
//! maps every finding back to the original text. Words that are honestly written in another script are unchanged.

mod comments;
mod layer;
mod letters;
mod markup;
mod obfuscation;
mod quoting;
mod tables;
mod token;
#[cfg(test)]
pub(crate) mod triggers;

use std::ops::Range;

use layer::Layer;
use obfuscation::Obfuscation::{Comments, Letters, Markup, Quoting};

pub(crate) use obfuscation::{Obfuscation, Obfuscations};

/// Removes one kind of obfuscation from a text; `None` if there is nothing to remove.
type Pass = fn(&str) -> Option<Layer>;

/// The pass for each kind.
const PASSES: [(Obfuscation, Pass); 4] = [
    (Letters, letters::unmask),
    (Comments, comments::cut),
    (Markup, markup::unmark),
    (Quoting, quoting::unquote),
];

/// Maximum number of passes: removing one obfuscation can reveal another.
const MAX_PASSES: usize = 12;

/// A deobfuscated text, with its mapping to the original.
#[derive(Debug, Default)]
pub(crate) struct Deobfuscated(Vec<Layer>);

impl Deobfuscated {
    pub(crate) fn text(&self) -> &str {
        self.0.last().map_or("", Layer::text)
    }

    /// Returns the span in the original text for a span of the deobfuscated text.
    pub(crate) fn raw_span(&self, span: Range<usize>) -> Range<usize> {
        self.0.iter().rev().fold(span, |span, layer| layer.raw_span(span))
    }
}

/// Returns obfuscations at the start of a text that no trigger recognises there: a byte order mark, or a variation
/// selector.
pub(crate) fn at_beginning(text: &str) -> Obfuscations {
    let mut obfuscations = Obfuscations::default();
    if text.starts_with(|first| matches!(first, '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')) {
        obfuscations.insert(Letters);
    }
    obfuscations
}

/// Returns the runs of characters that are not drawn. Those of emoji belong to them.
pub(crate) fn invisible(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut after_sign = false;
    for (at, letter) in text.char_indices().filter(|(_, letter)| !matches!(letter, '\n' | '\r' | '\t')) {
        let is_invisible = tables::glyph(letter) == tables::Glyph::Invisible;
        let end = at + letter.len_utf8();
        if is_invisible && !after_sign {
            match runs.last_mut().filter(|run| run.end == at) {
                Some(run) => run.end = end,
                None => runs.push(at..end),
            }
        }
        after_sign = if is_invisible { after_sign } else { !letter.is_ascii() && !letter.is_alphanumeric() };
    }
    runs
}

/// Removes these obfuscations from a text, and then whatever they hid; `None` if the text does not change.
pub(crate) fn deobfuscate(text: &str, obfuscations: Obfuscations) -> Option<Deobfuscated> {
    let (mut deobfuscated, mut due) = (Deobfuscated::default(), obfuscations);
    for &(obfuscation, pass) in PASSES.iter().cycle().take(MAX_PASSES) {
        if due.take(obfuscation)
            && let Some(layer) = pass(deobfuscated.0.last().map_or(text, Layer::text))
        {
            deobfuscated.0.push(layer);
            // The removed obfuscation may have hidden any other kind, so all are due again. `MAX_PASSES` bounds
            // alternation.
            due = Obfuscations::ALL;
        }
        if due.is_empty() {
            break;
        }
    }
    if deobfuscated.0.is_empty() { None } else { Some(deobfuscated) }
}

#[cfg(test)]
mod tests {
    use super::tables::{Glyph, glyph};
    use super::*;

    fn deobfuscated(text: &str) -> String {
        deobfuscate(text, Obfuscations::ALL)
            .map_or_else(|| text.to_owned(), |deobfuscated| deobfuscated.text().to_owned())
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
            assert_eq!(deobfuscated(raw), plain, "{raw:?}");
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
            assert_eq!(deobfuscated(text).replace('：', ":"), text.replace('：', ":"));
        }
    }

    #[test]
    fn every_offset_finds_its_way_back() {
        let raw = "é c''url \u{200b}x | b\u{430}sh";
        let deobfuscated = deobfuscate(raw, Obfuscations::ALL).unwrap();
        let stands = |word: &str| {
            let at = deobfuscated.text().find(word).unwrap();
            raw.get(deobfuscated.raw_span(at..at + word.len())).unwrap()
        };
        assert_eq!(stands("curl"), "c''url");
        assert_eq!(stands("| bash"), "| b\u{430}sh");
        assert_eq!(stands("é"), "é");
        assert_eq!(stands(deobfuscated.text()), raw);
    }

    /// Every character that reads as a letter, a space or nothing, where it disguises a word of the rules.
    #[test]
    fn every_character_that_folds_pulls_a_trigger() {
        let triggers: Vec<_> =
            triggers::TRIGGERS.iter().map(|(_, pattern)| crate::exact::compile(pattern).unwrap()).collect();
        let silent: Vec<_> = ('\u{80}'..=char::MAX)
            .flat_map(obfuscations)
            .filter(|text| deobfuscate(text, Obfuscations::ALL).is_some() && at_beginning(text).is_empty())
            .filter(|text| !triggers.iter().any(|trigger| trigger.is_match(text)))
            .collect();
        assert!(silent.is_empty(), "{} texts: {silent:?}", silent.len());
    }

    fn obfuscations(letter: char) -> Vec<String> {
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
            triggers::TRIGGERS.iter().map(|(_, pattern)| crate::exact::compile(pattern).unwrap()).collect();
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
