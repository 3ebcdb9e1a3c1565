//! Which arguments of `find … -exec program … ;` are programs.

use std::ops::Range;

use crate::shell::actions::Arg;

/// A command whose actions run programs.
pub(super) struct Executed<'a, 't> {
    pub(super) argv: &'a [Arg<'t>],
    /// The words behind which a program stands.
    pub(super) actions: &'a [&'a str],
}

impl Executed<'_, '_> {
    /// Returns where the programs stand. A value that nobody knows may end one sooner than it seems to end: then both
    /// are there, and the actions between the two ends as well.
    pub(super) fn programs(&self) -> Vec<Range<usize>> {
        let mut programs = Vec::new();
        let (mut end, mut last_action) = (0, None);
        let mut from = 0;
        while let Some(start) =
            (from..self.argv.len()).find(|&at| self.is_action(at)).map(|action| action + 1)
        {
            // Behind an action that may have ended, everything up to its certain end has been looked at.
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
            from = sooner.unwrap_or(end);
        }
        programs.retain(|program| !program.is_empty());
        programs
    }

    fn ends(&self, at: usize) -> bool {
        self.is(at, ";") || self.is(at, "+") && at.checked_sub(1).is_some_and(|before| self.is(before, "{}"))
    }

    /// What stands for nobody knows what matters only where an action follows.
    fn may_end(&self, at: usize, last_action: Option<usize>) -> bool {
        self.is(at, "+") && at.checked_sub(1).is_some_and(|before| self.may_be(before, "{}"))
            || last_action.is_some_and(|last| at < last) && self.may_be(at, ";")
    }

    fn is_action(&self, at: usize) -> bool {
        self.known(at).is_some_and(|word| self.actions.contains(&word))
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
