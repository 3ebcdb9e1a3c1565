//! Which programs wrote what a variable holds: `x=$(curl a); eval "$x"` gives to `eval` what `curl` wrote.
//!
//! Known as reaching definitions, with weak updates only: a later assignment adds a source and removes none, because whether
//! it is carried out is not known. Beyond [`MAX_SOURCES`] the sources are widened to one range that covers them, which may
//! name programs in between that wrote nothing, and so bounds the work to a constant for each use.

use std::collections::HashMap;
use std::ops::Range;

/// Programs, by their place in the list of all that run.
type Runs = Range<usize>;

/// A variable that is set more often than this holds what any program between the last times wrote.
const MAX_SOURCES: usize = 4;

/// What variables hold, and which of it the words that are being walked over mention.
#[derive(Debug, Default)]
pub(crate) struct VarSources {
    variables: HashMap<String, Vec<Runs>>,
    mentioned: Vec<Runs>,
}

impl VarSources {
    /// Begins to collect what words mention. Returns what was collected for the words around them.
    pub(crate) fn begin(&mut self) -> Vec<Runs> {
        std::mem::take(&mut self.mentioned)
    }

    /// Returns what was mentioned since the beginning, and goes on with the words around.
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

    /// Notes that a variable holds what `written` wrote. It may still hold what it held before: whether an assignment
    /// is carried out is not known.
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
