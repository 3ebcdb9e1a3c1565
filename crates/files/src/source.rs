//! Sources and limits of reading.

use std::num::NonZeroUsize;
use std::path::PathBuf;

/// A source of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, or a directory with everything in it.
    Path(PathBuf),
    /// Standard input, read to its end.
    Stdin {
        /// Display name. Its extension determines the format, as for a file.
        name: PathBuf,
    },
}

/// Limits on reading. A limit that is hit becomes a [`Gap`](crate::Gap).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOptions {
    /// Maximum bytes per file; the rest is not read.
    pub max_file_bytes: usize,
    /// Maximum number of files, links and other entries of all directories together.
    pub max_entries: usize,
    /// Maximum directory depth.
    pub max_depth: usize,
    /// Number of threads; `None` means one per processor.
    pub threads: Option<NonZeroUsize>,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { max_file_bytes: 16 << 20, max_entries: 1_000_000, max_depth: 100, threads: None }
    }
}
