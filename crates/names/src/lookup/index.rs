//! The paths of all rows in hash tables that the compiler fills, so that no process pays for them.
//!
//! Everything is a small number instead of a reference: references in constants are relocated at each start.

#![expect(clippy::indexing_slicing, reason = "the compiler evaluates it, and stops at an index out of range")]

use crate::families::FAMILIES;
use crate::name::{Name, Scope};

/// Number of buckets of a table.
const BUCKETS: usize = 256;

/// A path of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    family: u8,
    row: u8,
    path: u8,
    /// Range of the folded path in [`FOLDED`].
    start: u16,
    end: u16,
    /// Length of its first component.
    first: u8,
    /// Lengths of the literal prefix and suffix of its first component, around the wildcard; they rule out most
    /// names. Both are the whole component if it has no wildcard.
    prefix: u8,
    suffix: u8,
    /// The next pattern of the bucket.
    next: Link,
}

/// Number of a pattern, from 1; 0 ends a bucket.
type Link = u16;

/// The rows of one scope, by the first component of their paths.
#[derive(Debug)]
pub(super) struct Table {
    /// Patterns whose first component is literal, by its hash.
    named: [Link; BUCKETS],
    /// Patterns with a wildcard in the first component, by its first byte, such as `id_rsa*`. A walk through ten
    /// thousand files looks up each name, and would otherwise compare it with a hundred patterns.
    by_first: [Link; BUCKETS],
    /// Of the others those that end with a literal, by the last byte: `*.pem`.
    by_last: [Link; BUCKETS],
    /// Those with both ends open: `*`.
    open: Link,
}

const COUNT: usize = measure().0;
const BYTES: usize = measure().1;
const INDEX: ([Pattern; COUNT], [Table; 4]) = index();

static PATTERNS: [Pattern; COUNT] = INDEX.0;
static TABLES: [Table; 4] = INDEX.1;

/// All paths in lower case, one after the other.
static FOLDED: &str = match str::from_utf8(&folded()) {
    Ok(text) => text,
    Err(_) => panic!("a path of the table is not ASCII"),
};

impl Pattern {
    /// Returns the row.
    pub(super) fn name(&self) -> Option<&'static Name> {
        FAMILIES.get(usize::from(self.family))?.rows.get(usize::from(self.row))
    }

    /// Returns the path as the row has it.
    pub(super) fn path(&self) -> &'static str {
        self.name().and_then(|name| name.paths.get(usize::from(self.path))).copied().unwrap_or_default()
    }

    /// Returns the folded path.
    pub(super) fn folded(&self) -> &'static str {
        FOLDED.get(usize::from(self.start)..usize::from(self.end)).unwrap_or_default()
    }

    /// Returns the folded first component.
    pub(super) fn first(&self) -> &'static str {
        self.folded().get(..usize::from(self.first)).unwrap_or_default()
    }

    /// Whether a folded name begins and ends as the first component.
    pub(super) fn has_ends_of(&self, name: &str) -> bool {
        let (first, name) = (self.first().as_bytes(), name.as_bytes());
        let suffix = first.get(first.len() - usize::from(self.suffix)..).unwrap_or_default();
        name.starts_with(first.get(..usize::from(self.prefix)).unwrap_or_default()) && name.ends_with(suffix)
    }
}

impl Table {
    /// Returns the table of a scope.
    pub(super) fn of(scope: Scope) -> &'static Self {
        let [anywhere, home, repository, machine] = &TABLES;
        match scope {
            Scope::Anywhere => anywhere,
            Scope::Home => home,
            Scope::Repository => repository,
            Scope::Machine => machine,
        }
    }

    /// Returns the patterns whose first component may match a folded name, with their numbers: literal ones first,
    /// each kind in the order of the rows.
    pub(super) fn may_begin_with(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (usize, &'static Pattern)> + use<> {
        let bytes = name.as_bytes();
        let of = |buckets: &[Link; BUCKETS], byte: u8| buckets.get(usize::from(byte)).copied().unwrap_or(0);
        let by_first = bytes.first().map_or(0, |byte| of(&self.by_first, *byte));
        let by_last = bytes.last().map_or(0, |byte| of(&self.by_last, *byte));
        [of(&self.named, hash(bytes)), by_first, by_last, self.open].into_iter().flat_map(bucket)
    }
}

/// Returns all patterns with their numbers.
pub(super) fn patterns() -> impl Iterator<Item = (usize, &'static Pattern)> {
    PATTERNS.iter().enumerate()
}

fn bucket(first: Link) -> impl Iterator<Item = (usize, &'static Pattern)> {
    let linked = |link: Link| {
        let number = usize::from(link).checked_sub(1)?;
        Some((number, PATTERNS.get(number)?))
    };
    std::iter::successors(linked(first), move |(_, pattern)| linked(pattern.next))
}

/// Hash of a name, for the literal first components (FNV-1a, folded to a byte).
const fn hash(mut name: &[u8]) -> u8 {
    let mut hash: u32 = 0x811c_9dc5;
    while let [byte, rest @ ..] = name {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        name = rest;
    }
    let [a, b, c, d] = hash.to_le_bytes();
    a ^ b ^ c ^ d
}

/// Number of paths, and of their bytes.
const fn measure() -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    let mut families = FAMILIES;
    while let [family, rest @ ..] = families {
        families = rest;
        let mut rows = family.rows;
        while let [row, rest @ ..] = rows {
            rows = rest;
            let mut paths = row.paths;
            while let [path, rest @ ..] = paths {
                paths = rest;
                (count, bytes) = (count + 1, bytes + path.len());
            }
        }
    }
    (count, bytes)
}

/// Concatenates the paths in lower case: a test ensures that this folds them.
const fn folded() -> [u8; BYTES] {
    let (mut out, mut at) = ([0; BYTES], 0);
    let mut families = FAMILIES;
    while let [family, rest @ ..] = families {
        families = rest;
        let mut rows = family.rows;
        while let [row, rest @ ..] = rows {
            rows = rest;
            let mut paths = row.paths;
            while let [path, rest @ ..] = paths {
                paths = rest;
                let mut path = path.as_bytes();
                while let [byte, rest @ ..] = path {
                    path = rest;
                    out[at] = byte.to_ascii_lowercase();
                    at += 1;
                }
            }
        }
    }
    out
}

const fn index() -> ([Pattern; COUNT], [Table; 4]) {
    let mut patterns = [Pattern::NONE; COUNT];
    let (mut count, mut at) = (0, 0);
    let mut family = 0;
    while family < FAMILIES.len() {
        let rows = FAMILIES[family].rows;
        let mut row = 0;
        while row < rows.len() {
            let mut path = 0;
            while path < rows[row].paths.len() {
                patterns[count] = Pattern::at([family, row, path], at, rows[row].paths[path]);
                at += rows[row].paths[path].len();
                count += 1;
                path += 1;
            }
            row += 1;
        }
        family += 1;
    }
    let mut tables = [const { Table::EMPTY }; 4];
    // From the last to the first, so that each bucket lists its patterns in the order of the rows.
    while count > 0 {
        count -= 1;
        patterns[count] = link(&mut tables, patterns[count], count);
    }
    (patterns, tables)
}

/// Puts a pattern before the others of its bucket.
const fn link(tables: &mut [Table; 4], mut pattern: Pattern, number: usize) -> Pattern {
    let row = &FAMILIES[pattern.family as usize].rows[pattern.row as usize];
    let table = &mut tables[match row.scope {
        Scope::Anywhere => 0,
        Scope::Home => 1,
        Scope::Repository => 2,
        Scope::Machine => 3,
    }];
    let (first, _) = row.paths[pattern.path as usize].as_bytes().split_at(pattern.first as usize);
    let bucket = if pattern.prefix == pattern.first {
        &mut table.named[hash_of_path(first) as usize]
    } else if pattern.prefix > 0 {
        &mut table.by_first[first[0].to_ascii_lowercase() as usize]
    } else if pattern.suffix > 0 {
        &mut table.by_last[first[first.len() - 1].to_ascii_lowercase() as usize]
    } else {
        &mut table.open
    };
    pattern.next = *bucket;
    *bucket = short(number + 1);
    pattern
}

/// Hash of a component as a row has it.
const fn hash_of_path(first: &[u8]) -> u8 {
    let (mut folded, mut at) = ([0; BUCKETS], 0);
    while at < first.len() {
        folded[at] = first[at].to_ascii_lowercase();
        at += 1;
    }
    hash(folded.split_at(at).0)
}

impl Pattern {
    const NONE: Self =
        Self { family: 0, row: 0, path: 0, start: 0, end: 0, first: 0, prefix: 0, suffix: 0, next: 0 };

    const fn at([family, row, number]: [usize; 3], start: usize, path: &str) -> Self {
        let path = path.as_bytes();
        let first = until(path, b'/', path.len());
        let prefix = until(path, b'*', first);
        let mut suffix = 0;
        while suffix < first && path[first - suffix - 1] != b'*' {
            suffix += 1;
        }
        Self {
            family: byte(family),
            row: byte(row),
            path: byte(number),
            start: short(start),
            end: short(start + path.len()),
            first: byte(first),
            prefix: byte(prefix),
            suffix: byte(suffix),
            next: 0,
        }
    }
}

impl Table {
    const EMPTY: Self = Self { named: [0; BUCKETS], by_first: [0; BUCKETS], by_last: [0; BUCKETS], open: 0 };
}

/// Number of bytes before the first `end`, at most `most`.
const fn until(text: &[u8], end: u8, most: usize) -> usize {
    let mut at = 0;
    while at < most && text[at] != end {
        at += 1;
    }
    at
}

/// Fails to compile rather than to wrap around when the table outgrows its numbers.
const fn byte(number: usize) -> u8 {
    assert!(number <= u8::MAX as usize, "the table of names outgrew its index");
    number as u8
}

const fn short(number: usize) -> u16 {
    assert!(number <= u16::MAX as usize, "the table of names outgrew its index");
    number as u16
}
