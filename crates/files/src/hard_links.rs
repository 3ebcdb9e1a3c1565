//! Finds the other names (hard links) of a file within one directory tree.
//!
//! Only a walk through the whole tree finds them, so the result of a walk is cached. The cache is never trusted:
//! every name is looked up again, and a file counts as having no other names only if all its names are found now.

#![expect(
    clippy::disallowed_methods,
    reason = "looks names up below a folder, and asks how old an answer is"
)]

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::found_path::OtherLinks;
use crate::held_name::Identity;
use rustix::fs::{AtFlags, Stat, openat, statat};

mod index;

use index::Index;

/// How long a file stays refused after a walk that did not find all its names. A file that was moved into the tree
/// together with its directory shows no other sign.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum lag of a file system's clock.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// Index of the names of the files below a directory.
#[derive(Debug)]
pub(crate) struct HardLinks {
    top: OwnedFd,
    path: PathBuf,
    max_entries: usize,
    /// Result of the last walk.
    kept: Mutex<Option<Walked>>,
}

#[derive(Debug)]
struct Walked {
    index: Index,
    /// Start of the walk, by the file system's clock and by the monotonic clock.
    stamp: Duration,
    began: Instant,
}

/// Result of looking up the names of a file again.
struct LookedUp {
    names: Vec<PathBuf>,
    is_stale: bool,
}

impl HardLinks {
    pub(crate) fn new(top: OwnedFd, path: PathBuf) -> Self {
        Self { top, path, max_entries: index::MAX_ENTRIES, kept: Mutex::default() }
    }

    /// Returns the other names of the file at `real`. Walks the tree at most once, and not at all while the cached
    /// walk suffices.
    pub(crate) fn other_names(&self, identity: &Identity, real: &Path) -> OtherLinks {
        let links = usize::try_from(identity.stat.st_nlink).unwrap_or(usize::MAX);
        if links <= 1 {
            return OtherLinks::None;
        }
        if !real.starts_with(&self.path) {
            return OtherLinks::Some(Vec::new());
        }
        // Another thread panicked while it held the lock: no result is available.
        let Ok(mut kept) = self.kept.lock() else { return OtherLinks::Unfinished(Vec::new()) };
        let mut found = None;
        if let Some(walked) = kept.as_ref() {
            let looked_up = self.look_up(&walked.index, identity);
            let says_enough = looked_up.names.len() == links || walked.is_newer_than(&identity.stat);
            found = (says_enough && !looked_up.is_stale).then_some(looked_up.names);
        }
        let names = match found {
            Some(names) => names,
            None => self.look_up(&kept.insert(self.walk()).index, identity).names,
        };
        let is_finished = kept.as_ref().is_some_and(|walked| walked.index.is_finished);
        let all = names.len() == links;
        let mut others: Vec<_> = names.into_iter().filter(|name| name != real).collect();
        others.sort_unstable();
        match (all, is_finished) {
            (true, _) => OtherLinks::All(others),
            (false, true) => OtherLinks::Some(others),
            (false, false) => OtherLinks::Unfinished(others),
        }
    }

    fn walk(&self) -> Walked {
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began = Instant::now();
        Walked { index: Index::walk(&self.top, self.max_entries), stamp, began }
    }

    /// Looks up the names of a file again. A name that moves meanwhile could be seen twice; but moving stamps the
    /// file, so all lookups must see the same stamp.
    fn look_up(&self, index: &Index, identity: &Identity) -> LookedUp {
        let mut looked_up = LookedUp { names: Vec::new(), is_stale: false };
        let mut stamps = Vec::new();
        for (folder, name) in index.names(&identity.stat) {
            match self.stat(folder, name) {
                Some(stat) if identity.is(&stat) => {
                    stamps.push((stat.st_nlink, stat.st_ctime, stat.st_ctime_nsec));
                    looked_up.names.push(self.path.join(folder).join(name));
                }
                _ => looked_up.is_stale = true,
            }
        }
        if stamps.iter().any(|stamp| Some(stamp) != stamps.first()) {
            return LookedUp { names: Vec::new(), is_stale: true };
        }
        looked_up
    }

    /// Queries a name without following any link, since a link gives one name many paths.
    fn stat(&self, folder: &Path, name: &OsStr) -> Option<Stat> {
        let mut opened: Option<OwnedFd> = None;
        for component in folder {
            let above = opened.as_ref().map_or(self.top.as_fd(), AsFd::as_fd);
            opened = Some(open_folder(above, component)?);
        }
        let folder = opened.as_ref().map_or(self.top.as_fd(), AsFd::as_fd);
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}

impl Walked {
    /// Whether the walk would have met every name of a file: none was added since.
    fn is_newer_than(&self, stat: &Stat) -> bool {
        let seconds = u64::try_from(stat.st_ctime).unwrap_or(0);
        let changed = Duration::from_secs(seconds).saturating_add(CLOCK_STEP);
        self.stamp > changed && self.began.elapsed() < PATIENCE
    }
}

fn open_folder(above: BorrowedFd<'_>, name: &OsStr) -> Option<OwnedFd> {
    openat(above, name, index::FOLDER, rustix::fs::Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Site {
        folder: tempfile::TempDir,
        links: HardLinks,
    }

    impl Site {
        fn new(max_entries: usize) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for path in ["ws/a", "ws/b/c", "out"] {
                fs::create_dir_all(folder.path().join(path)).unwrap();
            }
            let path = folder.path().join("ws").canonicalize().unwrap();
            let top = open_folder(rustix::fs::CWD, path.as_os_str()).unwrap();
            Self { folder, links: HardLinks { max_entries, ..HardLinks::new(top, path) } }
        }

        fn write(&self, name: &str) {
            fs::write(self.folder.path().join(name), name).unwrap();
        }

        fn link(&self, of: &str, name: &str) {
            fs::hard_link(self.folder.path().join(of), self.folder.path().join(name)).unwrap();
        }

        fn names(&self, name: &str) -> OtherLinks {
            let real = self.folder.path().canonicalize().unwrap().join(name);
            let stat = statat(rustix::fs::CWD, &real, AtFlags::SYMLINK_NOFOLLOW).unwrap();
            self.links.other_names(&Identity { stat }, &real)
        }

        fn all(&self, names: &[&str]) -> OtherLinks {
            OtherLinks::All(names.iter().map(|name| self.links.path.join(name)).collect())
        }
    }

    /// Makes a walk appear to have begun after everything that was done to the files.
    fn settle(site: &Site) {
        site.links.kept.lock().unwrap().as_mut().unwrap().stamp += CLOCK_STEP * 2;
    }

    #[test]
    fn thousands_of_files_are_found_by_one_walk() {
        let site = Site::new(index::MAX_ENTRIES);
        for number in 0..300 {
            site.write(&format!("ws/a/{number}"));
            let other = if number % 2 == 0 { "ws/b/c" } else { "out" };
            site.link(&format!("ws/a/{number}"), &format!("{other}/{number}"));
        }
        let walks = index::work::walks(|| {
            assert_eq!(site.names("ws/a/0"), site.all(&["b/c/0"]));
            settle(&site);
            for number in 0..300 {
                let expected = match number % 2 {
                    0 => site.all(&[&format!("b/c/{number}")]),
                    _ => OtherLinks::Some(Vec::new()),
                };
                assert_eq!(site.names(&format!("ws/a/{number}")), expected);
            }
        });
        assert_eq!(walks, 1);
    }

    #[test]
    fn what_a_walk_found_is_not_believed() {
        let site = Site::new(index::MAX_ENTRIES);
        site.write("ws/x");
        site.link("ws/x", "ws/b/x");
        assert_eq!(site.names("ws/x"), site.all(&["b/x"]));
        settle(&site);
        // The other name moves out of the tree, and a link at its old place points to the remaining name.
        let at = |name: &str| site.folder.path().join(name);
        fs::rename(at("ws/b/x"), at("out/x")).unwrap();
        fs::remove_dir_all(at("ws/b")).unwrap();
        std::os::unix::fs::symlink(".", at("ws/b")).unwrap();
        assert_eq!(site.names("ws/x"), OtherLinks::Some(Vec::new()));
    }

    #[test]
    fn new_names_are_seen_at_once() {
        let site = Site::new(index::MAX_ENTRIES);
        site.write("ws/x");
        site.link("ws/x", "out/x");
        assert_eq!(site.names("ws/x"), OtherLinks::Some(Vec::new()));
        fs::rename(site.folder.path().join("out/x"), site.folder.path().join("ws/a/x")).unwrap();
        assert_eq!(site.names("ws/x"), site.all(&["a/x"]));
        site.link("ws/x", "ws/y");
        assert_eq!(site.names("ws/y"), site.all(&["a/x", "x"]));
    }

    #[test]
    fn a_search_that_ends_early_refuses_and_says_so() {
        let site = Site::new(3);
        for number in 0..10 {
            site.write(&format!("ws/b/c/{number}"));
        }
        site.write("ws/x");
        site.link("ws/x", "ws/b/c/x");
        assert!(matches!(site.names("ws/x"), OtherLinks::Unfinished(_)));
    }
}
