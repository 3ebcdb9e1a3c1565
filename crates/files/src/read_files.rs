//! Reads every file of every source on many threads and returns the results in order.

use std::ops::ControlFlow;
use std::path::Path;

use crate::folder::EntryKind;
use crate::gap::Gap;
use crate::in_order::in_order;
use crate::reader::FileReader;
use crate::source::{FileOptions, Source};
use crate::walk::{Exclude, Stop, Walk};

/// The content of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileBytes<'b> {
    /// Path of the file as it was reached: the source and the path below it.
    pub path: &'b Path,
    /// Its bytes, as far as they could be read.
    pub bytes: &'b [u8],
    /// The unread part, if any.
    pub gap: Option<Gap>,
}

impl<'b> FileBytes<'b> {
    /// Wraps the complete content of a file that was read elsewhere.
    #[must_use]
    pub const fn whole(path: &'b Path, bytes: &'b [u8]) -> Self {
        Self { path, bytes, gap: None }
    }
}

/// Reads every file of every source.
///
/// `look` receives each file on the thread that read it. Its result is passed to `take` in the order of the sources
/// and, within a directory, of the names, until `take` breaks. At most as many files as threads are in memory at a
/// time, so the size of a directory does not matter. Whatever could not be read is reported as a [`Gap`].
pub fn read_files<R: Send>(
    sources: &[Source],
    options: &FileOptions,
    look: impl Fn(FileBytes<'_>) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    read_files_except(sources, &|_, _| false, options, look, take);
}

/// Like [`read_files`], with exclusions: `exclude` is asked about every entry of a directory by its path below the
/// source. An excluded entry is not entered or opened, and is reported as [`Gap::Excluded`].
///
/// Exclusions must come from the caller, never from the directory that is read: it could hide itself.
pub fn read_files_except<R: Send>(
    sources: &[Source],
    exclude: &(dyn Fn(&Path, EntryKind) -> bool + Sync),
    options: &FileOptions,
    look: impl Fn(FileBytes<'_>) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    let stops = Walk::new(sources, Exclude(exclude), options);
    let new_reader = || FileReader::new(options.max_file_bytes);
    let read = |reader: &mut FileReader, stop: Stop| {
        let (bytes, gap) = reader.read(stop.what, &stop.path);
        look(FileBytes { path: &stop.path, bytes, gap })
    };
    in_order(options.threads, stops, new_reader, read, take);
}
