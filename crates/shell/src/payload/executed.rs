//! Which arguments of `find … -exec program … ;` are programs.

use std::ops::Range;

use crate::actions::Arg;

/// A command whose actions run programs.
pub(super) struct Executed<'a, 't> {
    pub(super) argv: &'a [Arg<'t>],
    /// The words that precede a program.
    pub(super) actions: &'a [&'a str],
}

impl Executed<'_, '_> {
    /// Returns the ranges of the programs. An unknown value may end a program earlier than it seems to: then both
    /// ranges are returned, and the actions between the two ends as well. It may also be an action that a program
    /// follows.
    pub(super) fn programs(&self) -> Vec<Range<usize>> {
        let mut programs = Vec::new();
        let (mut end, mut last_action) = (0, None);
        let mut from = 0;
        while let Some(action) = (from..self.argv.len()).find(|&at| self.is_action(at)) {
            self.add_stray(from..action, &mut programs);
            let start = action + 1;
            // Behind an action that may have ended, everything up to its certain end was inspected.
            let is_within = start < end;
            if !is_within {
                end = (start..self.argv.len()).find(|&at| self.ends(at)).unwrap_or(self.argv.len());
                last_action = (start..end).rfind(|&at| self.is_action(at));
            }
            let sooner = (start..end).find(|&at| self.may_end(at, last_action));
            programs.extend(sooner.map(|sooner| start..sooner));
            if !is_within || sooner.is_none() {
                programs.push(start..end);
            }
            from = sooner.unwrap_or(end) + 1;
        }
        self.add_stray(from..self.argv.len(), &mut programs);
        programs.retain(|program| !program.is_empty());
        programs
    }

    /// Adds the programs that end between actions: the word before them must be a value.
    fn add_stray(&self, between: Range<usize>, programs: &mut Vec<Range<usize>>) {
        let mut from = between.start;
        for end in between.filter(|&at| self.ends(at)) {
            let value = (from..end).find(|&at| self.actions.iter().any(|action| self.may_be(at, action)));
            programs.extend(value.map(|value| value + 1..end));
            from = end + 1;
        }
    }

    fn ends(&self, at: usize) -> bool {
        self.is(at, ";") || self.is(at, "+") && at.checked_sub(1).is_some_and(|before| self.is(before, "{}"))
    }

    /// Whether a value may end a program here. A value that may be the semicolon counts only before an action:
    /// otherwise the program would be listed with fewer arguments, without new information.
    fn may_end(&self, at: usize, last_action: Option<usize>) -> bool {
        self.is(at, "+") && at.checked_sub(1).is_some_and(|before| self.may_be(before, "{}"))
            || last_action.is_some_and(|last| at < last) && self.may_be(at, ";")
    }

    /// Whether it is one, at least if the values in it are empty: `$x-exec`.
    fn is_action(&self, at: usize) -> bool {
        match self.argv.get(at) {
            Some(Arg::Unknown { spelling, .. }) => self.actions.contains(&&*without_values(spelling)),
            _ => self.known(at).is_some_and(|word| self.actions.contains(&word)),
        }
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.known(at) == Some(word)
    }

    fn may_be(&self, at: usize, word: &str) -> bool {
        match self.argv.get(at) {
            Some(Arg::Unknown { prefix, .. }) => word.starts_with(&**prefix),
            _ => self.is(at, word),
        }
    }

    fn known(&self, at: usize) -> Option<&str> {
        self.argv.get(at)?.known()
    }
}

/// Returns the spelling of a word without every `${name}` and `$()`.
fn without_values(spelling: &str) -> String {
    let (first, values) = spelling.split_once('$').unwrap_or((spelling, ""));
    let behind = values.split('$').filter_map(|value| value.split_once(['}', ')']));
    std::iter::once(first).chain(behind.map(|(_, behind)| behind)).collect()
}
