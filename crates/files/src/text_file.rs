//! Reads one file as text.

use std::io;
use std::path::Path;

use crate::folder::{OpenedPath, open_path};
use crate::gap::Gap;
use crate::reader::FileReader;
use crate::source::{FileOptions, Source};
use crate::text_readings::TextReadings;
use crate::walk::ToRead;

/// A file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFile {
    /// The text.
    pub text: String,
    /// Whether the text equals the file byte for byte. Otherwise it was decoded, or lost invalid bytes.
    pub as_stored: bool,
}

impl TextFile {
    /// Wraps a text that equals its file.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self { text: text.to_owned(), as_stored: true }
    }
}

/// Reads one file or standard input completely, as [`read_files`](crate::read_files()) does.
///
/// # Errors
/// Why there is no text, or only a part of it.
pub fn read_text(source: &Source, options: &FileOptions) -> Result<TextFile, Gap> {
    let (what, path) = match source {
        Source::Stdin { name } => (ToRead::Stdin, name.as_path()),
        Source::Path(path) => (open_file(path)?, path.as_path()),
    };
    let mut reader = FileReader::new(options.max_file_bytes);
    match reader.read(what, path) {
        (_, Some(gap)) => Err(gap),
        (bytes, None) => {
            let text = TextReadings::of(bytes).text.into_owned();
            Ok(TextFile { as_stored: text.as_bytes() == bytes, text })
        }
    }
}

fn open_file(path: &Path) -> Result<ToRead, Gap> {
    match open_path(path).map_err(Gap::Unreadable)? {
        OpenedPath::File(file) => Ok(ToRead::Open(file)),
        OpenedPath::Folder(_) => Err(Gap::Unreadable(io::ErrorKind::IsADirectory.into())),
        OpenedPath::Special => Err(Gap::Special),
    }
}
