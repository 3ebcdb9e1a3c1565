//! Reads git's index, as far as submodules and file contents are concerned: gitformat-index(5).

/// Hash function of object ids, which determines their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectId {
    /// Twenty bytes, the usual case.
    Sha1,
    /// Thirty-two bytes, if `extensions.objectFormat` is set so.
    Sha256,
}

impl ObjectId {
    const fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// Why an index could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitIndexError {
    /// It is not an index, is truncated, or contradicts itself.
    #[error("the git index is invalid")]
    Broken,
    /// A part of it is stored in another file, or in objects.
    #[error("the git index is split or sparse")]
    Elsewhere,
}
use GitIndexError::{Broken, Elsewhere};

/// Offsets of the seconds of both times, the inode number, the mode, the size and the object id in an entry.
const CHANGED: usize = 0;
const MODIFIED: usize = 8;
const INODE: usize = 20;
const MODE: usize = 24;
const SIZE: usize = 36;
const ID: usize = 40;

/// The mode bits with the type of an entry, and their values.
const KIND: usize = 0o170_000;
const FILE: usize = 0o100_000;
const SUBMODULE: usize = 0o160_000;
const FOLDER: usize = 0o040_000;

/// Flags of an unmerged entry.
const STAGE: u16 = 0x3000;

/// Flag of an entry that counts as unchanged, and the one among the extended flags of an entry that is not checked out.
const ASSUMED: u16 = 0x8000;
const SKIPPED: u16 = 0x4000;

/// Names from this length on are stored without their length.
const LONG_NAME: usize = 0xfff;

/// Returns the paths of all submodules in an index, relative to the top of the worktree. Takes time linear in the
/// index and in the expanded names.
///
/// # Errors
/// When it is not an index, or is incomplete.
pub fn submodule_paths(index: &[u8], id: ObjectId) -> Result<Vec<Vec<u8>>, GitIndexError> {
    let mut found = Vec::new();
    each(index, id, |entry, path| {
        if entry.mode & KIND == SUBMODULE {
            found.push(path.to_vec());
        }
    })?;
    Ok(found)
}

/// A file in the index: the content that the next commit would have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexedFile {
    /// Path relative to the top of the worktree.
    pub path: Vec<u8>,
    /// Id of its content: [`blob_id`](crate::blob_id).
    pub blob: Vec<u8>,
}

/// Returns the wanted files of an index, without unmerged ones. Takes time linear in the index and in the expanded
/// names.
///
/// # Errors
/// When it is not an index, or is incomplete.
pub fn indexed_files(
    index: &[u8],
    id: ObjectId,
    mut is_wanted: impl FnMut(&[u8]) -> bool,
) -> Result<Vec<IndexedFile>, GitIndexError> {
    let mut found = Vec::new();
    each(index, id, |entry, path| {
        let is_certain = entry.flags & STAGE == 0 && entry.mode & KIND == FILE;
        if is_certain && is_wanted(path) {
            found.push(IndexedFile { path: path.to_vec(), blob: entry.object.to_vec() });
        }
    })?;
    Ok(found)
}

/// A file in the index, and the state in which git last saw it in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatedFile {
    /// Path relative to the top of the worktree.
    pub path: Vec<u8>,
    /// Id of its content: [`blob_id`](crate::blob_id).
    pub blob: Vec<u8>,
    /// Times of the last change of the inode and of the content, in seconds since 1970.
    pub changed: u32,
    /// The second of them.
    pub modified: u32,
    /// The lower half of the inode number.
    pub inode: u32,
    /// The lower half of the size.
    pub size: u32,
}

/// Returns the files of an index that git saw changed at this second or later. It takes a file that is in the stated state for
/// unchanged, and does not read it. Takes time linear in the index and in the expanded names.
///
/// # Errors
/// When it is not an index, or is incomplete.
pub fn files_stated_since(index: &[u8], id: ObjectId, since: u32) -> Result<Vec<StatedFile>, GitIndexError> {
    let mut found = Vec::new();
    each(index, id, |entry, path| {
        let is_certain = entry.flags & STAGE == 0 && entry.mode & KIND == FILE;
        let word = |offset| index.get(entry.start + offset..).and_then(|rest| rest.first_chunk());
        let stated = [CHANGED, MODIFIED, INODE, SIZE]
            .map(|offset| word(offset).map_or(0, |four| u32::from_be_bytes(*four)));
        let [changed, modified, inode, size] = stated;
        if is_certain && changed >= since {
            let (path, blob) = (path.to_vec(), entry.object.to_vec());
            found.push(StatedFile { path, blob, changed, modified, inode, size });
        }
    })?;
    Ok(found)
}

/// Returns a digest of every path's content, type and merge state in an index. Timestamps are ignored. The digest is
/// stable only within one build of the program.
///
/// # Errors
/// When it is not an index, or is incomplete.
pub fn index_digest(index: &[u8], id: ObjectId) -> Result<u64, GitIndexError> {
    let mut hasher = std::hash::DefaultHasher::new();
    each(index, id, |entry, path| {
        std::hash::Hash::hash(&(entry.mode, entry.object, entry.flags, path), &mut hasher);
    })?;
    Ok(std::hash::Hasher::finish(&hasher))
}

/// Returns a digest of the paths that git does not compare with the worktree (`assume-unchanged`, `skip-worktree`), so that
/// `git status` shows no change of them; nothing without such paths. It is stable only within one build of the program.
///
/// # Errors
/// When it is not an index, or is incomplete.
pub(crate) fn overlooked_digest(index: &[u8], id: ObjectId) -> Result<Option<u64>, GitIndexError> {
    let mut hasher = std::hash::DefaultHasher::new();
    let mut is_any = false;
    each(index, id, |entry, path| {
        if entry.flags & ASSUMED != 0 || entry.more_flags & SKIPPED != 0 {
            is_any = true;
            std::hash::Hash::hash(path, &mut hasher);
        }
    })?;
    Ok(is_any.then(|| std::hash::Hasher::finish(&hasher)))
}

/// Calls `show` with each entry and its path.
fn each(index: &[u8], id: ObjectId, mut show: impl FnMut(&Entry<'_>, &[u8])) -> Result<(), GitIndexError> {
    let version = number(index, 4)?;
    if index.get(..4) != Some(b"DIRC") || !(2..=4).contains(&version) {
        return Err(Broken);
    }
    let count = number(index, 8)?;
    let mut entries = Entries { index, at: 12, id, version, name: Vec::new(), starts: Vec::new() };
    for _ in 0..count {
        let entry = entries.next()?;
        if entry.mode & KIND == FOLDER {
            return Err(Elsewhere);
        }
        show(&entry, &entries.name);
    }
    entries.extensions()
}

fn number(bytes: &[u8], at: usize) -> Result<usize, GitIndexError> {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(Broken)?;
    usize::try_from(u32::from_be_bytes(*four)).map_err(|_| Broken)
}

/// The fixed part of an entry, before its path.
struct Entry<'i> {
    /// Its offset in the index.
    start: usize,
    mode: usize,
    /// Object id.
    object: &'i [u8],
    flags: u16,
    /// Flags of version 3 and later.
    more_flags: u16,
}

struct Entries<'i> {
    index: &'i [u8],
    at: usize,
    id: ObjectId,
    version: usize,
    /// Name of the previous entry.
    name: Vec<u8>,
    /// Start of each entry, and whether its name shares a prefix with the one before.
    starts: Vec<(usize, bool)>,
}

impl<'i> Entries<'i> {
    /// Reads one entry.
    fn next(&mut self) -> Result<Entry<'i>, GitIndexError> {
        let start = self.at;
        let mode = number(self.index, start + MODE)?;
        let flags_at = start + ID + self.id.bytes();
        let object = self.index.get(start + ID..flags_at).ok_or(Broken)?;
        let flags = self.index.get(flags_at..).and_then(|rest| rest.first_chunk()).ok_or(Broken)?;
        let flags = u16::from_be_bytes(*flags);
        let is_extended = self.version >= 3 && flags & 0x4000 != 0;
        let name_at = flags_at + if is_extended { 4 } else { 2 };
        let more_flags = self.index.get(flags_at + 2..).and_then(|rest| rest.first_chunk());
        let more_flags = more_flags.filter(|_| is_extended).map_or(0, |flags| u16::from_be_bytes(*flags));
        let length = usize::from(flags) & LONG_NAME;
        if self.version == 4 {
            self.shortened(name_at, length)?;
        } else {
            self.whole(start, name_at, length)?;
        }
        Ok(Entry { start, mode, object, flags, more_flags })
    }

    /// Reads an uncompressed name; zeros pad the entry to a multiple of eight.
    fn whole(&mut self, start: usize, name_at: usize, length: usize) -> Result<(), GitIndexError> {
        let rest = self.index.get(name_at..).ok_or(Broken)?;
        let length = if length == LONG_NAME { end_of(rest)? } else { length };
        self.name.clear();
        self.name.extend_from_slice(named(rest, length)?);
        self.starts.push((start, false));
        self.at = start + ((name_at - start + length + 8) & !7);
        Ok(())
    }

    /// Reads a name without the prefix that it shares with the previous one.
    fn shortened(&mut self, name_at: usize, length: usize) -> Result<(), GitIndexError> {
        let (dropped, suffix_at) = self.varint(name_at)?;
        let kept = self.name.len().checked_sub(dropped).ok_or(Broken)?;
        let rest = self.index.get(suffix_at..).ok_or(Broken)?;
        let length =
            if length == LONG_NAME { end_of(rest)? } else { length.checked_sub(kept).ok_or(Broken)? };
        self.name.truncate(kept);
        self.name.extend_from_slice(named(rest, length)?);
        self.starts.push((self.at, kept > 0));
        self.at = suffix_at + length + 1;
        Ok(())
    }

    /// Decodes git's variable-length integer; returns it and the offset behind it.
    fn varint(&self, mut at: usize) -> Result<(usize, usize), GitIndexError> {
        let mut byte = usize::from(*self.index.get(at).ok_or(Broken)?);
        let mut value = byte & 0x7f;
        while byte & 0x80 != 0 {
            at += 1;
            byte = usize::from(*self.index.get(at).ok_or(Broken)?);
            value =
                value.checked_add(1).and_then(|value| value.checked_mul(128)).ok_or(Broken)? + (byte & 0x7f);
        }
        Ok((value, at + 1))
    }

    /// Checks the extensions behind the entries. The tables that git uses to read with several threads must point to
    /// the same entries.
    fn extensions(&self) -> Result<(), GitIndexError> {
        let end =
            self.index.len().checked_sub(self.id.bytes()).filter(|end| *end >= self.at).ok_or(Broken)?;
        let mut at = self.at;
        while at < end {
            let size = number(self.index, at + 4)?;
            let body = self.index.get(at + 8..).and_then(|rest| rest.get(..size)).ok_or(Broken)?;
            match self.index.get(at..at + 4) {
                Some(b"link") => return Err(Elsewhere),
                Some(b"EOIE") if number(body, 0)? != self.at => return Err(Broken),
                Some(b"IEOT") => self.blocks(body)?,
                _ => {}
            }
            at += 8 + size;
        }
        (at == end).then_some(()).ok_or(Broken)
    }

    fn blocks(&self, table: &[u8]) -> Result<(), GitIndexError> {
        let mut first = 0;
        for block in table.get(4..).ok_or(Broken)?.chunks(8) {
            let (at, count) = (number(block, 0)?, number(block, 4)?);
            if self.starts.get(first) != Some(&(at, false)) {
                return Err(Broken);
            }
            first += count;
        }
        (first == self.starts.len()).then_some(()).ok_or(Broken)
    }
}

fn end_of(rest: &[u8]) -> Result<usize, GitIndexError> {
    memchr::memchr(0, rest).ok_or(Broken)
}

/// Returns the first `length` bytes; they must not contain a zero, and one must follow.
fn named(rest: &[u8], length: usize) -> Result<&[u8], GitIndexError> {
    if end_of(rest)? != length {
        return Err(Broken);
    }
    rest.get(..length).ok_or(Broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version 2 entry, with its mode and its path.
    fn entry(mode: u32, path: &str) -> Vec<u8> {
        let mut bytes = vec![0; MODE];
        bytes.extend(mode.to_be_bytes());
        bytes.resize(ID + 20, 7);
        bytes.extend(u16::try_from(path.len().min(LONG_NAME)).unwrap().to_be_bytes());
        bytes.extend(path.as_bytes());
        bytes.resize((bytes.len() + 8) & !7, 0);
        bytes
    }

    fn index(entries: &[Vec<u8>], extensions: &[u8]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
        bytes.extend(entries.concat());
        bytes.extend(extensions);
        bytes.extend([0; 20]);
        bytes
    }

    #[test]
    fn submodules_are_found_among_files() {
        let long = "x/".repeat(3000);
        let entries = [
            entry(0o100_644, "a"),
            entry(0o160_000, "lib/b"),
            entry(0o120_000, "c"),
            entry(0o160_000, &long),
        ];
        let found = submodule_paths(&index(&entries, b"TREE\0\0\0\x01x"), ObjectId::Sha1).unwrap();
        assert_eq!(found, [b"lib/b".to_vec(), long.into_bytes()]);
    }

    #[test]
    fn of_files_that_are_wanted_the_content_is_named() {
        let mut doubtful = entry(0o100_644, "a/.env");
        doubtful[ID + 20] |= 0x20;
        let entries = [
            entry(0o100_644, ".env"),
            entry(0o120_000, ".env.link"),
            doubtful,
            entry(0o100_755, "b/.env"),
            entry(0o100_644, "x"),
        ];
        let wanted = |path: &[u8]| path != b"x";
        let found = indexed_files(&index(&entries, b""), ObjectId::Sha1, wanted).unwrap();
        let file = |path: &[u8]| IndexedFile { path: path.to_vec(), blob: vec![7; 20] };
        assert_eq!(found, [file(b".env"), file(b"b/.env")]);
    }

    #[test]
    fn what_is_not_whole_is_no_index() {
        let entries = [entry(0o160_000, "a"), entry(0o100_644, "b")];
        let whole = index(&entries, b"");
        for end in 0..whole.len() {
            assert!(submodule_paths(&whole[..end], ObjectId::Sha1).is_err(), "{end}");
        }
        assert!(submodule_paths(&whole, ObjectId::Sha256).is_err());
        let split = index(&entries, b"link\0\0\0\x00");
        assert_eq!(submodule_paths(&split, ObjectId::Sha1), Err(Elsewhere));
        let sparse = index(&[entry(0o040_000, "a/")], b"");
        assert_eq!(submodule_paths(&sparse, ObjectId::Sha1), Err(Elsewhere));
        // A table that points to entries other than those that were read.
        for table in [&b"EOIE\0\0\0\x04\0\0\0\x0c"[..], b"IEOT\0\0\0\x0c\0\0\0\x01\0\0\0\x10\0\0\0\x02"] {
            assert_eq!(submodule_paths(&index(&entries, table), ObjectId::Sha1), Err(Broken));
        }
        let right = b"IEOT\0\0\0\x0c\0\0\0\x01\0\0\0\x0c\0\0\0\x02";
        assert_eq!(submodule_paths(&index(&entries, right), ObjectId::Sha1).unwrap().len(), 1);
    }
}
