//! The directory of each program of a text, as a path.

use std::path::{Path, PathBuf};

use super::folders::Shells;
use super::repositories::{MOVERS, moves_others, sets_folder};
use crate::hazards::changes_folder;
use stockade_shell::{Actions, Arg, Run};
use stockade_text::resolve_path;

/// The directories in which the programs of a text run.
pub(in crate::hazards) struct WorkingFolders<'c> {
    first: &'c Path,
    /// By program, and behind the last one; nothing where it is unknown. Empty if all run in the first.
    each: Vec<Option<PathBuf>>,
}

impl<'c> WorkingFolders<'c> {
    pub(in crate::hazards) fn of(actions: &Actions<'_>, first: &'c Path, home: Option<&Path>) -> Self {
        let is_moved = moves_others(actions);
        let leaves = |run: &Run<'_>| changes_folder(run) || (is_moved && runs_elsewhere(run));
        if !actions.runs.iter().any(leaves) {
            return Self { first, each: Vec::new() };
        }
        let is_known = !sets_folder(actions) && !actions.runs.iter().any(follows_links);
        let mut shells = Shells::of(actions);
        let mut folder = Some(first.to_owned());
        let mut each = Vec::with_capacity(actions.runs.len() + 1);
        for (index, run) in actions.runs.iter().enumerate() {
            shells.go_to(index, &mut folder);
            each.push(folder.clone().filter(|_| !is_moved || !runs_elsewhere(run)));
            if changes_folder(run) {
                folder = folder.filter(|_| is_known).and_then(|from| target(run, &from, home));
            }
        }
        shells.go_to(actions.runs.len(), &mut folder);
        each.push(folder);
        Self { first, each }
    }

    /// Whether not every program runs in the first directory.
    pub(in crate::hazards) const fn are_several(&self) -> bool {
        !self.each.is_empty()
    }

    /// Returns the directory of a program, or behind the last one; nothing if it is unknown.
    pub(in crate::hazards) fn at(&self, index: usize) -> Option<&Path> {
        match self.each.get(index.min(self.each.len().saturating_sub(1))) {
            Some(folder) => folder.as_deref(),
            None => Some(self.first),
        }
    }
}

fn runs_elsewhere(run: &Run<'_>) -> bool {
    run.call_chain.iter().any(|program| MOVERS.contains(&&**program))
}

/// Whether a program makes `cd` follow links before `..`.
fn follows_links(run: &Run<'_>) -> bool {
    run.program() == Some("set")
        && run.argv.iter().skip(1).any(|word| word.known().is_none_or(|word| word.contains(['P', 'p'])))
}

/// Returns the target of a `cd`, which the shell derives from the names alone.
fn target(run: &Run<'_>, from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if run.program() == Some("popd") {
        return None;
    }
    let words: Option<Vec<&str>> = run.argv.iter().skip(1).map(Arg::known).collect();
    let words = words?;
    let name = match words.as_slice() {
        [] | ["--"] if run.program() != Some("pushd") => "~",
        ["-L" | "--", name] | [name] => name,
        _ => return None,
    };
    match name.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            Some(resolve_path(home?, Path::new(rest.trim_start_matches('/'))))
        }
        Some(_) => None,
        // Some shells and options resolve a link before the `..` behind it.
        None if name.starts_with(['-', '+']) || goes_back(name) => None,
        None => Some(resolve_path(from, Path::new(name))),
    }
}

/// Whether a `..` follows a name.
fn goes_back(path: &str) -> bool {
    path.split('/').skip_while(|name| matches!(*name, "" | "." | "..")).any(|name| name == "..")
}
