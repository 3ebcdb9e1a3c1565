//! The recorded origin of an entry: NUL-terminated fields, because a path can contain any other byte.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat2, statat};

use super::error::QuarantineError;

/// The file of a group that describes its entries.
pub(super) const ORIGINS: &str = "origins";

/// The number of digits in the name of a group, and their base. Nanoseconds fit for another hundred years.
pub(super) const GROUP_LENGTH: usize = 12;
const BASE: u32 = 36;

/// The number of fields of an entry, including the final marker that it is complete.
const FIELDS: usize = 9;
const END: &[u8] = b"end";

/// Maximum length of a recorded command.
const MAX_COMMAND: usize = 4096;

/// The identity of a file: its device and inode number.
pub(super) type Identity = (u64, u64);

/// The origin of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// Its number in the group, and its current name.
    pub(super) number: u32,
    pub(super) name: OsString,
    /// Whether it was renamed in its original directory instead of moved to the group.
    pub(super) in_place: bool,
    pub(super) workspace: PathBuf,
    pub(super) workspace_identity: Identity,
    /// Its original path, below the workspace.
    pub(super) path: PathBuf,
    pub(super) thing: Identity,
    pub(super) size: u64,
    pub(super) command: String,
}

impl Origin {
    /// Opens the original directory without following symlinks, and returns it with the original name.
    pub(super) fn parent(&self) -> Result<(OwnedFd, &OsStr), QuarantineError> {
        let open = |at: std::os::fd::BorrowedFd<'_>, path: &Path, more: ResolveFlags| {
            let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | more;
            openat2(at, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), resolve)
        };
        let other = || QuarantineError::OtherWorkspace(self.workspace.clone());
        let root = open(CWD, &self.workspace, ResolveFlags::empty()).map_err(|_| other())?;
        if identity_of(&root) != Some(self.workspace_identity) {
            return Err(other());
        }
        let above = self.path.parent().filter(|above| !above.as_os_str().is_empty());
        let no_way = |error: rustix::io::Errno| QuarantineError::NoWay {
            path: self.path.clone(),
            source: error.into(),
        };
        let parent =
            open(std::os::fd::AsFd::as_fd(&root), above.unwrap_or(Path::new(".")), ResolveFlags::BENEATH);
        let name = self.path.file_name().ok_or_else(|| no_way(rustix::io::Errno::INVAL))?;
        Ok((parent.map_err(no_way)?, name))
    }

    /// Serializes the fields.
    pub(super) fn written(&self) -> Vec<u8> {
        let pair = |(device, number): Identity| format!("{device}:{number}").into_bytes();
        let place = if self.in_place { "in place" } else { "here" };
        let command = cut(&self.command).replace('\0', " ").into_bytes();
        let fields: [Vec<u8>; FIELDS] = [
            self.number.to_string().into_bytes(),
            self.name.as_bytes().to_vec(),
            place.as_bytes().to_vec(),
            self.workspace.as_os_str().as_bytes().to_vec(),
            [pair(self.workspace_identity), b" ".to_vec(), pair(self.thing)].concat(),
            self.path.as_os_str().as_bytes().to_vec(),
            self.size.to_string().into_bytes(),
            command,
            END.to_vec(),
        ];
        fields
            .into_iter()
            .flat_map(|mut field| {
                field.push(0);
                field
            })
            .collect()
    }

    /// Parses the complete entries of a file.
    pub(super) fn read_all(bytes: &[u8]) -> Vec<Self> {
        let whole = bytes.iter().rposition(|byte| *byte == 0).and_then(|end| bytes.get(..end));
        let fields: Vec<&[u8]> = whole.unwrap_or_default().split(|byte| *byte == 0).collect();
        fields.chunks_exact(FIELDS).map_while(Self::read).collect()
    }

    fn read(fields: &[&[u8]]) -> Option<Self> {
        let [number, name, place, workspace, identities, path, size, command, END] = fields else {
            return None;
        };
        let text = |bytes: &[u8]| str::from_utf8(bytes).ok().map(str::to_owned);
        let whole = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let (workspace_identity, thing) =
            text(identities)?.split_once(' ').and_then(|(one, other)| Some((pair(one)?, pair(other)?)))?;
        let name = OsString::from_vec(name.to_vec());
        // A corrupted file must not name a path outside of the group.
        let is_name = Path::new(&name).file_name() == Some(name.as_os_str());
        is_name.then_some(Self {
            number: text(number)?.parse().ok()?,
            name,
            in_place: *place == b"in place",
            workspace: whole(workspace),
            workspace_identity,
            path: whole(path),
            thing,
            size: text(size)?.parse().ok()?,
            command: text(command)?,
        })
    }
}

fn pair(text: &str) -> Option<Identity> {
    let (device, number) = text.split_once(':')?;
    Some((device.parse().ok()?, number.parse().ok()?))
}

/// Truncates a command that is too long.
fn cut(text: &str) -> String {
    if text.len() <= MAX_COMMAND {
        return text.to_owned();
    }
    let beginning: String =
        text.char_indices().take_while(|(at, _)| *at < MAX_COMMAND).map(|(_, it)| it).collect();
    format!("{beginning}…")
}

/// Returns the identity of a name in a directory, without following a symlink.
pub(super) fn identity(folder: &OwnedFd, name: &OsStr) -> Option<Identity> {
    let data = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some((data.st_dev, data.st_ino))
}

/// Returns the identity of an open file.
pub(super) fn identity_of(file: &OwnedFd) -> Option<Identity> {
    let data = rustix::fs::fstat(file).ok()?;
    Some((data.st_dev, data.st_ino))
}

/// Returns the name of a group that was created at this time, in nanoseconds.
pub(super) fn group_name(moment: u128) -> String {
    let mut digits = ['0'; GROUP_LENGTH];
    let mut rest = moment;
    for digit in digits.iter_mut().rev() {
        let value = u32::try_from(rest % u128::from(BASE)).unwrap_or_default();
        *digit = char::from_digit(value, BASE).unwrap_or('0');
        rest /= u128::from(BASE);
    }
    digits.iter().collect()
}

/// Returns the creation time of a group, in nanoseconds. Groups of an earlier version have it before a dash.
pub(super) fn moment_of(group: &str) -> Option<u128> {
    if group.len() == GROUP_LENGTH {
        return u128::from_str_radix(group, BASE).ok();
    }
    group.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin {
            number: 3,
            name: "3-.vscode".into(),
            in_place: false,
            workspace: "/srv/w\n".into(),
            workspace_identity: (1, 2),
            path: "a/.vscode".into(),
            thing: (3, 4),
            size: 5,
            command: "sh -c 'mkdir .vscode'".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let two = [origin(), Origin { number: 4, in_place: true, command: String::new(), ..origin() }];
        let bytes: Vec<u8> = two.iter().flat_map(Origin::written).collect();
        assert_eq!(Origin::read_all(&bytes), two);
        for length in 0..bytes.len() {
            let read = Origin::read_all(&bytes[..length]);
            assert!(two.starts_with(&read) && read.len() < 2, "{length}: {read:?}");
        }
    }

    #[test]
    fn fields_of_a_quarantine_entry_cannot_imitate_others() {
        let long = Origin { command: "x\0end\0".repeat(2000), ..origin() };
        let read = Origin::read_all(&long.written());
        assert_eq!(read.len(), 1);
        assert!(read[0].command.len() < MAX_COMMAND + 8 && read[0].path == long.path);
        for name in ["../x", "a/b", "..", "/", ""] {
            assert_eq!(Origin::read_all(&Origin { name: name.into(), ..origin() }.written()), [], "{name}");
        }
    }

    #[test]
    fn the_name_of_a_group_says_when_it_was_begun() {
        for moment in [0, 1, 1_795_000_000_123_456_789] {
            let name = group_name(moment);
            assert_eq!((name.len(), moment_of(&name)), (GROUP_LENGTH, Some(moment)));
        }
        assert!(group_name(5) < group_name(36) && group_name(1_795_000_000) < group_name(1_795_000_001));
        assert_eq!(moment_of("1795000000123456789-77"), Some(1_795_000_000_123_456_789));
        assert_eq!(moment_of("other"), None);
    }
}
