//! Digests of what an answer is bound to.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use stockade_files::{OpenedPath, open_path};
use stockade_policy::commands::answers::AskedDigest;

/// The most bytes of all files together that are read for one question.
const MAX_BYTES: u64 = 64 << 20;

/// Devices that hold nothing of their own.
const EMPTY: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// Makes a digest of parts, none of which can be taken for the end of another.
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

/// Returns a digest as it is written down.
pub(super) fn name(digest: &AskedDigest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is under the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "is", content = "digest")]
pub(super) enum FileState {
    /// A file with these bytes.
    File(String),
    /// A folder, whose files are not looked at.
    Folder,
    /// A device that holds nothing.
    Device,
    /// No file of this name.
    Absent,
}

/// Looks at files, as many bytes as may be read. Those that are not there are told apart from those that are: one that
/// appears later changes the meaning of a command too.
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
            Ok(None) => Err(format!("the files that it names have more than {} MiB", MAX_BYTES >> 20)),
            Err(error) => failed(&error),
        },
        Ok(OpenedPath::Folder(_)) => Ok(FileState::Folder),
        Ok(OpenedPath::Special) if EMPTY.iter().any(|known| Path::new(known) == path) => {
            Ok(FileState::Device)
        }
        Ok(OpenedPath::Special) => failed(&"it is a pipe, a socket or a device"),
        // A name that is too long, or goes through a file, is that of nothing.
        Err(error) if is_absent(&error) => Ok(FileState::Absent),
        Err(error) => failed(&error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

/// Returns the digest of a file; nothing where it has more bytes than are left.
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
