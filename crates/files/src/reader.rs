//! Bounded reading into a reused buffer.
#![expect(clippy::disallowed_methods, reason = "reads standard input when asked to")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::FileType;

use crate::folder::{FolderEntry, OpenFolder, kind_and_size_of};
use crate::gap::Gap;
use crate::walk::ToRead;

/// Buffer growth, so that a small file takes one read.
const ROOM: usize = 64 << 10;

/// The buffer grows when less room than this is left.
const LEAST_ROOM: usize = 4 << 10;

/// First bytes of a git pack.
const GIT_PACK: &[u8] = b"PACK";

/// Reads files one after another. Each thread has its own.
#[derive(Debug)]
pub struct FileReader {
    buffer: Vec<u8>,
    max_file_bytes: usize,
}

impl FileReader {
    /// Creates a reader that reads at most this many bytes of each file.
    #[must_use]
    pub const fn new(max_file_bytes: usize) -> Self {
        Self { buffer: Vec::new(), max_file_bytes }
    }

    /// Reads the file of a directory entry, never through a link. `path` is its display name.
    pub fn read_entry(
        &mut self,
        folder: &OpenFolder,
        entry: FolderEntry,
        path: &Path,
    ) -> (&[u8], Option<Gap>) {
        self.read(ToRead::Entry(folder.clone(), entry), path)
    }

    /// Reads an open file to its end. `path` is its display name.
    pub fn read_open(&mut self, file: OwnedFd, path: &Path) -> (&[u8], Option<Gap>) {
        self.read(ToRead::Open(file), path)
    }

    /// Returns the bytes that could be read, and the gap.
    pub(crate) fn read(&mut self, what: ToRead, path: &Path) -> (&[u8], Option<Gap>) {
        self.buffer.clear();
        let gap = match self.fill(what) {
            Err(gap) => Some(gap),
            Ok(()) if self.buffer.len() > self.max_file_bytes => Some(self.cut(path)),
            Ok(()) => None,
        };
        (&self.buffer, gap)
    }

    fn fill(&mut self, what: ToRead) -> Result<(), Gap> {
        match what {
            ToRead::Gap(gap) => return Err(gap),
            ToRead::Stdin => self.fill_from(io::stdin(), None),
            ToRead::Open(file) => self.fill_from(file, None),
            ToRead::Entry(folder, entry) => {
                let file = folder.open(&entry.name).map_err(Gap::Unreadable)?;
                // The listing may be outdated; only the type of the open file counts.
                let (kind, size) = kind_and_size_of(&file).map_err(Gap::Unreadable)?;
                match kind {
                    FileType::RegularFile => self.fill_from(file, Some(size)),
                    FileType::Directory => Err(io::Error::from(io::ErrorKind::IsADirectory)),
                    _ => return Err(Gap::Special),
                }
            }
        }
        .map_err(Gap::Unreadable)
    }

    /// Reads to the end, or one byte past the limit. If a regular file returned its whole size and left room in the
    /// buffer, its end was reached and is not asked for again.
    fn fill_from<Fd: AsFd>(&mut self, file: Fd, size: Option<u64>) -> io::Result<()> {
        while self.buffer.len() <= self.max_file_bytes {
            if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
                self.buffer.reserve(ROOM.min(self.max_file_bytes - self.buffer.len() + 1));
            }
            match rustix::io::read(&file, spare_capacity(&mut self.buffer)) {
                Ok(0) => break,
                Ok(_) if self.buffer.len() < self.buffer.capacity() && size == Some(self.len()) => break,
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Truncates the buffer to the limit.
    fn cut(&mut self, path: &Path) -> Gap {
        self.buffer.truncate(self.max_file_bytes);
        if self.buffer.starts_with(GIT_PACK) && in_git_pack_folder(path) {
            return Gap::GitPack;
        }
        Gap::TooLarge { max_file_bytes: self.max_file_bytes }
    }
}

/// Whether a file is in git's pack directory. Every larger repository has packs; they contain compressed data only.
fn in_git_pack_folder(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with(".git/objects/pack"))
}

#[cfg(test)]
mod tests {
    use super::in_git_pack_folder;
    use std::path::Path;

    #[test]
    fn git_packs_stand_in_one_place() {
        assert!(in_git_pack_folder(Path::new("x/.git/objects/pack/pack-1.pack")));
        assert!(!in_git_pack_folder(Path::new("x/objects/pack/pack-1.pack")));
        assert!(!in_git_pack_folder(Path::new("pack-1.pack")));
    }
}
