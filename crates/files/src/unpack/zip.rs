//! Zip: each member has a local header and a row in the central directory. Some programs follow the headers, most the
//! directory.

use std::collections::{BTreeMap, BTreeSet};

use flate2::bufread::DeflateDecoder;
use memchr::memmem;

use super::Opening;
use crate::gap::Unopened;

const HEAD: &[u8] = b"PK\x03\x04";
const HEAD_BYTES: usize = 30;
const ROW: &[u8] = b"PK\x01\x02";
const ROW_BYTES: usize = 46;
const END: &[u8] = b"PK\x05\x06";
/// Maximum distance of the end record from the end of the file: its own size and the longest comment.
const END_WITHIN: usize = 22 + 0xffff;

const ENCRYPTED: u16 = 1;
/// Flag: the sizes follow the data.
const SIZE_BEHIND: u16 = 8;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Value of a size or offset that is stored in a zip64 record instead.
const ELSEWHERE: usize = u32::MAX as usize;

/// Whether a program that searches from the end finds a zip.
pub(super) fn is_at_the_end(bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(END_WITHIN)..).unwrap_or_default();
    let Some(end) = memmem::rfind(tail, END) else { return false };
    let Some(end) = tail.get(end..) else { return false };
    // A text about zips may contain the signature; a real end record has a directory of the stated size before it.
    u32_at(end, 12).is_some_and(|size| size as usize <= bytes.len())
        && end.len() >= 22
        && memmem::find(bytes, ROW).is_some()
}

pub(super) fn open(bytes: &[u8], opening: &mut Opening<'_>) {
    let heads: BTreeSet<usize> = memmem::find_iter(bytes, HEAD).collect();
    let rows: BTreeMap<usize, Row<'_>> =
        memmem::find_iter(bytes, ROW).filter_map(|at| Row::read(bytes.get(at..)?)).collect();
    // Offsets count from the first byte of the archive, which need not be that of the file.
    let before = heads.first().copied().unwrap_or_default();
    let first = rows.keys().next().copied().unwrap_or_default();
    let shift = before.saturating_sub(first);
    for at in rows.keys() {
        if *at != ELSEWHERE && !heads.contains(at) && !heads.contains(&at.saturating_add(shift)) {
            opening.miss(Unopened::Damaged);
        }
    }
    for at in heads {
        let Some(member) = bytes.get(at..).and_then(Member::read) else {
            opening.miss(Unopened::Damaged);
            continue;
        };
        let row = rows.get(&at).or_else(|| rows.get(&at.checked_sub(shift)?));
        member.hand_on(row, opening);
    }
}

/// A row of the central directory.
struct Row<'b> {
    name: &'b [u8],
    packed: usize,
}

impl<'b> Row<'b> {
    /// Returns the offset of the member's header, and the row.
    fn read(bytes: &'b [u8]) -> Option<(usize, Self)> {
        let length = usize::from(u16_at(bytes, 28)?);
        let (at, packed) = (u32_at(bytes, 42)?, u32_at(bytes, 20)?);
        let name = bytes.get(ROW_BYTES..ROW_BYTES + length)?;
        Some((at as usize, Self { name, packed: packed as usize }))
    }
}

/// A local header and the data behind it.
struct Member<'b> {
    flags: u16,
    method: u16,
    name: &'b [u8],
    packed: usize,
    rest: &'b [u8],
}

impl<'b> Member<'b> {
    fn read(bytes: &'b [u8]) -> Option<Self> {
        let (name, extra) = (usize::from(u16_at(bytes, 26)?), usize::from(u16_at(bytes, 28)?));
        let begin = HEAD_BYTES + name;
        Some(Self {
            flags: u16_at(bytes, 6)?,
            method: u16_at(bytes, 8)?,
            name: bytes.get(HEAD_BYTES..begin)?,
            packed: u32_at(bytes, 18)? as usize,
            rest: bytes.get(begin + extra..)?,
        })
    }

    fn hand_on(&self, row: Option<&Row<'_>>, opening: &mut Opening<'_>) {
        if self.name.ends_with(b"/") && self.packed == 0 {
            return;
        }
        let name = row.map_or(self.name, |row| row.name);
        match self.method {
            _ if self.flags & ENCRYPTED != 0 => opening.miss(Unopened::Encrypted),
            DEFLATED => opening.packed(name, DeflateDecoder::new(self.rest)),
            STORED => opening.stored(name, self.stored(row)),
            _ => opening.miss(Unopened::UnknownMethod),
        }
    }

    /// Returns the data of an uncompressed member: as long as the header or the directory states, whichever is
    /// longer; if the size follows the data, all of the rest.
    fn stored(&self, row: Option<&Row<'_>>) -> &'b [u8] {
        let packed = self.packed.max(row.map_or(0, |row| row.packed));
        let is_behind = packed == 0 && self.flags & SIZE_BEHIND != 0;
        if is_behind { self.rest } else { self.rest.get(..packed).unwrap_or(self.rest) }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}
