//! The directory that git changes to by its options.

use crate::hazards::command::Command;
use crate::hazards::git;
use crate::hazards::target::Target;
use stockade_shell::Arg;

/// Returns the directory of git's options before the subcommand; nothing if they name a repository.
pub(super) fn git_dir(command: &Command<'_, '_>, folder: &Target) -> Option<Target> {
    let mut folder = folder.clone();
    let mut words = command.words();
    while let Some(word) = words.next() {
        let text = word.known()?;
        match text {
            "-C" => {
                let word = words.next().filter(|word| goes_straight(word))?;
                folder = Target::of(word).below(&folder);
            }
            _ if text.starts_with("--git-d") || text.starts_with("--work") || text == "--bare" => {
                return None;
            }
            _ if git::OPTIONS_WITH_VALUE.contains(&text) => drop(words.next()),
            _ if text.starts_with("-C") => folder = Target::spelled(text.get(2..)?).below(&folder),
            _ if text.starts_with('-') => {}
            _ => break,
        }
    }
    Some(folder)
}

/// Whether no `..` follows a name, where it would depend on symlinks.
pub(super) fn goes_straight(word: &Arg<'_>) -> bool {
    let Some(path) = word.known() else { return true };
    let mut names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let is_down = path.starts_with('/') || !names.clone().all(|name| name == "..");
    !(is_down && names.any(|name| name == ".."))
}
