//! The folder that the nodes of one graph run share.
#![expect(clippy::disallowed_methods, reason = "makes the folder and takes it away")]

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{GuardError, Session};
use crate::audit::new_name;
use stockade_exec_sandbox::quarantine::remove_tree;

/// How long the name of a run is.
const NAME_LENGTH: usize = 32;

/// A directory for one graph run, which only its owner may enter. Commands of the nodes that join it may read and
/// write there; other commands may not.
#[derive(Debug)]
#[must_use = "the directory stays until the run is ended"]
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
        // It must not exist yet: an existing directory may belong to another user.
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed(&path))?;
        Ok(Self { path })
    }

    /// Goes on with a run that was begun in `base` under this name, by another process of this user.
    ///
    /// # Errors
    /// When it does not exist, or its directory belongs to another user.
    pub fn resume(base: &Path, name: &str) -> Result<Self, GuardError> {
        let path = base.join(name);
        let failed = |source| GuardError::GraphRun { path: path.clone(), source };
        let not_ours = |what: &str| failed(io::Error::new(io::ErrorKind::InvalidInput, what));
        if name.len() != NAME_LENGTH || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(not_ours("this is not the name of a graph run"));
        }
        // What is asked about must be the folder itself, and no link to another.
        let found = fs::symlink_metadata(&path).map_err(failed)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(not_ours("it is no folder of this user"));
        }
        // A node may have changed its mode.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        let path = fs::canonicalize(&path).map_err(failed)?;
        Ok(Self { path })
    }

    /// Returns the names of the runs in `base` that were not ended.
    ///
    /// # Errors
    /// When the folder is there and cannot be read.
    pub fn names(base: &Path) -> Result<Vec<String>, GuardError> {
        let failed = |source| GuardError::GraphRun { path: base.to_owned(), source };
        let entries = match fs::read_dir(base) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| Self::resume(base, name).is_ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the folder away with all that is in it, whatever its nodes have closed.
    ///
    /// # Errors
    /// When it cannot be taken away, or something in it.
    pub fn remove(&self) -> io::Result<()> {
        let (Some(base), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        remove_tree(base, name)
    }

    /// Ends the run, and takes the folder away with all that is in it.
    ///
    /// # Errors
    /// When it cannot be taken away.
    pub fn end(self) -> Result<(), GuardError> {
        self.remove().map_err(|source| GuardError::GraphRun { path: self.path, source })
    }
}

impl Session {
    /// Lets the commands of this agent, as a node of a graph, read and write the folder of its run.
    pub fn join(&mut self, run: &GraphRun) {
        self.shared.push(run.path().to_owned());
    }
}
