//! Git indexes. Even `git status` rewrites them to cache file states, so an index with the same entries counts as unchanged.

#![expect(clippy::disallowed_methods, reason = "reads indexes of repositories")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use stockade_git::{ObjectId, index_digest};

use super::at::Tree;
use super::manifest::Manifest;
use super::record::{Rows, bytes_of, number_of, path_of, read};

/// Maximum size and number of indexes.
const MAX_BYTES: u64 = 64 << 20;
const MAX_INDEXES: usize = 64;

const FIELDS: usize = 2;

/// Digests of indexes at some time, by path.
#[derive(Debug, Default)]
pub(super) struct Indexes(BTreeMap<PathBuf, u64>);

/// The time of the digests.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// When the command started.
    Base,
    /// When changes were applied.
    Applied,
}

impl When {
    const fn file(self) -> &'static str {
        match self {
            Self::Base => "indexes",
            Self::Applied => "indexes-applied",
        }
    }
}

/// Whether a path has the name of an index.
pub(super) fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "index")
}

impl Indexes {
    /// Reads the indexes of a workspace.
    pub(super) fn of(workspace: &Tree, base: &Manifest) -> Self {
        let is_meant = |path: &&PathBuf| is_index(path) && base.look(&path.with_file_name("HEAD")).is_some();
        let paths = base.entries.keys().filter(is_meant).take(MAX_INDEXES);
        Self(paths.filter_map(|path| Some((path.clone(), digest(workspace, path)?))).collect())
    }

    pub(super) fn load(layer: &OwnedFd, when: When) -> io::Result<Self> {
        let rows = read(layer, when.file(), FIELDS)?.unwrap_or_default();
        let row = |row: Vec<Vec<u8>>| {
            let [path, digest] = row.as_slice() else { return Err(io::ErrorKind::InvalidData.into()) };
            Ok((path_of(path), number_of(digest)?))
        };
        Ok(Self(rows.into_iter().map(row).collect::<io::Result<_>>()?))
    }

    pub(super) fn save(&self, layer: &OwnedFd, when: When) -> io::Result<()> {
        let mut rows = Rows::default();
        for (path, digest) in &self.0 {
            rows.row([bytes_of(path), digest.to_string().as_bytes()]);
        }
        rows.write(layer, when.file())
    }

    /// Records the current digest of an index.
    pub(super) fn note(&mut self, workspace: &Tree, path: &Path) {
        if let Some(digest) = digest(workspace, path) {
            self.0.insert(path.to_path_buf(), digest);
        }
    }

    /// Whether an index has the same entries as before.
    pub(super) fn says_the_same(&self, workspace: &Tree, path: &Path) -> bool {
        self.0.get(path).is_some_and(|then| digest(workspace, path) == Some(*then))
    }
}

/// Returns a digest of the entries of an index; nothing if it cannot be read.
fn digest(workspace: &Tree, path: &Path) -> Option<u64> {
    let (folder, name) = workspace.parent(path).ok()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(&*folder, name, flags, Mode::empty()).ok()?);
    let is_short = file.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
    let mut bytes = Vec::new();
    is_short.then(|| file.take(MAX_BYTES).read_to_end(&mut bytes).ok())??;
    [ObjectId::Sha1, ObjectId::Sha256].into_iter().find_map(|id| index_digest(&bytes, id).ok())
}
