//! Gives a container the files that were checked.
#![expect(clippy::disallowed_methods, reason = "writes the files of a package that was checked")]

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::package::CheckedPackage;

impl CheckedPackage {
    /// Returns each file that is as it was signed, with what is in it.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// Writes these files into a new directory, to build an image from or to mount read-only: the content of the package when it
    /// was checked, whatever it contains now. Only the owner may change them.
    ///
    /// # Errors
    /// The folder is there already, or something could not be written; then what was written stays.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o755).create(folder)?;
        for (path, bytes) in self.files() {
            let file = folder.join(path);
            if let Some(parent) = file.parent() {
                DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
            }
            // Files of a package are read; what starts them is in the image.
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o444).open(file)?;
            file.write_all(bytes)?;
        }
        Ok(())
    }
}
