//! Paths as text: nothing here looks at a disk.

use std::path::{Component, Path, PathBuf};

/// Resolves a path against a folder, by text: `.` and empty names go, `..` takes the name before it.
///
/// ```
/// use std::path::Path;
///
/// let path = stockade_text::resolve_path(Path::new("/srv/app"), Path::new("src/../a.txt"));
/// assert_eq!(path, Path::new("/srv/app/a.txt"));
/// ```
#[must_use]
pub fn resolve_path(folder: &Path, path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => resolved.push(component),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_text() {
        for (path, expected) in [
            ("", "/ws"),
            (".", "/ws"),
            ("a.txt", "/ws/a.txt"),
            ("./a//b/./c/", "/ws/a/b/c"),
            ("foo/..", "/ws"),
            ("a/../../x", "/x"),
            ("../../../../x", "/x"),
            ("/etc/passwd", "/etc/passwd"),
            ("//etc/passwd", "/etc/passwd"),
            ("...", "/ws/..."),
            ("..%2fx", "/ws/..%2fx"),
            ("..\\x", "/ws/..\\x"),
            ("~/x", "/ws/~/x"),
        ] {
            assert_eq!(resolve_path(Path::new("/ws"), Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
