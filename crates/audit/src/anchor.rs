//! External witnesses of checkpoints: places from which an attacker with access to the user's account cannot remove them.
#![expect(clippy::disallowed_methods, reason = "writes to the anchors")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use stockade_files::regular_file::open_regular;

use crate::checkpoint::Checkpoint;
use crate::checkpoint_file::MAX_CHECKPOINT_BYTES;

/// How much of the end of an anchor is read whenever a trail is opened.
const MAX_TAIL_BYTES: u64 = 64 << 10;

/// More bytes than any checkpoint has: where none ends within them, none begins there.
const MAX_NOTE_BYTES: usize = 16 << 10;

/// Where the journal of systemd takes entries.
const JOURNAL: &str = "/run/systemd/journal/socket";

/// A place that checkpoints are told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Anchor {
    /// A file that exists already. Best it belongs to another user, and is append-only (`chattr +a`).
    File(PathBuf),
    /// The journal of systemd, as `stockade-checkpoint`.
    Journal,
}

impl Anchor {
    /// Reads an anchor: `journal`, or the path of a file.
    #[must_use]
    pub fn read(text: &str) -> Self {
        match text {
            "journal" => Self::Journal,
            path => Self::File(path.into()),
        }
    }

    /// Tells it of a checkpoint.
    pub(crate) fn tell(&self, note: &str) -> io::Result<()> {
        match self {
            // Not created here: a user who can create the file can also remove it.
            Self::File(path) => {
                let mut file = OpenOptions::new().append(true).open(path)?;
                file.write_all(note.as_bytes())?;
                file.sync_data()
            }
            Self::Journal => UnixDatagram::unbound()?.send_to(&entry(note), JOURNAL).map(drop),
        }
    }
}

/// What an anchor was told of a trail.
#[derive(Debug)]
pub(crate) enum Told {
    /// These checkpoints, in their order.
    Checkpoints(Vec<Checkpoint>),
    /// This user may not read it.
    Unreadable,
}

impl Anchor {
    /// Reads all that it was told of a trail.
    pub(crate) fn told(&self, origin: &str) -> io::Result<Told> {
        self.read_from(|_| Ok(()), MAX_CHECKPOINT_BYTES, origin)
    }

    /// Reads the last checkpoint that it was told of a trail, if that is near the end of the file.
    pub(crate) fn last_told(&self, origin: &str) -> io::Result<Option<Checkpoint>> {
        let seek = |file: &mut File| {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_BYTES))).map(drop)
        };
        Ok(match self.read_from(seek, MAX_TAIL_BYTES, origin)? {
            Told::Checkpoints(mut all) => all.pop(),
            Told::Unreadable => None,
        })
    }

    fn read_from(
        &self,
        seek: impl FnOnce(&mut File) -> io::Result<()>,
        most: u64,
        origin: &str,
    ) -> io::Result<Told> {
        let Self::File(path) = self else { return Ok(Told::Unreadable) };
        let mut file = match open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Told::Unreadable),
            opened => opened?,
        };
        seek(&mut file)?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Told::Checkpoints(notes_of(&String::from_utf8_lossy(&bytes), origin)))
    }
}

impl std::fmt::Display for Anchor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Journal => f.write_str("journal"),
        }
    }
}

/// Returns the checkpoints of a trail. Others may stand between them, and beginnings of some whose writer was killed.
fn notes_of(text: &str, origin: &str) -> Vec<Checkpoint> {
    let first_line = format!("{origin}\n");
    let at = text.match_indices(&first_line).map(|(at, _)| at);
    at.filter_map(|at| Checkpoint::read(note_at(text.get(at..)?)?)).collect()
}

/// Returns the note at the beginning of a text, with the line of its signature.
fn note_at(text: &str) -> Option<&str> {
    let near = text.get(..text.floor_char_boundary(MAX_NOTE_BYTES))?;
    let signature = near.find("\n\n")? + 2;
    let end = near.get(signature..)?.find('\n')?;
    near.get(..=signature + end)
}

/// An entry of the journal. A value of several lines has its length before it.
fn entry(note: &str) -> Vec<u8> {
    let mut entry = b"SYSLOG_IDENTIFIER=stockade-checkpoint\nPRIORITY=6\nMESSAGE\n".to_vec();
    entry.extend(u64::try_from(note.len()).unwrap_or(0).to_le_bytes());
    entry.extend(note.as_bytes());
    entry.push(b'\n');
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_found_between_others_and_torn_ones() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
        let note = |origin: &str, size: u64| {
            let said = crate::checkpoint::Said {
                origin,
                size,
                root: [3; 32],
                head: &"a".repeat(64),
                time: "2026-11-25T00:00:00.000000Z".to_owned(),
                is_first: false,
                next: &key,
                recent: vec![7; 16],
            };
            said.signed_by(&key)
        };
        let (mine, other) = (note("stockade/a", 3), note("stockade/b", 9));
        for cut in 0..mine.len() {
            let Some(torn) = mine.get(..cut) else { continue };
            let text = format!("{other}{mine}{torn}{other}{}", note("stockade/a", 8));
            let sizes: Vec<u64> = notes_of(&text, "stockade/a").iter().map(|note| note.size).collect();
            assert_eq!(sizes, [3, 8], "{cut}");
        }
    }

    #[test]
    fn an_entry_is_as_the_journal_reads_it() {
        let entry = entry("a\nb\n");
        let value =
            entry.strip_prefix(b"SYSLOG_IDENTIFIER=stockade-checkpoint\nPRIORITY=6\nMESSAGE\n").unwrap();
        assert_eq!(value, b"\x04\0\0\0\0\0\0\0a\nb\n\n");
    }
}
