//! Whether a folder holds what its manifest says, all of it and nothing else.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use stockade_files::{
    EntryKind, FileOptions, FileReader, FolderEntry, Gap, OpenFolder, OpenedPath, Source, open_path,
    read_text,
};
use thiserror::Error;

use super::manifest::{ContainerManifest, ManifestHash};
use super::package_path::MANIFEST;
use super::problem::ManifestErrors;
use super::signature::{Address, SignatureError};

/// Limits on what is read of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageOptions {
    /// Bytes of all files together. They are kept in memory until the report is dropped.
    pub max_bytes: usize,
    /// Entries of one folder.
    pub max_entries: usize,
}

impl Default for PackageOptions {
    fn default() -> Self {
        Self { max_bytes: 64 << 20, max_entries: 10_000 }
    }
}

/// A package has no manifest that could be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The manifest cannot be read, or the folder cannot.
    #[error("cannot read {}: {gap}", path.display())]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// Why.
        gap: Gap,
    },
    /// It is no manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestErrors),
}

/// A checked directory: its manifest, and whether the files match it.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckedPackage {
    /// What the manifest says.
    pub manifest: ContainerManifest,
    /// What is signed.
    pub hash: ManifestHash,
    /// Who signed it: the publisher, or why not.
    pub signer: Result<Address, SignatureError>,
    /// Files that differ from what was signed, in the order of their names.
    pub problems: Vec<PackageProblem>,
    /// The files that are as they were signed, with what is in them.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// A file that is not as the manifest says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PackageProblem {
    /// The file, below the folder.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
    /// How to mend it.
    pub fix: &'static str,
}

/// Reads a folder with a `manifest.json`, and compares every file with what is listed.
///
/// Files are opened from folder to folder and never through a link. A folder that nothing is listed in is not entered.
///
/// `is_visible` checks a name for invisible characters, and `inspect` gets each file that is listed, whether it is
/// as it was signed or not.
///
/// # Errors
/// There is no manifest that could be read. Everything else is in what is returned.
pub fn read_package(
    folder: &Path,
    options: &PackageOptions,
    is_visible: fn(&str) -> bool,
    inspect: &mut dyn FnMut(&str, &[u8]),
) -> Result<CheckedPackage, PackageError> {
    let unreadable = |path: &Path, gap| PackageError::Unreadable { path: path.to_owned(), gap };
    let top = match open_path(folder).map_err(|error| unreadable(folder, Gap::Unreadable(error)))? {
        OpenedPath::Folder(top) => top,
        OpenedPath::File(_) => {
            return Err(unreadable(folder, Gap::Unreadable(io::ErrorKind::NotADirectory.into())));
        }
        OpenedPath::Special => return Err(unreadable(folder, Gap::Special)),
    };
    let path = folder.join(MANIFEST);
    let file_options = FileOptions { max_file_bytes: 1 << 20, ..FileOptions::default() };
    let text = read_text(&Source::Path(path.clone()), &file_options).map_err(|gap| unreadable(&path, gap))?;
    if !text.as_stored {
        let error = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
        return Err(unreadable(&path, Gap::Unreadable(error)));
    }
    let manifest = ContainerManifest::parse(&text.text, is_visible)?;
    let mut check = Check::new(&manifest, options, inspect);
    check.folder(top);
    Ok(check.end(manifest.clone()))
}

impl CheckedPackage {
    /// Whether the publisher signed it, and every file is the one that was signed.
    #[must_use]
    pub const fn is_as_signed(&self) -> bool {
        self.signer.is_ok() && self.problems.is_empty()
    }
}

struct Check<'c> {
    inspect: &'c mut dyn FnMut(&str, &[u8]),
    options: PackageOptions,
    /// The hashes of the files that were not seen yet.
    listed: HashMap<&'c str, &'c str>,
    /// The folders that they lie in.
    folders: HashSet<&'c str>,
    reader: FileReader,
    bytes_left: usize,
    problems: Vec<PackageProblem>,
    files: Vec<(String, Vec<u8>)>,
}

impl<'c> Check<'c> {
    fn new(
        manifest: &'c ContainerManifest,
        options: &PackageOptions,
        inspect: &'c mut dyn FnMut(&str, &[u8]),
    ) -> Self {
        Self {
            inspect,
            options: *options,
            listed: manifest.files().iter().map(|file| (&*file.path, &*file.sha256)).collect(),
            folders: manifest.files().iter().flat_map(|file| folders_above(&file.path)).collect(),
            reader: FileReader::new(options.max_bytes),
            bytes_left: options.max_bytes,
            problems: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Looks at every entry of the folder, and of those below it in which something is listed.
    fn folder(&mut self, top: OpenFolder) {
        let mut waiting = vec![(String::new(), top)];
        while let Some((place, folder)) = waiting.pop() {
            let entries = match folder.entries(self.options.max_entries + 1) {
                Ok(entries) if entries.len() <= self.options.max_entries => entries,
                Ok(_) => {
                    self.wrong(
                        place,
                        "the directory has too many files".into(),
                        "remove files that the manifest does not list",
                    );
                    continue;
                }
                Err(error) => {
                    self.wrong(place, Gap::Unreadable(error).to_string(), "make it readable: `chmod u+r`");
                    continue;
                }
            };
            for entry in entries {
                waiting.extend(self.entry(&place, &folder, entry));
            }
        }
    }

    /// Looks at one entry, and returns it if it is a folder to look at.
    fn entry(
        &mut self,
        place: &str,
        folder: &OpenFolder,
        entry: FolderEntry,
    ) -> Option<(String, OpenFolder)> {
        let Ok(name) = entry.name.to_str() else {
            let name = entry.name.to_string_lossy();
            self.wrong(
                format!("{place}{name}"),
                "its name is not valid UTF-8, so no manifest can list it".into(),
                UNLISTED,
            );
            return None;
        };
        let path = format!("{place}{name}");
        match entry.kind {
            EntryKind::Folder => return self.enter(path, folder, &entry.name),
            EntryKind::File if path == MANIFEST => {}
            EntryKind::File => self.file(path, folder, entry),
            EntryKind::Link => self.wrong(path, "it is a symlink".into(), "replace it with the file"),
            _ => self.wrong(
                path,
                "it is a pipe, socket or device".into(),
                "replace it by a file, or remove it",
            ),
        }
        None
    }

    fn enter(&mut self, path: String, folder: &OpenFolder, name: &CStr) -> Option<(String, OpenFolder)> {
        if !self.folders.contains(&*path) {
            self.wrong(path, "the manifest lists no file in this directory".into(), UNLISTED);
            return None;
        }
        match folder.enter(name) {
            Ok(inner) => Some((format!("{path}/"), inner)),
            Err(error) => {
                self.wrong(path, Gap::Unreadable(error).to_string(), "make it readable: `chmod u+r`");
                None
            }
        }
    }

    fn file(&mut self, path: String, folder: &OpenFolder, entry: FolderEntry) {
        let Some(listed) = self.listed.remove(&*path) else {
            self.wrong(path, "the manifest does not list it".into(), UNLISTED);
            return;
        };
        let (bytes, gap) = self.reader.read_entry(folder, entry, Path::new(&path));
        if let Some(gap) = gap {
            let message = gap.to_string();
            self.wrong(path, message, "make it readable, or make the package smaller");
            return;
        }
        let Some(left) = self.bytes_left.checked_sub(bytes.len()) else {
            let message = format!("with it, the package is larger than {} bytes", self.options.max_bytes);
            self.wrong(path, message, "make the package smaller");
            return;
        };
        self.bytes_left = left;
        let found: String = stockade_text::to_hex(&Sha256::digest(bytes));
        let bytes = bytes.to_vec();
        (self.inspect)(&path, &bytes);
        if found == listed {
            self.files.push((path, bytes));
        } else {
            let message = format!("its SHA-256 is {found}, and the signed one is {listed}");
            self.wrong(path, message, "restore the signed file, or ask the publisher to sign this one");
        }
    }

    fn wrong(&mut self, path: String, message: String, fix: &'static str) {
        self.problems.push(PackageProblem { path, message, fix });
    }

    fn end(mut self, manifest: ContainerManifest) -> CheckedPackage {
        for path in std::mem::take(&mut self.listed).into_keys() {
            let seen = self.problems.iter().any(|problem| problem.path == path);
            if !seen {
                self.wrong(path.to_owned(), "it is missing".into(), "download the package again");
            }
        }
        self.problems.sort_by(|a, b| a.path.cmp(&b.path));
        CheckedPackage {
            hash: manifest.hash(),
            signer: manifest.signer(),
            problems: self.problems,
            files: self.files,
            manifest,
        }
    }
}

/// The folders that a path leads through.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(slash, _)| path.get(..slash))
}

const UNLISTED: &str = "remove it, or ask the publisher to list and sign it";
