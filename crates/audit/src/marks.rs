//! What records must be by something that was kept apart from them: checkpoints, or an earlier copy of the trail.

use std::io::Read as _;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::path::Path;

use stockade_files::regular_file::open_regular;

use crate::bytes::{Bytes32, from_hex};
use crate::checkpoint::{Checkpoint, PREFIX_BYTES};
use crate::checkpoint_file::Chain;
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
        let unreadable = |error| format!("it cannot be read: {error}");
        let mut text = Vec::new();
        open_regular(path).and_then(|mut file| file.read_to_end(&mut text)).map_err(unreadable)?;
        if let Ok(text) = std::str::from_utf8(&text)
            && let Ok(all) = Checkpoint::read_all(text)
        {
            return Self::of_checkpoints(&all);
        }
        Self::of_copy(path).map_err(|error| format!("it contains neither checkpoints nor a trail: {error}"))
    }

    fn of_checkpoints(all: &[Checkpoint]) -> Result<Self, String> {
        // An external witness may be newer than the trail: then its first checkpoint names no key to check it by.
        if all.first().is_some_and(|first| first.key.is_some())
            && let Some(what) = unsound(all)
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

/// Returns what is wrong with checkpoints.
fn unsound(all: &[Checkpoint]) -> Option<String> {
    let mut chain = Chain::default();
    all.iter().for_each(|checkpoint| chain.see(checkpoint));
    chain.unsound()
}

/// Marks that are compared with the records as they pass by, until one differs.
pub(crate) struct Marks<'m> {
    ahead: Peekable<Box<dyn Iterator<Item = Mark> + 'm>>,
}

impl<'m> Marks<'m> {
    /// Marks in the order of their sizes.
    pub(crate) fn in_order(marks: impl Iterator<Item = Mark> + 'm) -> Self {
        let marks: Box<dyn Iterator<Item = Mark> + 'm> = Box::new(marks.filter(|mark| mark.size > 0));
        Self { ahead: marks.peekable() }
    }

    /// Marks in any order.
    pub(crate) fn sorted(mut marks: Vec<Mark>) -> Self {
        marks.sort_by_key(|mark| mark.size);
        Self::in_order(marks.into_iter())
    }

    /// Compares a record. Returns the size of the mark that it differs from.
    pub(crate) fn see(&mut self, id: u64, digest: &Bytes32, root: impl FnOnce() -> Bytes32) -> Option<u64> {
        while self.ahead.next_if(|mark| mark.size < id).is_some() {}
        let mark = self.ahead.peek()?;
        let is_named = mark.prefix(id).is_none_or(|prefix| digest.starts_with(prefix));
        let is_whole = mark.size != id || mark.root.is_none_or(|expected| expected == root());
        if is_named && is_whole {
            return None;
        }
        let size = mark.size;
        // Whatever comes behind a record that was rewritten differs, too.
        *self = Self::sorted(Vec::new());
        Some(size)
    }

    /// Returns how many records there should have been, if there are fewer.
    pub(crate) fn end(&mut self, last: u64) -> Option<u64> {
        self.ahead.by_ref().last().map(|mark| mark.size).filter(|size| *size > last)
    }
}
