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
use stockade_scanner::{ScanOptions, Scanner, Severity};
use thiserror::Error;

use super::{
    Address, ContainerManifest, MANIFEST, ManifestErrors, ManifestHash, SignatureError, parse_manifest,
};
use crate::scan_files::scan_bytes;
use crate::skill::{Findings, Reading, SkillFinding};

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

/// What was found out about a package.
#[derive(Debug)]
#[non_exhaustive]
pub struct PackageReport {
    /// What the manifest says.
    pub manifest: ContainerManifest,
    /// What is signed.
    pub hash: ManifestHash,
    /// Who signed it: the publisher, or why not.
    pub signer: Result<Address, SignatureError>,
    /// Files that differ from what was signed, in the order of their names.
    pub problems: Vec<PackageProblem>,
    /// What the scanner found in the files, the worst first.
    pub findings: Vec<SkillFinding>,
    /// Whether there are more findings than are kept.
    pub truncated: bool,
    files: Vec<(String, Vec<u8>)>,
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

/// A package that its publisher signed, whose files are those that were signed, and in which nothing attacks.
#[derive(Debug)]
pub struct VerifiedPackage<'r> {
    pub(super) manifest: &'r ContainerManifest,
    pub(super) files: &'r [(String, Vec<u8>)],
}

/// Reads a folder with a `manifest.json`, and compares every file with what is listed.
///
/// Files are opened from folder to folder and never through a link. A folder that nothing is listed in is not entered.
///
/// # Errors
/// There is no manifest that could be read. Everything else is in the report.
pub fn check_package(
    folder: &Path,
    scanner: &Scanner,
    options: &PackageOptions,
) -> Result<PackageReport, PackageError> {
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
    let manifest = parse_manifest(&text.text)?;
    let mut check = Check::new(&manifest, scanner, options);
    check.folder(top);
    Ok(check.end(manifest.clone()))
}

impl PackageReport {
    /// Whether the publisher signed it, every file is the one that was signed, and nothing critical was found in them.
    #[must_use]
    pub fn passed(&self) -> bool {
        let critical = self.findings.iter().any(|finding| finding.severity == Severity::Critical);
        self.signer.is_ok() && self.problems.is_empty() && !critical && !self.truncated
    }

    /// Returns the package, if it passed.
    #[must_use]
    pub fn verified(&self) -> Option<VerifiedPackage<'_>> {
        self.passed().then_some(VerifiedPackage { manifest: &self.manifest, files: &self.files })
    }
}

struct Check<'c> {
    scanner: &'c Scanner,
    options: PackageOptions,
    /// The hashes of the files that were not seen yet.
    listed: HashMap<&'c str, &'c str>,
    /// The folders that they lie in.
    folders: HashSet<&'c str>,
    reader: FileReader,
    bytes_left: usize,
    problems: Vec<PackageProblem>,
    findings: Findings,
    files: Vec<(String, Vec<u8>)>,
}

impl<'c> Check<'c> {
    fn new(manifest: &'c ContainerManifest, scanner: &'c Scanner, options: &PackageOptions) -> Self {
        Self {
            scanner,
            options: *options,
            listed: manifest.files().iter().map(|file| (&*file.path, &*file.sha256)).collect(),
            folders: manifest.files().iter().flat_map(|file| folders_above(&file.path)).collect(),
            reader: FileReader::new(options.max_bytes),
            bytes_left: options.max_bytes,
            problems: Vec::new(),
            findings: Findings::default(),
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
                        "there are too many files in the folder".into(),
                        "remove what is not listed",
                    );
                    continue;
                }
                Err(error) => {
                    self.wrong(place, Gap::Unreadable(error).to_string(), "let it be read");
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
                "its name is no text, so that it cannot be listed".into(),
                UNLISTED,
            );
            return None;
        };
        let path = format!("{place}{name}");
        match entry.kind {
            EntryKind::Folder => return self.enter(path, folder, &entry.name),
            EntryKind::File if path == MANIFEST => {}
            EntryKind::File => self.file(path, folder, entry),
            EntryKind::Link => self.wrong(path, "it is a link".into(), "put the file itself there"),
            _ => self.wrong(path, "it is a pipe, socket or device".into(), "put a file there, or remove it"),
        }
        None
    }

    fn enter(&mut self, path: String, folder: &OpenFolder, name: &CStr) -> Option<(String, OpenFolder)> {
        if !self.folders.contains(&*path) {
            self.wrong(path, "the manifest lists nothing in this folder".into(), UNLISTED);
            return None;
        }
        match folder.enter(name) {
            Ok(inner) => Some((format!("{path}/"), inner)),
            Err(error) => {
                self.wrong(path, Gap::Unreadable(error).to_string(), "let it be read");
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
            self.wrong(path, message, "let it be read, or make the package smaller");
            return;
        }
        let Some(left) = self.bytes_left.checked_sub(bytes.len()) else {
            let message = format!("with it, the package is larger than {} bytes", self.options.max_bytes);
            self.wrong(path, message, "make the package smaller");
            return;
        };
        self.bytes_left = left;
        let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = bytes.to_vec();
        scan_bytes(Path::new(&path), &bytes, self.scanner, &ScanOptions::default(), |scan| {
            self.findings.add(&scan.report, &path, 0, Reading::Written);
        });
        if found == listed {
            self.files.push((path, bytes));
        } else {
            let message = format!("its SHA-256 is {found}, and {listed} was signed");
            self.wrong(path, message, "take the file that was signed, or have the publisher sign this one");
        }
    }

    fn wrong(&mut self, path: String, message: String, fix: &'static str) {
        self.problems.push(PackageProblem { path, message, fix });
    }

    fn end(mut self, manifest: ContainerManifest) -> PackageReport {
        for path in std::mem::take(&mut self.listed).into_keys() {
            let seen = self.problems.iter().any(|problem| problem.path == path);
            if !seen {
                self.wrong(path.to_owned(), "it is missing".into(), "take the whole package");
            }
        }
        self.problems.sort_by(|a, b| a.path.cmp(&b.path));
        let truncated = self.findings.cut();
        PackageReport {
            hash: manifest.hash(),
            signer: manifest.signer(),
            problems: self.problems,
            findings: self.findings.end(),
            truncated,
            files: self.files,
            manifest,
        }
    }
}

/// The folders that a path leads through.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(slash, _)| path.get(..slash))
}

const UNLISTED: &str = "remove it, or have the publisher list and sign it";
