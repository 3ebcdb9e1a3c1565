//! What records must be by something that was kept apart from them: checkpoints, or an earlier copy of the trail.
#![expect(clippy::disallowed_methods, reason = "reads what was kept elsewhere")]

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

use crate::bytes::{Bytes32, from_hex};
use crate::checkpoint::{Checkpoint, PREFIX_BYTES};
use crate::trail::AuditTrail;

/// What was kept elsewhere, to compare a trail with.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    pub(crate) marks: Vec<Mark>,
}

/// What was known of a trail when it had so many records.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    size: u64,
    /// The root of the tree over all of them, where that is known.
    root: Option<Bytes32>,
    /// The number of the record whose digest is the first of these.
    from: u64,
    prefixes: Vec<u8>,
}

impl Reference {
    /// Reads a file that was kept elsewhere: checkpoints, such as an anchor has them, or an earlier copy of the trail.
    ///
    /// # Errors
    /// When it is neither, or the checkpoints are not signed by their keys.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
        if let Ok(text) = std::str::from_utf8(&text)
            && let Ok(all) = Checkpoint::read_all(text)
        {
            return Self::of_checkpoints(&all);
        }
        Self::of_copy(path).map_err(|error| format!("it holds neither checkpoints nor a trail: {error}"))
    }

    fn of_checkpoints(all: &[Checkpoint]) -> Result<Self, String> {
        // An external witness may be newer than the trail: then its first checkpoint names no key to check it by.
        if all.first().is_some_and(|first| first.key.is_some())
            && let Some(what) = Checkpoint::unsound(all)
        {
            return Err(what);
        }
        Ok(Self { marks: all.iter().map(Mark::of).collect() })
    }

    fn of_copy(path: &Path) -> Result<Self, crate::AuditError> {
        let (mut prefixes, mut size) = (Vec::new(), 0);
        AuditTrail::open_to_read(path)?.each(|record| {
            prefixes.extend(from_hex(&record.hash).unwrap_or_default().iter().take(PREFIX_BYTES));
            size = record.id;
            ControlFlow::Continue(())
        })?;
        let named = u64::try_from(prefixes.len() / PREFIX_BYTES).unwrap_or(0);
        let from = size.saturating_sub(named).saturating_add(1);
        Ok(Self { marks: vec![Mark { size, root: None, from, prefixes }] })
    }
}

impl Mark {
    pub(crate) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            size: checkpoint.size,
            root: Some(checkpoint.root),
            from: checkpoint.first_named(),
            prefixes: checkpoint.recent.clone(),
        }
    }

    fn prefix(&self, id: u64) -> Option<&[u8]> {
        let place = usize::try_from(id.checked_sub(self.from)?).ok()?;
        self.prefixes.chunks_exact(PREFIX_BYTES).nth(place)
    }
}

/// Marks that are compared with the records as they pass by, until one differs.
#[derive(Debug)]
pub(crate) struct Marks {
    ahead: VecDeque<Mark>,
}

impl Marks {
    pub(crate) fn new(marks: impl IntoIterator<Item = Mark>) -> Self {
        let mut ahead: VecDeque<Mark> = marks.into_iter().filter(|mark| mark.size > 0).collect();
        ahead.make_contiguous().sort_by_key(|mark| mark.size);
        Self { ahead }
    }

    /// Compares a record. Returns the size of the mark that it differs from.
    pub(crate) fn see(&mut self, id: u64, digest: &Bytes32, root: impl FnOnce() -> Bytes32) -> Option<u64> {
        while self.ahead.front().is_some_and(|mark| mark.size < id) {
            self.ahead.pop_front();
        }
        let mark = self.ahead.front()?;
        let is_named = mark.prefix(id).is_none_or(|prefix| digest.starts_with(prefix));
        let is_whole = mark.size != id || mark.root.is_none_or(|expected| expected == root());
        if is_named && is_whole {
            return None;
        }
        let size = mark.size;
        // Whatever comes behind a record that was rewritten differs, too.
        self.ahead.clear();
        Some(size)
    }

    /// Returns how many records there should have been, if there are fewer.
    pub(crate) fn end(&self, last: u64) -> Option<u64> {
        self.ahead.back().map(|mark| mark.size).filter(|size| *size > last)
    }
}
