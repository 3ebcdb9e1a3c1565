//! Extracts the members of archives and the texts of documents.
//!
//! Two programs that open one archive may see two archives: one follows the central directory at the end, another the
//! header of each member, a third finds a header within another member's data. So every member that *any* program
//! could find is extracted, wherever its header is, and a disagreement between two lists is a [`Gap`]. Bytes, members
//! and names are bounded.

mod document;
mod pdf;
mod tar;
#[cfg(test)]
mod tests;
mod zip;

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::gap::{Gap, Unopened};
use crate::read_files::FileBytes;
use document::text_of_markup;

/// Separator between the path of an archive and the name of its member.
const WITHIN: &str = "!";

/// Longest member name that is reported.
const MAX_NAME: usize = 1000;

/// Limits on unpacking one file, including nested archives. Nested calls share it.
#[derive(Debug)]
pub struct UnpackBudget {
    bytes: usize,
    members: usize,
    depth: usize,
    max_file_bytes: usize,
}

impl UnpackBudget {
    /// Maximum nesting of archives.
    const MAX_DEPTH: usize = 4;
    const MAX_MEMBERS: usize = 10_000;
    /// Maximum expansion ratio of harmless files.
    const MAX_RATIO: usize = 100;
    /// Expansion that a small archive may reach, whatever its ratio.
    const LEAST: usize = 1 << 20;
    const MOST: usize = 64 << 20;

    /// Returns the limits for a file of `bytes` bytes. No member is read beyond `max_file_bytes`.
    #[must_use]
    pub fn for_file(bytes: usize, max_file_bytes: usize) -> Self {
        let bytes = bytes.saturating_mul(Self::MAX_RATIO).clamp(Self::LEAST, Self::MOST);
        Self { bytes, members: Self::MAX_MEMBERS, depth: Self::MAX_DEPTH, max_file_bytes }
    }

    /// Counts one member.
    fn member(&mut self) -> Result<(), Unopened> {
        self.members = self.members.checked_sub(1).ok_or(Unopened::TooMany)?;
        Ok(())
    }

    /// Returns the maximum size of the next member.
    fn room(&self) -> usize {
        self.bytes.min(self.max_file_bytes)
    }

    /// Reads a stream within the budget. A truncated or cut result has a reason. The compressed input counts as well
    /// as the output: many members may share one stream, and a long stream may decompress to nothing.
    fn read(&mut self, mut from: impl Inflate) -> (Vec<u8>, Option<Unopened>) {
        let room = self.room();
        let mut bytes = Vec::new();
        let end = from.by_ref().take(room as u64 + 1).read_to_end(&mut bytes);
        let gap = if bytes.len() > room {
            bytes.truncate(room);
            Some(Unopened::TooLarge)
        } else {
            end.is_err().then_some(Unopened::Damaged)
        };
        let used = usize::try_from(from.used()).unwrap_or(usize::MAX);
        self.bytes = self.bytes.saturating_sub(bytes.len()).saturating_sub(used);
        (bytes, gap)
    }

    /// Charges uncompressed bytes to the budget.
    fn stored<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], Option<Unopened>) {
        let kept = bytes.get(..self.room()).unwrap_or(bytes);
        self.bytes -= kept.len();
        (kept, (kept.len() < bytes.len()).then_some(Unopened::TooLarge))
    }
}

/// A stream that is inflated while it is read.
trait Inflate: Read {
    /// Returns the number of compressed bytes that were read.
    fn used(&self) -> u64;
}

impl Inflate for DeflateDecoder<&[u8]> {
    fn used(&self) -> u64 {
        self.total_in()
    }
}

impl Inflate for ZlibDecoder<&[u8]> {
    fn used(&self) -> u64 {
        self.total_in()
    }
}

impl Inflate for MultiGzDecoder<&[u8]> {
    fn used(&self) -> u64 {
        // It is consumed; no other member could share it.
        0
    }
}

/// Result of unpacking a file.
#[derive(Debug)]
pub enum Packed {
    /// The file is not a known archive or document.
    Nothing,
    /// All members were extracted.
    Whole,
    /// Some members were not extracted, or only partly.
    Partly(Gap),
}

/// Extracts each member of an archive and each text of a document, named by the path of the file, `!` and its own
/// name. Nested archives are not opened: the callee may call this again with the same budget.
pub fn unpack(
    file: &FileBytes<'_>,
    budget: &mut UnpackBudget,
    each: &mut dyn FnMut(FileBytes<'_>, &mut UnpackBudget),
) -> Packed {
    let Some((format, open)) = format_of(file.bytes) else {
        return match other_format(file.bytes) {
            Some(format) => Packed::Partly(Gap::Unopened { format, why: Unopened::UnknownFormat }),
            None => Packed::Nothing,
        };
    };
    let mut opening = Opening { path: file.path, budget, each, worst: None };
    if opening.budget.depth == 0 {
        opening.miss(Unopened::TooDeep);
    } else {
        opening.budget.depth -= 1;
        open(file.bytes, &mut opening);
        opening.budget.depth += 1;
    }
    match opening.worst {
        Some(why) => Packed::Partly(Gap::Unopened { format, why }),
        None => Packed::Whole,
    }
}

type Open = fn(&[u8], &mut Opening<'_>);

/// Supported formats, by their first bytes.
const FORMATS: &[(usize, &[u8], &str, Open)] = &[
    (0, b"PK\x03\x04", "zip", zip::open),
    (0, b"PK\x05\x06", "zip", zip::open),
    (0, b"PK\x07\x08", "zip", zip::open),
    (0, b"\x1f\x8b", "gzip", open_gzip),
    (257, b"ustar", "tar", tar::open),
    (0, b"%PDF-", "PDF", pdf::open),
];

/// Known formats that are not supported.
const OTHERS: &[(&[u8], &str)] = &[
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"MSCF\0\0\0\0", "cab"),
    (b"!<arch>\n", "ar"),
    (b"\xed\xab\xee\xdb", "rpm"),
    (b"xar!", "xar"),
    (b"Cr24", "crx"),
    (b"hsqs", "squashfs"),
];

fn format_of(bytes: &[u8]) -> Option<(&'static str, Open)> {
    let begins = |at: usize, begin: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(begin));
    let row = FORMATS.iter().find(|(at, begin, ..)| begins(*at, begin));
    // A zip is read from its end, so anything may precede it.
    let row = row.map(|(.., format, open)| (*format, *open));
    row.or_else(|| zip::is_at_the_end(bytes).then_some(("zip", zip::open as Open)))
}

fn other_format(bytes: &[u8]) -> Option<&'static str> {
    OTHERS.iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, format)| *format)
}

/// One archive that is being unpacked.
struct Opening<'o> {
    path: &'o Path,
    budget: &'o mut UnpackBudget,
    each: &'o mut dyn FnMut(FileBytes<'_>, &mut UnpackBudget),
    worst: Option<Unopened>,
}

impl Opening<'_> {
    /// Records that something was not extracted. The first reason is kept.
    fn miss(&mut self, why: Unopened) {
        self.worst.get_or_insert(why);
    }

    /// Whether the budget has room for one more member.
    fn takes_one(&mut self) -> bool {
        match self.budget.member() {
            Ok(()) if self.budget.bytes > 0 => true,
            Ok(()) => {
                self.miss(Unopened::TooLarge);
                false
            }
            Err(why) => {
                self.miss(why);
                false
            }
        }
    }

    /// Passes on a compressed member.
    fn packed(&mut self, name: &[u8], from: impl Inflate) {
        if self.takes_one() {
            let (bytes, why) = self.budget.read(from);
            self.hand_on(name, &bytes, why);
        }
    }

    /// Passes on an uncompressed member.
    fn stored(&mut self, name: &[u8], bytes: &[u8]) {
        if self.takes_one() {
            let (bytes, why) = self.budget.stored(bytes);
            self.hand_on(name, bytes, why);
        }
    }

    fn hand_on(&mut self, name: &[u8], bytes: &[u8], why: Option<Unopened>) {
        if let Some(why) = why {
            self.miss(why);
        }
        let path = named(self.path, name);
        self.show(&path, bytes);
        // Markup splits words that a reader of the document sees as one.
        if let Some(text) = text_of_markup(name, bytes) {
            self.show(&named(&path, b"text"), text.as_bytes());
        }
    }

    fn show(&mut self, path: &Path, bytes: &[u8]) {
        (self.each)(FileBytes::whole(path, bytes), self.budget);
    }
}

/// Returns the display path of a member. It is never opened, so a name that leads out of the archive is harmless.
fn named(archive: &Path, name: &[u8]) -> PathBuf {
    let name = String::from_utf8_lossy(name.get(..MAX_NAME).unwrap_or(name));
    let mut path = archive.as_os_str().to_owned();
    path.push(WITHIN);
    path.push("/");
    path.push(name.trim_start_matches('/').replace('\0', "\u{fffd}"));
    path.into()
}

fn open_gzip(bytes: &[u8], opening: &mut Opening<'_>) {
    // The name does not matter: the content determines the format.
    let name = opening.path.file_stem().unwrap_or_default().as_encoded_bytes().to_vec();
    opening.packed(&name, MultiGzDecoder::new(bytes));
}
