//! Programs that wrote the value of a variable: `x=$(curl a); eval "$x"` passes the output of `curl` to `eval`.
//!
//! Known as reaching definitions, with weak updates only: a later assignment adds a source and removes none, because
//! it may not be executed. Beyond [`MAX_SOURCES`] the sources are widened to one range that covers them, which may
//! include programs in between that wrote nothing; this bounds the work per use to a constant.

use std::collections::HashMap;
use std::ops::Range;

/// Programs, by their place in the list of all that run.
type Runs = Range<usize>;

/// A variable that is set more often than this may contain the output of any program in between.
const MAX_SOURCES: usize = 4;

/// Sources of variables, and those that the current words mention.
#[derive(Debug, Default)]
pub(crate) struct VarSources {
    variables: HashMap<String, Vec<Runs>>,
    mentioned: Vec<Runs>,
}

impl VarSources {
    /// Starts a collection. Returns the one of the surrounding words.
    pub(crate) fn begin(&mut self) -> Vec<Runs> {
        std::mem::take(&mut self.mentioned)
    }

    /// Returns the sources collected since, and restores the surrounding collection.
    pub(crate) fn end(&mut self, around: Vec<Runs>) -> Vec<Runs> {
        std::mem::replace(&mut self.mentioned, around)
    }

    /// Returns how much was mentioned since the beginning.
    pub(crate) const fn count(&self) -> usize {
        self.mentioned.len()
    }

    /// Forgets all but the first that was mentioned.
    pub(crate) fn keep(&mut self, count: usize) {
        self.mentioned.truncate(count);
    }

    /// Notes that a variable is used.
    pub(crate) fn mention(&mut self, name: &str) {
        for runs in self.variables.get(name).into_iter().flatten() {
            if !self.mentioned.contains(runs) && self.mentioned.len() < MAX_SOURCES * MAX_SOURCES {
                self.mentioned.push(runs.clone());
            }
        }
    }

    /// Records that a variable contains the output of `written`. It may still have its earlier value: the assignment
    /// may not be executed.
    pub(crate) fn set(&mut self, name: &str, written: impl IntoIterator<Item = Runs>) {
        for runs in written.into_iter().filter(|runs| !runs.is_empty()) {
            let sources = self.variables.entry(name.to_owned()).or_default();
            if sources.contains(&runs) {
                continue;
            }
            if sources.len() < MAX_SOURCES {
                sources.push(runs);
            } else if let Some(last) = sources.last_mut() {
                *last = last.start.min(runs.start)..last.end.max(runs.end);
            }
        }
    }
}
