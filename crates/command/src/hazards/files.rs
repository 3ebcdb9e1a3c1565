//! Files that must not be written, and files that must not be read, by any program.

#[cfg(test)]
mod globs;
mod index;
mod named;
mod patterns;
mod readable;
mod shape;
mod table;

pub(super) use named::is_given_pattern;
pub(crate) use readable::Whereabouts;
use shape::FileShape;
use table::READ_HOME;
pub(super) use table::{RAW_DISKS, READ_CREDENTIALS, SHAPES};

use super::Floor::{self, Deny, Sandbox};
use super::command::Command;
use super::target::{Base, Target};
use super::{Hazard, destroy, flows};
use crate::context::CommandContext;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use stockade_names::Access;
use stockade_shell::{Actions, Arg, Redirect, Span, WordCount};

/// Returns the files that a command reads.
pub(super) fn read<'t>(command: &Command<'_, 't>) -> Vec<Arg<'t>> {
    named::read(command)
}

/// Returns the hazards of the files in the arguments of a command.
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

/// Returns the hazards of the file that a redirection opens.
pub(super) fn of_redirect(redirect: &Redirect<'_>, found: &mut Vec<Hazard>) {
    if !redirect.opens_file() {
        return;
    }
    let access = if redirect.writes() { Access::Write } else { Access::Read };
    check(&redirect.target, access, redirect.span, found);
}

/// Returns the hazards of the files in the arguments of a command that runs in `folder`.
pub(super) fn of_command_in(command: &Command<'_, '_>, folder: &Target, found: &mut Vec<Hazard>) {
    let span = command.run.span;
    for (words, access) in [(named::written(command), Access::Write), (named::read(command), Access::Read)] {
        words.iter().for_each(|word| check_in(word, folder, access, span, found));
    }
}

/// Returns the hazards of the file that a redirection opens in `folder`.
pub(super) fn of_redirect_in(redirect: &Redirect<'_>, folder: &Target, found: &mut Vec<Hazard>) {
    let access = if redirect.writes() { Access::Write } else { Access::Read };
    check_in(&redirect.target, folder, access, redirect.span, found);
}

fn check_in(word: &Arg<'_>, folder: &Target, access: Access, span: Span, found: &mut Vec<Hazard>) {
    let here = Target::of(word);
    let there = here.below(folder);
    // Hazards that do not depend on the directory were found already.
    if there != here {
        of_target(&there, word, access, span, found);
    }
}

/// Returns the written files that are outside of the workspace. A rule that allows a program does not allow more than a
/// redirection: `tee /etc/x` is treated like `> /etc/x`.
pub(crate) fn outside(actions: &Actions<'_>, context: &CommandContext, found: &mut Vec<Hazard>) {
    for command in actions.runs.iter().filter_map(Command::of) {
        // Words without a slash or a tilde cannot be outside, and most commands have only those.
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

/// Whether a path is outside the workspace, and not in a directory that every command may write to.
pub(super) fn is_outside(word: &Arg<'_>, context: &CommandContext) -> bool {
    let names: PathBuf = Target::of(word).names.iter().collect();
    // Every command may write to `/tmp`, which is private in a sandbox. `/dev` has rows of its own.
    let is_shared = ["tmp", "var/tmp", "dev"].iter().any(|shared| names.starts_with(shared));
    is_elsewhere(word, context) && !(is_shared && Target::of(word).base == Base::Root)
}

/// Whether a path is outside the workspace.
pub(super) fn is_elsewhere(word: &Arg<'_>, context: &CommandContext) -> bool {
    matches!(Target::of(word).base, Base::Root | Base::Home | Base::Above(_))
        && !readable::is_inside(word, context)
}

/// The hazard of a file by its name, for any program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DangerousName {
    /// The stable id of the hazard, which commands with that file have.
    pub id: &'static str,
    /// The minimum effect.
    pub floor: Floor,
    /// A description for users.
    pub reason: &'static str,
}

/// Returns the worst hazard of a file by its name, which is the same as for a command with that file. `path` is absolute, or
/// relative to the workspace if it is inside.
#[must_use]
pub fn of_name(path: &str, access: Access) -> Option<DangerousName> {
    // A relative path that starts with `~` is a file with this name, not the home.
    let path = if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(format!("./{path}")) };
    let target = Target::of(&Arg::Known(path));
    let shapes = index::shapes(&target, access);
    // `min_by_key` returns the first of the strictest, in the order of the table.
    let worst = shapes.min_by_key(|shape| Reverse(shape.floor))?;
    Some(DangerousName { id: worst.id, floor: worst.floor, reason: worst.reason })
}

/// Whether a word names a file with secrets.
pub(super) fn is_secret(word: &Arg<'_>) -> bool {
    let target = Target::of(word);
    // Most hidden files in a home are not secrets.
    index::shapes(&target, Access::Read).any(|shape| shape.id != READ_HOME)
}

/// Returns the hazards of reading hidden files or credentials of a home, if that depends on the working directory: `cat .s3cfg`
/// in a home, `cat ../.s3cfg` below it, `cat /srv/agent/.s3cfg`.
pub(crate) fn at_home(actions: &Actions<'_>, context: &CommandContext, found: &mut Vec<Hazard>) {
    let cwd = context.cwd.as_deref().filter(|cwd| cwd.is_absolute());
    let top = context.workspace.as_deref().or(cwd);
    // The workspace itself may be in a hidden directory of a home.
    let is_hidden = top.is_some_and(|top| may_be_in_a_home(top) && is_hidden_at_home(top));
    if is_hidden {
        found.retain(|hazard| hazard.id != READ_HOME);
    }
    let mut there = Vec::new();
    let goes_up = |word: &Arg<'_>| match word {
        Arg::Known(text) => text.contains(".."),
        Arg::Unknown { spelling, .. } => spelling.contains(".."),
    };
    let words = actions.runs.iter().flat_map(|run| &run.argv);
    let targets = actions.redirects.iter().map(|redirect| &redirect.target);
    let is_near = |cwd: &&Path| may_be_in_a_home(cwd) || words.chain(targets).any(goes_up);
    // Most working directories are not in a home, and the whole analysis is repeated for this one.
    if let Some(cwd) = cwd.filter(is_near) {
        flows::in_folder(actions, Some(Target::of(&Arg::Known(cwd.to_string_lossy()))), &mut there);
    }
    let reads =
        |hazard: &Hazard| SHAPES.iter().any(|shape| shape.id == hazard.id && shape.access == Access::Read);
    let is_meant = |hazard: &Hazard| reads(hazard) && !(is_hidden && hazard.id == READ_HOME);
    found.extend(there.into_iter().filter(is_meant));
    let is_path = |word: &Arg<'_>| match word {
        Arg::Known(text) => text.contains('/'),
        Arg::Unknown { spelling, .. } => spelling.contains('/'),
    };
    let has_path = |command: &Command<'_, '_>| command.words().any(is_path);
    for command in actions.runs.iter().filter_map(Command::of).filter(has_path) {
        named::read(&command).iter().for_each(|word| in_other_home(word, top, command.run.span, found));
    }
    let is_read = |redirect: &&Redirect<'_>| redirect.opens_file() && !redirect.writes();
    for redirect in actions.redirects.iter().filter(is_read) {
        in_other_home(&redirect.target, top, redirect.span, found);
    }
}

/// Whether a directory is in a parent directory of homes, or `..` in it may resolve to one.
fn may_be_in_a_home(folder: &Path) -> bool {
    let text = folder.as_os_str().as_encoded_bytes();
    // Service accounts have homes elsewhere, which `in_other_home` covers.
    ["/root", "/home", "/Users"].iter().any(|homes| folder.starts_with(homes))
        || text.windows(2).any(|two| two == b"..")
}

/// Whether a path is a hidden file of a home.
fn is_hidden_at_home(path: &Path) -> bool {
    let target = Target::of(&Arg::Known(path.to_string_lossy()));
    index::shapes(&target, Access::Read).any(|shape| shape.id == READ_HOME)
}

/// Returns the hazard of credentials in a home with an unknown location: any path outside of the workspace that continues like a
/// credential path in a home.
fn in_other_home(word: &Arg<'_>, workspace: Option<&Path>, span: Span, found: &mut Vec<Hazard>) {
    let target = Target::of(word);
    if target.base != Base::Root {
        return;
    }
    let path = Path::new("/").join(target.names.iter().collect::<PathBuf>());
    if workspace.is_none_or(|workspace| !path.starts_with(workspace)) {
        goes_on_as_at_home(&target, word, span, found);
    }
}

fn goes_on_as_at_home(target: &Target, word: &Arg<'_>, span: Span, found: &mut Vec<Hazard>) {
    let homes = (0..target.names.len()).filter_map(|at| target.names.get(at..));
    let in_home = |names: &[String]| Target { base: Base::Home, names: names.to_vec() };
    let keeps = |names| index::shapes(&in_home(names), Access::Read).any(|shape| shape.id != READ_HOME);
    if homes.take(MAX_HOMES).any(keeps) {
        let row = SHAPES.iter().find(|shape| shape.id == READ_CREDENTIALS);
        found.extend(row.map(|row| row.hazard(word, span)));
    }
}

/// Maximum depth of a home directory.
const MAX_HOMES: usize = 16;

/// Whether the letters of a glob indicate a file with secrets.
pub(super) fn speaks_of_secret(pattern: &str) -> bool {
    index::shapes(&Target::spelled(pattern), Access::Read).any(|shape| shape.id != READ_HOME)
}

/// Returns the hazard of reading the files that a glob matches.
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

/// Returns the hazard of the path in a word.
fn of_target(target: &Target, word: &Arg<'_>, access: Access, span: Span, found: &mut Vec<Hazard>) {
    // `$x/.aws/credentials`: whatever `$x` is, the rest of the path is that of a credential.
    if target.base == Base::Unknown && access == Access::Read {
        goes_on_as_at_home(target, word, span, found);
    }
    let (shapes, possible) = index::shapes_and_possible(target, access);
    found.extend(shapes.into_iter().map(|shape| shape.hazard(word, span)));
    if let Some(shape) = possible {
        found.push(Hazard {
            id: "glob-may-reach",
            floor: Sandbox,
            reason: format!("is a pattern that may name a file of `{}` (`{}`)", shape.id, shown(word)),
            fix: "list the files, or add their extension to the pattern: *.md".to_owned(),
            span,
            variable: None,
        });
    }
}

impl FileShape {
    fn hazard(&self, word: &Arg<'_>, span: Span) -> Hazard {
        Hazard {
            id: self.id,
            floor: self.floor,
            reason: format!("{} (`{}`)", self.reason, shown(word)),
            fix: self.fix.to_owned(),
            span,
            variable: None,
        }
    }
}

/// Formats a word for a reason. A long one is truncated, so that the reasons of a command do not grow much longer than the
/// command.
fn shown(word: &Arg<'_>) -> String {
    /// Longer than any honest path.
    const MAX_SHOWN: usize = 160;
    let word = word.to_string();
    match word.char_indices().nth(MAX_SHOWN).and_then(|(end, _)| word.get(..end)) {
        Some(start) => format!("{}…", start.escape_debug()),
        None => word.escape_debug().to_string(),
    }
}

/// This quick check excludes nearly every word.
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
        "_netrc",
        "_vimrc",
        "mise-tasks",
    ];
    let text = match word {
        Arg::Known(text) => text,
        // `cat *` has no letter of a secret's name, and may print one.
        Arg::Unknown { spelling, .. } if spelling.contains(['*', '?', '[']) => return true,
        Arg::Unknown { spelling, .. } => spelling,
    };
    // Nearly every row contains one of these characters. The others are in `NAMES`.
    text.bytes().any(|byte| matches!(byte, b'/' | b'.' | b'~'))
        || NAMES
            .iter()
            .any(|name| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}
