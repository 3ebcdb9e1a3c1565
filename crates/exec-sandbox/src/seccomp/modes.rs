//! System calls that change modes or times of files, which Landlock does not judge: somebody else has to carry them out.

use super::architecture::Architecture;
use super::table::{Row, Test, deny};

/// A call that is carried out by whoever looks on, where the file may be changed.
pub(super) struct Carried {
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    change: ModeChange,
}

/// What a call changes, by the numbers of its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModeChange {
    pub(crate) file: ChangedFile,
    pub(crate) to: NewValue,
    /// Flags, as `fchmodat` knows them.
    pub(crate) flags: Option<u8>,
}

/// Which arguments say which file is changed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChangedFile {
    /// A path that begins where the process is.
    Here(u8),
    /// A folder, and a path in it; the open file itself where there is no path.
    Below(u8, u8),
    /// A file that is open.
    Open(u8),
}

/// Which argument says what it becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NewValue {
    /// The mode itself: who may do what.
    Mode(u8),
    /// Where two times lie in memory: numbers of seconds, or pairs of those and parts of a second, so many in one.
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

/// The numbers of all of them.
pub(super) fn numbers(architecture: Architecture) -> impl Iterator<Item = u32> {
    CARRIED.iter().filter_map(move |row| number(architecture, row))
}

/// What a call changes.
pub(crate) fn mode_change(architecture: Architecture, call: u32) -> Option<ModeChange> {
    CARRIED.iter().find(|row| number(architecture, row) == Some(call)).map(|row| row.change)
}

/// Those that change modes, with their numbers.
pub(super) fn mode_changes(architecture: Architecture) -> impl Iterator<Item = (u32, ModeChange)> {
    let rows = CARRIED.iter().filter(|row| matches!(row.change.to, Mode(_)));
    rows.filter_map(move |row| Some((number(architecture, row)?, row.change)))
}

const fn number(architecture: Architecture, row: &Carried) -> Option<u32> {
    match architecture {
        Architecture::X86_64 => row.x86_64,
        Architecture::Aarch64 => row.aarch64,
    }
}

/// Requests that set what `chattr` sets.
const ATTRIBUTES: &[u32] = &[0x4008_6602, 0x401c_5820];

/// What else changes something about a file that Landlock does not judge. Programs do without owners and attributes, as they
/// do on file systems that have none.
#[rustfmt::skip]
pub(super) const MODES: &[Row] = &[
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
