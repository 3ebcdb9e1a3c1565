//! Symlinks that a command may leave: whether version control would write through one, and whether one points out of the
//! workspace.
//!
//! Git opens its data files by path: a symlink in place of a log redirects the user's next commit to another file. So a
//! symlink in a repository may only point to files below its own directory, as those of git itself do. Every other new
//! symlink is reported if it points out of the workspace.

#![expect(clippy::disallowed_methods, reason = "reads links, and asks where the home is")]

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use rustix::fs::{FileType, readlinkat};
use stockade_files::real_path;
use stockade_names::fold;

use super::found::{PACKAGES, is_repository};
use super::roots::Root;
use super::targets::resolve;
use super::walk::{Here, Visit, walk};
use crate::host::Searched;
use crate::protect::{Answer, answer, in_a_repository};

/// Data directories of version control systems.
const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".sl", ".svn", ".bzr", ".pijul", "_darcs"];

/// Directories of a repository that git writes to. In a repository that is recognized by its content and not by its name, other
/// directories are worktrees.
const FOLDERS_OF_GIT: &[&str] = &[
    "branches",
    "filter-repo",
    "hooks",
    "info",
    "lfs",
    "logs",
    "modules",
    "objects",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    "svn",
    "worktrees",
];

/// Obeyed names in a repository, besides those of the table: nested repositories, and settings of other systems.
const OBEYED_BESIDE: &[&str] = &["modules", "worktrees", "hgrc", "config.toml"];

/// Maximum number of recorded symlinks of a linked worktree's repository.
const MAX_STRAYS: usize = 10_000;

/// Whether this is the data directory of a version control system.
pub(crate) fn is_of_version_control(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = fold(&name);
    REPOSITORIES.iter().any(|repository| *repository == name)
}

/// Whether a directory with this name belongs to a bare repository.
pub(crate) fn is_part_of_a_repository(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = fold(&name);
    FOLDERS_OF_GIT.iter().any(|folder| *folder == name)
}

/// Whether a symlink in a repository points to a file below its own directory that is not obeyed: `HEAD` may be such a symlink,
/// and so are locks of Mercurial.
pub(crate) fn stays_in_a_repository(to: &Path) -> bool {
    static OBEYED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let parts = in_a_repository().flat_map(|(_, path)| path.split('/'));
        parts.chain(OBEYED_BESIDE.iter().copied()).collect()
    });
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(name) => !OBEYED.contains(&*fold(&name.to_string_lossy())),
        Component::CurDir => true,
        _ => false,
    };
    to.components().all(is_plain) && to.components().any(|part| matches!(part, Component::Normal(_)))
}

/// The depth of the repository that a walk is in.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct InRepository(Option<(usize, bool)>);

impl InRepository {
    /// Updates it for the current directory.
    pub(crate) fn at(self, here: &Here<'_>) -> Self {
        let name = here.path.file_name().unwrap_or_default();
        let outer = self.0.filter(|(depth, is_named)| {
            *depth < here.depth && (*is_named || here.depth > depth + 1 || is_part_of_a_repository(name))
        });
        let is_named = is_of_version_control(name);
        let has =
            |name: &str| here.names.unwrap_or_default().iter().any(|it| it.name.eq_ignore_ascii_case(name));
        match outer {
            Some((_, true)) => Self(outer),
            _ if is_named => Self(Some((here.depth, true))),
            Some(_) => Self(outer),
            None => Self(is_repository(has).then_some((here.depth, false))),
        }
    }

    pub(crate) fn is_in_one(self) -> bool {
        self.0.is_some()
    }
}

/// Returns the target of a symlink in a directory.
pub(crate) fn text_of(here: &Here<'_>, name: &OsStr) -> Option<PathBuf> {
    let text = super::walk::in_an_open_folder(here.folder, |folder| readlinkat(folder, name, Vec::new()));
    text.ok().map(|text| PathBuf::from(OsString::from_vec(text.into_bytes())))
}

/// A symlink that points out of the writable directories, or to a file that other programs obey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Astray {
    /// Whether a write through it changes the home, or a file that other programs obey.
    pub(crate) is_harmful: bool,
    /// A description in a few words.
    pub(crate) label: String,
}

/// Returns a description of a symlink that points out of these directories, or to a file that other programs obey.
pub(crate) fn astray(roots: &[Root], folder: &Path, name: &OsStr, to: &Path) -> Option<Astray> {
    let whole = folder.join(to);
    // If a component is missing, the final target is unknown and judged when it is created.
    let end = resolve(&whole)?.end.unwrap_or_else(|| plain(&whole));
    match roots.iter().find_map(|root| end.strip_prefix(&root.path).ok()) {
        None => {
            let is_harmful = (is_at_home(&end) || is_guarded(&end)) && !is_an_interpreter(name, &end);
            let label = format!("a symlink out of the workspace, to {}", end.display());
            Some(Astray { is_harmful, label })
        }
        Some(below) if is_guarded(below) => {
            let label = format!("a symlink to a file that other programs obey, {}", end.display());
            Some(Astray { is_harmful: true, label })
        }
        Some(_) => None,
    }
}

/// Normalizes a path without resolving symlinks.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Whether a path is in the home of a user.
fn is_at_home(path: &Path) -> bool {
    static HOMES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
        let home = std::env::home_dir().filter(|home| home.parent().is_some());
        let real = home.as_ref().and_then(|home| real_path(home).ok());
        home.into_iter().chain(real).chain(["/home", "/root", "/Users"].map(PathBuf::from)).collect()
    });
    HOMES.iter().any(|home| path.starts_with(home))
}

/// Whether a path is obeyed by other programs, so that it must not be written, or contains a secret.
pub(crate) fn is_guarded(path: &Path) -> bool {
    let parts = || path.iter().map(OsStr::to_string_lossy);
    if parts().any(|part| PACKAGES.contains(&&*part)) {
        return false;
    }
    stockade_names::hits(stockade_names::Root::Folder, parts()).iter().any(|hit| match answer(hit.name) {
        // Files of a worktree may be symlinks to objects of the repository; files that git obeys have rows of their own.
        Some(Answer::Protect) => !hit.name.paths.contains(&".git"),
        Some(Answer::Hide | Answer::HideWithSecret) => true,
        Some(Answer::Report | Answer::ReportSecrets) | None => false,
    })
}

/// Whether a symlink with the name of an interpreter points to one, as in every virtual environment.
fn is_an_interpreter(name: &OsStr, end: &Path) -> bool {
    let is_one = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.starts_with("python") || name.starts_with("pypy")
    };
    is_one(name) && end.is_file() && end.file_name().is_some_and(is_one)
}

/// The stray symlinks in directories of a repository, through which git would write to another file.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    /// Their paths and targets.
    pub(crate) found: BTreeSet<(PathBuf, PathBuf)>,
    /// Whether all of them were found.
    pub(crate) searched: Searched,
}

/// Returns the stray symlinks in these directories.
pub(crate) fn strays_in(folders: &[PathBuf]) -> Strays {
    let mut strays = Strays::default();
    for folder in folders {
        let searched = walk(folder, &mut InFolder { folder, strays: &mut strays });
        strays.searched = strays.searched.max(searched);
    }
    strays
}

struct InFolder<'s> {
    folder: &'s Path,
    strays: &'s mut Strays,
}

impl Visit for InFolder<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        for entry in here.names.unwrap_or_default().iter().filter(|entry| entry.kind == FileType::Symlink) {
            let to = text_of(here, &entry.name).unwrap_or_default();
            if stays_in_a_repository(&to) {
                continue;
            }
            if self.strays.found.len() < MAX_STRAYS {
                self.strays.found.insert((self.folder.join(here.path).join(&entry.name), to));
            } else {
                self.strays.searched = Searched::InPart;
            }
        }
        BTreeSet::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_git_makes_stay_in_a_repository_and_others_do_not() {
        for to in ["refs/heads/main", "host.example:4711", "host/f0000001:4711", "./refs/heads/x", "a"] {
            assert!(stays_in_a_repository(Path::new(to)), "{to}");
        }
        for to in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/..",
            "config",
            "./config",
            "modules/x/HEAD",
            "CONFIG",
            "hooks",
            "hooks/pre-commit",
            "worktrees/x/HEAD",
            "objects/info/alternates",
            "info/attributes",
            "x/commondir",
        ] {
            assert!(!stays_in_a_repository(Path::new(to)), "{to}");
        }
    }

    #[test]
    fn a_flood_of_strays_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        let link =
            |number: usize| std::os::unix::fs::symlink("/etc/x", root.join(number.to_string())).unwrap();
        (0..MAX_STRAYS).for_each(link);
        let strays = strays_in(std::slice::from_ref(&root));
        assert_eq!((strays.found.len(), strays.searched), (MAX_STRAYS, Searched::Fully));
        link(MAX_STRAYS);
        let strays = strays_in(&[root]);
        assert_eq!((strays.found.len(), strays.searched), (MAX_STRAYS, Searched::InPart));
        assert_eq!(strays_in(&["/no/such/folder".into()]).searched, Searched::InPart);
    }

    #[test]
    fn where_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let roots = super::super::roots::roots(Some(&root), &[]);
        let harmful = |name: &str, to: &str| {
            astray(&roots, &root, OsStr::new(name), Path::new(to)).map(|astray| astray.is_harmful)
        };
        for inside in
            ["x", "a/b", "./x", "a/../x", ".git/annex/objects/x", "node_modules/a/.vscode/x", "x/.."]
        {
            assert_eq!(
                harmful("l", inside).filter(|_| inside != "a/../x" && inside != "x/.."),
                None,
                "{inside}"
            );
        }
        for out in ["/usr/share/doc", "/etc/passwd", "/no/such/thing", "x/../../y", "../y"] {
            assert_eq!(harmful("l", out), Some(false), "{out}");
        }
        let home = std::env::home_dir().unwrap();
        for path in
            [home.join(".bashrc"), home.clone(), "/home/x/y".into(), "/srv/x/.vscode/tasks.json".into()]
        {
            assert_eq!(harmful("l", path.to_str().unwrap()), Some(true), "{path:?}");
        }
        for guarded in
            [".envrc", ".claude/settings.json", ".vscode", ".git/hooks/pre-commit", ".git/config", ".env"]
        {
            assert_eq!(harmful("l", guarded), Some(true), "{guarded}");
        }
    }
}
