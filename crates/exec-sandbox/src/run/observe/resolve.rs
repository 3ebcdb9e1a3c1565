//! Reads the path or address of a call, resolved in the calling process's memory, working directory and root.
//!
//! Files are only opened as handles ([`OFlags::PATH`]), and paths do not leave the root of that process.

#![expect(
    clippy::disallowed_methods,
    reason = "looks up what a command asked for, in the command's own view"
)]

use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;

use super::caller::{argument, text};
use crate::explain::asked::{Address, Ask, address, is_listed};
use crate::seccomp::{Architecture, Asks, PathArguments, PathUse, asked_by};
use crate::sys::raw::{self, Notice};

/// The maximum length of an address.
const ADDRESS: usize = 128;

/// Maximum number of followed symlinks.
const LINKS: usize = 16;
const PARTS: usize = 64;

/// Returns the requests of a call, as far as they can be read.
pub(super) fn asks(notice: &Notice) -> Vec<Ask> {
    let known = Architecture::current().and_then(|architecture| asked_by(architecture, notice.number));
    match known {
        Some(Asks::Paths(paths)) => {
            paths.iter().filter_map(|(place, path_use)| named(notice, *place, *path_use)).collect()
        }
        Some(Asks::Address(at, length, path_use)) => {
            addressed(notice, at, length, path_use).into_iter().collect()
        }
        None => Vec::new(),
    }
}

fn named(notice: &Notice, place: PathArguments, path_use: PathUse) -> Option<Ask> {
    let text = text(notice.thread, argument(notice, place.text)).ok()?;
    // With an empty path, the call is about a descriptor.
    if text.is_empty() {
        return None;
    }
    // The kernel only uses the lower half of the argument.
    let folder = place.folder.map(|number| (argument(notice, number) as u32).cast_signed());
    path(notice.thread, folder, text, path_use.by(&notice.arguments))
}

fn addressed(notice: &Notice, at: u8, length: u8, path_use: PathUse) -> Option<Ask> {
    let length = usize::try_from(argument(notice, length)).unwrap_or(ADDRESS).min(ADDRESS);
    let mut bytes = [0; ADDRESS];
    let room = bytes.get_mut(..length)?;
    let length = raw::read_memory(notice.thread, argument(notice, at), room).ok()?;
    match address(bytes.get(..length)?)? {
        Address::Path(text) => path(notice.thread, None, text, path_use),
        // Binding an address is not a connection.
        Address::Machine(address, port) => {
            let ask = || Ask::Machine { address, port, is_heard: is_heard(notice.thread, port) };
            (path_use == PathUse::Connect).then(ask)
        }
    }
}

/// Whether a socket listens on a port in the network namespace of a thread.
fn is_heard(thread: u32, port: u16) -> bool {
    /// Maximum number of bytes that are read of a socket table.
    const LIST: u64 = 1 << 20;
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|kind| {
        let list = std::fs::File::open(format!("/proc/{thread}/net/{kind}"));
        let mut text = String::new();
        list.is_ok_and(|list| list.take(LIST).read_to_string(&mut text).is_ok() && is_listed(&text, port))
    })
}

/// Resolves a path, and checks whether it exists.
fn path(thread: u32, folder: Option<i32>, text: Vec<u8>, path_use: PathUse) -> Option<Ask> {
    let process = PathBuf::from("/proc").join(thread.to_string());
    let named = PathBuf::from(OsString::from_vec(text));
    let begins = match folder {
        _ if named.is_absolute() => PathBuf::new(),
        None | Some(libc::AT_FDCWD) => std::fs::read_link(process.join("cwd")).ok()?,
        Some(number) => std::fs::read_link(process.join("fd").join(number.to_string())).ok()?,
    };
    let named = begins.join(named);
    // A descriptor without a path, such as a pipe, has no directory.
    if !named.is_absolute() {
        return None;
    }
    let root =
        openat(CWD, process.join("root"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .ok()?;
    match within(&root, &named, OFlags::empty()) {
        Ok(found) => {
            let path = std::fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd())).ok()?;
            Some(Ask::Path { path, path_use, is_there: true })
        }
        Err(Errno::NOENT | Errno::NOTDIR) => {
            Some(Ask::Path { path: as_far_as_it_leads(&root, &named)?, path_use, is_there: false })
        }
        // This thread may have fewer rights than the command, so other errors mean "unknown".
        Err(_) => None,
    }
}

/// Opens a handle to a path within a root.
fn within(root: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty(), resolve)
}

/// Resolves a path that does not exist, following symlinks as far as possible.
fn as_far_as_it_leads(root: &OwnedFd, path: &Path) -> Option<PathBuf> {
    let mut reached = PathBuf::from("/");
    let mut rest: Vec<OsString> = Vec::new();
    let (mut links, mut parts) = (LINKS, PARTS);
    push(&mut rest, path);
    while let Some(part) = rest.pop() {
        if part == ".." {
            reached.pop();
            continue;
        }
        reached.push(&part);
        if links == 0 || parts == 0 {
            continue;
        }
        parts -= 1;
        let found = within(root, &reached, OFlags::NOFOLLOW);
        let Some(link) = found.ok().and_then(|found| readlinkat(&found, c"", Vec::new()).ok()) else {
            continue;
        };
        links -= 1;
        let link = PathBuf::from(OsString::from_vec(link.into_bytes()));
        if link.is_absolute() {
            reached = PathBuf::from("/");
        } else {
            reached.pop();
        }
        push(&mut rest, &link);
    }
    // A magic link of procfs may have no path.
    (links > 0).then_some(reached)
}

/// Pushes the components of a path on a stack, the first one last.
fn push(rest: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    rest.extend(parts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_followed_as_far_as_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root: OwnedFd = fs::File::open(folder.path()).unwrap().into();
        fs::create_dir_all(folder.path().join("work/deep")).unwrap();
        for (to, at) in [("/opt/data", "work/out"), ("../deep/none", "work/deep/up"), ("self", "work/self")] {
            symlink(to, folder.path().join(at)).unwrap();
        }
        let rows = [
            ("/work/x", Some("/work/x")),
            ("/work/./deep/../x", Some("/work/x")),
            ("/work/out/a/b", Some("/opt/data/a/b")),
            ("/work/deep/up/x", Some("/work/deep/none/x")),
            ("/../../etc", Some("/etc")),
            ("/work/self/x", None),
        ];
        for (path, expected) in rows {
            let found = as_far_as_it_leads(&root, Path::new(path));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{path}");
        }
        let long = format!("/work{}", "/x".repeat(2000));
        assert_eq!(as_far_as_it_leads(&root, Path::new(&long)), Some(long.clone().into()));
    }
}
