//! What to read, and how much of it.

use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Where bytes to read come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, or a folder with everything in it.
    Path(PathBuf),
    /// Standard input, read to its end.
    Stdin {
        /// What to call it in reports. The ending tells how to read it, as that of a file does.
        name: PathBuf,
    },
}

/// Limits on what is read. Each one that is hit becomes a [`Gap`](crate::Gap).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOptions {
    /// Bytes of one file. More of it is not read.
    pub max_file_bytes: usize,
    /// Files, links and other entries of all folders together.
    pub max_entries: usize,
    /// Folders within folders.
    pub max_depth: usize,
    /// Threads that read and scan. `None` takes one for each processor.
    pub threads: Option<NonZeroUsize>,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { max_file_bytes: 16 << 20, max_entries: 1_000_000, max_depth: 100, threads: None }
    }
}
