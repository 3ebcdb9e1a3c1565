//! Answers that hold for the rest of a run.

use std::collections::HashMap;

use super::request::{Object, Operation};

/// The most answers that are remembered. Beyond that a person is asked again.
const MAX_ANSWERS: usize = 10_000;

/// What a person said about an exact object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remembered {
    Allowed,
    Denied,
}

/// The answers of one tool. An answer holds for the operation and the object it was given for, compared as they are:
/// a path is no glob and no prefix.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory(HashMap<(Operation, Object), Remembered>);

impl Memory {
    pub(super) fn recall(&self, operation: Operation, object: &Object) -> Option<Remembered> {
        self.0.get(&(operation, object.clone())).copied()
    }

    pub(super) fn remember(&mut self, operation: Operation, object: Object, answer: Remembered) {
        if self.0.len() < MAX_ANSWERS || self.0.contains_key(&(operation, object.clone())) {
            self.0.insert((operation, object), answer);
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
