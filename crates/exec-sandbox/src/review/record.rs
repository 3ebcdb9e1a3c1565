//! The format of a layer's files: rows of NUL-terminated fields, and a final row without which a file is incomplete. NUL cannot
//! occur in a path, so a path cannot imitate other fields.

#![expect(clippy::disallowed_methods, reason = "reads and writes the files of a layer")]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fsync, openat, renameat};

use super::at::{Identity, Look};
use super::crash;

/// The final row of a complete file.
const END: &[u8] = b"end\0";

/// Maximum size of a file.
const MAX_LENGTH: u64 = 1 << 30;

/// Rows in serialized form.
#[derive(Debug, Default)]
pub(super) struct Rows(Vec<u8>);

impl Rows {
    /// Adds a row. Its fields must not contain NUL.
    pub(super) fn row<'f>(&mut self, fields: impl IntoIterator<Item = &'f [u8]>) {
        for field in fields {
            self.0.extend(field.iter().copied().filter(|byte| *byte != 0));
            self.0.push(0);
        }
    }

    /// Replaces a file atomically.
    pub(super) fn write(mut self, folder: &OwnedFd, name: &str) -> io::Result<()> {
        self.0.extend_from_slice(END);
        let beside = format!("{name}.new");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        crash::point()?;
        let mut file = File::from(openat(folder, &beside, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(&self.0)?;
        fsync(&file)?;
        crash::point()?;
        renameat(folder, &beside, folder, name)?;
        // Later steps rely on the rename being durable. Ignored: some file systems do not support fsync for directories.
        fsync(folder.as_fd()).ok();
        Ok(())
    }
}

/// Reads the rows of a file; nothing if it is missing or incomplete.
pub(super) fn read(folder: &OwnedFd, name: &str, width: usize) -> io::Result<Option<Vec<Vec<Vec<u8>>>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match openat(folder, name, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        opened => File::from(opened?),
    };
    let mut bytes = Vec::new();
    file.take(MAX_LENGTH).read_to_end(&mut bytes)?;
    let Some(whole) = bytes.strip_suffix(END) else { return Ok(None) };
    let Some(whole) = whole.strip_suffix(b"\0") else { return Ok(Some(Vec::new())) };
    let fields: Vec<&[u8]> = whole.split(|byte| *byte == 0).collect();
    let rows = fields.chunks_exact(width.max(1));
    if !rows.remainder().is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(rows.map(|row| row.iter().map(|field| field.to_vec()).collect()).collect()))
}

pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

pub(super) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn number_of<N: std::str::FromStr>(bytes: &[u8]) -> io::Result<N> {
    let number = str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Formats a file state as numbers separated by spaces.
pub(super) fn look_text(look: &Look) -> String {
    let Look { kind, mode, owner, identity, size, links, modified, changed } = look;
    format!(
        "{} {mode} {} {} {} {} {size} {links} {} {} {} {}",
        kind.as_raw_mode(),
        owner.0,
        owner.1,
        identity.0,
        identity.1,
        modified.0,
        modified.1,
        changed.0,
        changed.1
    )
}

pub(super) fn look_of(bytes: &[u8]) -> io::Result<Look> {
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let text = str::from_utf8(bytes).map_err(|_| bad())?;
    let words: Vec<&str> = text.split(' ').collect();
    let [kind, mode, user, group, device, number, size, links, at, at_ns, changed, changed_ns] = *words
    else {
        return Err(bad());
    };
    let natural = |word: &str| word.parse::<u64>().map_err(|_| bad());
    let short = |word: &str| word.parse::<u32>().map_err(|_| bad());
    let whole = |word: &str| word.parse::<i64>().map_err(|_| bad());
    Ok(Look {
        kind: FileType::from_raw_mode(short(kind)?),
        mode: short(mode)?,
        owner: (short(user)?, short(group)?),
        identity: (natural(device)?, natural(number)?),
        size: natural(size)?,
        links: natural(links)?,
        modified: (whole(at)?, natural(at_ns)?),
        changed: (whole(changed)?, natural(changed_ns)?),
    })
}

/// Formats an identity; empty for `None`.
pub(super) fn identity_text(identity: Option<Identity>) -> String {
    identity.map(|(device, number)| format!("{device}:{number}")).unwrap_or_default()
}

pub(super) fn identity_of(bytes: &[u8]) -> Option<Identity> {
    let (device, number) = str::from_utf8(bytes).ok()?.split_once(':')?;
    Some((device.parse().ok()?, number.parse().ok()?))
}
