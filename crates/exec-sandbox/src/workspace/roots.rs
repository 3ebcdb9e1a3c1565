//! The writable directories in which names are protected.

use std::path::{Component, Path, PathBuf};

/// A writable directory, and the prefix of path names in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    /// The prefix: empty for the workspace, the absolute path for any other directory.
    pub(crate) name: PathBuf,
}

/// Returns the roots for the workspace, if it is writable, and other directories, without nested ones.
pub(crate) fn roots(workspace: Option<&Path>, others: &[PathBuf]) -> Vec<Root> {
    let workspace = workspace.map(|path| Root { path: path.to_path_buf(), name: PathBuf::new() });
    let others = others.iter().map(|path| Root { path: path.clone(), name: path.clone() });
    let mut roots: Vec<Root> = workspace.into_iter().chain(others).collect();
    // A shorter path may contain a longer one; of equal paths, the first one is kept.
    roots.sort_by_key(|root| root.path.components().count());
    let mut kept: Vec<Root> = Vec::new();
    for root in roots {
        if !kept.iter().any(|outer| root.path.starts_with(&outer.path)) {
            kept.push(root);
        }
    }
    kept
}

/// Returns the name of a path in one of the roots.
pub(crate) fn named(roots: &[Root], path: &Path) -> Option<PathBuf> {
    roots.iter().find_map(|root| path.strip_prefix(&root.path).ok().map(|below| root.name.join(below)))
}

/// Whether a path relative to `from` stays in one of the roots, without resolving symlinks.
pub(crate) fn is_plainly_within(roots: &[Root], from: &Path, path: &str) -> bool {
    let mut plain = PathBuf::new();
    for part in from.join(path).components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    roots.iter().any(|root| plain.starts_with(&root.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_is_gone_through_twice() {
        let paths = |workspace: Option<&str>, others: &[&str]| -> Vec<(String, String)> {
            let others: Vec<PathBuf> = others.iter().map(PathBuf::from).collect();
            let text = |path: PathBuf| path.to_str().unwrap().to_owned();
            let roots = roots(workspace.map(Path::new), &others);
            roots.into_iter().map(|root| (text(root.path), text(root.name))).collect()
        };
        let pair = |path: &str, name: &str| (path.to_owned(), name.to_owned());
        assert_eq!(paths(Some("/w"), &["/w", "/w/a", "/wx"]), [pair("/w", ""), pair("/wx", "/wx")]);
        assert_eq!(paths(Some("/a/w"), &["/a"]), [pair("/a", "/a")]);
        assert_eq!(paths(None, &["/b"]), [pair("/b", "/b")]);
    }
}
