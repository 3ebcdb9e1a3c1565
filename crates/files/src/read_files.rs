//! Every file of every source, read on many threads and handed on in order.

use std::ops::ControlFlow;
use std::path::Path;

use crate::folder::EntryKind;
use crate::gap::Gap;
use crate::in_order::in_order;
use crate::reader::FileReader;
use crate::source::{FileOptions, Source};
use crate::walk::{Exclude, Stop, Walk};

/// What was read of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileBytes<'b> {
    /// The file, named as it was reached: the source and the way from there.
    pub path: &'b Path,
    /// Its bytes, or as many of them as could be read.
    pub bytes: &'b [u8],
    /// What was not read of it, if anything.
    pub gap: Option<Gap>,
}

impl<'b> FileBytes<'b> {
    /// Bytes that are all of a file, which was read elsewhere.
    #[must_use]
    pub const fn whole(path: &'b Path, bytes: &'b [u8]) -> Self {
        Self { path, bytes, gap: None }
    }
}

/// Reads every file of every source.
///
/// `look` sees each file on the thread that read it and says what to keep. What it returns is handed to `take` in the
/// order of the sources and, within a folder, of the names, until `take` breaks off. At any time, the files in memory
/// are at most as many as the threads, so the size of a folder does not matter. Whatever could not be read is handed on as
/// a [`Gap`]: nothing is left out in silence.
pub fn read_files<R: Send>(
    sources: &[Source],
    options: &FileOptions,
    look: impl Fn(FileBytes<'_>) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    read_files_except(sources, &|_, _| false, options, look, take);
}

/// As [`read_files`], but for what the caller excludes: `exclude` is asked about every entry of a folder, by the way to it from the
/// folder that was named. What it excludes is not entered and not opened, and handed on as [`Gap::Excluded`].
///
/// What is excluded must come from whoever asks for the reading, never from the folder that is read: it would hide itself.
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
