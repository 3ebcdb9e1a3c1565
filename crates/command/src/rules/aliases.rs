//! Other spellings of what a rule is about: `npm i` is `npm install`, `docker container rm` is `docker rm`.
//!
//! A rule is compiled once for every spelling of its first words, so that a decision costs no more for them. Which spellings
//! there are is data: [`table`] has a row for each, with the fact of the manual that it rests on.

mod abbreviated;
mod group;
mod groups;
pub(crate) mod names;
pub(crate) mod options;
mod spelling;
mod table;

pub(crate) use group::Sameness;
use groups::{GROUPS, GroupNumber};
use spelling::ReadWords;
pub(crate) use spelling::Words;

use super::program::base;
use super::token::alternatives;

/// The most spellings of one rule. The longest rows of the table have some forty words in one spelling.
const MAX_SPELLINGS: usize = 256;

/// How many rows a spelling may be away from the words of the rule: `npx` is alike `bunx`, which is `bun x`.
const MAX_STEPS: usize = 3;

/// A spelling of the words of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelled {
    /// The words, as in the pattern of a rule.
    pub(crate) words: Words,
    /// Whether nothing but options may follow: `yarn` alone is `yarn install`.
    pub(crate) is_alone: bool,
    /// How much it is what the rule says.
    pub(crate) sameness: Sameness,
    /// Whether the rule is about more than this, and has only its first words.
    is_part: bool,
    /// The rows that led to it, none of which leads anywhere twice.
    rows: Vec<GroupNumber>,
}

impl Spelled {
    /// The words as they are written.
    pub(crate) const fn written(words: Words) -> Self {
        Self { words, is_alone: false, sameness: Sameness::Same, is_part: false, rows: Vec::new() }
    }
}

/// Returns the other spellings of the first words of a rule, none less the same than `least`.
pub(crate) fn other_spellings(words: &Words, least: Sameness) -> Vec<Spelled> {
    let mut found = vec![Spelled::written(words.clone())];
    let mut from = 0;
    for _ in 0..MAX_STEPS {
        let last: Vec<Spelled> = found.get(from..).unwrap_or_default().to_vec();
        from = found.len();
        for one in last.iter().filter(|one| !one.is_alone).flat_map(|one| once_spelled(one, least)) {
            let is_known = |known: &Spelled| known.words == one.words && known.is_alone == one.is_alone;
            if found.len() <= MAX_SPELLINGS && !found.iter().any(is_known) {
                found.push(one);
            }
        }
    }
    found.split_off(1)
}

/// The spellings that one row leads to.
fn once_spelled(spelled: &Spelled, least: Sameness) -> Vec<Spelled> {
    let Some(first) = spelled.words.first() else { return Vec::new() };
    let programs = first.iter().flat_map(|word| alternatives(word));
    let rows = programs.flat_map(|name| GROUPS.of(base(&name)).collect::<Vec<_>>());
    let (rule, mut found) = (ReadWords::new(&spelled.words), Vec::new());
    for (number, group, spelling) in rows.filter(|(number, ..)| !spelled.rows.contains(number)) {
        if group.sameness > least {
            continue;
        }
        // A rule that allows says nothing of what only begins with its words, and one about all of a program nothing of others.
        let is_other = group.sameness == Sameness::Instead;
        let may_be_shorter = least > Sameness::Same && !is_other;
        if spelled.is_part && is_other {
            continue;
        }
        let Some(rest) = spelling.rest_of(&rule, may_be_shorter) else { continue };
        for other in &group.spellings {
            let words = other.with(&rest);
            // That would be all of a program, or all programs.
            let named = usize::from(words.len() > 1);
            if words.iter().skip(named).all(|word| *word == ["*"]) {
                continue;
            }
            // Whatever begins with the words of the rule is matched by them.
            if !rule.has_all(&words) {
                let sameness = spelled.sameness.max(group.sameness);
                let rows = spelled.rows.iter().copied().chain([number]).collect();
                let is_part = spelled.is_part || spelled.words.len() < spelling.words.len();
                found.push(Spelled { words, is_alone: other.is_alone, sameness, is_part, rows });
            }
        }
    }
    found
}

/// Returns how a sub-command of a program is spelled in full: `install` for the `i` of npm.
pub(crate) fn full_name<'w>(program: &str, word: &'w str) -> &'w str {
    GROUPS.full_name(program, word).unwrap_or(word)
}

#[cfg(test)]
mod tests;
