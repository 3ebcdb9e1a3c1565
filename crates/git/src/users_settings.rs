//! The git settings of a user, as git reads them for a workspace.
#![expect(clippy::disallowed_methods, reason = "opens the settings of the user")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use stockade_files::real_path;

use super::{GitSetting, GitSettings, GitTarget, git_targets, include_applies, read_settings};

/// Maximum number and depth of included files.
const MAX_FILES: usize = 32;
const MAX_DEPTH: usize = 10;

/// Maximum size of a file.
const MAX_LENGTH: u64 = 256 << 10;

/// The git settings of a user.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct UsersGit {
    /// The harmless settings.
    pub harmless: GitSettings,
    /// Configured paths of hooks, of which a relative one is below each repository, and other targets of settings.
    pub hooks: Vec<PathBuf>,
    /// Whether some files were not read, so that their targets are unknown.
    pub is_partial: bool,
}

/// The directories that matter to the settings of a user.
#[derive(Debug, Clone, Copy)]
pub struct UsersPlaces<'p> {
    /// The home of the user.
    pub home: &'p Path,
    /// The workspace in which git runs.
    pub workspace: &'p Path,
    /// Other directories that commands may write to: files in them are not settings of the user.
    pub writable: &'p [&'p Path],
}

/// Returns the settings that git reads for a user in a workspace. A file that commands may write is not read.
#[must_use]
pub fn users_git(places: UsersPlaces<'_>, environment: &BTreeMap<OsString, OsString>) -> UsersGit {
    let set = |name: &str| environment.get(OsStr::new(name)).filter(|it| !it.is_empty());
    let home = places.home;
    let mut reading = Reading { places, files: 0, found: UsersGit::default() };
    reading.hooks_of_the_machine(set("GIT_CONFIG_SYSTEM").map_or(Path::new(OF_THE_MACHINE), Path::new));
    match set("GIT_CONFIG_GLOBAL") {
        Some(file) => reading.file(Path::new(file), 0),
        None => {
            let settings = set("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            reading.file(&settings.join("git/config"), 0);
            reading.file(&home.join(".gitconfig"), 0);
        }
    }
    reading.found
}

/// Returns the content of a file below the home of the user, such as a list of ignored files, if there is one.
#[must_use]
pub fn users_file(places: UsersPlaces<'_>, below_home: &Path) -> Option<String> {
    places.text_of(&places.home.join(below_home)).ok()
}

/// Git settings for all users of the machine.
const OF_THE_MACHINE: &str = "/etc/gitconfig";

/// Returns the path of hooks, if this setting configures it.
fn hooks(setting: &GitSetting) -> Option<PathBuf> {
    let is_one = setting.key == "core.hookspath";
    setting.value.as_deref().filter(|value| is_one && !value.is_empty()).map(PathBuf::from)
}

struct Reading<'p> {
    places: UsersPlaces<'p>,
    files: usize,
    found: UsersGit,
}

impl Reading<'_> {
    fn file(&mut self, path: &Path, depth: usize) {
        if !path.is_absolute() {
            return;
        }
        if depth >= MAX_DEPTH || self.files >= MAX_FILES {
            self.found.is_partial = true;
            return;
        }
        self.files += 1;
        let Some(text) = self.text(path) else { return };
        let beside = path.parent().unwrap_or(path);
        self.note_targets(&text, beside);
        for setting in read_settings(&text).flatten() {
            match self.included(&setting, beside) {
                Some(path) => self.file(&path, depth + 1),
                None => {
                    self.found.hooks.extend(hooks(&setting));
                    self.found.harmless.take(&setting);
                }
            }
        }
    }

    /// Reads the path of hooks from the machine's settings. The command does not see the file, so other settings do not apply.
    fn hooks_of_the_machine(&mut self, path: &Path) {
        let text = self.text(path).unwrap_or_default();
        self.found.hooks.extend(read_settings(&text).flatten().filter_map(|setting| hooks(&setting)));
    }

    fn text(&mut self, path: &Path) -> Option<String> {
        let text = self.places.text_of(path);
        self.found.is_partial |= matches!(text, Err(Unread::TooLong));
        text.ok()
    }

    /// Records the files that settings of the user refer to, if a command may write them: git obeys them wherever it runs, under
    /// whatever condition they are included.
    fn note_targets(&mut self, text: &str, beside: &Path) {
        let settings: Vec<GitSetting> = read_settings(text).flatten().collect();
        for (path, kind) in git_targets(&settings) {
            let path = match (path.strip_prefix("~/"), kind) {
                (Some(below), _) => self.places.home.join(below),
                (None, GitTarget::Settings) => beside.join(path),
                (None, GitTarget::Hooks | GitTarget::Program) => PathBuf::from(path),
            };
            if path.is_absolute() && self.is_written(&path) {
                self.found.hooks.push(path);
            }
        }
    }

    /// Whether a path is in a directory that the command may write to, by its name or by where it leads.
    fn is_written(&self, path: &Path) -> bool {
        let around = path.ancestors().find_map(|around| real_path(around).ok());
        self.places.written().any(|folder| {
            path.starts_with(folder) || around.as_ref().is_some_and(|real| real.starts_with(folder))
        })
    }

    /// Returns the file that a setting includes, if its condition is true in this workspace.
    fn included(&self, setting: &GitSetting, beside: &Path) -> Option<PathBuf> {
        let holds = match (setting.section(), setting.subsection()) {
            ("include", None) => true,
            ("includeif", Some(condition)) => {
                include_applies(condition, &self.places.workspace.join(".git"), self.places.home, beside)
            }
            _ => false,
        };
        let path = setting.value.as_deref().filter(|_| holds && setting.name() == "path")?;
        Some(match path.strip_prefix("~/") {
            Some(below) => self.places.home.join(below),
            None => beside.join(path),
        })
    }
}

/// Why a file has no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    /// It is not a file, or not one of the user.
    Missing,
    /// It is longer than the maximum.
    TooLong,
}

impl<'p> UsersPlaces<'p> {
    fn written(self) -> impl Iterator<Item = &'p Path> {
        std::iter::once(self.workspace).chain(self.writable.iter().copied())
    }

    /// Returns the content of a file, unless a command could have written it: that is not the user's setting.
    fn text_of(self, path: &Path) -> Result<String, Unread> {
        let real = real_path(path).map_err(|_| Unread::Missing)?;
        if self.written().any(|folder| real.starts_with(folder)) {
            return Err(Unread::Missing);
        }
        // Without O_NONBLOCK, opening a named pipe would block until another program writes to it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(&real, flags, Mode::empty()).map_err(|_| Unread::Missing)?);
        let data = file.metadata().map_err(|_| Unread::Missing)?;
        if !data.is_file() {
            return Err(Unread::Missing);
        }
        if data.len() > MAX_LENGTH {
            return Err(Unread::TooLong);
        }
        // Room for all, because the first piece would be 32 bytes otherwise.
        let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default() + 1);
        file.take(MAX_LENGTH).read_to_end(&mut bytes).map_err(|_| Unread::Missing)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes a home with settings")]

    use super::*;
    use std::fs;

    #[test]
    fn a_flood_of_settings_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let is_partial = |text: &str| {
            fs::write(home.join(".gitconfig"), text).unwrap();
            let places = UsersPlaces { home: &home, workspace: &home.join("work"), writable: &[] };
            users_git(places, &BTreeMap::new()).is_partial
        };
        fs::write(home.join("long"), "#".repeat(usize::try_from(MAX_LENGTH).unwrap() + 1)).unwrap();
        fs::write(home.join("loop"), "[include]\npath = loop\n").unwrap();
        let includes = |count: usize| "[include]\npath = x\n".repeat(count);
        for (text, expected) in [
            (String::new(), false),
            (includes(1), false),
            (includes(MAX_FILES + 1), true),
            ("[include]\npath = missing\n".to_owned(), false),
            ("[include]\npath = long\n".to_owned(), true),
            ("[include]\npath = loop\n".to_owned(), true),
            ("#".repeat(usize::try_from(MAX_LENGTH).unwrap() + 1), true),
        ] {
            assert_eq!(is_partial(&text), expected, "{}", text.get(..40).unwrap_or(&text));
        }
    }

    /// Git obeys an included file of the workspace like the settings that include it, also one that does not exist yet.
    #[test]
    fn targets_of_the_users_own_settings_in_the_workspace_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, work) = (root.join("home"), root.join("work"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(work.join("tools")).unwrap();
        std::os::unix::fs::symlink(&work, home.join("project")).unwrap();
        let text = format!(
            "[include]\n path = {0}/team.cfg\n[includeIf \"onbranch:x\"]\n path = ~/project/branch.cfg\n[core]\n fsmonitor = {0}/tools/watch --in=x\n\
             hooksPath = .githooks\n[include]\n path = ~/other.cfg\n[alias]\n co = checkout\n",
            work.display()
        );
        fs::write(home.join(".gitconfig"), text).unwrap();
        let places = UsersPlaces { home: &home, workspace: &work, writable: &[] };
        let found = users_git(places, &BTreeMap::new()).hooks;
        let found: std::collections::BTreeSet<PathBuf> = found.into_iter().collect();
        let expected = [
            PathBuf::from(".githooks"),
            home.join("project/branch.cfg"),
            work.join("team.cfg"),
            work.join("tools/watch"),
        ];
        assert_eq!(found, expected.into());
    }
}
