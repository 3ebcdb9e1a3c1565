//! System calls that make, move or open for writing what has a name. Where names are protected, somebody else judges each of
//! them and carries it out: see `run::observe::names`.
//!
//! What removes a name is not among them: it gives nobody a name to obey, and what is protected cannot be removed.

use super::asking::PathArguments;
use super::{ARGUMENTS, Architecture, Blocks, Instruction, JUMP_ANY_BIT, SHOW, give, jump, load};

/// A call that is carried out by whoever looks on.
struct Carried {
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    call: NameCall,
}

/// What a call does, by the numbers of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameCall {
    /// Opens a file, and makes it where the flags say so. Without an argument for flags, it is `creat`.
    Open { path: PathArguments, flags: Option<u8>, mode: u8 },
    /// Makes an empty folder: `mkdir`.
    Folder { path: PathArguments, mode: u8 },
    /// Makes a file, a pipe or a device.
    Node { path: PathArguments, mode: u8, device: u8 },
    /// Makes a link; a text says where it leads.
    Link { to: u8, path: PathArguments },
    /// Gives what has one name another one.
    HardLink { from: PathArguments, to: PathArguments, flags: Option<u8> },
    /// Gives what is there another name, and takes the old one: `rename`.
    Move { from: PathArguments, to: PathArguments, flags: Option<u8> },
    /// Makes a file shorter or longer.
    Cut { path: PathArguments, length: u8 },
    /// Says which rights new files are made without. It goes on, and is shown because that counts for what is made.
    Umask { mask: u8 },
}

use NameCall::{Cut, Folder, HardLink, Link, Move, Node, Open, Umask};

const fn here(text: u8) -> PathArguments {
    PathArguments { folder: None, text }
}

const fn below(folder: u8, text: u8) -> PathArguments {
    PathArguments { folder: Some(folder), text }
}

const fn carried(x86_64: Option<u32>, aarch64: Option<u32>, call: NameCall) -> Carried {
    Carried { x86_64, aarch64, call }
}

/// The calls. `openat2` is not among them: the filter lets it seem to be missing.
#[rustfmt::skip]
const CARRIED: &[Carried] = &[
    carried(Some(2), None, Open { path: here(0), flags: Some(1), mode: 2 }),
    carried(Some(257), Some(56), Open { path: below(0, 1), flags: Some(2), mode: 3 }),
    carried(Some(85), None, Open { path: here(0), flags: None, mode: 1 }),
    carried(Some(83), None, Folder { path: here(0), mode: 1 }),
    carried(Some(258), Some(34), Folder { path: below(0, 1), mode: 2 }),
    carried(Some(133), None, Node { path: here(0), mode: 1, device: 2 }),
    carried(Some(259), Some(33), Node { path: below(0, 1), mode: 2, device: 3 }),
    carried(Some(88), None, Link { to: 0, path: here(1) }),
    carried(Some(266), Some(36), Link { to: 0, path: below(1, 2) }),
    carried(Some(86), None, HardLink { from: here(0), to: here(1), flags: None }),
    carried(Some(265), Some(37), HardLink { from: below(0, 1), to: below(2, 3), flags: Some(4) }),
    carried(Some(82), None, Move { from: here(0), to: here(1), flags: None }),
    carried(Some(264), Some(38), Move { from: below(0, 1), to: below(2, 3), flags: None }),
    carried(Some(316), Some(276), Move { from: below(0, 1), to: below(2, 3), flags: Some(4) }),
    carried(Some(76), Some(45), Cut { path: here(0), length: 1 }),
    carried(Some(95), Some(166), Umask { mask: 0 }),
];

/// What an opening must ask for to be shown: to write, to make, or to cut.
const WRITES: u32 = 0o3 | 0o100 | 0o1000;

const fn number(architecture: Architecture, row: &Carried) -> Option<u32> {
    match architecture {
        Architecture::X86_64 => row.x86_64,
        Architecture::Aarch64 => row.aarch64,
    }
}

/// What a call does to names, if it is one of them.
pub(crate) fn name_call(architecture: Architecture, call: u32) -> Option<NameCall> {
    CARRIED.iter().find(|row| number(architecture, row) == Some(call)).map(|row| row.call)
}

/// Which of them are shown. What opens a file to read it alone is not: that is by far the most, and makes nothing.
pub(super) fn blocks(architecture: Architecture) -> Blocks {
    let rows = CARRIED.iter().filter_map(|row| Some((number(architecture, row)?, code(row.call))));
    rows.collect()
}

fn code(call: NameCall) -> Vec<Instruction> {
    match call {
        Open { flags: Some(flags), .. } => {
            let flags = ARGUMENTS + 8 * u32::from(flags);
            vec![load(flags), jump(JUMP_ANY_BIT, WRITES, 0, 1), give(SHOW)]
        }
        _ => vec![give(SHOW)],
    }
}

#[cfg(test)]
mod tests {
    use super::super::asking;
    use super::*;

    /// Both tables know a call by the same numbers, so none is missing on one of the machines.
    #[test]
    fn numbers_are_those_of_the_other_table() {
        for row in CARRIED.iter().filter(|row| !matches!(row.call, Umask { .. })) {
            let same = |other: &&asking::Row| (other.x86_64, other.aarch64) == (row.x86_64, row.aarch64);
            assert!(asking::ROWS.iter().any(|other| same(&other)), "{:?}", row.call);
        }
    }
}
