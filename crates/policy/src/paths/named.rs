//! What the name of a file says: that some program runs it, some agent obeys it, or that secrets are kept in it. The same
//! table decides on commands, so that a file tool may do what `cat` and `tee` may do, and no more.

use std::path::Path;

use super::config::{Answer, PathPolicy};
use super::facts::{ResolvedPath, names};
use super::globs;
use super::jail::Workspace;
use stockade_command::hazards::{DangerousName, Floor, of_name};
use stockade_names::Access;

/// Returns the worst that one of the names of a path says, and what it comes to.
pub(crate) fn worst(
    workspace: &Workspace,
    access: Access,
    located: &Path,
    found: &ResolvedPath,
) -> Option<(Answer, DangerousName)> {
    let answers = names(located, found).flat_map(|path| {
        let is_outside = workspace.locate(path).inside.is_none();
        let said = said_of(workspace, path).into_iter().filter_map(|name| of_name(&name, access));
        said.filter_map(move |name| Some((answer(name.floor, is_outside)?, name)))
    });
    answers.reduce(|worst, next| if next.0 > worst.0 { next } else { worst })
}

/// Returns whether a policy allows every name of a path by a glob that can match nothing else: its author meant this file.
pub(crate) fn is_meant(
    policy: &PathPolicy,
    workspace: &Workspace,
    located: &Path,
    found: &ResolvedPath,
) -> bool {
    let is_written = |name: &str| policy.allow.contains(&globs::escape(name));
    names(located, found).all(|name| spellings(workspace, name).any(|spelling| is_written(&spelling)))
}

/// How a path is asked about: from the workspace it lies in, and as what lies in a home. The folders above a workspace say
/// nothing about what is in it: a project may live in `/var/www`.
fn said_of(workspace: &Workspace, path: &Path) -> Vec<String> {
    let mut spellings: Vec<String> = spellings(workspace, path).collect();
    let is_inside = spellings.len() > 1;
    if is_inside && !is_in_a_home(path) {
        spellings.truncate(1);
    }
    spellings
}

/// The path from the workspace, where it lies in it, and the whole of it.
fn spellings(workspace: &Workspace, path: &Path) -> impl Iterator<Item = String> {
    let inside = workspace.locate(path).inside.map(|inside| inside.to_string_lossy().into_owned());
    inside.into_iter().chain([path.to_string_lossy().into_owned()])
}

fn is_in_a_home(path: &Path) -> bool {
    ["/root", "/home", "/Users"].iter().any(|homes| path.starts_with(homes))
}

/// Returns the answer for a file whose name has a floor for commands. A file tool has no sandbox that would hide a file outside the
/// workspace, so the user is asked.
const fn answer(floor: Floor, is_outside: bool) -> Option<Answer> {
    match floor {
        Floor::Deny => Some(Answer::Deny),
        Floor::Sandbox if !is_outside => None,
        Floor::Ask | Floor::Sandbox => Some(Answer::Ask),
    }
}
