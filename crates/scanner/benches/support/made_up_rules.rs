//! Rules about words that occur in no text: they show the cost of a large table for unrelated texts.

use stockade_scanner::{Category, PatternBuf, Regions, RuleBuf, Severity};

use super::Texts;
use super::synthetic::Dice;

const CONSONANTS: &[&str] = &[
    "b", "br", "c", "ch", "d", "f", "g", "gr", "k", "l", "m", "n", "p", "r", "s", "sh", "st", "t", "v", "w",
];
const VOWELS: &[&str] = &["a", "e", "ea", "i", "o", "oo", "u"];

/// Makes `count` rules of three patterns each. Their words resemble English, so that their grams are as common as
/// those of real rules, but none occurs in these texts.
pub(crate) fn rules(count: usize, texts: &Texts) -> Vec<RuleBuf> {
    let mut dice = Dice(0x0dd5_eed5_0dd5_eed5);
    (0..count).map(|number| rule(number, &mut dice, texts)).collect()
}

fn rule(number: usize, dice: &mut Dice, texts: &Texts) -> RuleBuf {
    let [program, option, other] = std::array::from_fn(|_| word(dice, texts));
    let regexes = [
        format!(r"\b{program}[ \t]{{1,8}}--{option}\b"),
        format!(r"(?i)\b{other}[^\n|]{{0,80}}\|[ \t]{{0,8}}{program}\b"),
        format!(r#"(?:{option}|{other})\(\s{{0,4}}["'][^"'\n]{{1,60}}["']"#),
    ];
    let pattern =
        |regex| PatternBuf { note: String::new(), regex, regions: Regions::ANY, exceptions: Vec::new() };
    RuleBuf {
        id: format!("MADE_UP_{number}"),
        category: Category::Custom,
        severity: Severity::Warn,
        summary: "made up".to_owned(),
        remedy: "None is needed.".to_owned(),
        patterns: regexes.map(pattern).into(),
        matches: vec![format!("{program} --{option}")],
        clean: Vec::new(),
    }
}

/// A word of two or three syllables that occurs in none of the texts.
fn word(dice: &mut Dice, texts: &Texts) -> String {
    loop {
        let syllables = 2 + dice.roll(2);
        let word: String = (0..syllables).flat_map(|_| [dice.pick(CONSONANTS), dice.pick(VOWELS)]).collect();
        let is_there = |text: &String| text.contains(&word);
        if word.len() > 4 && !texts.texts.iter().any(is_there) {
            return word;
        }
    }
}
