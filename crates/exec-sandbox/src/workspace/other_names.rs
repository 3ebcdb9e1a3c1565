//! Hard links of protected files, through which they could be read and written.

#![expect(clippy::disallowed_methods, reason = "looks at files of a workspace")]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Stat, statat};

use super::entry::{At, at};
use super::found::Found;
use super::roots::{Root, named};
use super::walk::{Here, Visit, around, walk};
use crate::host::{Entry, ProtectedEntry, ProtectionMode};

/// The identity of a file: device and inode number.
pub(super) type File = (u64, u64);

/// Adds every other name of files that are protected or hidden, in the folders that a command may change. Those are looked
/// through once more, and only where a protected file has more than one name.
pub(super) fn add_to(roots: &[Root], found: &mut Found) {
    let mut named_twice: HashMap<File, ProtectionMode> = HashMap::new();
    for entry in &found.protected {
        let Some(root) = roots.iter().find(|root| entry.path.starts_with(&root.name)) else { continue };
        let path = root.path.join(entry.path.strip_prefix(&root.name).unwrap_or(&entry.path));
        match (entry.mode, &entry.kind) {
            (ProtectionMode::ReadOnly | ProtectionMode::Hide, Entry::File) => {
                let look = statat(rustix::fs::CWD, &path, AtFlags::SYMLINK_NOFOLLOW);
                note(&mut named_twice, look.ok(), entry.mode);
            }
            (ProtectionMode::ReadOnly | ProtectionMode::Hide, Entry::Folder) => {
                walk(&path, &mut Inside { named_twice: &mut named_twice, mode: entry.mode });
            }
            _ => {}
        }
    }
    search(roots, found, &named_twice);
}

/// Adds every name of these files, in the folders that a command may change.
pub(super) fn add_files(
    roots: &[Root],
    found: &mut Found,
    files: impl IntoIterator<Item = (File, ProtectionMode)>,
) {
    let mut named_twice = HashMap::new();
    files.into_iter().for_each(|(file, mode)| add_file(&mut named_twice, file, mode));
    search(roots, found, &named_twice);
}

fn search(roots: &[Root], found: &mut Found, named_twice: &HashMap<File, ProtectionMode>) {
    if named_twice.is_empty() {
        return;
    }
    let known: BTreeSet<PathBuf> = found.protected.iter().map(|entry| entry.path.clone()).collect();
    for root in roots {
        let mut visit = Others { root, roots, named_twice, known: &known, found: Vec::new() };
        walk(&root.path, &mut visit);
        found.protected.extend(visit.found);
    }
}

/// Records a file with hard links.
fn note(named_twice: &mut HashMap<File, ProtectionMode>, look: Option<Stat>, mode: ProtectionMode) {
    let is_meant =
        |look: &Stat| FileType::from_raw_mode(look.st_mode) == FileType::RegularFile && look.st_nlink > 1;
    if let Some(look) = look.filter(is_meant) {
        add_file(named_twice, (look.st_dev, look.st_ino), mode);
    }
}

/// A file that is protected for two reasons is hidden if it is for one of them.
fn add_file(named_twice: &mut HashMap<File, ProtectionMode>, file: File, mode: ProtectionMode) {
    let known = named_twice.entry(file).or_insert(mode);
    if mode == ProtectionMode::Hide {
        *known = mode;
    }
}

/// Visits the files in a protected directory.
struct Inside<'i> {
    named_twice: &'i mut HashMap<File, ProtectionMode>,
    mode: ProtectionMode,
}

impl Visit for Inside<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        for entry in here.names.unwrap_or_default().iter().filter(|entry| entry.kind == FileType::RegularFile)
        {
            let look = statat(here.folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
            note(self.named_twice, look.ok(), self.mode);
        }
        BTreeSet::new()
    }
}

/// Searches for hard links.
struct Others<'o> {
    root: &'o Root,
    roots: &'o [Root],
    named_twice: &'o HashMap<File, ProtectionMode>,
    known: &'o BTreeSet<PathBuf>,
    found: Vec<ProtectedEntry>,
}

impl Visit for Others<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        for entry in here.names.unwrap_or_default().iter().filter(|entry| entry.kind == FileType::RegularFile)
        {
            let look = statat(here.folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let mode = look.and_then(|look| self.named_twice.get(&(look.st_dev, look.st_ino)));
            let Some(path) = named(self.roots, &self.root.path.join(here.path).join(&entry.name)) else {
                continue;
            };
            let is_known =
                path.ancestors().any(|around| self.known.contains(around) && !around.ends_with(".git"));
            let name = Path::new(&entry.name);
            if let (Some(mode), false) = (mode, is_known)
                && let (Some(At::There(lying)), Some(around)) =
                    (at(here.folder, name), around(here.around, here.folder, name))
            {
                let (kind, stamp) = (lying.kind, lying.stamp);
                self.found.push(ProtectedEntry { path, kind, mode: *mode, stamp, around });
            }
        }
        BTreeSet::new()
    }
}
