//! What is packed in a file: the members of archives, and the texts of documents.
//!
//! Two programs that open one archive may see two archives: one goes by the list at the end, the next by the head of each member,
//! a third finds a head within what the first took for data. So every member that *any* of them could find is handed on, wherever
//! its head stands, and what two lists disagree about is a [`Gap`]. Bytes, members and names are bounded.

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

/// What stands between the name of an archive and that of its member.
const WITHIN: &str = "!";

/// The longest name of a member that is repeated.
const MAX_NAME: usize = 1000;

/// Bounds on what is unpacked of one file, with all that is packed in its members. Whoever unpacks these hands on the same.
#[derive(Debug)]
pub struct UnpackBudget {
    bytes: usize,
    members: usize,
    depth: usize,
    max_file_bytes: usize,
}

impl UnpackBudget {
    /// Archives within archives that are looked into.
    const MAX_DEPTH: usize = 4;
    const MAX_MEMBERS: usize = 10_000;
    /// Files that are packed to do no harm become at most so many times larger.
    const MAX_RATIO: usize = 100;
    /// What a small archive may become, whatever its size.
    const LEAST: usize = 1 << 20;
    const MOST: usize = 64 << 20;

    /// Returns the bounds for a file of so many bytes. No member is read beyond `max_file_bytes`.
    #[must_use]
    pub fn for_file(bytes: usize, max_file_bytes: usize) -> Self {
        let bytes = bytes.saturating_mul(Self::MAX_RATIO).clamp(Self::LEAST, Self::MOST);
        Self { bytes, members: Self::MAX_MEMBERS, depth: Self::MAX_DEPTH, max_file_bytes }
    }

    /// Takes one member out of the budget.
    fn member(&mut self) -> Result<(), Unopened> {
        self.members = self.members.checked_sub(1).ok_or(Unopened::TooMany)?;
        Ok(())
    }

    /// How many bytes the next member may have.
    fn room(&self) -> usize {
        self.bytes.min(self.max_file_bytes)
    }

    /// Reads a stream as far as there is room. What broke off or was cut comes with its reason. What was read costs as well as what
    /// came out: many members may share one stream, and a stream may be long and hold nothing.
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

    /// Takes bytes that are there as they are.
    fn stored<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], Option<Unopened>) {
        let kept = bytes.get(..self.room()).unwrap_or(bytes);
        self.bytes -= kept.len();
        (kept, (kept.len() < bytes.len()).then_some(Unopened::TooLarge))
    }
}

/// A stream that is inflated as it is read.
trait Inflate: Read {
    /// How many bytes of what is packed were read.
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
        // Nothing is left of it that another member could share.
        0
    }
}

/// What is said of a file after it was looked into.
#[derive(Debug)]
pub enum Packed {
    /// Nothing is packed in it that anybody here knows of.
    Nothing,
    /// All that is packed in it was handed on.
    Whole,
    /// Something in it was not handed on, or not all of it.
    Partly(Gap),
}

/// Hands on each file that is packed in one, and each text of a document, under the name of the file, `!` and its own name. What is
/// packed in those is not: whoever gets them may ask again with the same budget.
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

/// The formats that are looked into, by how a file begins.
const FORMATS: &[(usize, &[u8], &str, Open)] = &[
    (0, b"PK\x03\x04", "zip", zip::open),
    (0, b"PK\x05\x06", "zip", zip::open),
    (0, b"PK\x07\x08", "zip", zip::open),
    (0, b"\x1f\x8b", "gzip", open_gzip),
    (257, b"ustar", "tar", tar::open),
    (0, b"%PDF-", "PDF", pdf::open),
];

/// The formats that nobody here looks into.
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
    // A zip is read from its end, so that anything may stand before it.
    let row = row.map(|(.., format, open)| (*format, *open));
    row.or_else(|| zip::is_at_the_end(bytes).then_some(("zip", zip::open as Open)))
}

fn other_format(bytes: &[u8]) -> Option<&'static str> {
    OTHERS.iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, format)| *format)
}

/// One archive that is being looked into.
struct Opening<'o> {
    path: &'o Path,
    budget: &'o mut UnpackBudget,
    each: &'o mut dyn FnMut(FileBytes<'_>, &mut UnpackBudget),
    worst: Option<Unopened>,
}

impl Opening<'_> {
    /// Says that something was not looked at. The first reason is kept.
    fn miss(&mut self, why: Unopened) {
        self.worst.get_or_insert(why);
    }

    /// Whether there is room for one more member.
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

    /// Hands on a member that is compressed.
    fn packed(&mut self, name: &[u8], from: impl Inflate) {
        if self.takes_one() {
            let (bytes, why) = self.budget.read(from);
            self.hand_on(name, &bytes, why);
        }
    }

    /// Hands on a member that is there as it is.
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
        // Markup splits words that whoever reads the document sees as one.
        if let Some(text) = text_of_markup(name, bytes) {
            self.show(&named(&path, b"text"), text.as_bytes());
        }
    }

    fn show(&mut self, path: &Path, bytes: &[u8]) {
        (self.each)(FileBytes::whole(path, bytes), self.budget);
    }
}

/// The name of a member. It is never opened: what leads out of the archive is as good a name as any other.
fn named(archive: &Path, name: &[u8]) -> PathBuf {
    let name = String::from_utf8_lossy(name.get(..MAX_NAME).unwrap_or(name));
    let mut path = archive.as_os_str().to_owned();
    path.push(WITHIN);
    path.push("/");
    path.push(name.trim_start_matches('/').replace('\0', "\u{fffd}"));
    path.into()
}

fn open_gzip(bytes: &[u8], opening: &mut Opening<'_>) {
    // What it is called does not matter: what is in it tells what it is.
    let name = opening.path.file_stem().unwrap_or_default().as_encoded_bytes().to_vec();
    opening.packed(&name, MultiGzDecoder::new(bytes));
}
