//! What is deleted, read and written in the folder that a `cd` has led to.

use std::cmp::Reverse;
use std::ops::Range;

use super::git_dir_options::git_dir;
use super::table::{DELETE_THERE, TOO_DEEP};
use crate::hazards::command::Command;
use crate::hazards::target::Target;
use crate::hazards::{Hazard, destroy, files, trees};
use stockade_shell::{Actions, Arg, Redirect, Run};

/// What is dangerous only because of where it happens: `cd / && rm -rf *`, `cd /etc && cat shadow`.
pub(super) fn find(actions: &Actions<'_>, found: &mut Vec<Hazard>) {
    let is_told = |run| Command::of(run).is_some_and(|command| git_dir_elsewhere(&command, None).is_some());
    if !actions.runs.iter().any(|run| leads_elsewhere(run) || is_told(run)) {
        return;
    }
    find_from(actions, None, found);
}

/// The same for a text that begins in a folder.
pub(in crate::hazards) fn find_from(
    actions: &Actions<'_>,
    mut folder: Option<Target>,
    found: &mut Vec<Hazard>,
) {
    let mut shells = Shells::of(actions);
    // The first one last, so that each is taken when its program comes.
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
    // Those behind the last program: `cd ~/.ssh; > authorized_keys`.
    for redirect in redirects {
        folder.iter().for_each(|folder| files::of_redirect_in(redirect, folder, found));
    }
}

/// The folder that git goes to by itself: `git -C X Y` is `cd X && git Y`.
fn git_dir_elsewhere(command: &Command<'_, '_>, folder: Option<&Target>) -> Option<Target> {
    let is_told = command.name == "git" && command.words().any(|word| word.known() == Some("-C"));
    let here = || folder.cloned().unwrap_or_else(|| Target::spelled("."));
    is_told.then(|| git_dir(command, &here())).flatten()
}

/// The place in the list of programs at which a file is opened: where its own program runs, or the one that is written behind it.
fn opened_at(redirect: &Redirect<'_>, actions: &Actions<'_>) -> usize {
    if redirect.runs.is_empty() {
        return actions.runs.partition_point(|run| run.span.start < redirect.span.start);
    }
    redirect.runs.start
}

/// Whether a program changes the folder of its shell.
pub(crate) fn changes_folder(run: &Run<'_>) -> bool {
    leads_elsewhere(run) || run.program() == Some("popd")
}

fn leads_elsewhere(run: &Run<'_>) -> bool {
    matches!(run.program(), Some("cd" | "pushd" | "chdir"))
}

/// The shells that are open at a place, each with the folder in which it began: there the shell around it goes on.
pub(super) struct Shells {
    /// Those to come, the next one last.
    ahead: Vec<Range<usize>>,
    open: Vec<(usize, Option<Target>)>,
}

impl Shells {
    pub(super) fn of(actions: &Actions<'_>) -> Self {
        let mut ahead = actions.own_shells.clone();
        ahead.sort_by_key(|shell| (Reverse(shell.start), shell.end));
        Self { ahead, open: Vec::new() }
    }

    /// Leaves the shells that end before the program at `index`, and enters those that begin with it.
    pub(super) fn go_to(&mut self, index: usize, folder: &mut Option<Target>) {
        while let Some((_, outer)) = self.open.pop_if(|(end, _)| *end <= index) {
            *folder = outer;
        }
        while let Some(shell) = self.ahead.pop_if(|shell| shell.start <= index) {
            self.open.push((shell.end, folder.clone()));
        }
    }
}

/// Where a `cd` leads, from where an earlier one has led. Without a folder it leads home.
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
