//! The system calls that name a path or an address, and their arguments.
//!
//! They are observed to explain denials, and never decided: see [`observe`].
//!
//! [`observe`]: crate::observe

/// A call that names a path or an address.
pub(crate) struct Row {
    /// The name of the call, for tests and readers.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests and readers look calls up by it"))]
    pub(crate) name: &'static str,
    pub(crate) x86_64: Option<u32>,
    pub(crate) aarch64: Option<u32>,
    pub(crate) asks: Asks,
}

/// The arguments of a call that name paths or an address.
#[derive(Debug, Clone, Copy)]
pub enum Asks {
    /// Paths, with the kind of access to each.
    Paths(&'static [(PathArguments, PathUse)]),
    /// An address: the arguments with its pointer and its length, and the kind of access if it is a Unix socket.
    Address(u8, u8, PathUse),
}

/// The arguments that name a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathArguments {
    /// The directory descriptor; nothing for the working directory.
    pub folder: Option<u8>,
    /// The path.
    pub text: u8,
}

/// The kind of access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathUse {
    /// Look up its metadata.
    Look,
    /// Become the working directory.
    Enter,
    /// Read or execute it.
    Read,
    /// Create a new file.
    Make,
    /// Change or create it.
    Change,
    /// Connect to the socket.
    Connect,
    /// Open; the argument with this index contains the flags.
    Open(u8),
}

impl PathUse {
    /// Returns the kind of access, evaluating the flags of an open call.
    pub fn by(self, arguments: &[u64; 6]) -> Self {
        const ACCESS: u64 = 0o3;
        const CREATE_OR_CUT: u64 = 0o1100;
        /// The open flag O_PATH.
        const PATH: u64 = 0o10_000_000;
        let Self::Open(flags) = self else { return self };
        match arguments.get(usize::from(flags)).copied().unwrap_or_default() {
            flags if flags & PATH != 0 => Self::Look,
            flags if flags & (ACCESS | CREATE_OR_CUT) != 0 => Self::Change,
            _ => Self::Read,
        }
    }
}

use Asks::{Address, Paths};
use PathUse::{Change, Connect, Enter, Look, Make, Open, Read};

/// A path relative to the working directory.
const fn here(text: u8) -> PathArguments {
    PathArguments { folder: None, text }
}

/// A path relative to a directory descriptor.
const fn below(folder: u8, text: u8) -> PathArguments {
    PathArguments { folder: Some(folder), text }
}

const fn asks(name: &'static str, x86_64: Option<u32>, aarch64: Option<u32>, asks: Asks) -> Row {
    Row { name, x86_64, aarch64, asks }
}

/// The index of the address argument of sendto(2), which is usually NULL.
pub(crate) const ADDRESS_OF_SENDTO: u8 = 4;

/// The calls. `openat2` is not among them, because the filter denies it with ENOSYS.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    asks("open", Some(2), None, Paths(&[(here(0), Open(1))])),
    asks("openat", Some(257), Some(56), Paths(&[(below(0, 1), Open(2))])),
    asks("creat", Some(85), None, Paths(&[(here(0), Change)])),
    asks("truncate", Some(76), Some(45), Paths(&[(here(0), Change)])),
    asks("execve", Some(59), Some(221), Paths(&[(here(0), Read)])),
    asks("execveat", Some(322), Some(281), Paths(&[(below(0, 1), Read)])),
    asks("chdir", Some(80), Some(49), Paths(&[(here(0), Enter)])),
    asks("stat", Some(4), None, Paths(&[(here(0), Look)])),
    asks("lstat", Some(6), None, Paths(&[(here(0), Look)])),
    asks("newfstatat", Some(262), Some(79), Paths(&[(below(0, 1), Look)])),
    asks("statx", Some(332), Some(291), Paths(&[(below(0, 1), Look)])),
    asks("access", Some(21), None, Paths(&[(here(0), Look)])),
    asks("faccessat", Some(269), Some(48), Paths(&[(below(0, 1), Look)])),
    asks("faccessat2", Some(439), Some(439), Paths(&[(below(0, 1), Look)])),
    asks("mkdir", Some(83), None, Paths(&[(here(0), Make)])),
    asks("mkdirat", Some(258), Some(34), Paths(&[(below(0, 1), Make)])),
    asks("mknod", Some(133), None, Paths(&[(here(0), Make)])),
    asks("mknodat", Some(259), Some(33), Paths(&[(below(0, 1), Make)])),
    asks("symlink", Some(88), None, Paths(&[(here(1), Make)])),
    asks("symlinkat", Some(266), Some(36), Paths(&[(below(1, 2), Make)])),
    asks("link", Some(86), None, Paths(&[(here(0), Look), (here(1), Make)])),
    asks("linkat", Some(265), Some(37), Paths(&[(below(0, 1), Look), (below(2, 3), Make)])),
    asks("rename", Some(82), None, Paths(&[(here(0), Change), (here(1), Change)])),
    asks("renameat", Some(264), Some(38), Paths(&[(below(0, 1), Change), (below(2, 3), Change)])),
    asks("renameat2", Some(316), Some(276), Paths(&[(below(0, 1), Change), (below(2, 3), Change)])),
    asks("unlink", Some(87), None, Paths(&[(here(0), Change)])),
    asks("unlinkat", Some(263), Some(35), Paths(&[(below(0, 1), Change)])),
    asks("rmdir", Some(84), None, Paths(&[(here(0), Change)])),
    asks("chmod", Some(90), None, Paths(&[(here(0), Change)])),
    asks("fchmodat", Some(268), Some(53), Paths(&[(below(0, 1), Change)])),
    asks("fchmodat2", Some(452), Some(452), Paths(&[(below(0, 1), Change)])),
    asks("chown", Some(92), None, Paths(&[(here(0), Change)])),
    asks("lchown", Some(94), None, Paths(&[(here(0), Change)])),
    asks("fchownat", Some(260), Some(54), Paths(&[(below(0, 1), Change)])),
    asks("utimensat", Some(280), Some(88), Paths(&[(below(0, 1), Change)])),
    asks("connect", Some(42), Some(203), Address(1, 2, Connect)),
    asks("bind", Some(49), Some(200), Address(1, 2, Make)),
    asks("sendto", Some(44), Some(206), Address(ADDRESS_OF_SENDTO, 5, Connect)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn how_something_is_opened() {
        let rows = [
            (0, Read),
            (0o2_000_000, Read),
            (0o1, Change),
            (0o2, Change),
            (0o101, Change),
            (0o100, Change),
            (0o1000, Change),
            (0o20_200_002, Change),
            (0o10_000_000, Look),
            (0o10_200_000, Look),
        ];
        for (flags, expected) in rows {
            assert_eq!(Open(2).by(&[9, 9, flags, 9, 9, 9]), expected, "{flags:o}");
        }
        assert_eq!((Look.by(&[1; 6]), Open(200).by(&[1; 6])), (Look, Read));
    }

    #[test]
    fn no_number_belongs_to_two_calls() {
        let unique = |number: fn(&Row) -> Option<u32>| {
            let mut seen = BTreeSet::new();
            ROWS.iter().filter_map(number).all(|number| seen.insert(number))
        };
        assert!(unique(|row| row.x86_64) && unique(|row| row.aarch64));
        let closed = crate::table::ROWS;
        for row in ROWS {
            // Calls in both tables have the same numbers.
            for other in closed.iter().filter(|other| other.name == row.name) {
                assert_eq!((row.x86_64, row.aarch64), (other.x86_64, other.aarch64), "{}", row.name);
            }
        }
    }
}
