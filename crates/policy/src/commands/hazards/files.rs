//! Files that must not be written, and files that must not be read, whichever program does it.

#[cfg(test)]
mod globs;
mod index;
mod named;
mod patterns;
mod shape;
mod table;

pub(super) use table::RAW_DISKS;
#[cfg(test)]
pub(super) use table::SHAPES;

use super::Floor::{self, Deny, Sandbox};
use super::command::Command;
use super::target::{Base, Target};
use super::{Hazard, destroy};
use crate::commands::context::CommandContext;
use crate::paths::facts::Access;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use stockade_shell::{Actions, Arg, Redirect, Span, WordCount};

/// Returns what is dangerous about the files that a command names.
pub(super) fn of_command(command: &Command<'_, '_>, found: &mut Vec<Hazard>) {
    let span = command.run.span;
    if !command.words().any(looks_like_path) {
        return;
    }
    for word in named::written(command) {
        check(&word, Access::Write, span, found);
    }
    for word in named::read(command) {
        check(&word, Access::Read, span, found);
    }
}

/// Returns what is dangerous about the file that a redirection opens.
pub(super) fn of_redirect(redirect: &Redirect<'_>, found: &mut Vec<Hazard>) {
    if !redirect.opens_file() {
        return;
    }
    let access = if redirect.writes() { Access::Write } else { Access::Read };
    check(&redirect.target, access, redirect.span, found);
}

/// Returns what is dangerous about the files that a command names, when it runs in `folder`.
pub(super) fn of_command_in(command: &Command<'_, '_>, folder: &Target, found: &mut Vec<Hazard>) {
    let span = command.run.span;
    for (words, access) in [(named::written(command), Access::Write), (named::read(command), Access::Read)] {
        words.iter().for_each(|word| check_in(word, folder, access, span, found));
    }
}

/// Returns what is dangerous about the file that a redirection opens in `folder`.
pub(super) fn of_redirect_in(redirect: &Redirect<'_>, folder: &Target, found: &mut Vec<Hazard>) {
    let access = if redirect.writes() { Access::Write } else { Access::Read };
    check_in(&redirect.target, folder, access, redirect.span, found);
}

fn check_in(word: &Arg<'_>, folder: &Target, access: Access, span: Span, found: &mut Vec<Hazard>) {
    let here = Target::of(word);
    let there = here.below(folder);
    // What it means wherever it stands was found already.
    if there != here {
        of_target(&there, word, access, span, found);
    }
}

/// Returns which of the files that commands write lie outside the workspace. A rule that permits a program permits no more
/// than a redirection may do: `tee /etc/x` is `> /etc/x`.
pub(crate) fn outside(actions: &Actions<'_>, context: &CommandContext, found: &mut Vec<Hazard>) {
    for command in actions.runs.iter().filter_map(Command::of) {
        let leaves = |word: &Arg<'_>| {
            word.known().is_some_and(|word| word.contains(['/', '~']) && !word.starts_with("./"))
        };
        if !command.words().any(leaves) {
            continue;
        }
        let written = named::written(&command);
        if let Some(word) = written.iter().filter(|word| leaves(word)).find(|word| is_outside(word, context))
        {
            found.push(Hazard {
                id: "writes-outside",
                floor: Sandbox,
                reason: format!("writes outside the workspace (`{}`)", shown(word)),
                fix: "write to a file inside the workspace".to_owned(),
                span: command.run.span,
                variable: None,
            });
        }
    }
}

fn is_outside(word: &Arg<'_>, context: &CommandContext) -> bool {
    let target = Target::of(word);
    let names: PathBuf = target.names.iter().collect();
    let is_in_workspace = || {
        let top = context.workspace.as_ref().or(context.cwd.as_ref());
        top.is_some_and(|top| Path::new("/").join(&names).starts_with(top))
    };
    match target.base {
        Base::Root => {
            !names.starts_with("tmp")
                && !names.starts_with("var/tmp")
                && !names.starts_with("dev")
                && !is_in_workspace()
        }
        Base::Home | Base::Above(_) => true,
        Base::Here | Base::Unknown => false,
    }
}

/// What a path says by its name, whatever opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DangerousName {
    pub(crate) id: &'static str,
    pub(crate) floor: Floor,
    pub(crate) reason: &'static str,
}

/// Returns the worst that the name of a file says: the same as of a command that names it. `path` is relative to the workspace
/// where it lies in it, or absolute.
pub(crate) fn of_name(path: &str, access: Access) -> Option<DangerousName> {
    // No folder of a path is the home because of how its name begins.
    let path = if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(format!("./{path}")) };
    let target = Target::of(&Arg::Known(path));
    let shapes = index::shapes(&target, access);
    // The first of the worst, as the table has them.
    let worst = shapes.min_by_key(|shape| Reverse(shape.floor))?;
    Some(DangerousName { id: worst.id, floor: worst.floor, reason: worst.reason })
}

/// Whether a word names a file with secrets.
pub(super) fn is_secret(word: &Arg<'_>) -> bool {
    let target = Target::of(word);
    index::shapes(&target, Access::Read).next().is_some()
}

/// Whether the letters of a pattern of names speak of a file with secrets.
pub(super) fn speaks_of_secret(pattern: &str) -> bool {
    index::shapes(&Target::spelled(pattern), Access::Read).next().is_some()
}

/// Returns what is dangerous about reading what a pattern of names means.
pub(super) fn of_pattern(pattern: &str, found: &mut Vec<Hazard>) {
    let spelling = pattern.into();
    let word = Arg::Unknown { prefix: "".into(), count: WordCount::Any, spelling };
    check(&word, Access::Read, Span::new(0, 0), found);
}

fn check(word: &Arg<'_>, access: Access, span: Span, found: &mut Vec<Hazard>) {
    if !looks_like_path(word) {
        return;
    }
    let target = Target::of(word);
    of_target(&target, word, access, span, found);
    if access == Access::Write
        && destroy::is_disk(&target)
        && !found.iter().any(|hazard| hazard.id == "write-device")
    {
        found.push(Hazard {
            id: "write-device",
            floor: Deny,
            reason: "writes raw data to a disk".to_owned(),
            fix: "write to a file inside the workspace".to_owned(),
            span,
            variable: None,
        });
    }
}

/// Returns what is dangerous about a path that a word means.
fn of_target(target: &Target, word: &Arg<'_>, access: Access, span: Span, found: &mut Vec<Hazard>) {
    let (shapes, possible) = index::shapes_and_possible(target, access);
    found.extend(shapes.into_iter().map(|shape| Hazard {
        id: shape.id,
        floor: shape.floor,
        reason: format!("{} (`{}`)", shape.reason, shown(word)),
        fix: shape.fix.to_owned(),
        span,
        variable: None,
    }));
    if let Some(shape) = possible {
        found.push(Hazard {
            id: "glob-may-reach",
            floor: Sandbox,
            reason: format!("is a pattern that may name a file of `{}` (`{}`)", shape.id, shown(word)),
            fix: "name the files, or give the pattern their ending: *.md".to_owned(),
            span,
            variable: None,
        });
    }
}

/// A word in a reason. A long one is cut, so that what is said of a command is never much longer than the command.
fn shown(word: &Arg<'_>) -> String {
    /// No path that a person writes has as many letters.
    const MAX_SHOWN: usize = 160;
    let word = word.to_string();
    match word.char_indices().nth(MAX_SHOWN).and_then(|(end, _)| word.get(..end)) {
        Some(start) => format!("{}…", start.escape_debug()),
        None => word.escape_debug().to_string(),
    }
}

/// Nearly every word is not, and most words are looked at.
fn looks_like_path(word: &Arg<'_>) -> bool {
    const NAMES: &[&str] = &[
        "id_",
        "wallet",
        "key",
        "cookies",
        "secrets",
        "credentials",
        "service-account",
        "Jenkinsfile",
        "rust-toolchain",
        "logins",
        "Login",
    ];
    let text = match word {
        Arg::Known(text) => text,
        Arg::Unknown { spelling, .. } if spelling.contains(['*', '?', '[']) => return true,
        Arg::Unknown { spelling, .. } => spelling,
    };
    text.bytes().any(|byte| matches!(byte, b'/' | b'.' | b'~'))
        || NAMES.iter().any(|name| text.starts_with(name))
}
