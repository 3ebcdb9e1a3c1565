//! System calls that a supervisor judges and performs: those that create, rename or open files for writing, where names are
//! protected, and always those on objects that are shared with other programs.
//!
//! Deleting a file is not among them: it creates no name, and protected files cannot be deleted. Deleting a directory is, so
//! that a new one in its place is recognized.

use crate::architecture::Architecture;
use crate::asking::PathArguments;
use crate::instruction::{ARGUMENTS, Blocks, Instruction, JUMP_ANY_BIT, JUMP_EQUAL, SHOW, give, jump, load};
use crate::modes::{ModeChange, NewValue, mode_changes};

/// A call that the supervisor performs.
struct Carried {
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    call: NameCall,
}

/// A mediated call, with the indexes of its arguments.
#[derive(Debug, Clone, Copy)]
pub enum NameCall {
    /// open(2), openat(2), and creat(2), which has no flags.
    Open {
        /// The path.
        path: PathArguments,
        /// The flags, if the call has any.
        flags: Option<u8>,
        /// The mode.
        mode: u8,
    },
    /// A call of mkdir(2).
    Folder {
        /// The path.
        path: PathArguments,
        /// The mode.
        mode: u8,
    },
    /// A call of mknod(2).
    Node {
        /// The path.
        path: PathArguments,
        /// The mode.
        mode: u8,
        /// The device number.
        device: u8,
    },
    /// A call of symlink(2).
    Link {
        /// The new path, or the target of a symlink.
        to: u8,
        /// The path.
        path: PathArguments,
    },
    /// A call of link(2).
    HardLink {
        /// The existing path.
        from: PathArguments,
        /// The new path, or the target of a symlink.
        to: PathArguments,
        /// The flags, if the call has any.
        flags: Option<u8>,
    },
    /// A call of rename(2).
    Move {
        /// The existing path.
        from: PathArguments,
        /// The new path, or the target of a symlink.
        to: PathArguments,
        /// The flags, if the call has any.
        flags: Option<u8>,
    },
    /// rmdir(2), and unlinkat(2) with AT_REMOVEDIR.
    RemoveFolder {
        /// The path.
        path: PathArguments,
        /// The flags, if the call has any.
        flags: Option<u8>,
    },
    /// A call of truncate(2).
    Cut {
        /// The path.
        path: PathArguments,
        /// The length.
        length: u8,
    },
    /// umask(2). It continues, and is observed because the mask applies to files that the supervisor creates.
    Umask {
        /// The mask.
        mask: u8,
    },
    /// A call of flock(2).
    Lock {
        /// The descriptor.
        file: u8,
        /// The kind of lock.
        how: u8,
    },
    /// A record lock of fcntl(2).
    LockPart {
        /// The descriptor.
        file: u8,
        /// The request.
        request: u8,
        /// The pointer to the record.
        record: u8,
    },
    /// clone(2) of a process that shares its descriptor table. It continues, and is observed because locks are decided
    /// differently from then on.
    SharesFiles,
    /// A call of connect(2).
    Connect(SocketAddress),
    /// A call of bind(2).
    Bind(SocketAddress),
    /// getsockname(2), with a pointer to the length.
    OwnAddress(SocketAddress),
    /// chmod(2) with the set-group-ID bit, which on a directory makes new files inherit its group.
    GroupOfFolder(ModeChange),
}

/// The arguments of a socket and an address.
#[derive(Debug, Clone, Copy)]
pub struct SocketAddress {
    /// The socket.
    pub socket: u8,
    /// The pointer to the address.
    pub address: u8,
    /// The length of the address, or a pointer to it.
    pub length: u8,
}

use NameCall::{
    Bind, Connect, Cut, Folder, GroupOfFolder, HardLink, Link, Lock, LockPart, Move, Node, Open, OwnAddress,
    RemoveFolder, SharesFiles, Umask,
};

/// The arguments of all three calls with an address.
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

/// The calls. `openat2` is not among them, because the filter denies it with ENOSYS.
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

/// The calls that are always performed if mediation is available. Unix datagrams are denied then: they name their destination in
/// memory, and are too frequent to be observed.
#[rustfmt::skip]
const SHARED: &[Carried] = &[
    carried(Some(73), Some(32), Lock { file: 0, how: 1 }),
    carried(Some(72), Some(25), LockPart { file: 0, request: 1, record: 2 }),
    carried(Some(56), Some(220), SharesFiles),
    carried(Some(42), Some(203), Connect(ADDRESS)),
    carried(Some(49), Some(200), Bind(ADDRESS)),
    carried(Some(51), Some(204), OwnAddress(ADDRESS)),
];

/// The open flags that are observed: write access, O_CREAT and O_TRUNC.
const WRITES: u32 = 0o3 | 0o100 | 0o1000;

/// The unlink flag AT_REMOVEDIR.
const OF_A_FOLDER: u32 = 0x200;

/// The observed operations of flock(2): LOCK_SH and LOCK_EX. Unlocking is harmless.
const LOCKS: u32 = 0o3;

/// The requests of fcntl(2) that take locks: F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW.
const LOCK_REQUESTS: [u32; 4] = [6, 7, 37, 38];

/// The clone flags CLONE_FILES and CLONE_THREAD.
const SHARED_FILES: u32 = 0x400;
const THREAD: u32 = 0x0001_0000;

/// The set-group-ID bit of a mode.
const OF_GROUP: u32 = 0o2000;

const fn number(architecture: Architecture, row: &Carried) -> Option<u32> {
    match architecture {
        Architecture::X86_64 => row.x86_64,
        Architecture::Aarch64 => row.aarch64,
    }
}

/// Returns the mediated call with this number, if it is one.
pub fn name_call(architecture: Architecture, call: u32) -> Option<NameCall> {
    let rows = CARRIED.iter().chain(SHARED).filter_map(|row| Some((number(architecture, row)?, row.call)));
    let modes = mode_changes(architecture).map(|(number, change)| (number, GroupOfFolder(change)));
    rows.chain(modes).find(|(number, _)| *number == call).map(|(_, call)| call)
}

/// Returns the filter code for calls that create names. Opening a file for reading is not observed: it is by far the most
/// frequent call, and creates nothing.
pub(crate) fn blocks(architecture: Architecture) -> Blocks {
    let rows = CARRIED.iter().filter_map(|row| Some((number(architecture, row)?, code(row.call))));
    rows.collect()
}

/// Returns the filter code for calls on shared objects.
pub(crate) fn shared_blocks(architecture: Architecture) -> Blocks {
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
    use super::*;
    use crate::asking;

    /// Both tables have the same numbers for a call, so none is missing on one architecture.
    #[test]
    fn numbers_are_those_of_the_other_table() {
        for row in CARRIED.iter().filter(|row| !matches!(row.call, Umask { .. })) {
            let same = |other: &&asking::Row| (other.x86_64, other.aarch64) == (row.x86_64, row.aarch64);
            assert!(asking::ROWS.iter().any(|other| same(&other)), "{:?}", row.call);
        }
    }
}
