//! Reads the user's git settings, to pass the harmless ones to a command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use stockade_files::real_path;
use stockade_git::{GitSetting, GitSettings, GitTarget, git_targets, include_applies, read_settings};

use crate::mounts::IGNORED;
use crate::spec::SandboxSpec;

/// Maximum number and depth of included files.
const MAX_FILES: usize = 32;
const MAX_DEPTH: usize = 10;

/// Maximum size of a file.
const MAX_LENGTH: u64 = 256 << 10;

/// Returns the harmless settings that git would read for this user in the workspace, and the configured paths of hooks.
pub(super) fn harmless(
    spec: &SandboxSpec,
    home: &Path,
    environment: &BTreeMap<OsString, OsString>,
) -> (GitSettings, Vec<PathBuf>) {
    let set = |name: &str| environment.get(name.as_ref() as &std::ffi::OsStr).filter(|it| !it.is_empty());
    let mut reading = Reading { spec, home, files: 0, found: GitSettings::default(), hooks: Vec::new() };
    reading.hooks_of_the_machine(set("GIT_CONFIG_SYSTEM").map_or(Path::new(OF_THE_MACHINE), Path::new));
    match set("GIT_CONFIG_GLOBAL") {
        Some(file) => reading.file(Path::new(file), 0),
        None => {
            let settings = set("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            reading.file(&settings.join("git/config"), 0);
            reading.file(&home.join(".gitconfig"), 0);
        }
    }
    (reading.found, reading.hooks)
}

/// Returns the content of the user's gitignore file, if there is one.
pub(super) fn ignored(spec: &SandboxSpec, home: &Path) -> Option<String> {
    text_of(spec, &home.join(IGNORED))
}

/// Git settings for all users of the machine.
const OF_THE_MACHINE: &str = "/etc/gitconfig";

/// Returns the path of hooks, if this setting configures it.
fn hooks(setting: &GitSetting) -> Option<PathBuf> {
    let is_one = setting.key == "core.hookspath";
    setting.value.as_deref().filter(|value| is_one && !value.is_empty()).map(PathBuf::from)
}

struct Reading<'s> {
    spec: &'s SandboxSpec,
    home: &'s Path,
    files: usize,
    found: GitSettings,
    /// Configured paths of hooks, of which a relative one is below each repository, and other targets of settings.
    hooks: Vec<PathBuf>,
}

impl Reading<'_> {
    fn file(&mut self, path: &Path, depth: usize) {
        if depth >= MAX_DEPTH || self.files >= MAX_FILES || !path.is_absolute() {
            return;
        }
        self.files += 1;
        let Some(text) = text_of(self.spec, path) else { return };
        let beside = path.parent().unwrap_or(path);
        self.note_targets(&text, beside);
        for setting in read_settings(&text).flatten() {
            match self.included(&setting, beside) {
                Some(path) => self.file(&path, depth + 1),
                None => {
                    self.hooks.extend(hooks(&setting));
                    self.found.take(&setting);
                }
            }
        }
    }

    /// Reads the path of hooks from the machine's settings. The command does not see the file, so other settings do not apply.
    fn hooks_of_the_machine(&mut self, path: &Path) {
        let text = text_of(self.spec, path).unwrap_or_default();
        self.hooks.extend(read_settings(&text).flatten().filter_map(|setting| hooks(&setting)));
    }

    /// Records the files that settings of the user refer to, if a command may write them: git obeys them wherever it runs, under
    /// whatever condition they are included.
    fn note_targets(&mut self, text: &str, beside: &Path) {
        let settings: Vec<GitSetting> = read_settings(text).flatten().collect();
        for (path, kind) in git_targets(&settings) {
            let path = match (path.strip_prefix("~/"), kind) {
                (Some(below), _) => self.home.join(below),
                (None, GitTarget::Settings) => beside.join(path),
                (None, GitTarget::Hooks | GitTarget::Program) => PathBuf::from(path),
            };
            if path.is_absolute() && self.is_written(&path) {
                self.hooks.push(path);
            }
        }
    }

    /// Whether a path is in a directory that the command may write to, by its name or by where it leads.
    fn is_written(&self, path: &Path) -> bool {
        let around = path.ancestors().find_map(|around| real_path(around).ok());
        let mut written = std::iter::once(&self.spec.workspace).chain(&self.spec.shared);
        written.any(|folder| {
            path.starts_with(folder) || around.as_ref().is_some_and(|real| real.starts_with(folder))
        })
    }

    /// Returns the file that a setting includes, if its condition is true in this workspace.
    fn included(&self, setting: &GitSetting, beside: &Path) -> Option<PathBuf> {
        let holds = match (setting.section(), setting.subsection()) {
            ("include", None) => true,
            ("includeif", Some(condition)) => {
                include_applies(condition, &self.spec.workspace.join(".git"), self.home, beside)
            }
            _ => false,
        };
        let path = setting.value.as_deref().filter(|_| holds && setting.name() == "path")?;
        Some(match path.strip_prefix("~/") {
            Some(below) => self.home.join(below),
            None => beside.join(path),
        })
    }
}

/// Returns the content of a file, unless a command could have written it: that is not the user's setting.
fn text_of(spec: &SandboxSpec, path: &Path) -> Option<String> {
    let real = real_path(path).ok()?;
    let mut written = std::iter::once(&spec.workspace).chain(&spec.shared).chain(&spec.spill);
    if written.any(|folder| real.starts_with(folder)) {
        return None;
    }
    // Without O_NONBLOCK, opening a named pipe would block until another program writes to it.
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(real).ok()?;
    let data = file.metadata().ok()?;
    if !data.is_file() || data.len() > MAX_LENGTH {
        return None;
    }
    // Room for all, because the first piece would be 32 bytes otherwise.
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default() + 1);
    file.take(MAX_LENGTH).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes a home with settings")]

    use super::*;
    use std::fs;

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
        let spec = SandboxSpec::new(&work, ["true"]);
        let (_, found) = harmless(&spec, &home, &BTreeMap::new());
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
