//! External witnesses of checkpoints: places from which an attacker with access to the user's account cannot remove them.
#![expect(clippy::disallowed_methods, reason = "writes to the anchors")]

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

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
    fn an_entry_is_as_the_journal_reads_it() {
        let entry = entry("a\nb\n");
        let value =
            entry.strip_prefix(b"SYSLOG_IDENTIFIER=stockade-checkpoint\nPRIORITY=6\nMESSAGE\n").unwrap();
        assert_eq!(value, b"\x04\0\0\0\0\0\0\0a\nb\n\n");
    }
}
