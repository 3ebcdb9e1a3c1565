//! Finds a repository as git does: upwards from a directory, at each level `.git` before a bare repository.
#![expect(clippy::disallowed_methods, reason = "asks what lies where git would look, and where the home is")]

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use stockade_files::{FileReader, OpenedPath, open_path, real_path};

use crate::index::{ObjectId, submodule_paths};
use crate::settings::{GitSetting, git_settings};

/// Maximum size of a settings file, a `.git` file or a `commondir` file.
const MAX_SETTINGS_BYTES: usize = 1 << 20;

/// Maximum size of an index: some half a million files.
const MAX_INDEX_BYTES: usize = 64 << 20;

/// Maximum number of settings files per query, including included ones.
const MAX_FILES: usize = 256;

/// Include depth, as in git.
const MAX_INCLUDES: usize = 10;

/// Maximum number of repositories per query, including submodules.
const MAX_REPOSITORIES: usize = 128;

/// Maximum number of names in hook directories per query.
const MAX_HOOKS: usize = 4096;

/// Result of searching upwards from a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundGit {
    /// No repository up to the root.
    Nothing,
    /// The directory itself does not exist.
    NoFolder,
    /// A bare repository, or something that could not be read completely; with a description.
    Doubtful(String),
    /// A repository with a worktree.
    Repository(GitRepository),
}

/// A repository with a worktree, its settings and its hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GitRepository {
    /// The directory that contains `.git`.
    pub top: PathBuf,
    /// The directory shared by all its worktrees, which contains settings and hooks; without links.
    pub common: PathBuf,
    /// Its settings, including those of included files and of submodules, but not of the user or the machine. The
    /// location of the worktree is not listed if it matches the place where the repository was found.
    pub settings: Vec<GitSetting>,
    /// The names in its hook directories, without samples.
    pub hooks: Vec<String>,
}

/// Finds the repository that git would find in a directory. Nothing in it is run; links are followed as git follows
/// them.
#[must_use]
pub fn find_git(folder: &Path) -> FoundGit {
    let mut look =
        Look { files: 0, repositories: 0, hooks: 0, home: std::env::var_os("HOME").map(PathBuf::from) };
    if fs::symlink_metadata(folder).is_err_and(|error| is_missing(&error)) {
        return FoundGit::NoFolder;
    }
    match look.from(folder) {
        Ok(Some(repository)) => FoundGit::Repository(repository),
        Ok(None) => FoundGit::Nothing,
        Err(Doubt(what)) => FoundGit::Doubtful(what),
    }
}

/// Why git must not be trusted with a repository.
struct Doubt(String);

fn doubt<T>(what: impl Into<String>) -> Result<T, Doubt> {
    Err(Doubt(what.into()))
}

fn unread(path: &Path, why: &dyn Display) -> Doubt {
    Doubt(format!("`{}` cannot be read: {why}", path.display()))
}

/// State of one query.
struct Look {
    files: usize,
    repositories: usize,
    hooks: usize,
    home: Option<PathBuf>,
}

/// The directories of one repository.
struct Folders {
    top: PathBuf,
    own: PathBuf,
    common: PathBuf,
}

impl Look {
    fn from(&mut self, folder: &Path) -> Result<Option<GitRepository>, Doubt> {
        let folder = real_path(folder).map_err(|error| unread(folder, &error))?;
        for top in folder.ancestors() {
            if let Some(own) = git_folder(top)? {
                if !is_repository(&own)? {
                    return doubt(format!("`{}` is no whole repository", own.display()));
                }
                return self.repository(top, own).map(Some);
            }
            if is_repository(top)? {
                return doubt(format!("`{}` is a bare repository", top.display()));
            }
        }
        Ok(None)
    }

    /// Reads a repository and all its submodules.
    fn repository(&mut self, top: &Path, own: PathBuf) -> Result<GitRepository, Doubt> {
        let mut open = vec![Folders { top: top.to_owned(), common: common(&own)?, own }];
        let first = open.first().map(|folders| folders.common.as_path()).unwrap_or(top);
        let mut found = GitRepository {
            top: top.to_owned(),
            common: real_path(first).map_err(|error| unread(first, &error))?,
            settings: Vec::new(),
            hooks: Vec::new(),
        };
        while let Some(folders) = open.pop() {
            self.repositories += 1;
            if self.repositories > MAX_REPOSITORIES {
                return doubt("it has more submodules than are looked at");
            }
            let mut settings = Vec::new();
            self.settings(&folders.common.join("config"), 0, &mut settings)?;
            self.settings(&folders.own.join("config.worktree"), 0, &mut settings)?;
            settings.retain(|setting| !says_where_it_is(setting, &folders));
            self.hooks(&folders, &settings, &mut found.hooks)?;
            self.submodules(&folders, &settings, &mut open)?;
            found.settings.append(&mut settings);
        }
        Ok(found)
    }

    /// Reads a settings file and all files that it includes, whatever the condition.
    fn settings(&mut self, path: &Path, depth: usize, into: &mut Vec<GitSetting>) -> Result<(), Doubt> {
        self.files += 1;
        if self.files > MAX_FILES || depth > MAX_INCLUDES {
            return doubt("its settings include more files than are looked at");
        }
        let Some(bytes) = read(path, MAX_SETTINGS_BYTES)? else { return Ok(()) };
        for setting in git_settings(&bytes).map_err(|error| unread(path, &error))? {
            let is_include = setting.key == "include.path"
                || setting.key.starts_with("includeif.") && setting.key.ends_with(".path");
            if is_include {
                let value = setting.value.as_deref().unwrap_or_default();
                let folder = path.parent().unwrap_or(path);
                self.settings(&self.place(folder, value)?, depth + 1, into)?;
            }
            into.push(setting);
        }
        Ok(())
    }

    /// Resolves a path in a setting.
    fn place(&self, folder: &Path, value: &str) -> Result<PathBuf, Doubt> {
        match (value.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => Ok(home.join(rest)),
            _ if value.is_empty() || value.starts_with(['~', '%']) => {
                doubt(format!("where `{value}` leads, only git knows"))
            }
            _ => Ok(folder.join(value)),
        }
    }

    fn hooks(
        &mut self,
        folders: &Folders,
        settings: &[GitSetting],
        into: &mut Vec<String>,
    ) -> Result<(), Doubt> {
        let mut places = vec![folders.common.join("hooks")];
        for setting in settings.iter().filter(|setting| setting.key == "core.hookspath") {
            places.push(self.place(&folders.top, setting.value.as_deref().unwrap_or_default())?);
        }
        for place in places {
            let names = match fs::read_dir(&place) {
                Ok(names) => names,
                Err(error) if is_missing(&error) => continue,
                Err(error) => return Err(unread(&place, &error)),
            };
            for name in names {
                let name = name.map_err(|error| unread(&place, &error))?.file_name();
                self.hooks += 1;
                if self.hooks > MAX_HOOKS {
                    return doubt("it has more hooks than are looked at");
                }
                let name = name.to_string_lossy();
                if !name.ends_with(".sample") {
                    into.push(name.into_owned());
                }
            }
        }
        Ok(())
    }

    /// Finds existing submodules: `git status` enters each of them and obeys its settings.
    fn submodules(
        &self,
        folders: &Folders,
        settings: &[GitSetting],
        open: &mut Vec<Folders>,
    ) -> Result<(), Doubt> {
        let index = folders.own.join("index");
        let Some(bytes) = read(&index, MAX_INDEX_BYTES)? else { return Ok(()) };
        let is_long = |setting: &GitSetting| {
            setting.key == "extensions.objectformat" && setting.value.as_deref() != Some("sha1")
        };
        let id = if settings.iter().any(is_long) { ObjectId::Sha256 } else { ObjectId::Sha1 };
        let paths = submodule_paths(&bytes, id).map_err(|error| unread(&index, &error))?;
        for path in paths {
            let top = folders.top.join(OsStr::from_bytes(&path));
            let Some(own) = git_folder(&top)? else { continue };
            if is_repository(&own)? {
                open.push(Folders { common: common(&own)?, top, own });
            }
            if open.len() > MAX_REPOSITORIES {
                return doubt("it has more submodules than are looked at");
            }
        }
        Ok(())
    }
}

/// Returns the directory `.git`, or the one that a `.git` file points to.
fn git_folder(top: &Path) -> Result<Option<PathBuf>, Doubt> {
    let path = top.join(".git");
    match fs::metadata(&path) {
        Ok(found) if found.is_dir() => Ok(Some(path)),
        Ok(_) => {
            let bytes = read(&path, MAX_SETTINGS_BYTES)?.unwrap_or_default();
            let Some(place) = bytes.strip_prefix(b"gitdir: ") else {
                return doubt(format!("`{}` is no file of git's", path.display()));
            };
            Ok(Some(top.join(first_line(place))))
        }
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(unread(&path, &error)),
    }
}

/// Returns the directory shared by the worktrees: its own, unless a `commondir` file names another.
fn common(own: &Path) -> Result<PathBuf, Doubt> {
    let bytes = read(&own.join("commondir"), MAX_SETTINGS_BYTES)?;
    Ok(bytes.map_or_else(|| own.to_owned(), |bytes| own.join(first_line(&bytes))))
}

fn first_line(bytes: &[u8]) -> &Path {
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    Path::new(OsStr::from_bytes(bytes.get(..end).unwrap_or_default()))
}

/// Whether git accepts a directory as a repository, judging by names.
fn is_repository(folder: &Path) -> Result<bool, Doubt> {
    if !is_there(&folder.join("HEAD"))? {
        return Ok(false);
    }
    let common = common(folder)?;
    Ok(is_there(&common.join("objects"))? && is_there(&common.join("refs"))?)
}

fn is_there(path: &Path) -> Result<bool, Doubt> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(unread(path, &error)),
    }
}

/// Whether `core.worktree` merely repeats the place where the repository was found.
fn says_where_it_is(setting: &GitSetting, folders: &Folders) -> bool {
    let place = setting.value.as_deref().filter(|_| setting.key == "core.worktree");
    let said = place.and_then(|place| real_path(&folders.own.join(place)).ok());
    said.is_some() && said == real_path(&folders.top).ok()
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Reads a file completely, or returns `None` if it does not exist.
fn read(path: &Path, max_bytes: usize) -> Result<Option<Vec<u8>>, Doubt> {
    let file = match open_path(path) {
        Ok(OpenedPath::File(file)) => file,
        Ok(OpenedPath::Folder(_) | OpenedPath::Special) => {
            return doubt(format!("`{}` is no file", path.display()));
        }
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(unread(path, &error)),
    };
    let mut reader = FileReader::new(max_bytes);
    match reader.read_open(file, path) {
        (bytes, None) => Ok(Some(bytes.to_vec())),
        (_, Some(gap)) => Err(unread(path, &gap)),
    }
}
