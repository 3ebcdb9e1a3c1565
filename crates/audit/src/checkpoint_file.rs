//! The checkpoints beside a trail, read one after the other: of a long trail there are more than should be in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _};
use std::path::Path;

use stockade_files::regular_file::open_regular;

use crate::bytes::Bytes32;
use crate::checkpoint::Checkpoint;
use crate::register::Known;

/// The most bytes of checkpoints that are read.
pub(crate) const MAX_CHECKPOINT_BYTES: u64 = 256 << 20;

/// Reads checkpoints until the end, or until something else stands there.
pub(crate) struct Notes<R> {
    reader: R,
    lines: usize,
    has_failed: bool,
}

/// Something that is no checkpoint.
#[derive(Debug)]
pub(crate) enum NoNote {
    /// It begins at this line.
    Line(usize),
    /// The file ends in the middle of it, which begins at this line: its writer was killed, or the disk was full.
    Torn(usize, Vec<u8>),
    /// It cannot be read.
    Unreadable(io::Error),
}

/// The longest beginning of a checkpoint that is taken for one.
const MAX_TORN_BYTES: usize = 64 << 10;

impl NoNote {
    /// Whether it is the beginning of a checkpoint of this trail, which its writer could not finish. It proves nothing, so
    /// nothing is lost without it.
    pub(crate) fn is_torn(&self, origin: &str) -> bool {
        let Self::Torn(_, bytes) = self else { return false };
        let line = format!("{origin}\n");
        let (begun, line) = (bytes.as_slice(), line.as_bytes());
        bytes.len() <= MAX_TORN_BYTES && (begun.starts_with(line) || line.starts_with(begun))
    }
}

impl<R: BufRead> Notes<R> {
    pub(crate) const fn new(reader: R) -> Self {
        Self { reader, lines: 0, has_failed: false }
    }

    /// Reads a note: a text, an empty line, a signature.
    fn note(&mut self) -> Result<Option<Checkpoint>, NoNote> {
        let first = self.lines + 1;
        let mut note = Vec::new();
        let mut is_text = true;
        while is_text || !note.ends_with(b"\n") {
            // The line behind the empty one is the signature.
            is_text = !note.ends_with(b"\n\n");
            if self.line(&mut note)? == 0 {
                return if note.is_empty() { Ok(None) } else { Err(NoNote::Torn(first, note)) };
            }
        }
        let note = std::str::from_utf8(&note).ok().and_then(Checkpoint::read);
        note.map(Some).ok_or(NoNote::Line(first))
    }

    fn line(&mut self, note: &mut Vec<u8>) -> Result<usize, NoNote> {
        self.lines += 1;
        self.reader.read_until(b'\n', note).map_err(NoNote::Unreadable)
    }
}

impl<R: BufRead> Iterator for Notes<R> {
    type Item = Result<Checkpoint, NoNote>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let note = self.note();
        self.has_failed = note.is_err();
        note.transpose()
    }
}

/// What is known of checkpoints that were seen in their order.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The trail that they are of.
    origin: Option<String>,
    size: u64,
    /// The key that must have signed the next one.
    signs_next: Option<Bytes32>,
    unsound: Option<String>,
}

impl Chain {
    pub(crate) fn see(&mut self, checkpoint: &Checkpoint) {
        let size = checkpoint.size;
        let key = self.signs_next.or(checkpoint.key);
        let what = match key {
            None => Some("its first checkpoint is missing".to_owned()),
            Some(key) if !checkpoint.is_signed_by(&key) => Some(format!(
                "its checkpoint of {size} records is not signed by the key that the previous one announced"
            )),
            Some(_) if size < self.size => {
                Some(format!("its checkpoint of {size} records comes after one of {}", self.size))
            }
            Some(_) => None,
        };
        self.unsound = self.unsound.take().or(what);
        self.origin.get_or_insert_with(|| checkpoint.origin.clone());
        (self.size, self.signs_next) = (size, Some(checkpoint.next));
    }

    /// Returns the first thing that is wrong.
    pub(crate) fn unsound(self) -> Option<String> {
        self.unsound
    }
}

/// The checkpoints that lie beside a trail.
#[derive(Debug)]
pub(crate) struct CheckpointFile {
    file: File,
    /// How many there were when they were checked. More may have been written since.
    pub(crate) count: usize,
}

impl CheckpointFile {
    /// Reads and checks the checkpoints in a file, and adds what is wrong with them. There may be no such file.
    pub(crate) fn check(path: &Path, known: Option<&Known>, unsound: &mut Vec<String>) -> Option<Self> {
        let file = match open_regular(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                unsound.push(unreadable(&NoNote::Unreadable(error)));
                return None;
            }
        };
        let (mut count, mut chain, mut register) = (0, Chain::default(), known.map(Registered::new));
        let origin = known.map(|known| known.origin.as_str());
        for note in file.iter().flat_map(notes) {
            match note {
                Ok(checkpoint) => {
                    count += 1;
                    chain.see(&checkpoint);
                    register.iter_mut().for_each(|register| register.see(&checkpoint));
                }
                Err(error)
                    if chain.origin.as_deref().or(origin).is_some_and(|origin| error.is_torn(origin)) => {}
                Err(error) => {
                    unsound.push(unreadable(&error));
                    return None;
                }
            }
        }
        unsound.extend(chain.unsound());
        if register.is_some_and(|register| !register.agrees()) {
            unsound.push("its checkpoints are not those that were written".to_owned());
        }
        file.map(|file| Self { file, count })
    }

    /// Returns those that were checked, from the first.
    pub(crate) fn checkpoints(&self) -> impl Iterator<Item = Checkpoint> {
        let mut file = &self.file;
        let rewound = file.rewind().is_ok().then(|| notes(file));
        rewound.into_iter().flatten().map_while(Result::ok).take(self.count)
    }
}

fn notes(file: &File) -> Notes<BufReader<io::Take<&File>>> {
    Notes::new(BufReader::new(file.take(MAX_CHECKPOINT_BYTES)))
}

fn unreadable(error: &NoNote) -> String {
    match error {
        NoNote::Line(line) | NoNote::Torn(line, _) => {
            format!("its checkpoints cannot be read: line {line} is no checkpoint")
        }
        NoNote::Unreadable(error) => format!("its checkpoints cannot be read: {error}"),
    }
}

/// Whether checkpoints are those that the register knows, or go on behind them: a process may be killed when it has written a
/// checkpoint and not yet the register.
struct Registered<'k> {
    known: &'k Known,
    /// How long the checkpoints are up to the last one that the register knows.
    length: u64,
    /// The key that this one names.
    announced: Option<Bytes32>,
    /// Whether one came behind it.
    is_behind: bool,
    is_of_it: bool,
}

impl<'k> Registered<'k> {
    const fn new(known: &'k Known) -> Self {
        Self { known, length: 0, announced: None, is_behind: false, is_of_it: true }
    }

    fn see(&mut self, checkpoint: &Checkpoint) {
        self.is_of_it &= checkpoint.origin == self.known.origin;
        if self.length < self.known.checkpoint_bytes {
            self.length += checkpoint.length;
            self.announced = Some(checkpoint.next);
        } else if !self.is_behind {
            // Of those that follow it, each is signed by the key that the one before announced.
            self.is_behind = true;
            self.is_of_it &= checkpoint.is_signed_by(&self.known.public());
        }
    }

    fn agrees(&self) -> bool {
        let is_known = self.announced.is_none_or(|next| next == self.known.public());
        self.is_of_it && self.length == self.known.checkpoint_bytes && is_known
    }
}
