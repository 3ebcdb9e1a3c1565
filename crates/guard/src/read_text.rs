//! One file as text.

use std::io;
use std::path::Path;

use crate::files::{FileOptions, Gap, Named, Reader, Readings, Source, What, open_named};

/// A file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFile {
    /// The text.
    pub text: String,
    /// Whether the text is the file byte for byte. Else it was decoded, or lost bytes that are no text.
    pub as_stored: bool,
}

/// Reads one file or standard input whole, as [`scan_files`](crate::scan_files()) does.
///
/// # Errors
/// Why there is no text, or only a part of it.
pub fn read_text(source: &Source, options: &FileOptions) -> Result<TextFile, Gap> {
    let (what, path) = match source {
        Source::Stdin { name } => (What::Stdin, name.as_path()),
        Source::Path(path) => (open_file(path)?, path.as_path()),
    };
    let mut reader = Reader::new(options);
    match reader.read(what, path) {
        (_, Some(gap)) => Err(gap),
        (bytes, None) => {
            let text = Readings::of(bytes).text.into_owned();
            Ok(TextFile { as_stored: text.as_bytes() == bytes, text })
        }
    }
}

fn open_file(path: &Path) -> Result<What, Gap> {
    match open_named(path).map_err(Gap::Unreadable)? {
        Named::File(file) => Ok(What::Open(file)),
        Named::Folder(_) => Err(Gap::Unreadable(io::ErrorKind::IsADirectory.into())),
        Named::Special => Err(Gap::Special),
    }
}
