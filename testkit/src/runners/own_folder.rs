//! A folder of one run, which is removed at its end: runs beside each other never read the files of another.

use std::io;
use std::path::{Path, PathBuf};

/// A folder of this process.
#[derive(Debug)]
pub(super) struct OwnFolder(PathBuf);

impl OwnFolder {
    /// Creates the folder below `top`. Its name has the number of this process.
    pub(super) fn new(top: &Path, name: &str) -> io::Result<Self> {
        let folder = top.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    /// Returns the path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // What remains is only disk space.
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_different_folders_and_leave_none() {
        let top = std::env::temp_dir().join(format!("stockade-own-folder-{}", std::process::id()));
        let (one, other) = (OwnFolder::new(&top, "bash-1").unwrap(), OwnFolder::new(&top, "bash-2").unwrap());
        assert_ne!(one.file("x"), other.file("x"));
        std::fs::write(one.file("x"), "x").unwrap();
        drop((one, other));
        assert_eq!(std::fs::read_dir(&top).unwrap().count(), 0);
        std::fs::remove_dir(&top).unwrap();
    }
}
