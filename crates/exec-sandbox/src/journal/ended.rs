//! A short list of ended commands, so that a running one knows which others ran at the same time.

#![expect(clippy::disallowed_methods, reason = "keeps a short list of commands that are over")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::moment::moment;
use crate::workspace::roots::Root;

/// Maximum number of entries. If more commands end during one, it assumes that one of them shared its directories.
const MAX_ENDED: usize = 128;

/// Maximum size of the list.
const MAX_LENGTH: u64 = 1 << 20;

fn open(state: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC).open(state.join("ended"))?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Reads the list: when each command ended, and its directory.
fn read(file: &mut File) -> io::Result<Vec<(u128, Vec<u8>)>> {
    let mut bytes = Vec::new();
    file.take(MAX_LENGTH).read_to_end(&mut bytes)?;
    let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let pairs = fields.chunks_exact(2).filter_map(|pair| match pair {
        [time, path] => Some((std::str::from_utf8(time).ok()?.parse().ok()?, path.to_vec())),
        _ => None,
    });
    Ok(pairs.collect())
}

/// Adds an ended command.
pub(super) fn add(state: &Path, roots: &[Root]) -> io::Result<()> {
    let mut file = open(state)?;
    let mut list = read(&mut file)?;
    list.extend(roots.iter().map(|root| (moment(), root.path.as_os_str().as_bytes().to_vec())));
    let passed = list.len().saturating_sub(MAX_ENDED);
    let mut bytes = Vec::new();
    for (time, path) in list.into_iter().skip(passed) {
        bytes.extend_from_slice(format!("{time}\0").as_bytes());
        bytes.extend(path);
        bytes.push(0);
    }
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&bytes)
}

/// Whether a command that may have changed one of these directories ended after this moment; true if the list cannot tell.
pub(super) fn any_since(state: &Path, began: u128, roots: &[Root]) -> bool {
    let Ok(list) = open(state).and_then(|mut file| read(&mut file)) else { return true };
    let is_full = list.len() >= MAX_ENDED && list.first().is_some_and(|(time, _)| *time >= began);
    is_full
        || list.iter().filter(|(time, _)| *time >= began).any(|(_, path)| {
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            roots.iter().any(|root| root.path.starts_with(path) || path.starts_with(&root.path))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::roots::roots;

    #[test]
    fn a_full_list_counts_as_shared() {
        let state = tempfile::tempdir().unwrap();
        let began = moment();
        let (here, there) = (roots(Some(Path::new("/a")), &[]), roots(Some(Path::new("/b")), &[]));
        for count in 1..MAX_ENDED {
            add(state.path(), &there).unwrap();
            assert!(!any_since(state.path(), began, &here), "{count}");
        }
        add(state.path(), &there).unwrap();
        assert!(any_since(state.path(), began, &here), "others may have been forgotten");
        assert!(!any_since(state.path(), moment(), &here));
        add(state.path(), &here).unwrap();
        let length = std::fs::metadata(state.path().join("ended")).unwrap().len();
        assert!(length < 32 * MAX_ENDED as u64, "{length}");
    }
}
