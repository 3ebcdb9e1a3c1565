//! Whether other users can change the directories above a file: a user who may write to one of them can replace the file.
#![expect(clippy::disallowed_methods, reason = "looks whose folders these are")]

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// So many links are followed at most, as the system does.
const MAX_LINKS: usize = 40;

/// In such a directory, every user may write, and only the owner of an entry may delete or replace it: inode(7).
const STICKY: u32 = 0o1000;

/// Why a path is not followed.
#[derive(Debug)]
pub(super) enum Unsafe {
    Unreadable(io::Error),
    /// Other users may write to this directory, or it belongs to one of them.
    Folder(PathBuf),
    /// This link belongs to another user.
    Link(PathBuf),
}

/// Returns the path with all links of its directories resolved. Only this user and root can change where it resolves to. The last
/// component is not resolved.
pub(super) fn judged(path: &Path) -> Result<PathBuf, Unsafe> {
    let mut todo: Vec<OsString> = names(path);
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    judge(&at)?;
    while let Some(name) = todo.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(name);
        if todo.is_empty() {
            return Ok(next);
        }
        if !metadata(&next)?.is_symlink() {
            judge(&next)?;
            at = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Unsafe::Unreadable(io::Error::other("its directories are a symlink loop")));
        }
        if !is_ours(&metadata(&next)?) {
            return Err(Unsafe::Link(next));
        }
        let to = std::fs::read_link(&next).map_err(Unsafe::Unreadable)?;
        if to.is_absolute() {
            at = PathBuf::from("/");
        }
        todo.extend(names(&to));
    }
    Ok(at)
}

/// The names of a path, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect();
    names.reverse();
    names
}

fn metadata(path: &Path) -> Result<Metadata, Unsafe> {
    std::fs::symlink_metadata(path).map_err(Unsafe::Unreadable)
}

fn judge(folder: &Path) -> Result<(), Unsafe> {
    let found = metadata(folder)?;
    let others_write = found.mode() & 0o022 != 0 && found.mode() & STICKY == 0;
    match is_ours(&found) && !others_write {
        true => Ok(()),
        false => Err(Unsafe::Folder(folder.to_owned())),
    }
}

/// Whether something is of this user or of root.
fn is_ours(found: &Metadata) -> bool {
    found.uid() == 0 || found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn why(path: &Path) -> &'static str {
        match judged(path) {
            Ok(_) => "none",
            Err(Unsafe::Unreadable(_)) => "unreadable",
            Err(Unsafe::Folder(_)) => "folder",
            Err(Unsafe::Link(_)) => "link",
        }
    }

    #[test]
    fn links_are_followed_through_directories_of_this_user() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["real/deep", "open/deep"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(root.join("open"), mode).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink(root.join("link/deep"), root.join("far")).unwrap();
        symlink("../real/./deep/../deep", root.join("real/back")).unwrap();
        symlink("open/deep", root.join("to-open")).unwrap();
        symlink("round", root.join("round")).unwrap();
        for (path, expected) in [
            ("real/deep/token", Ok("real/deep/token")),
            ("link/deep/token", Ok("real/deep/token")),
            ("far/token", Ok("real/deep/token")),
            ("real/back/token", Ok("real/deep/token")),
            ("open/deep/token", Err("folder")),
            ("to-open/token", Err("folder")),
            ("round/token", Err("unreadable")),
            ("none/token", Err("unreadable")),
        ] {
            let found = judged(&root.join(path)).map_err(|_| why(&root.join(path)));
            assert_eq!(found, expected.map(|path| root.join(path)), "{path}");
        }
    }

    /// In a directory with the sticky bit, a link of another user resolves to a target of their choice.
    #[test]
    fn a_link_of_another_user_is_not_followed() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root creates links of another user");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        assert_eq!(why(&root.join("link/token")), "none");
        std::os::unix::fs::lchown(root.join("link"), Some(65534), None).unwrap();
        assert_eq!(why(&root.join("link/token")), "link");
        std::os::unix::fs::chown(root.join("real"), Some(65534), None).unwrap();
        assert_eq!(why(&root.join("real/token")), "folder");
    }
}
