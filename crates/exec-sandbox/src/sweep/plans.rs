//! Finds changes of git's pending work (such as the todo list of a rebase) that would run programs.

use std::path::{Path, PathBuf};

use super::known::Before;
use crate::workspace::entry::{At, at, read_below};
use crate::workspace::plans::{MAX_PLAN, PLANS, running};
use crate::workspace::walk::Here;

/// Returns the files of pending work with new lines that run programs, and those that cannot be parsed.
pub(crate) fn armed(here: &Here<'_>, folder: &Path, before: &Before<'_>) -> Vec<PathBuf> {
    let armed = |plan: &Path| {
        let found = at(here.folder, plan)?;
        let known = before.plan(&folder.join(plan));
        let is_armed = match read_below(here.folder, plan, MAX_PLAN) {
            Some(text) => running(&text).any(|line| known.is_none_or(|known| !known.contains(&line))),
            // One that is too long to be read may run programs behind its beginning.
            None => true,
        };
        let path = match found {
            At::There(_) => plan.to_path_buf(),
            At::BehindALink(link, _) => link,
        };
        is_armed.then_some(path)
    };
    PLANS.iter().filter_map(|plan| armed(Path::new(plan))).collect()
}
