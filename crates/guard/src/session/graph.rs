//! Directories that the nodes of a graph run share.
#![expect(clippy::disallowed_methods, reason = "makes the folder and takes it away")]

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{GuardError, Session};
use crate::audit::new_name;
use stockade_exec_sandbox::quarantine::remove_tree;

/// Length of the name of a run.
const NAME_LENGTH: usize = 32;

/// The directory of one graph run, with access for its owner only. Commands of nodes that join the run can read and write it;
/// other commands cannot.
#[derive(Debug)]
#[must_use = "the directory stays until the run is ended"]
pub struct GraphRun {
    path: PathBuf,
}

impl GraphRun {
    /// Creates a directory with a unique name in `base`, which must exist.
    ///
    /// # Errors
    /// When it cannot be created.
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

    /// Opens a run that another process of this user began in `base` under this name.
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
        // The checks apply to the directory itself, so it must not be a symlink to another.
        let found = fs::symlink_metadata(&path).map_err(failed)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(not_ours("it is not a directory of this user"));
        }
        // Reset, because a node may have changed the mode.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        let path = fs::canonicalize(&path).map_err(failed)?;
        Ok(Self { path })
    }

    /// Returns the names of all runs in `base` that have not ended.
    ///
    /// # Errors
    /// When the directory exists and cannot be read.
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

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the directory and its content, including directories whose permissions a node removed.
    ///
    /// # Errors
    /// When it or something in it cannot be deleted.
    pub fn remove(&self) -> io::Result<()> {
        let (Some(base), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        remove_tree(base, name)
    }

    /// Ends the run and deletes its directory.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn end(self) -> Result<(), GuardError> {
        self.remove().map_err(|source| GuardError::GraphRun { path: self.path, source })
    }
}

impl Session {
    /// Allows commands of this agent, as a node of the graph, to read and write the directory of the run.
    pub fn join(&mut self, run: &GraphRun) {
        self.shared.push(run.path().to_owned());
    }
}
