//! Equivalent forms of commands, such as `npm i` for `npm install`, and `docker container rm` for `docker rm`.
//!
//! A rule is compiled once for every form of its first words, so a decision does not become slower. The forms are data: [`table`]
//! has a row for each, with the statement of the manual that proves it.

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

/// Maximum number of forms of one rule. The longest rows of the table have about forty.
const MAX_SPELLINGS: usize = 256;

/// Maximum number of rows that are applied one after another: `npx` is similar to `bunx`, which is `bun x`.
const MAX_STEPS: usize = 3;

/// An equivalent form of the words of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelled {
    /// The words, as in the pattern of a rule.
    pub(crate) words: Words,
    /// Whether only options may follow: `yarn` without a command is `yarn install`.
    pub(crate) is_alone: bool,
    /// How close it is to the words of the rule.
    pub(crate) sameness: Sameness,
    /// Whether the rule has only the first words of this form, and so covers more commands.
    is_part: bool,
    /// The rows that were applied. Each row is applied at most once.
    rows: Vec<GroupNumber>,
}

impl Spelled {
    /// The words as they are written.
    pub(crate) const fn written(words: Words) -> Self {
        Self { words, is_alone: false, sameness: Sameness::Same, is_part: false, rows: Vec::new() }
    }
}

/// Returns the equivalent forms of the first words of a rule, without those that are less similar than `least`.
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

/// Returns the forms that one row produces.
fn once_spelled(spelled: &Spelled, least: Sameness) -> Vec<Spelled> {
    let Some(first) = spelled.words.first() else { return Vec::new() };
    let programs = first.iter().flat_map(|word| alternatives(word));
    let rows = programs.flat_map(|name| GROUPS.of(base(&name)).collect::<Vec<_>>());
    let (rule, mut found) = (ReadWords::new(&spelled.words), Vec::new());
    for (number, group, spelling) in rows.filter(|(number, ..)| !spelled.rows.contains(number)) {
        if group.sameness > least {
            continue;
        }
        // A rule that allows does not cover commands that only start with its words, and a rule for a whole program does not
        // cover others.
        let is_other = group.sameness == Sameness::Instead;
        let may_be_shorter = least > Sameness::Same && !is_other;
        if spelled.is_part && is_other {
            continue;
        }
        let Some(rest) = spelling.rest_of(&rule, may_be_shorter) else { continue };
        for other in &group.spellings {
            let words = other.with(&rest);
            // That would match a whole program, or all programs.
            let named = usize::from(words.len() > 1);
            if words.iter().skip(named).all(|word| *word == ["*"]) {
                continue;
            }
            // Commands that start with the words of the rule are matched by them already.
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

/// Returns the full name of a program's subcommand: `install` for the `i` of npm.
pub(crate) fn full_name<'w>(program: &str, word: &'w str) -> &'w str {
    GROUPS.full_name(program, word).unwrap_or(word)
}

#[cfg(test)]
mod tests;
