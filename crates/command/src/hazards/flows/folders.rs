//! Hazards of files relative to the target of a `cd`.

use std::cmp::Reverse;
use std::ops::Range;

use super::git_dir_options::git_dir;
use super::table::{DELETE_THERE, TOO_DEEP};
use crate::hazards::command::Command;
use crate::hazards::target::Target;
use crate::hazards::{Hazard, destroy, files, trees};
use stockade_shell::{Actions, Arg, Redirect, Run};

/// Finds hazards that depend on the directory: `cd / && rm -rf *`, `cd /etc && cat shadow`.
pub(super) fn find(actions: &Actions<'_>, found: &mut Vec<Hazard>) {
    let is_told = |run| Command::of(run).is_some_and(|command| git_dir_elsewhere(&command, None).is_some());
    if !actions.runs.iter().any(|run| leads_elsewhere(run) || is_told(run)) {
        return;
    }
    find_from(actions, None, found);
}

/// The same for a text that starts in a directory.
pub(in crate::hazards) fn find_from(
    actions: &Actions<'_>,
    mut folder: Option<Target>,
    found: &mut Vec<Hazard>,
) {
    let mut shells = Shells::of(actions);
    // Reversed, so that each is popped at its program.
    let mut redirects: Vec<&Redirect<'_>> =
        actions.redirects.iter().filter(|redirect| redirect.opens_file()).collect();
    redirects.sort_by_key(|redirect| Reverse(opened_at(redirect, actions)));
    for (index, run) in actions.runs.iter().enumerate() {
        shells.go_to(index, &mut folder);
        while let Some(redirect) = redirects.pop_if(|redirect| opened_at(redirect, actions) <= index) {
            folder.iter().for_each(|folder| files::of_redirect_in(redirect, folder, found));
        }
        if leads_elsewhere(run) {
            folder = cd_target(run.argv.get(1..).unwrap_or_default(), folder.as_ref());
            if folder.as_ref().is_some_and(Target::is_too_deep) {
                found.push(TOO_DEEP.at(run.span));
                return;
            }
            continue;
        }
        let Some(command) = Command::of(run) else { continue };
        let elsewhere = git_dir_elsewhere(&command, folder.as_ref());
        if elsewhere.as_ref().is_some_and(Target::is_too_deep) {
            found.push(TOO_DEEP.at(run.span));
            return;
        }
        let Some(folder) = elsewhere.as_ref().or(folder.as_ref()) else { continue };
        if destroy::deletes(&command) && command.targets().any(|target| target.below(folder).is_everything())
        {
            found.push(DELETE_THERE.at(run.span));
        }
        files::of_command_in(&command, folder, found);
        found.extend(trees::read_in(&command, folder));
    }
    // Redirections after the last program: `cd ~/.ssh; > authorized_keys`.
    for redirect in redirects {
        folder.iter().for_each(|folder| files::of_redirect_in(redirect, folder, found));
    }
}

/// Returns the directory that git changes to: `git -C X Y` is `cd X && git Y`.
fn git_dir_elsewhere(command: &Command<'_, '_>, folder: Option<&Target>) -> Option<Target> {
    let is_told = command.name == "git" && command.words().any(|word| word.known() == Some("-C"));
    let here = || folder.cloned().unwrap_or_else(|| Target::spelled("."));
    is_told.then(|| git_dir(command, &here())).flatten()
}

/// Returns the index of the program at which a file is opened: its own program, or the next one in the text.
pub(in crate::hazards) fn opened_at(redirect: &Redirect<'_>, actions: &Actions<'_>) -> usize {
    if redirect.runs.is_empty() {
        return actions.runs.partition_point(|run| run.span.start < redirect.span.start);
    }
    redirect.runs.start
}

/// Whether a program changes the directory of its shell.
pub(crate) fn changes_folder(run: &Run<'_>) -> bool {
    leads_elsewhere(run) || run.program() == Some("popd")
}

fn leads_elsewhere(run: &Run<'_>) -> bool {
    matches!(run.program(), Some("cd" | "pushd" | "chdir"))
}

/// The open subshells at a position, each with the directory in which it began, to which its parent returns.
pub(super) struct Shells<F> {
    /// Subshells that begin later, the next one last.
    ahead: Vec<Range<usize>>,
    open: Vec<(usize, Option<F>)>,
}

impl<F: Clone> Shells<F> {
    pub(super) fn of(actions: &Actions<'_>) -> Self {
        let mut ahead = actions.own_shells.clone();
        ahead.sort_by_key(|shell| (Reverse(shell.start), shell.end));
        Self { ahead, open: Vec::new() }
    }

    /// Leaves subshells that end before the program at `index`, and enters those that begin with it.
    pub(super) fn go_to(&mut self, index: usize, folder: &mut Option<F>) {
        while let Some((_, outer)) = self.open.pop_if(|(end, _)| *end <= index) {
            *folder = outer;
        }
        while let Some(shell) = self.ahead.pop_if(|shell| shell.start <= index) {
            self.open.push((shell.end, folder.clone()));
        }
    }
}

/// Returns the target of a `cd` from a directory. Without an operand, it is the home.
pub(super) fn cd_target(words: &[Arg<'_>], from: Option<&Target>) -> Option<Target> {
    let folder = words.iter().find(|word| !word.known().is_some_and(|word| word.starts_with('-')));
    match folder {
        Some(folder) => {
            let target = Target::of(folder);
            Some(from.map_or_else(|| target.clone(), |from| target.below(from)))
        }
        // `cd -` returns to an unknown directory.
        None if words.iter().any(|word| word.known() == Some("-")) => None,
        None => Some(Target::spelled("~")),
    }
}
