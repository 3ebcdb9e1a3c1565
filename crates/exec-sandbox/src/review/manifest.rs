//! The manifest of a workspace when a command started: the path and state of each file. It distinguishes the user's later changes
//! from those of the command.

#![expect(clippy::disallowed_methods, reason = "looks at the files of a workspace")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::at::{Identity, Look, look};
use super::record::{Rows, bytes_of, look_of, look_text, path_of, read};
use crate::host::Searched;
use crate::workspace::walk::{Here, Visit, walk};

/// The file name in a layer.
const FILE: &str = "base";
const WIDTH: usize = 3;

/// The files of a workspace, by path.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Manifest {
    pub(super) entries: BTreeMap<PathBuf, Entry>,
    /// Mount points of other file systems, which are empty in an overlay.
    pub(super) elsewhere: Vec<PathBuf>,
    pub(super) searched: Searched,
}

/// A file, and its copy if the overlay is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) look: Look,
    /// The identity and change time of the copy; nothing if it was not copied.
    pub(super) copy: Option<(Identity, (i64, u64))>,
}

impl Manifest {
    /// Reads the manifest of a directory.
    pub(super) fn of(root: &Path) -> Self {
        let mut visit = Looking { manifest: Self::default(), device: None };
        let searched = walk(root, &mut visit);
        Self { searched, ..visit.manifest }
    }

    pub(super) fn look(&self, path: &Path) -> Option<&Look> {
        self.entries.get(path).map(|entry| &entry.look)
    }

    /// Returns the entries below a directory, without the directory itself.
    pub(super) fn below<'m>(&'m self, folder: &'m Path) -> impl Iterator<Item = (&'m PathBuf, &'m Entry)> {
        let from = (std::ops::Bound::Excluded(folder), std::ops::Bound::Unbounded);
        self.entries.range::<Path, _>(from).take_while(move |(path, _)| path.starts_with(folder))
    }

    pub(super) fn save(&self, layer: &OwnedFd) -> io::Result<()> {
        let mut rows = Rows::default();
        for (path, entry) in &self.entries {
            let copy =
                entry.copy.map(|((device, number), (at, at_ns))| format!("{device} {number} {at} {at_ns}"));
            let copy = copy.unwrap_or_default();
            rows.row([bytes_of(path), look_text(&entry.look).as_bytes(), copy.as_bytes()]);
        }
        rows.write(layer, FILE)
    }

    pub(super) fn load(layer: &OwnedFd) -> io::Result<Option<Self>> {
        let Some(rows) = read(layer, FILE, WIDTH)? else { return Ok(None) };
        let mut manifest = Self::default();
        for row in rows {
            let [path, look, copy] = row.as_slice() else { continue };
            let entry = Entry { look: look_of(look)?, copy: copy_of(copy) };
            manifest.entries.insert(path_of(path), entry);
        }
        Ok(Some(manifest))
    }
}

fn copy_of(bytes: &[u8]) -> Option<(Identity, (i64, u64))> {
    let mut words = str::from_utf8(bytes).ok()?.split(' ');
    let mut next = || words.next();
    let identity = (next()?.parse().ok()?, next()?.parse().ok()?);
    Some((identity, (next()?.parse().ok()?, next()?.parse().ok()?)))
}

struct Looking {
    manifest: Manifest,
    /// The device of the workspace.
    device: Option<u64>,
}

impl Visit for Looking {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let own = rustix::fs::fstat(here.folder).map(|found| Look::of(&found));
        let device = *self.device.get_or_insert(own.map_or(0, |own| own.identity.0));
        let mut passed = BTreeSet::new();
        for (at, listed) in here.names.unwrap_or_default().iter().enumerate() {
            let path = here.path.join(&listed.name);
            let Ok(Some(found)) = look(here.folder, &listed.name) else { continue };
            if found.identity.0 != device {
                passed.insert(at);
                self.manifest.elsewhere.push(path);
                continue;
            }
            self.manifest.entries.insert(path, Entry { look: found, copy: None });
        }
        passed
    }
}
