//! What a call is about, seen as the process sees it that makes the call: its memory, its folder, its root.
//!
//! Nothing is opened but names of things ([`OFlags::PATH`]), and no path leads out of the root of that process.

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
use crate::seccomp::{Architecture, Asks, PathArguments, Way, asked_by};
use crate::sys::raw::{self, Notice};

/// Longest address that the kernel takes.
const ADDRESS: usize = 128;

/// How many links, and how many parts of a path, are followed to find out where it leads.
const LINKS: usize = 16;
const PARTS: usize = 64;

/// Returns what a call asks for, as far as it can be read.
pub(super) fn asks(notice: &Notice) -> Vec<Ask> {
    let known = Architecture::current().and_then(|architecture| asked_by(architecture, notice.number));
    match known {
        Some(Asks::Paths(paths)) => {
            paths.iter().filter_map(|(place, way)| named(notice, *place, *way)).collect()
        }
        Some(Asks::Address(at, length, way)) => addressed(notice, at, length, way).into_iter().collect(),
        None => Vec::new(),
    }
}

fn named(notice: &Notice, place: PathArguments, way: Way) -> Option<Ask> {
    let text = text(notice.thread, argument(notice, place.text)).ok()?;
    // Without a name, it is about something that is open already.
    if text.is_empty() {
        return None;
    }
    // The kernel looks at no more than the lower half.
    let folder = place.folder.map(|number| (argument(notice, number) as u32).cast_signed());
    path(notice.thread, folder, text, way.by(&notice.arguments))
}

fn addressed(notice: &Notice, at: u8, length: u8, way: Way) -> Option<Ask> {
    let length = usize::try_from(argument(notice, length)).unwrap_or(ADDRESS).min(ADDRESS);
    let mut bytes = [0; ADDRESS];
    let room = bytes.get_mut(..length)?;
    let length = raw::read_memory(notice.thread, argument(notice, at), room).ok()?;
    match address(bytes.get(..length)?)? {
        Address::Path(text) => path(notice.thread, None, text, way),
        // To listen is no way out.
        Address::Machine(address, port) => {
            let ask = || Ask::Machine { address, port, is_heard: is_heard(notice.thread, port) };
            (way == Way::Connect).then(ask)
        }
    }
}

/// Whether somebody listens at a port in the network of a thread.
fn is_heard(thread: u32, port: u16) -> bool {
    /// So much of a list is read; a command has not nearly as many sockets.
    const LIST: u64 = 1 << 20;
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|kind| {
        let list = std::fs::File::open(format!("/proc/{thread}/net/{kind}"));
        let mut text = String::new();
        list.is_ok_and(|list| list.take(LIST).read_to_string(&mut text).is_ok() && is_listed(&text, port))
    })
}

/// Finds out what a path leads to, and whether it is there.
fn path(thread: u32, folder: Option<i32>, text: Vec<u8>, way: Way) -> Option<Ask> {
    let process = PathBuf::from("/proc").join(thread.to_string());
    let named = PathBuf::from(OsString::from_vec(text));
    let begins = match folder {
        _ if named.is_absolute() => PathBuf::new(),
        None | Some(libc::AT_FDCWD) => std::fs::read_link(process.join("cwd")).ok()?,
        Some(number) => std::fs::read_link(process.join("fd").join(number.to_string())).ok()?,
    };
    let named = begins.join(named);
    // What is open without a path begins nowhere.
    if !named.is_absolute() {
        return None;
    }
    let root =
        openat(CWD, process.join("root"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .ok()?;
    match within(&root, &named, OFlags::empty()) {
        Ok(found) => {
            let path = std::fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd())).ok()?;
            Some(Ask::Path { path, way, is_there: true })
        }
        Err(Errno::NOENT | Errno::NOTDIR) => {
            Some(Ask::Path { path: as_far_as_it_leads(&root, &named)?, way, is_there: false })
        }
        // Whoever is allowed less than the command knows nothing.
        Err(_) => None,
    }
}

/// Names what lies at a path within a root.
fn within(root: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty(), resolve)
}

/// Where a path leads that leads to nothing: links are followed as far as there are any.
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
    // A link of the kernel's own leads to what has no path there.
    (links > 0).then_some(reached)
}

/// Puts the parts of a path on top, the first one last.
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
