//! The path of a file without links, by a few system calls.

#![expect(clippy::disallowed_methods, reason = "asks the system where a path leads")]

use std::io;
use std::path::{Path, PathBuf};

/// Returns the absolute path of an existing file or directory, without links, `.` and `..`.
///
/// The result is that of [`std::fs::canonicalize`], which asks for every component whether it is a link. The kernel does the same in
/// one call when it opens the path, and `/proc` tells where that led.
///
/// # Errors
/// The path does not exist, or a component cannot be searched.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    match of_opened(path)? {
        Some(real) => Ok(real),
        None => by_component(path),
    }
}

fn by_component(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Opens the path, which gives no access to what it leads to, and asks for the name of what was opened. Nothing where
/// there is no `/proc`, or where the name is not one: a file that was removed meanwhile has a word after it.
#[cfg(target_os = "linux")]
fn of_opened(path: &Path) -> io::Result<Option<PathBuf>> {
    use std::ffi::OsString;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};

    let opened = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let link = format!("/proc/self/fd/{}", opened.as_raw_fd());
    // Longer than any name that needs no second call.
    let Ok(name) = readlinkat(CWD, &link, Vec::with_capacity(512)) else { return Ok(None) };
    let name = name.into_bytes();
    let is_name = name.starts_with(b"/") && !name.ends_with(b" (deleted)");
    Ok(is_name.then(|| OsString::from_vec(name).into()))
}

#[cfg(not(target_os = "linux"))]
fn of_opened(_: &Path) -> io::Result<Option<PathBuf>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn it_is_the_canonical_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        fs::write(at("gone (deleted)"), "").unwrap();
        fs::write(at("odd\nname"), "").unwrap();
        symlink("a", at("link")).unwrap();
        symlink("link/b/file", at("chain")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        let names = [
            "",
            "a",
            "a/b/file",
            "a/../a/./b",
            "link/b",
            "chain",
            "gone (deleted)",
            "odd\nname",
            "loop",
            "dangling",
            "missing",
            "a/b/file/below",
        ];
        for name in names {
            let (found, expected) = (real_path(&at(name)), fs::canonicalize(at(name)));
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(found), Err(expected)) => assert_eq!(found.kind(), expected.kind(), "{name}"),
                (found, expected) => panic!("{name}: {found:?} but {expected:?}"),
            }
        }
        let long = at(&["deep"; 200].join("/"));
        fs::create_dir_all(&long).unwrap();
        assert_eq!(real_path(&long).unwrap(), fs::canonicalize(&long).unwrap());
    }
}
