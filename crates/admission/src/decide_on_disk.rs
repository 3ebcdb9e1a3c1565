//! Decides on commands with what is on this disk: where links lead, and the repositories that git would find.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use stockade_command::{CommandContext, CommandDecision, Effect, FoundRepository, RepositoryFacts};
use stockade_git::{FoundGit, GitRepository, find_git};

use super::links;

/// Maximum number of directories that are examined for one text. The others are unknown.
const MAX_FOLDERS: usize = 32;

/// Decides on a text, follows the links in the paths that it names, examines the directories in which it would start git, and
/// decides again if there are any. Also returns the context with the findings, for a search for suggestions.
///
/// `decide` is called once or twice and must be deterministic.
#[expect(clippy::disallowed_methods, reason = "the home of the user is where the commands run")]
pub fn decide_on_disk<'t, 'p>(
    place: CommandContext,
    decide: impl Fn(&CommandContext) -> CommandDecision<'t, 'p>,
) -> (CommandDecision<'t, 'p>, CommandContext) {
    let home = || env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let mut place = CommandContext {
        cwd: place.cwd.map(absolute),
        workspace: place.workspace.map(absolute),
        home: place.home.or_else(home),
        ..place
    };
    let decision = decide(&place);
    if decision.effect == Effect::Deny {
        return (decision, place);
    }
    place.links = links::followed(decision.paths(), &place);
    if !decision.git_folders().is_empty() {
        let workspace = place.workspace.as_deref().or(place.cwd.as_deref());
        place.repositories = look(decision.git_folders(), workspace);
    }
    match place.links.is_empty() && place.repositories.is_empty() {
        true => (decision, place),
        false => (decide(&place), place),
    }
}

/// Makes a directory absolute, relative to the current one.
fn absolute(folder: PathBuf) -> PathBuf {
    std::path::absolute(&folder).unwrap_or(folder)
}

fn look(folders: &[PathBuf], workspace: Option<&Path>) -> BTreeMap<PathBuf, FoundRepository> {
    let own = workspace.map(find_git);
    let find = |(number, folder): (usize, &PathBuf)| {
        let found = match &own {
            Some(found) if workspace == Some(folder) => found.clone(),
            _ if number >= MAX_FOLDERS => {
                FoundGit::Doubtful("git runs in too many directories to check".to_owned())
            }
            _ => find_git(folder),
        };
        // Nothing runs in a missing workspace. Any other directory may exist by the time git runs.
        let found =
            if workspace == Some(folder) && found == FoundGit::NoFolder { FoundGit::Nothing } else { found };
        (folder.clone(), fact(found, own.as_ref()))
    };
    folders.iter().enumerate().map(find).collect()
}

fn fact(found: FoundGit, own: Option<&FoundGit>) -> FoundRepository {
    match (found, own) {
        (FoundGit::Nothing, _) => FoundRepository::Nothing,
        (FoundGit::Repository(found), Some(FoundGit::Repository(own)))
            if found.common.starts_with(&own.common) =>
        {
            FoundRepository::Own(facts(found))
        }
        (FoundGit::Repository(_), _) => FoundRepository::Foreign,
        (FoundGit::NoFolder, _) => FoundRepository::Doubtful("the directory does not exist yet".to_owned()),
        (FoundGit::Doubtful(what), _) => FoundRepository::Doubtful(what),
        _ => FoundRepository::Doubtful("it has an unknown type".to_owned()),
    }
}

fn facts(found: GitRepository) -> RepositoryFacts {
    let settings = found.settings.into_iter().map(|setting| (setting.key, setting.value)).collect();
    RepositoryFacts { settings, hooks: found.hooks }
}
