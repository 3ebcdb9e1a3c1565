//! Possible values of variables, as far as they determine the effect of an evaluation.
//!
//! A value is a number, a word, or anything. All assignments of a text are joined, wherever they are and whether they
//! are executed or not, so that loops need no second walk; and a variable counts as assigned only where every path
//! passes an assignment (definite assignment), because before that it has a value from the environment. Values copied
//! from variables are edges of a graph, over which the worst value is propagated once, at the end: linear in the
//! text.

use std::collections::{HashMap, HashSet};

use crate::span::Span;

/// Kind of a value, from harmless to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    /// A number, or the empty string.
    Number,
    /// A text without a bracket: at worst the name of a variable, which is evaluated in turn.
    Word,
    /// Anything: the subscript in it may run a program.
    Data,
}

/// An assigned value: the worst of its literal text and of other variables in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) holds: Holds,
    pub(crate) from: Vec<String>,
}

impl Value {
    pub(crate) const NUMBER: Self = Self { holds: Holds::Number, from: Vec::new() };
    pub(crate) const DATA: Self = Self { holds: Holds::Data, from: Vec::new() };

    /// Returns the value of literal text.
    pub(crate) const fn written(holds: Holds) -> Self {
        Self { holds, from: Vec::new() }
    }

    /// Joins with an adjacent value.
    pub(crate) fn join(&mut self, other: Self) {
        self.holds = self.holds.max(other.holds);
        self.from.extend(other.from);
    }
}

/// Returns the kind of a known text.
pub(crate) fn of_text(text: &str) -> Holds {
    if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b' ')) {
        Holds::Number
    } else if text.contains(['[', '$', '`']) {
        Holds::Data
    } else {
        Holds::Word
    }
}

/// Variables that contain a number whatever they are set to.
const NUMBERS: &[&str] = &[
    "#",
    "?",
    "$",
    "!",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "OPTIND",
    "EPOCHSECONDS",
    "BASH_SUBSHELL",
    "HISTCMD",
];

/// Variables that evaluate their values without being declared as integers.
const INTEGERS: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "OPTIND",
    "HISTCMD",
    "HISTSIZE",
    "SAVEHIST",
    "COLUMNS",
    "LINES",
    "UID",
    "EUID",
    "GID",
    "EGID",
    "SHLVL",
    "TMOUT",
    "KEYTIMEOUT",
    "LISTMAX",
    "MAILCHECK",
    "FUNCNEST",
    "ERRNO",
    "LOGCHECK",
    "TTYIDLE",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "BASHPID",
    "PPID",
    "EPOCHSECONDS",
    "BASH_SUBSHELL",
];

/// Possible values of the variables of a text.
#[derive(Debug, Default)]
pub(crate) struct Values {
    indexes: HashMap<String, usize>,
    holds: Vec<Holds>,
    /// The variables that copy the value of this one.
    copies: Vec<Vec<usize>>,
    /// How often each variable is assigned on the path to here.
    definite: HashMap<String, usize>,
    path: Vec<String>,
    /// Evaluated values, with the worst known kind.
    evaluated: Vec<(usize, Holds, Span)>,
    integers: HashSet<String>,
    associative: HashMap<String, bool>,
    /// Positions where unknown values are evaluated.
    unknown: Vec<Span>,
}

impl Values {
    fn index(&mut self, name: &str) -> usize {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = self.holds.len();
        self.indexes.insert(name.to_owned(), index);
        self.holds.push(Holds::Number);
        self.copies.push(Vec::new());
        index
    }

    /// Notes an assignment, after which the variable is certain to have been assigned if `is_definite`.
    pub(crate) fn assign(&mut self, name: &str, value: &Value, is_definite: bool, span: Span) {
        let index = self.index(name);
        if let Some(holds) = self.holds.get_mut(index) {
            *holds = value.holds.max(*holds);
        }
        for from in &value.from {
            let from = self.index(from);
            if let Some(copies) = self.copies.get_mut(from) {
                copies.push(index);
            }
        }
        if INTEGERS.contains(&name) {
            self.evaluated.push((index, Holds::Number, span));
        }
        if is_definite {
            *self.definite.entry(name.to_owned()).or_default() += 1;
            self.path.push(name.to_owned());
        }
    }

    /// Returns the value of a variable that is used here.
    pub(crate) fn of(&self, name: &str) -> Value {
        if NUMBERS.contains(&name) {
            Value::NUMBER
        } else if self.definite.get(name).is_some_and(|count| *count > 0) {
            Value { holds: Holds::Number, from: vec![name.to_owned()] }
        } else {
            Value::DATA
        }
    }

    /// Notes that a value is evaluated, which is harmless up to `most`.
    pub(crate) fn evaluate(&mut self, value: &Value, most: Holds, span: Span) {
        if value.holds > most {
            self.unknown.push(span);
        }
        for from in &value.from {
            let index = self.index(from);
            self.evaluated.push((index, most, span));
        }
    }

    /// Records that a variable evaluates every value.
    pub(crate) fn is_integer(&mut self, name: &str, span: Span) {
        let index = self.index(name);
        self.integers.insert(name.to_owned());
        self.evaluated.push((index, Holds::Number, span));
    }

    /// Records whether the keys of an array are strings, which are not evaluated. All declarations must agree, on
    /// every path to the use.
    pub(crate) fn has_keys(&mut self, name: &str, keys: bool) {
        let known = self.associative.entry(name.to_owned()).or_insert(keys);
        *known &= keys;
        if keys {
            let with_keys = format!("{name}[");
            *self.definite.entry(with_keys.clone()).or_default() += 1;
            self.path.push(with_keys);
        }
    }

    /// Whether the keys of an array are texts.
    pub(crate) fn is_associative(&self, name: &str) -> bool {
        self.associative.get(name).copied().unwrap_or(false)
            && self.definite.get(&format!("{name}[")).is_some_and(|count| *count > 0)
    }

    /// Returns how much is certain to have been assigned here, for [`Values::leave`].
    pub(crate) fn enter(&self) -> usize {
        self.path.len()
    }

    /// Forgets assignments on a path that may not be taken.
    pub(crate) fn leave(&mut self, entered: usize) {
        for name in self.path.drain(entered.min(self.path.len())..) {
            if let Some(count) = self.definite.get_mut(&name) {
                *count -= 1;
            }
        }
    }

    /// Begins a text of another process, without the variables of this one.
    pub(crate) fn enter_process(&mut self) -> (HashMap<String, usize>, Vec<String>) {
        (std::mem::take(&mut self.definite), std::mem::take(&mut self.path))
    }

    /// Ends the text of another process.
    pub(crate) fn leave_process(&mut self, (definite, path): (HashMap<String, usize>, Vec<String>)) {
        self.definite = definite;
        self.path = path;
    }

    /// Spreads the worst values, and returns where values are evaluated that may run something.
    pub(crate) fn hazards(mut self) -> Vec<Span> {
        let mut waiting: Vec<usize> = (0..self.holds.len()).collect();
        while let Some(index) = waiting.pop() {
            let Some(holds) = self.holds.get(index).copied() else { continue };
            for copy in self.copies.get(index).cloned().unwrap_or_default() {
                if let Some(before) = self.holds.get_mut(copy).filter(|before| **before < holds) {
                    *before = holds;
                    waiting.push(copy);
                }
            }
        }
        let mut found = std::mem::take(&mut self.unknown);
        for (index, most, span) in &self.evaluated {
            if self.holds.get(*index).is_some_and(|holds| holds > most) {
                found.push(*span);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Span = Span::new(0, 1);

    #[test]
    fn the_worst_value_spreads_over_copies() {
        let mut values = Values::default();
        values.assign("a", &Value::NUMBER, true, HERE);
        let a = values.of("a");
        values.assign("b", &a, true, HERE);
        let b = values.of("b");
        values.evaluate(&b, Holds::Number, HERE);
        values.assign("a", &Value::DATA, false, HERE);
        assert_eq!(values.hazards(), [HERE]);
    }

    #[test]
    fn whatever_counts_as_a_number_evaluates_what_it_is_given() {
        let is_name = |name: &&&str| name.starts_with(|letter: char| letter.is_ascii_alphabetic());
        for name in NUMBERS.iter().filter(is_name) {
            assert!(
                INTEGERS.contains(name),
                "{name} holds what it was given, in a shell that does not know it"
            );
        }
    }

    #[test]
    fn what_was_assigned_on_one_path_only_is_not_certain() {
        let mut values = Values::default();
        let entered = values.enter();
        values.assign("a", &Value::NUMBER, true, HERE);
        assert_eq!(values.of("a").holds, Holds::Number);
        values.leave(entered);
        assert_eq!(values.of("a").holds, Holds::Data);
    }
}
