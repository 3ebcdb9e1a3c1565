//! Other spellings of what a rule is about: `npm i` is `npm install`, `docker container rm` is `docker rm`.
//!
//! A rule is compiled once for every spelling of its first words, so that a decision costs no more for them. Which spellings
//! there are is data: [`table`] has a row for each, with the fact of the manual that it rests on.

mod abbreviated;
pub(crate) mod names;
pub(crate) mod options;
mod spelling;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use spelling::Words;
use spelling::{ReadWords, Spelling};

use super::program::base;
use super::token::alternatives;

/// How much two spellings are the same. Later is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sameness {
    /// One and the same thing: what allows one allows the other.
    Same,
    /// The same is done by the same software, though not to the last option: what asks or denies holds for both.
    Alike,
    /// Other software does the same. A rule about the whole of one says nothing about the other.
    Instead,
}

/// Equivalent forms of a command.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) sameness: Sameness,
    pub(super) spellings: Vec<Spelling>,
}

/// The groups of all rows, and by the name of a program those in which it is.
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    by_program: HashMap<String, Vec<(usize, usize)>>,
}

pub(super) static GROUPS: LazyLock<Groups> = LazyLock::new(|| {
    let all: Vec<Group> = table::groups().collect();
    let mut by_program: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (number, group) in all.iter().enumerate() {
        for (at, spelling) in group.spellings.iter().enumerate() {
            for program in spelling.programs() {
                by_program.entry(program.clone()).or_default().push((number, at));
            }
        }
    }
    Groups { all, by_program }
});

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
    rows: Vec<usize>,
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
    let rows = programs.flat_map(|name| GROUPS.by_program.get(base(&name)).into_iter().flatten());
    let (rule, mut found) = (ReadWords::new(&spelled.words), Vec::new());
    for &(number, at) in rows.filter(|(number, _)| !spelled.rows.contains(number)) {
        let Some(group) = GROUPS.all.get(number).filter(|group| group.sameness <= least) else { continue };
        let Some(spelling) = group.spellings.get(at) else { continue };
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
    FULL_NAMES.get(program).and_then(|words| words.get(word)).map_or(word, |full| full.as_str())
}

/// By the name of a program, what its words are spelled in full.
static FULL_NAMES: LazyLock<HashMap<String, HashMap<String, String>>> = LazyLock::new(|| {
    let mut names: HashMap<String, HashMap<String, String>> = HashMap::new();
    let rows = GROUPS.all.iter().filter(|group| group.sameness == Sameness::Same);
    for spelling in rows.flat_map(|group| &group.spellings).filter(|spelling| !spelling.is_alone) {
        let [programs, words] = spelling.words.as_slice() else { continue };
        let Some(full) = words.first().filter(|_| words.len() > 1) else { continue };
        for program in programs {
            let known = names.entry(program.clone()).or_default();
            words.iter().skip(1).for_each(|word| {
                known.entry(word.clone()).or_insert_with(|| full.clone());
            });
        }
    }
    names
});

#[cfg(test)]
mod tests;
