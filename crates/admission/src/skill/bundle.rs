//! A skill on the disk: one file, or a directory with everything in it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use stockade_files::{
    Coverage, FileOptions, Gap, OpenedPath, Source, TextFile, Unopened, folders_with, open_path, read_text,
};
use stockade_scanner::Scanner;

use super::files::{FileSurface, file_surfaces};
use super::finding::{Reading, SkillFinding, WorstFindings, kept};
use crate::scan_files::{FileScan, scan_files};

/// Source of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillSource<'a> {
    /// A text in memory.
    Text {
        /// Display name for the report.
        name: &'a str,
        /// The text.
        text: &'a str,
    },
    /// A file, or a directory with a `SKILL.md`, whose other files are scanned as well.
    Path(&'a Path),
}

impl SkillSource<'_> {
    /// Returns its display name.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Text { name, .. } => Path::new(name),
            Self::Path(path) => path,
        }
    }
}

/// Names of the main file in a directory.
pub(crate) const MAIN_FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// Maximum number of files that are listed by name.
const MAX_LISTED: usize = 256;

/// A skill that was read.
#[derive(Debug)]
pub(crate) struct Bundle {
    /// Name of the main file.
    pub(crate) name: String,
    pub(crate) main: TextFile,
    /// The directory that contains it.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) others: Others,
}

/// The other files beside the main file.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// Their number.
    pub(crate) count: usize,
    /// Their paths relative to the directory.
    pub(crate) names: Vec<String>,
    pub(crate) findings: WorstFindings,
    /// Whether there are more than were kept.
    pub(crate) cut: bool,
    /// Surfaces, file by file.
    pub(crate) surfaces: Vec<FileSurface>,
    /// Parts that could not be examined.
    pub(crate) gaps: Vec<(String, Gap)>,
}

/// Observations about one file.
struct Seen {
    name: String,
    findings: Vec<SkillFinding>,
    cut: bool,
    surfaces: Vec<FileSurface>,
    gap: Option<Gap>,
}

/// The skills below a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SkillFolders {
    /// Their directories, ordered by name; the path itself if it is a skill.
    pub skills: Vec<PathBuf>,
    /// Places that could not be searched, so that more skills may exist.
    pub gaps: Vec<(PathBuf, Gap)>,
}

/// Finds skills: a file is one, a directory with a `SKILL.md` is one with everything in it, and any other directory
/// may contain some. Links to directories are not followed.
#[must_use]
pub fn find_skills(path: &Path, options: &FileOptions) -> SkillFolders {
    let found = folders_with(&MAIN_FILES, path, options);
    SkillFolders { skills: found.folders, gaps: found.gaps }
}

/// Reads a skill, and scans the files beside its main file.
pub(crate) fn read_bundle(
    path: &Path,
    scanner: &Scanner,
    options: &FileOptions,
) -> Result<Bundle, (PathBuf, Gap)> {
    let fail = |path: &Path, error| (path.to_owned(), Gap::Unreadable(error));
    let is_folder = match open_path(path).map_err(|error| fail(path, error))? {
        OpenedPath::Folder(_) => true,
        OpenedPath::File(_) => false,
        OpenedPath::Special => return Err((path.to_owned(), Gap::Special)),
    };
    if !is_folder {
        let main =
            read_text(&Source::Path(path.to_owned()), options).map_err(|gap| (path.to_owned(), gap))?;
        let folder = path.parent().map(Path::to_owned).filter(|folder| !folder.as_os_str().is_empty());
        return Ok(Bundle { name: shown(path), main, folder, others: Others::default() });
    }
    let found = MAIN_FILES.iter().map(|name| path.join(name)).find(|file| open_path(file).is_ok());
    let file = found.ok_or_else(|| {
        let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no SKILL.md in the folder");
        fail(path, missing)
    })?;
    let main = read_text(&Source::Path(file.clone()), options).map_err(|gap| (file.clone(), gap))?;
    let others = scan_others(path, &file, scanner, options);
    let name = file.strip_prefix(path).map_or_else(|_| shown(&file), shown);
    Ok(Bundle { name, main, folder: Some(path.to_owned()), others })
}

fn scan_others(folder: &Path, main: &Path, scanner: &Scanner, options: &FileOptions) -> Others {
    let mut others = Others::default();
    scan_files(
        &[Source::Path(folder.to_owned())],
        scanner,
        options,
        // The main file is examined separately, and not only by the scanner.
        |file| (file.path != main || file.gap.is_some()).then(|| see(folder, file)),
        |seen| {
            if let Some(seen) = seen {
                others.add(seen);
            }
            ControlFlow::Continue(())
        },
    );
    others
}

fn see(folder: &Path, file: FileScan<'_>) -> Seen {
    let below = file.path.strip_prefix(folder).unwrap_or(file.path);
    let name = shown(below);
    let findings = file.report.groups().iter().map(|group| kept(group, &name, 0, Reading::Written)).collect();
    let cut = file.report.truncated;
    let surfaces = file_surfaces(&file, below);
    Seen { name, findings, cut, surfaces, gap: file.gap }
}

impl Others {
    fn add(&mut self, seen: Seen) {
        const MAX_KEPT: usize = 1000;
        self.count += 1;
        self.cut |= seen.cut;
        // An unexamined archive or program is reported as such, by its format.
        let says_so =
            matches!(seen.gap, Some(Gap::Binary | Gap::Unopened { why: Unopened::MachineCode, .. }))
                && seen.surfaces.iter().any(|surface| surface.kind.is_opaque());
        seen.findings.into_iter().for_each(|finding| self.findings.push(finding));
        for surface in seen.surfaces {
            if self.surfaces.len() < MAX_KEPT {
                self.surfaces.push(surface);
            } else {
                self.cut = true;
            }
        }
        if let Some(gap) = seen.gap.filter(|gap| gap.coverage() >= Coverage::Opaque)
            && !says_so
            && self.gaps.len() < MAX_KEPT
        {
            self.gaps.push((seen.name.clone(), gap));
        }
        if self.names.len() < MAX_LISTED {
            self.names.push(seen.name);
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
