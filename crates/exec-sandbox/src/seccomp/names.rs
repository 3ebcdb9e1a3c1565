//! System calls that somebody else judges and carries out, see `run::observe::mediation`: those that make, move or open for writing
//! what has a name, where names are protected, and everywhere those that reach what is shared with other programs.
//!
//! What removes the name of a file is not among them: it gives nobody a name to obey, and what is protected cannot be removed. What
//! removes a folder is, so that another one in its place is known for that.

use super::architecture::Architecture;
use super::asking::PathArguments;
use super::instruction::{ARGUMENTS, Blocks, Instruction, JUMP_ANY_BIT, JUMP_EQUAL, SHOW, give, jump, load};
use super::modes::{ModeChange, NewValue, mode_changes};

/// A call that is carried out by whoever looks on.
struct Carried {
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    call: NameCall,
}

/// What a call does, by the numbers of its arguments.
#[derive(Debug, Clone, Copy)]
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
    /// Removes an empty folder: `rmdir`, or `unlinkat` with a flag that says so.
    RemoveFolder { path: PathArguments, flags: Option<u8> },
    /// Makes a file shorter or longer.
    Cut { path: PathArguments, length: u8 },
    /// Says which rights new files are made without. It goes on, and is shown because that counts for what is made.
    Umask { mask: u8 },
    /// Takes a lock on a whole file: `flock`.
    Lock { file: u8, how: u8 },
    /// Takes or gives back a lock on a part of a file, which a record in memory tells: `fcntl`.
    LockPart { file: u8, request: u8, record: u8 },
    /// Starts a process that shares its descriptors with the one that starts it. It goes on, and is shown because locks are judged otherwise then.
    SharesFiles,
    /// Connects what is open to an address: `connect`.
    Connect(SocketAddress),
    /// Says by which address a socket is reached: `bind`.
    Bind(SocketAddress),
    /// Asks which address a socket has; the length is in memory as well.
    OwnAddress(SocketAddress),
    /// Sets the bit by which what comes to lie in a folder belongs to the group of the folder.
    GroupOfFolder(ModeChange),
}

/// A socket, and where its address lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketAddress {
    pub(crate) socket: u8,
    pub(crate) address: u8,
    pub(crate) length: u8,
}

use NameCall::{
    Bind, Connect, Cut, Folder, GroupOfFolder, HardLink, Link, Lock, LockPart, Move, Node, Open, OwnAddress,
    RemoveFolder, SharesFiles, Umask,
};

/// The arguments of all three calls that name an address.
const ADDRESS: SocketAddress = SocketAddress { socket: 0, address: 1, length: 2 };

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
    carried(Some(84), None, RemoveFolder { path: here(0), flags: None }),
    carried(Some(263), Some(35), RemoveFolder { path: below(0, 1), flags: Some(2) }),
    carried(Some(76), Some(45), Cut { path: here(0), length: 1 }),
    carried(Some(95), Some(166), Umask { mask: 0 }),
];

/// Those that are carried out wherever somebody can look on. Datagrams between sockets of this machine are closed there: they
/// name where they go in memory, and are too many to be shown.
#[rustfmt::skip]
const SHARED: &[Carried] = &[
    carried(Some(73), Some(32), Lock { file: 0, how: 1 }),
    carried(Some(72), Some(25), LockPart { file: 0, request: 1, record: 2 }),
    carried(Some(56), Some(220), SharesFiles),
    carried(Some(42), Some(203), Connect(ADDRESS)),
    carried(Some(49), Some(200), Bind(ADDRESS)),
    carried(Some(51), Some(204), OwnAddress(ADDRESS)),
];

/// What an opening must ask for to be shown: to write, to make, or to cut.
const WRITES: u32 = 0o3 | 0o100 | 0o1000;

/// What `unlinkat` must ask for to be shown: that it is a folder that is removed.
const OF_A_FOLDER: u32 = 0x200;

/// What `flock` must ask for to be shown: a lock, shared or not. To give one back harms nobody.
const LOCKS: u32 = 0o3;

/// Requests of `fcntl` that take locks: of a process, and of whoever has the file open; each waiting or not.
const LOCK_REQUESTS: [u32; 4] = [6, 7, 37, 38];

/// The flags of `clone` by which what is started shares descriptors, and by which it is a thread.
const SHARED_FILES: u32 = 0x400;
const THREAD: u32 = 0x0001_0000;

/// The bit of a folder by which what comes to lie in it belongs to its group.
const OF_GROUP: u32 = 0o2000;

const fn number(architecture: Architecture, row: &Carried) -> Option<u32> {
    match architecture {
        Architecture::X86_64 => row.x86_64,
        Architecture::Aarch64 => row.aarch64,
    }
}

/// What a call does to names, if it is one of them.
pub(crate) fn name_call(architecture: Architecture, call: u32) -> Option<NameCall> {
    let rows = CARRIED.iter().chain(SHARED).filter_map(|row| Some((number(architecture, row)?, row.call)));
    let modes = mode_changes(architecture).map(|(number, change)| (number, GroupOfFolder(change)));
    rows.chain(modes).find(|(number, _)| *number == call).map(|(_, call)| call)
}

/// Which of those that make names are shown. What opens a file to read it alone is not: that is by far the most, and makes
/// nothing.
pub(super) fn blocks(architecture: Architecture) -> Blocks {
    let rows = CARRIED.iter().filter_map(|row| Some((number(architecture, row)?, code(row.call))));
    rows.collect()
}

/// Which of those are shown that reach what is shared with other programs.
pub(super) fn shared_blocks(architecture: Architecture) -> Blocks {
    let rows = SHARED.iter().filter_map(|row| Some((number(architecture, row)?, code(row.call))));
    let modes = mode_changes(architecture).map(|(number, change)| (number, code(GroupOfFolder(change))));
    rows.chain(modes).collect()
}

fn code(call: NameCall) -> Vec<Instruction> {
    match call {
        Open { flags: Some(flags), .. } => {
            let flags = ARGUMENTS + 8 * u32::from(flags);
            vec![load(flags), jump(JUMP_ANY_BIT, WRITES, 0, 1), give(SHOW)]
        }
        RemoveFolder { flags: Some(flags), .. } => {
            let flags = ARGUMENTS + 8 * u32::from(flags);
            vec![load(flags), jump(JUMP_ANY_BIT, OF_A_FOLDER, 0, 1), give(SHOW)]
        }
        Lock { how, .. } => {
            vec![load(ARGUMENTS + 8 * u32::from(how)), jump(JUMP_ANY_BIT, LOCKS, 0, 1), give(SHOW)]
        }
        SharesFiles => vec![
            load(ARGUMENTS),
            jump(JUMP_ANY_BIT, SHARED_FILES, 0, 2),
            jump(JUMP_ANY_BIT, THREAD, 1, 0),
            give(SHOW),
        ],
        LockPart { request, .. } => {
            let mut code = vec![load(ARGUMENTS + 8 * u32::from(request))];
            let requests = (0..).zip(LOCK_REQUESTS);
            let last = LOCK_REQUESTS.len() as u8 - 1;
            code.extend(
                requests.map(|(at, request)| jump(JUMP_EQUAL, request, last - at, u8::from(at == last))),
            );
            code.push(give(SHOW));
            code
        }
        GroupOfFolder(ModeChange { to: NewValue::Mode(mode), .. }) => {
            vec![load(ARGUMENTS + 8 * u32::from(mode)), jump(JUMP_ANY_BIT, OF_GROUP, 0, 1), give(SHOW)]
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
