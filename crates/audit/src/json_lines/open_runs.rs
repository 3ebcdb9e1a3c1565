//! The head file beside the lines: their end and the runs that are open there, so that a process need not read all lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::kind::EventPhase;
use crate::record::{AuditRecord, Head, OpenRun};
use stockade_text::to_hex;

/// The most bytes that are read of it.
const MAX_BYTES: u64 = 16 << 20;

/// Starts without an end, by the number of the record that began them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct OpenRuns(BTreeMap<u64, OpenRun>);

impl OpenRuns {
    /// Takes in the next record.
    pub(super) fn see(&mut self, record: &AuditRecord) {
        match (record.phase(), record.begins()) {
            (_, Some(begun)) => drop(self.0.insert(record.id, begun)),
            (EventPhase::End, None) => self.0.retain(|_, open| Some(&open.run) != record.run.as_ref()),
            _ => {}
        }
    }

    /// Returns the record of the oldest start of these.
    pub(super) fn oldest(&self, is: impl Fn(&OpenRun) -> bool) -> Option<u64> {
        self.0.iter().find(|(_, open)| is(open)).map(|(id, _)| *id)
    }

    /// Forgets what is known from this record on, and takes in what others say.
    pub(super) fn replace_from(&mut self, id: u64, others: Self) {
        self.0.split_off(&id);
        self.0.extend(others.0);
    }

    pub(super) fn into_runs(self) -> impl Iterator<Item = OpenRun> {
        self.0.into_values()
    }
}

/// Remembers where the lines end. A crash may leave it some records behind or cut off, never ahead.
pub(super) fn write(file: &File, head: &Head, open: &OpenRuns) -> io::Result<()> {
    let open = serde_json::to_string(open)?;
    let said = format!("{:0DIGITS$} {}\n{open}\n", head.id, head.hash);
    let text = format!("{said}{}\n", to_hex(&Sha256::digest(said.as_bytes())));
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)
}

/// How many digits the number of the last line has.
const DIGITS: usize = 20;

/// Reads the number of the last line alone.
pub(super) fn last(file: &File) -> Option<u64> {
    let mut digits = [0; DIGITS];
    file.read_exact_at(&mut digits, 0).ok()?;
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

/// Reads what was remembered: the number and the digest of the last line, and what was open then.
pub(super) fn read(file: &File) -> Option<(u64, String, OpenRuns)> {
    let length = file.metadata().ok()?.len().min(MAX_BYTES);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (said, sum) = text.trim_end_matches('\n').rsplit_once('\n')?;
    let said = format!("{said}\n");
    if to_hex(&Sha256::digest(said.as_bytes())) != sum {
        return None;
    }
    let (head, open) = said.split_once('\n')?;
    let (id, hash) = head.split_once(' ')?;
    Some((id.parse().ok()?, hash.to_owned(), serde_json::from_str(open.trim_end()).ok()?))
}
