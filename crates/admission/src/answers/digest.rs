//! Digests of everything that an answer is bound to.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use stockade_command::answers::AskedDigest;
use stockade_files::{OpenedPath, open_path};

/// Maximum total size of the files that are read for one question.
const MAX_BYTES: u64 = 64 << 20;

/// Devices without content of their own.
const EMPTY: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// Digests parts so that the end of one cannot be confused with the start of another.
#[derive(Clone)]
pub(super) struct Digester(Sha256);

impl Digester {
    pub(super) fn new(purpose: &str) -> Self {
        Self(Sha256::new()).with(purpose.as_bytes())
    }

    pub(super) fn with(mut self, part: &[u8]) -> Self {
        self.0.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        self.0.update(part);
        self
    }

    pub(super) fn end(self) -> AskedDigest {
        self.0.finalize().into()
    }
}

/// Returns the written form of a digest.
pub(super) fn name(digest: &AskedDigest) -> String {
    stockade_text::to_hex(digest)
}

/// State of a file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "is", content = "digest")]
pub(super) enum FileState {
    /// A file with this digest.
    File(String),
    /// A directory, whose files are not read.
    Folder,
    /// A device without content.
    Device,
    /// The file does not exist.
    Absent,
}

/// Reads files within the size limit. Missing files are recorded as such: a file that appears later changes the
/// meaning of a command too.
pub(super) fn look(files: impl IntoIterator<Item = PathBuf>) -> Result<BTreeMap<PathBuf, FileState>, String> {
    let mut left = MAX_BYTES;
    files.into_iter().map(|path| Ok((path.clone(), state(&path, &mut left)?))).collect()
}

fn state(path: &Path, left: &mut u64) -> Result<FileState, String> {
    let failed = |error: &dyn std::fmt::Display| {
        Err(format!("{} cannot be read: {error}", stockade_text::escape_path(path)))
    };
    match open_path(path) {
        Ok(OpenedPath::File(file)) => match hashed(File::from(file), left) {
            Ok(Some(digest)) => Ok(FileState::File(digest)),
            Ok(None) => Err(format!("the files in the command have more than {} MiB", MAX_BYTES >> 20)),
            Err(error) => failed(&error),
        },
        Ok(OpenedPath::Folder(_)) => Ok(FileState::Folder),
        Ok(OpenedPath::Special) if EMPTY.iter().any(|known| Path::new(known) == path) => {
            Ok(FileState::Device)
        }
        Ok(OpenedPath::Special) => failed(&"it is a pipe, a socket or a device"),
        // A name that is too long, or passes through a file, cannot exist.
        Err(error) if is_absent(&error) => Ok(FileState::Absent),
        Err(error) => failed(&error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

/// Returns the digest of a file, or `None` if it exceeds the remaining size.
fn hashed(mut file: File, left: &mut u64) -> io::Result<Option<String>> {
    let mut hash = Sha256::new();
    let mut chunk = [0; 16 << 10];
    loop {
        let read = match file.read(&mut chunk) {
            Ok(0) => return Ok(Some(name(&hash.finalize().into()))),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let Some(rest) = left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX)) else { return Ok(None) };
        *left = rest;
        hash.update(chunk.get(..read).unwrap_or_default());
    }
}
