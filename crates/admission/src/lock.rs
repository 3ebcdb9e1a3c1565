//! Locks of reviewed skills: a lock records each skill at the time of its review, and a skill that differs later is
//! rejected until it is reviewed again.
//!
//! ```text
//!  skills.lock:   skill ──► name, publisher, verdict, what it may do, digest of every file
//!                   │
//!  admit() ─────────┴──► the same files? ──no──► blocked, with the difference of what it may do
//! ```
//!
//! The files are read once to be judged and once to be compared. An attacker who can write to a skill in between
//! could do so at any time: keep skills where agents cannot write.
//!
//! A lock proves nothing about the author: the publisher in it is the skill's own claim. It is as good as the review,
//! and as the protection of its file.
#![expect(clippy::disallowed_methods, reason = "asks where skills and their lock really are")]

mod drift;
mod files;
mod name;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stockade_files::{Gap, KeptFile, KeptFileError};
use stockade_scanner::Scanner;
use stockade_skill::ListedTools;
use thiserror::Error;

pub use drift::SkillDrift;

use crate::admit::{Admission, AdmitError, AdmitOptions, LoadedSkill, SkillReport, admit_unlocked};
use crate::skill::{MAIN_FILES, SkillSource};

/// Format version of a lock.
const VERSION: u32 = 1;

/// Maximum size of a lock file.
const MAX_LOCK_BYTES: u64 = 64 << 20;

/// Keys that name the publisher in a skill's `metadata`, most reliable first.
const PUBLISHER_KEYS: [&str; 5] = ["publisher", "author", "repository", "homepage", "organization"];

/// Recorded state of reviewed skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillLock {
    path: PathBuf,
    /// The directory of the file, which skill paths are relative to.
    folder: PathBuf,
    skills: BTreeMap<String, LockedSkill>,
    /// Changes to write to the file; `None` for a removed skill.
    changes: BTreeMap<String, Option<LockedSkill>>,
}

/// Recorded state of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedSkill {
    /// Its name.
    pub name: String,
    /// Its author, as it claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// Result of its admission: `accepted` or `flagged`.
    pub verdict: String,
    /// Its permissions: listed tools, what runs, claimed resources, findings.
    pub may: BTreeSet<String>,
    /// Every file with its digest, `sha256:…`, or a link with its target.
    pub files: BTreeMap<String, String>,
}

/// The lock file as stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    version: u32,
    skills: BTreeMap<String, LockedSkill>,
}

/// A lock cannot be used, so that no skill can be checked against it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SkillLockError {
    /// The file cannot be read or replaced.
    #[error("cannot use the lock file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: KeptFileError,
    },
    /// The file does not exist.
    #[error("no lock file {}: create it with `stockade skill lock`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The content is not a lock.
    #[error("{} is not a valid lock file: {reason}; restore the previous version, or delete it and run `stockade skill lock` on your skills", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Its directory cannot be found.
    #[error("cannot find the directory of the lock file {}: {source}", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// A skill cannot be locked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotLocked {
    /// It cannot be read.
    #[error(transparent)]
    Unread(#[from] AdmitError),
    /// It changed while it was examined.
    #[error("{} changed while it was read", path.display())]
    Changes {
        /// The skill.
        path: PathBuf,
    },
    /// It was rejected, so there is nothing to lock.
    #[error("it is {}", admission.name())]
    Refused {
        /// The result of its admission.
        admission: Box<Admission>,
    },
}

impl SkillLock {
    /// Reads a lock.
    ///
    /// # Errors
    /// When it does not exist, cannot be read, or is not a lock.
    pub fn read(path: &Path) -> Result<Self, SkillLockError> {
        Self::read_or_new(path, |path| Err(SkillLockError::Missing { path }))
    }

    /// Reads a lock, or creates an empty one if the file does not exist.
    ///
    /// # Errors
    /// When it cannot be read, or is not a lock.
    pub fn read_or_begin(path: &Path) -> Result<Self, SkillLockError> {
        Self::read_or_new(path, |_| Ok(BTreeMap::new()))
    }

    fn read_or_new(
        path: &Path,
        missing: impl FnOnce(PathBuf) -> Result<BTreeMap<String, LockedSkill>, SkillLockError>,
    ) -> Result<Self, SkillLockError> {
        let owned = || path.to_owned();
        let unusable = |source| SkillLockError::File { path: owned(), source };
        let text = kept(path).read().map_err(unusable)?;
        let skills = text.map_or_else(|| missing(owned()), |text| parse(path, &text))?;
        let above = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::fs::canonicalize(above)
            .map_err(|source| SkillLockError::Folder { path: owned(), source })?;
        Ok(Self { path: owned(), folder, skills, changes: BTreeMap::new() })
    }

    /// Writes the locked and removed skills to the file, merging concurrent changes by others.
    ///
    /// # Errors
    /// When the file cannot be replaced, or is no longer a lock. It is unchanged then.
    pub fn write(&mut self) -> Result<(), SkillLockError> {
        let Self { path, changes, .. } = &*self;
        let unusable = |source| SkillLockError::File { path: path.clone(), source };
        let replaced = kept(path).change(|text| {
            let mut skills = text.map_or_else(|| Ok(BTreeMap::new()), |text| parse(path, text))?;
            for (key, skill) in changes {
                match skill {
                    Some(skill) => drop(skills.insert(key.clone(), skill.clone())),
                    None => drop(skills.remove(key)),
                }
            }
            let written =
                serde_json::to_string_pretty(&LockFile { version: VERSION, skills: skills.clone() });
            let text = written.map_err(|error| unusable(std::io::Error::from(error).into()))?;
            Ok((Some(format!("{text}\n")), skills))
        });
        self.skills = replaced.map_err(unusable)??;
        self.changes.clear();
        Ok(())
    }

    /// Iterates over its skills, with paths relative to the path by which the lock was named.
    pub fn skills(&self) -> impl Iterator<Item = (PathBuf, &LockedSkill)> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let place = move |key: &String| folder.join(name::path_of(key).unwrap_or_default());
        self.skills.iter().map(move |(key, skill)| (place(key), skill))
    }

    /// Examines a skill and records its state. Returns the difference, and the result of its admission.
    ///
    /// # Errors
    /// When it cannot be read, is rejected, or changes meanwhile.
    pub fn lock(
        &mut self,
        path: &Path,
        scanner: &Scanner,
        options: &AdmitOptions,
    ) -> Result<(SkillDrift, Admission), NotLocked> {
        let path = whole(path);
        let before = files::digests(path, &options.files, self.within(path).as_deref())?;
        let admission = admit_unlocked(&SkillSource::Path(path), scanner, options)?;
        let (Admission::Accepted(skill) | Admission::Flagged(skill)) = &admission else {
            return Err(NotLocked::Refused { admission: Box::new(admission) });
        };
        let locked = LockedSkill::of(skill, admission.name(), before.clone());
        if files::digests(path, &options.files, self.within(path).as_deref())? != before {
            return Err(NotLocked::Changes { path: path.to_owned() });
        }
        let key = self.key(path);
        let drift = SkillDrift::between(self.skills.get(&key), &locked);
        self.changes.insert(key.clone(), Some(locked.clone()));
        self.skills.insert(key, locked);
        Ok((drift, admission))
    }

    /// Removes skills that no longer exist, and returns them.
    pub fn forget_missing(&mut self) -> Vec<String> {
        let is_gone = |key: &str| {
            let place = self.folder.join(name::path_of(key).unwrap_or_default());
            std::fs::symlink_metadata(place).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        let gone: Vec<_> = self.skills.keys().filter(|key| is_gone(key)).cloned().collect();
        for key in &gone {
            self.skills.remove(key);
            self.changes.insert(key.clone(), None);
        }
        gone
    }

    /// Returns how a skill differs from the lock; `None` if it is the same.
    fn drift(
        &self,
        source: &SkillSource<'_>,
        admission: &Admission,
        options: &AdmitOptions,
    ) -> Result<Option<SkillDrift>, AdmitError> {
        let path = match *source {
            SkillSource::Path(path) => whole(path),
            // A text has no path: it is the same if it is the only file of a locked skill.
            SkillSource::Text { text, .. } => {
                let digest = files::digest_of(text.as_bytes());
                let is_it = |skill: &LockedSkill| {
                    skill.files.len() == 1 && skill.files.values().any(|one| *one == digest)
                };
                return Ok((!self.skills.values().any(is_it)).then(SkillDrift::unknown));
            }
        };
        let now = files::digests(path, &options.files, self.within(path).as_deref())?;
        let locked = self.skills.get(&self.key(path));
        if locked.is_some_and(|locked| locked.files == now) {
            return Ok(None);
        }
        let is = match (admission, locked) {
            (Admission::Accepted(skill) | Admission::Flagged(skill), _) => {
                LockedSkill::of(skill, admission.name(), now)
            }
            (Admission::Malformed(_) | Admission::Blocked(_), None) => {
                return Ok(Some(SkillDrift::unknown()));
            }
            // The claims of a rejected skill are unknown: report only what it gained.
            (Admission::Malformed(report) | Admission::Blocked(report), Some(locked)) => LockedSkill {
                verdict: admission.name().to_owned(),
                may: &locked.may | &of_a_report(report),
                files: now,
                ..locked.clone()
            },
        };
        Ok(Some(SkillDrift::between(locked, &is)))
    }

    /// Returns the key of a skill: its path relative to the lock's directory, or the absolute path if it is
    /// elsewhere.
    fn key(&self, path: &Path) -> String {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match real.strip_prefix(&self.folder) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => name::name_of(below),
            Err(_) => name::name_of(&real),
        }
    }

    /// Returns the lock file's path within a skill, if it is inside.
    fn within(&self, skill: &Path) -> Option<PathBuf> {
        let real = std::fs::canonicalize(skill).ok()?;
        let file = self.folder.join(self.path.file_name()?);
        Some(skill.join(file.strip_prefix(real).ok()?))
    }
}

impl LockedSkill {
    fn of(skill: &LoadedSkill, verdict: &str, files: BTreeMap<String, String>) -> Self {
        let manifest = skill.manifest();
        let publisher = PUBLISHER_KEYS.iter().find_map(|key| manifest.metadata.get(*key)).cloned();
        Self { name: skill.name().to_owned(), publisher, verdict: verdict.to_owned(), may: may(skill), files }
    }
}

fn kept(path: &Path) -> KeptFile {
    KeptFile::new(path, MAX_LOCK_BYTES).locked_by_folder().open_to_group()
}

/// Returns the directory of a skill whose main file is named: the other files belong to it.
fn whole(path: &Path) -> &Path {
    let is_main = path.file_name().is_some_and(|name| MAIN_FILES.iter().any(|main| name == *main));
    match path.parent() {
        Some(folder) if is_main && folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) if is_main => folder,
        _ => path,
    }
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, LockedSkill>, SkillLockError> {
    let malformed = |reason: String| SkillLockError::Malformed { path: path.to_owned(), reason };
    let read: LockFile = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
    if let Some(name) = read.skills.keys().find(|name| name::path_of(name).is_none()) {
        return Err(malformed(format!("`{}` names no skill", stockade_text::escape(name))));
    }
    match read.version {
        VERSION => Ok(read.skills),
        other => Err(malformed(format!("its version is {other}, and this program reads {VERSION}"))),
    }
}

/// Returns the first difference from any of the locks; `None` if the skill satisfies all of them.
pub(crate) fn first_drift(
    source: &SkillSource<'_>,
    admission: &Admission,
    options: &AdmitOptions,
) -> Result<Option<SkillDrift>, AdmitError> {
    for lock in &options.locks {
        if let Some(drift) = lock.drift(source, admission, options)? {
            return Ok(Some(drift));
        }
    }
    for path in &options.lock_files {
        let unreadable = |error| {
            let gap = Gap::Unreadable(std::io::Error::other(error));
            AdmitError { path: path.clone(), gap }
        };
        let lock = SkillLock::read(path).map_err(unreadable)?;
        if let Some(drift) = lock.drift(source, admission, options)? {
            return Ok(Some(drift));
        }
    }
    Ok(None)
}

/// Returns the permissions of a skill, one per line.
fn may(skill: &LoadedSkill) -> BTreeSet<String> {
    let manifest = skill.manifest();
    let mut may = of_a_report(skill.report());
    let mut add =
        |what: &str, names: &[String]| may.extend(names.iter().map(|name| format!("{what} {name}")));
    add("reads", &manifest.permissions.fs_read);
    add("writes", &manifest.permissions.fs_write);
    add("talks to", &manifest.permissions.net);
    add("reads the variable", &manifest.permissions.env);
    add("needs the program", &manifest.requires.bins);
    add("needs one of the programs", &manifest.requires.any_bins);
    add("needs the variable", &manifest.requires.env);
    match &manifest.tools {
        ListedTools::Unlisted => drop(may.insert("may use any tool that its agent may".to_owned())),
        ListedTools::Text(_) | ListedTools::Entries(_) => {
            let tools = skill.tools().listed().unwrap_or_default();
            may.extend(tools.iter().map(|tool| format!("may use {tool}")));
        }
    }
    may
}

/// Returns what runs and what was found, which is known for every readable skill.
fn of_a_report(report: &SkillReport) -> BTreeSet<String> {
    let runs = report.surfaces.iter().map(|one| format!("{} in {}: {}", one.kind.name(), one.path, one.text));
    let found = report.findings.iter().flat_map(|attack| [attack].into_iter().chain(&attack.also));
    let found = found.map(|one| format!("{} {} in {}", one.severity, one.rule_id, one.path));
    runs.chain(found).collect()
}
