//! The folder that the nodes of one graph run share.
#![expect(clippy::disallowed_methods, reason = "makes the folder and takes it away")]

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::{GuardError, Session};
use crate::audit::new_name;

/// A folder for one run of a graph, which only its owner may enter. The commands of the nodes that join it may read and
/// write there, and nobody else's.
#[derive(Debug)]
#[must_use = "the folder stays until somebody ends the run"]
pub struct GraphRun {
    path: PathBuf,
}

impl GraphRun {
    /// Makes a folder with a name of its own in `base`, which must exist.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(base: &Path) -> Result<Self, GuardError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| GuardError::GraphRun { path, source }
        };
        let base = fs::canonicalize(base).map_err(failed(base))?;
        let path = base.join(new_name().map_err(GuardError::Nameless)?);
        // It must not be there yet: what somebody else made is theirs.
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed(&path))?;
        Ok(Self { path })
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the run, and takes the folder away with all that is in it.
    ///
    /// # Errors
    /// When it cannot be taken away.
    pub fn end(self) -> Result<(), GuardError> {
        fs::remove_dir_all(&self.path).map_err(|source| GuardError::GraphRun { path: self.path, source })
    }
}

impl Session {
    /// Lets the commands of this agent, as a node of a graph, read and write the folder of its run.
    pub fn join(&mut self, run: &GraphRun) {
        self.shared.push(run.path().to_owned());
    }
}
