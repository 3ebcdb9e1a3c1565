//! Words of a command as the paths to which they lead: through a symbolic link, up from the working directory, or by the
//! absolute path of a home. Such a word gets the answer of the place where it ends.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::command::Command;
use super::flows::{WorkingFolders, opened_at};
use super::{Floor, Hazard, all_hazards, files, files_at_home, files_outside};
use crate::context::{CommandContext, LinkEnds, NamedPath};
use crate::context_deps::names_in;
use stockade_shell::{Actions, Arg, Span};
use stockade_text::resolve_path;

/// Maximum number of paths of one text. A text with more runs in the sandbox, which shows what links lead to only where the
/// command may see it.
const MAX_PATHS: usize = 1024;

/// Longer paths do not exist.
const MAX_PATH: usize = 4096;

/// The words of a text that are to be looked up on the disk, and the text with the words that lead elsewhere.
#[derive(Default)]
pub(crate) struct Followed<'t> {
    /// Paths of words, by their spelling.
    pub(crate) paths: Vec<NamedPath>,
    /// The same actions, with other words. Nothing if no word leads elsewhere.
    pub(crate) actions: Option<Actions<'t>>,
}

/// Follows the words of a text. Adds a hazard to what has too many of them or an unknown directory.
pub(crate) fn followed<'t>(
    actions: &Actions<'t>,
    context: &CommandContext,
    found: &mut Vec<Hazard>,
) -> Followed<'t> {
    let Some(cwd) = context.cwd.as_deref().or(context.workspace.as_deref()).filter(|cwd| cwd.is_absolute())
    else {
        return Followed::default();
    };
    let folders = WorkingFolders::of(actions, cwd, context.home.as_deref());
    let mut walk = Walk { context, paths: Vec::new(), is_cut: None, unknown: None, changed: None };
    for (index, run) in actions.runs.iter().enumerate() {
        let folder = folders.at(index);
        let mut are_operands = false;
        for (place, word) in run.argv.iter().enumerate().skip(1) {
            are_operands |= word.known() == Some("--");
            // Without it, a word that starts with a dash is an option, and only its value can be a file.
            for other in walk.word(word, folder, are_operands, run.span) {
                let changed = walk.changed.get_or_insert_with(|| actions.clone());
                // All places of a glob are read, so they are added to the word.
                if let Some(words) = changed.runs.get_mut(index).map(|run| &mut run.argv) {
                    match words.get_mut(place) {
                        Some(first) if first == word => *first = other,
                        _ => words.push(other),
                    }
                }
            }
        }
        if folder.is_none() && walk.unknown.is_none() && reads_relative(run) {
            walk.unknown = Some(run.span);
        }
    }
    for (index, redirect) in actions.redirects.iter().enumerate().filter(|(_, one)| one.opens_file()) {
        let folder = folders.at(opened_at(redirect, actions));
        for other in walk.word(&redirect.target, folder, true, redirect.span) {
            let changed = walk.changed.get_or_insert_with(|| actions.clone());
            if let Some(redirect) = changed.redirects.get_mut(index) {
                redirect.target = other;
            }
        }
    }
    found.extend(walk.is_cut.map(|span| uncertain(span, "names more paths than are looked up")));
    found.extend(
        walk.unknown.map(|span| uncertain(span, "names files of which it is not known where they are")),
    );
    Followed { paths: walk.paths, actions: walk.changed }
}

/// Adds the hazards of the places to which words lead.
pub(crate) fn at_their_ends(followed: &Actions<'_>, context: &CommandContext, found: &mut Vec<Hazard>) {
    let mut there = all_hazards(followed);
    files_outside(followed, context, &mut there);
    files_at_home(followed, context, &mut there);
    there.retain(|new| !found.iter().any(|old| old.id == new.id && old.span == new.span));
    found.append(&mut there);
}

fn uncertain(span: Span, reason: &str) -> Hazard {
    Hazard {
        id: "path-unknown",
        floor: Floor::Sandbox,
        reason: reason.to_owned(),
        fix: "name the file by its path from the workspace".to_owned(),
        span,
        variable: None,
    }
}

/// Whether a program reads a file by a relative name.
fn reads_relative(run: &stockade_shell::Run<'_>) -> bool {
    let is_relative =
        |word: &Arg<'_>| !matches!(word.known(), Some(text) if text.starts_with(['/', '~', '-']));
    Command::of(run).is_some_and(|command| files::read(&command).iter().any(is_relative))
}

/// Whether a name begins with the home of a user by name, or with a directory that the shell remembers.
fn is_of_another(name: &str) -> bool {
    name.strip_prefix('~')
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && rest.contains('/'))
}

/// Joins a path and a relative name, in one allocation.
fn joined(folder: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

struct Walk<'c, 't> {
    context: &'c CommandContext,
    paths: Vec<NamedPath>,
    is_cut: Option<Span>,
    unknown: Option<Span>,
    changed: Option<Actions<'t>>,
}

impl Walk<'_, '_> {
    /// Returns the words to which a word leads, if these are others.
    fn word<'t>(
        &mut self,
        word: &Arg<'t>,
        folder: Option<&Path>,
        is_operand: bool,
        span: Span,
    ) -> Vec<Arg<'t>> {
        let text = match word {
            Arg::Known(text) => text,
            Arg::Unknown { spelling, .. } => spelling,
        };
        if text.len() > MAX_PATH || text.contains('\0') {
            return Vec::new();
        }
        let mut others = Vec::new();
        let is_option = text.starts_with('-') && !is_operand;
        for name in names_in(text).filter(|name| !is_option || name.len() < text.len()) {
            // Every name is the end of its word.
            let before = text.get(..text.len() - name.len()).unwrap_or_default();
            let is_pattern = word.known().is_none();
            let Some(path) = self.path(name, folder, is_pattern) else {
                if self.context.home.is_some() && is_of_another(name) {
                    self.unknown.get_or_insert(span);
                }
                continue;
            };
            if self.paths.len() >= MAX_PATHS {
                self.is_cut.get_or_insert(span);
                return others;
            }
            let path = NamedPath { path, is_pattern };
            let ends = self.ends(name, &path, span);
            others.extend(ends.into_iter().map(|end| Arg::Known(Cow::Owned(format!("{before}{end}")))));
            self.paths.push(path);
        }
        others
    }

    /// Returns the path of a name, as it is spelled.
    fn path(&self, name: &str, folder: Option<&Path>, is_pattern: bool) -> Option<PathBuf> {
        let below_home = |rest: &str| {
            let home = self.context.home.as_deref()?;
            (rest.is_empty() || rest.starts_with('/')).then(|| home.join(rest.trim_start_matches('/')))
        };
        if let Some(rest) = name.strip_prefix('~') {
            return match rest.strip_prefix('+') {
                Some(rest) => (rest.is_empty() || rest.starts_with('/'))
                    .then(|| Some(joined(folder?, rest.trim_start_matches('/'))))?,
                None => below_home(rest),
            };
        }
        if !is_pattern {
            return if name.starts_with('/') { Some(name.into()) } else { Some(joined(folder?, name)) };
        }
        let (start, rest) = match name {
            _ if name.starts_with("${HOME}") => return below_home(name.strip_prefix("${HOME}")?),
            _ if name.starts_with("${PWD}/") => (folder?, name.strip_prefix("${PWD}/")?),
            _ if name.starts_with('/') => (Path::new("/"), name),
            _ => (folder?, name),
        };
        // Words with other variables never are allowed.
        (!rest.contains('$')).then(|| start.join(rest))
    }

    /// Returns how the places are spelled to which a path leads.
    fn ends(&mut self, name: &str, path: &NamedPath, span: Span) -> Vec<String> {
        match self.context.links.get(path) {
            Some(LinkEnds::Known(ends)) => return ends.iter().map(|end| self.spelled(end)).collect(),
            Some(LinkEnds::Unknown) => {
                self.unknown.get_or_insert(span);
                return Vec::new();
            }
            None => {}
        }
        // The same rules apply to a home whichever way its files are named.
        let is_other_spelling = (name.starts_with('/') || name.contains("..")) && !path.is_pattern;
        let Some(home) = self.context.home.as_deref().filter(|_| is_other_spelling) else {
            return Vec::new();
        };
        let plain = resolve_path(Path::new("/"), &path.path);
        match plain.starts_with(home) && !plain.starts_with(self.top()) {
            true => vec![self.spelled(&plain)],
            false => Vec::new(),
        }
    }

    fn top(&self) -> &Path {
        let top = self.context.workspace.as_deref().or(self.context.cwd.as_deref());
        top.unwrap_or_else(|| Path::new("/"))
    }

    /// Spells a path as rules know it: relative in the workspace, below the sign for a home.
    fn spelled(&self, path: &Path) -> String {
        let below = |folder: &Path| {
            let is_real = folder.components().any(|part| matches!(part, Component::Normal(_)));
            path.strip_prefix(folder).ok().filter(|_| is_real)
        };
        if let Some(rest) = below(self.top()) {
            return format!("./{}", rest.display());
        }
        match self.context.home.as_deref().and_then(below) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}
