//! Where a path lies: inside the workspace or not.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::fold;

/// Facts about the workspace that only the disk knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The folder as the caller names it: absolute, perhaps through links.
    pub cwd: PathBuf,
    /// The same folder without links.
    pub real: PathBuf,
    /// Whether its file system tells `A` from `a`.
    pub case: Case,
}

/// Whether a file system tells `A` from `a`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Case {
    /// The file system tells `A` from `a`.
    #[default]
    Sensitive,
    /// The file system takes `A` for `a`.
    Insensitive,
}

/// A path, and where it lies seen from the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedPath<'p> {
    /// The whole path.
    pub(crate) absolute: &'p Path,
    /// The path from the workspace, `.` for the workspace itself; nothing when it lies outside.
    pub(crate) inside: Option<Cow<'p, Path>>,
}

impl Workspace {
    /// Returns a workspace that is reached without links, on a file system that tells `A` from `a`.
    #[must_use]
    pub fn plain(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self { real: cwd.clone(), cwd, case: Case::Sensitive }
    }

    pub(crate) fn locate<'p>(&self, path: &'p Path) -> LocatedPath<'p> {
        let inside = self.below(path, &self.real).or_else(|| self.below(path, &self.cwd));
        LocatedPath { absolute: path, inside }
    }

    /// Whether a real path lies in the workspace. The name by which the workspace was reached counts for nothing
    /// here: only where things really are.
    pub(crate) fn contains(&self, real: &Path) -> bool {
        self.below(real, &self.real).is_some()
    }

    /// Returns a glob that begins with the workspace's own path as one relative to it.
    pub(crate) fn relative_glob(&self, glob: &str) -> Option<String> {
        [&self.real, &self.cwd].into_iter().find_map(|folder| {
            let rest = glob.strip_prefix(folder.to_str()?)?;
            if rest.is_empty() { Some(".".to_owned()) } else { rest.strip_prefix('/').map(str::to_owned) }
        })
    }

    fn below<'p>(&self, path: &'p Path, folder: &Path) -> Option<Cow<'p, Path>> {
        let relative = match (path.strip_prefix(folder), self.case) {
            (Ok(relative), _) => Cow::Borrowed(relative),
            (Err(_), Case::Sensitive) => return None,
            (Err(_), Case::Insensitive) => Cow::Owned(below_folded(path, folder)?),
        };
        Some(if relative.as_os_str().is_empty() { Cow::Borrowed(Path::new(".")) } else { relative })
    }
}

fn below_folded(path: &Path, folder: &Path) -> Option<PathBuf> {
    let mut names = path.components();
    for expected in folder.components() {
        let found = names.next()?.as_os_str().to_string_lossy();
        if fold::fold(&found) != fold::fold(&expected.as_os_str().to_string_lossy()) {
            return None;
        }
    }
    Some(names.as_path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let linked = Workspace { cwd: "/link".into(), real: "/real/ws".into(), case: Case::Sensitive };
        let folded = Workspace { case: Case::Insensitive, ..Workspace::plain("/Users/Me") };
        let root = Workspace::plain("/");
        for (workspace, path, expected) in [
            (&linked, "/link", Some(".")),
            (&linked, "/link/a", Some("a")),
            (&linked, "/real/ws/a", Some("a")),
            (&linked, "/real/ws2/a", None),
            (&linked, "/real", None),
            (&folded, "/users/ME/a", Some("a")),
            (&folded, "/users/Mee/a", None),
            (&root, "/etc/passwd", Some("etc/passwd")),
        ] {
            assert_eq!(
                workspace.locate(Path::new(path)).inside.as_deref(),
                expected.map(Path::new),
                "{path}"
            );
        }
        assert!(!linked.contains(Path::new("/link/a")));
        assert!(linked.contains(Path::new("/real/ws/a")));
    }
}
