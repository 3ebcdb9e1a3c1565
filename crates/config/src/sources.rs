//! The places where a configuration is looked up.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the environment, and lists the directories of config files"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use stockade_files::FileVersions;

use crate::chosen::chosen_config_file;
use crate::error::Problem;
use crate::layer::{
    ConfigLayer, Said, files_of_folder, read_environment, read_file, read_flags, read_folder,
};
use crate::other_tools::backend_of_other_tools;

/// Where to look. The default looks nowhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigSources {
    /// The machine's directory, with `config.*` and `managed.*`.
    pub system: Option<PathBuf>,
    /// The user's directory, with `config.*`.
    pub user: Option<PathBuf>,
    /// A directory of the project. The nearest `.stockade/config.*` in it or above it is read.
    pub project: Option<PathBuf>,
    /// Environment variables. Those named `STOCKADE_…__…` are read, and those by which similar tools request a sandbox
    /// (`AUTO_SANDBOX`).
    pub environment: Vec<(OsString, OsString)>,
    /// Options, as key and value.
    pub flags: Vec<(String, String)>,
    /// An additional file of the user layer.
    pub file: Option<PathBuf>,
    /// The session of the harness, for tables that apply in one session.
    pub session: Option<String>,
    /// Agents that will be looked up, in addition to those that a layer names.
    pub agents: Vec<String>,
    /// Whether to leave out the tables `[[scoped]]`: for an edit of the lists beside them.
    pub omits_scoped: bool,
}

impl ConfigSources {
    /// Returns the places for a process of this user that works in a directory. A file that was chosen by `--config` or
    /// `STOCKADE_CONFIG` replaces the user's directory.
    #[must_use]
    pub fn of_process(project: &Path) -> Self {
        let variable =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || Some(variable("HOME")?.join(".config"));
        let folder = || Some(variable("XDG_CONFIG_HOME").or_else(home)?.join("stockade"));
        let file = chosen_config_file();
        Self {
            system: Some("/etc/stockade".into()),
            user: if file.is_some() { None } else { folder() },
            file,
            project: std::path::absolute(project).ok(),
            environment: std::env::vars_os().collect(),
            ..Self::default()
        }
    }

    /// Returns the current versions of all files and directories that affect the configuration.
    #[must_use]
    pub fn files(&self) -> FileVersions {
        let projects = self.project.as_deref().map(project_folders).into_iter().flatten();
        let folders = self.system.iter().chain(&self.user).cloned().chain(projects);
        let with_files =
            folders.flat_map(|folder| files_of_folder(&folder).chain([folder.clone()]).collect::<Vec<_>>());
        FileVersions::of(self.file.iter().cloned().chain(with_files))
    }

    /// Reads all layers, the weakest first.
    pub(super) fn read(&self, problems: &mut Vec<Problem>) -> Vec<Said> {
        let folder = |folder: Option<&PathBuf>, stem, layer, problems: &mut Vec<Problem>| {
            folder.map(|folder| read_folder(folder, stem, layer, problems))
        };
        let user = self.user.as_ref();
        let project =
            self.project.as_deref().and_then(|start| project_folder(start, user.map(PathBuf::as_path)));
        let own = self.file.as_deref();
        let weakest = backend_of_other_tools(&self.environment, problems);
        [
            Some(Said { leaves: weakest, ..Said::nothing(ConfigLayer::Environment) }),
            folder(self.system.as_ref(), "config", ConfigLayer::System, problems),
            folder(user, "config", ConfigLayer::User, problems),
            own.map(|file| read_file(file, ConfigLayer::User, problems)),
            folder(project.as_ref(), "config", ConfigLayer::Project, problems),
            Some(read_environment(&self.environment, problems)),
            Some(read_flags(&self.flags, problems)),
            folder(self.system.as_ref(), "managed", ConfigLayer::Managed, problems),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Returns every directory that may contain the configuration of a project, the nearest first.
fn project_folders(start: &Path) -> impl Iterator<Item = PathBuf> {
    start.ancestors().map(|folder| folder.join(".stockade"))
}

/// Returns the nearest directory `.stockade` at or above `start`.
fn project_folder(start: &Path, user: Option<&Path>) -> Option<PathBuf> {
    project_folders(start).filter(|folder| Some(folder.as_path()) != user).find(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_to_a_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("a/b");
        std::fs::create_dir_all(&project).unwrap();
        let sources = ConfigSources { project: Some(project.clone()), ..ConfigSources::default() };
        let file = folder.path().join(".stockade/config.toml");
        let nearer = project.join(".stockade");
        let steps: [&dyn Fn(); 6] = [
            &|| std::fs::create_dir(file.parent().unwrap()).unwrap(),
            &|| std::fs::write(&file, "x = 1\n").unwrap(),
            &|| std::fs::write(&file, "x = 22\n").unwrap(),
            &|| std::fs::rename(&file, file.with_extension("json")).unwrap(),
            &|| std::fs::create_dir(&nearer).unwrap(),
            &|| std::fs::write(nearer.join("config.yaml"), "").unwrap(),
        ];
        for (number, step) in steps.into_iter().enumerate() {
            let files = sources.files();
            assert!(files.are_unchanged());
            step();
            assert!(!files.are_unchanged(), "step {number}");
        }
    }
}
