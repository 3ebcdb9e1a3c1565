//! The context of a command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stockade_text::resolve_path;

use super::repository::FoundRepository;

/// A path that a word of a command may name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPath {
    /// The path, as it is spelled.
    pub path: PathBuf,
    /// Whether its components are patterns (`*`, `?`, `[…]`, and `\\` before a plain character), so that it may name many files.
    pub is_pattern: bool,
}

/// Where a path ends that leads through a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEnds {
    /// There; at all of these places if the path is a pattern.
    Known(Vec<PathBuf>),
    /// It could not be found out, such as for a pattern in a directory with very many entries.
    Unknown,
}

/// The known facts about where a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandContext {
    /// The working directory. Without it, rules with directories do not allow anything.
    pub cwd: Option<PathBuf>,
    /// The workspace, for rules that refer to it.
    pub workspace: Option<PathBuf>,
    /// The home of the user, for which `~` stands.
    pub home: Option<PathBuf>,
    /// Where paths end that lead through symbolic links, by their spelling.
    /// [`CommandDecision::paths`] returns those to look up; any other ends where its name says.
    ///
    /// [`CommandDecision::paths`]: crate::CommandDecision::paths
    pub links: BTreeMap<NamedPath, LinkEnds>,
    /// What git finds in directories, by their absolute paths. [`CommandDecision::git_folders`] returns the needed ones; nothing
    /// is known about others.
    ///
    /// [`CommandDecision::git_folders`]: crate::CommandDecision::git_folders
    pub repositories: BTreeMap<PathBuf, FoundRepository>,
}

impl CommandContext {
    /// Returns a context with only the directories.
    #[must_use]
    pub const fn new(cwd: Option<PathBuf>, workspace: Option<PathBuf>) -> Self {
        Self { cwd, workspace, home: None, links: BTreeMap::new(), repositories: BTreeMap::new() }
    }
}

/// The context of a part of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartContext<'p> {
    pub(crate) context: &'p CommandContext,
    /// Whether the text itself changes the directory.
    pub(crate) moves: bool,
    /// Whether words that are added at run time are file names from a search without secrets.
    pub(crate) adds_harmless_names: bool,
    /// Whether the command only stops processes that the text started.
    pub(crate) stops_own_children: bool,
}

impl PartContext<'_> {
    /// Returns whether the command runs in or below one of the directories; nothing if that is unknown.
    pub(super) fn is_within(&self, folders: &[String]) -> Option<bool> {
        let cwd = self.context.cwd.as_deref().filter(|cwd| cwd.is_absolute() && !self.moves)?;
        let cwd = resolve_path(Path::new("/"), cwd);
        let mut all_known = true;
        for folder in folders {
            let folder = match (folder.as_str(), &self.context.workspace) {
                ("workspace", Some(workspace)) => workspace.clone(),
                ("workspace", None) => {
                    all_known = false;
                    continue;
                }
                (folder, _) => PathBuf::from(folder),
            };
            if cwd.starts_with(resolve_path(Path::new("/"), &folder)) {
                return Some(true);
            }
        }
        all_known.then_some(false)
    }

    /// Returns whether a relative file name refers to the workspace, as far as the name shows.
    pub(crate) fn holds(&self, file: &str) -> bool {
        let plain = !file.starts_with(['/', '~', '-']) && file.split('/').all(|name| name != "..");
        let folder = [String::from("workspace")];
        plain
            && !file.is_empty()
            && !self.moves
            && (self.context.cwd.is_none() || self.is_within(&folder) == Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_compared_name_by_name() {
        let within = |cwd: Option<&str>, moves, folder: &str| {
            let context = CommandContext::new(cwd.map(PathBuf::from), Some("/srv/app".into()));
            PartContext { context: &context, moves, adds_harmless_names: false, stops_own_children: false }
                .is_within(&[folder.to_owned()])
        };
        let rows = [
            (Some("/data/../data/p"), false, "/data", Some(true)),
            (Some("/database"), false, "/data", Some(false)),
            (Some("/srv/app/src"), false, "workspace", Some(true)),
            (Some("/srv"), false, "workspace", Some(false)),
            (Some("/srv/app"), true, "workspace", None),
            (Some("app"), false, "workspace", None),
            (None, false, "workspace", None),
        ];
        for (cwd, moves, folder, expected) in rows {
            assert_eq!(within(cwd, moves, folder), expected, "{cwd:?} {moves} {folder}");
        }
    }
}
