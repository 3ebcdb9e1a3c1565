//! Collation for English, as in Unicode's root collation for Latin letters: letters first, then accents, then
//! capitals. Other scripts are refused, because their order would be wrong.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization as _;

/// Marks that sort before digits and letters, in order.
const MARKS: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Accents, in the order in which Unicode sorts them.
const ACCENTS: &str = "\u{301}\u{300}\u{306}\u{302}\u{30c}\u{30a}\u{308}\u{30b}\u{303}\u{307}\u{327}\u{328}\u{304}\u{323}\u{326}";

/// Sort key of a text.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Weights {
    letters: Vec<usize>,
    accents: Vec<Vec<usize>>,
    capitals: Vec<bool>,
}

/// Returns the order of two texts, or the first character whose position is unknown.
pub(super) fn order(one: &str, two: &str) -> Result<Ordering, char> {
    if one == two {
        return Ok(Ordering::Equal);
    }
    Ok(weights(one)?.cmp(&weights(two)?))
}

fn weights(text: &str) -> Result<Weights, char> {
    let mut weights = Weights::default();
    for c in text.nfd() {
        if let Some(accent) = ACCENTS.chars().position(|accent| accent == c) {
            match weights.accents.last_mut() {
                Some(accents) => accents.push(accent + 1),
                None => return Err(c),
            }
            continue;
        }
        let letter = match c {
            c if c.is_ascii_alphanumeric() => MARKS.len() + u32::from(c.to_ascii_lowercase()) as usize,
            // Control characters are ignored.
            c if c.is_ascii() && !MARKS.contains(c) => continue,
            c => MARKS.find(c).ok_or(c)?,
        };
        weights.letters.push(letter);
        weights.accents.push(Vec::new());
        weights.capitals.push(c.is_ascii_uppercase());
    }
    Ok(weights)
}
