//! System calls that change modes or times of files. Landlock has no rights for them, so the supervisor performs them.

use crate::architecture::Architecture;
use crate::table::{Row, Test, deny};

/// A call that the supervisor performs if the command may change the file.
pub(crate) struct Carried {
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    change: ModeChange,
}

/// The arguments of a call that changes a mode or times, by index.
#[derive(Debug, Clone, Copy)]
pub struct ModeChange {
    /// The file.
    pub file: ChangedFile,
    /// The new value.
    pub to: NewValue,
    /// The flags of `fchmodat2`.
    pub flags: Option<u8>,
}

/// The arguments that name the changed file.
#[derive(Debug, Clone, Copy)]
pub enum ChangedFile {
    /// A path relative to the working directory.
    Here(u8),
    /// A directory descriptor and a path; the descriptor itself if the path is empty or NULL.
    Below(u8, u8),
    /// A file by its descriptor.
    Open(u8),
}

/// The argument with the new value.
#[derive(Debug, Clone, Copy)]
pub enum NewValue {
    /// The mode as a number.
    Mode(u8),
    /// A pointer to two times: in seconds, or in pairs of seconds and fractions, with this many fractions per second.
    Times(u8, Option<i64>),
}

use ChangedFile::{Below, Here, Open};
use NewValue::{Mode, Times};

const fn carried(
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    file: ChangedFile,
    to: NewValue,
    flags: Option<u8>,
) -> Carried {
    Carried { x86_64, aarch64, change: ModeChange { file, to, flags } }
}

/// chmod, fchmod, fchmodat, fchmodat2, utime, utimes, utimensat.
const CARRIED: &[Carried] = &[
    carried(Some(90), None, Here(0), Mode(1), None),
    carried(Some(91), Some(52), Open(0), Mode(1), None),
    carried(Some(268), Some(53), Below(0, 1), Mode(2), None),
    carried(Some(452), Some(452), Below(0, 1), Mode(2), Some(3)),
    carried(Some(132), None, Here(0), Times(1, None), None),
    carried(Some(235), None, Here(0), Times(1, Some(1_000_000)), None),
    carried(Some(280), Some(88), Below(0, 1), Times(2, Some(1_000_000_000)), Some(3)),
];

/// Returns the numbers of all these calls.
pub(crate) fn numbers(architecture: Architecture) -> impl Iterator<Item = u32> {
    CARRIED.iter().filter_map(move |row| number(architecture, row))
}

/// Returns the arguments of a call, if it is one of these.
pub fn mode_change(architecture: Architecture, call: u32) -> Option<ModeChange> {
    CARRIED.iter().find(|row| number(architecture, row) == Some(call)).map(|row| row.change)
}

/// Returns the calls that change modes, with their numbers.
pub(crate) fn mode_changes(architecture: Architecture) -> impl Iterator<Item = (u32, ModeChange)> {
    let rows = CARRIED.iter().filter(|row| matches!(row.change.to, Mode(_)));
    rows.filter_map(move |row| Some((number(architecture, row)?, row.change)))
}

const fn number(architecture: Architecture, row: &Carried) -> Option<u32> {
    match architecture {
        Architecture::X86_64 => row.x86_64,
        Architecture::Aarch64 => row.aarch64,
    }
}

/// FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR, as used by chattr(1).
const ATTRIBUTES: &[u32] = &[0x4008_6602, 0x401c_5820];

/// Denied calls that change other file metadata, for which Landlock has no rights. Programs work without owners and attributes,
/// as on file systems that do not support them.
#[rustfmt::skip]
pub(crate) const MODES: &[Row] = &[
    deny("chown", Some(92), None),
    deny("fchown", Some(93), Some(55)),
    deny("lchown", Some(94), None),
    deny("fchownat", Some(260), Some(54)),
    deny("setxattr", Some(188), Some(5)).seem_without(),
    deny("lsetxattr", Some(189), Some(6)).seem_without(),
    deny("fsetxattr", Some(190), Some(7)).seem_without(),
    deny("removexattr", Some(197), Some(14)).seem_without(),
    deny("lremovexattr", Some(198), Some(15)).seem_without(),
    deny("fremovexattr", Some(199), Some(16)).seem_without(),
    deny("setxattrat", Some(463), Some(463)).seem_missing(),
    deny("removexattrat", Some(466), Some(466)).seem_missing(),
    deny("file_setattr", Some(469), Some(469)).seem_missing(),
    deny("futimesat", Some(261), None).seem_missing(),
    deny("ioctl", Some(16), Some(29)).when(&[(1, Test::OneOf(ATTRIBUTES))]),
];
