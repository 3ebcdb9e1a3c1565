//! Finds the rows of a path.
//!
//! Nearly every path has no row, which one hash lookup per component proves. The tables are constants.

mod index;

use std::borrow::Cow;

use crate::fold::fold;
use crate::name::{Name, Scope, Treatment, Write};
use crate::pattern::fits;
use index::{Pattern, Table, patterns};

/// The directory that a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// Any directory, such as a workspace.
    Folder,
    /// The user's home directory.
    Home,
    /// The directory in which git keeps a repository.
    Repository,
    /// The root directory of the machine.
    Machine,
}

/// A row that matches a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The row.
    pub name: &'static Name,
    /// Number of leading components that the row covers.
    pub length: usize,
}

/// Returns the rows of a path below `root`, for the path itself and for each of its parent directories.
///
/// The path must be plain: names only, without `..` and with links resolved. Takes linear time.
pub fn hits<N: AsRef<str>>(root: Root, path: impl IntoIterator<Item = N>) -> Vec<Hit> {
    let path: Vec<N> = path.into_iter().collect();
    let path: Vec<Cow<'_, str>> = path.iter().map(|name| fold(name.as_ref())).collect();
    let mut found = Vec::new();
    match root {
        Root::Home => look(Table::of(Scope::Home), &path, 0, &mut found),
        Root::Machine => look(Table::of(Scope::Machine), &path, 0, &mut found),
        Root::Folder | Root::Repository => {}
    }
    let mut inside = if root == Root::Repository { Inside::Repository } else { Inside::None };
    for (at, name) in path.iter().enumerate() {
        look(Table::of(Scope::Anywhere), &path, at, &mut found);
        if inside.may_begin_a_repository() {
            look(Table::of(Scope::Repository), &path, at, &mut found);
        }
        inside = inside.after(name);
    }
    found
}

/// Returns a row whose files some program or agent obeys, if the path has one. Rows that start programs come first.
/// Files that developers write like source code ([`Write::Note`]) are not among them.
pub fn obeyed<N: AsRef<str>>(root: Root, path: impl IntoIterator<Item = N>) -> Option<&'static Name> {
    let rows = hits(root, path).into_iter().map(|hit| hit.name);
    rows.filter(|name| name.is_obeyed() && name.write != Write::Note).min_by_key(|name| name.kind)
}

/// Returns the strictest treatment of a path's rows, for each kind of access separately.
pub fn treatment<N: AsRef<str>>(root: Root, path: impl IntoIterator<Item = N>) -> Treatment {
    hits(root, path).iter().fold(Treatment::default(), |strictest, hit| strictest.or(hit.name.treatment()))
}

/// Rows of [`Scope::Anywhere`] by the first component of their paths, for a walk that meets
/// one name at a time.
#[derive(Debug)]
pub struct Beginnings {
    /// Whether each pattern is collected.
    wanted: Vec<bool>,
}

/// A path of a row whose first component matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    /// The row.
    pub name: &'static Name,
    /// The remaining components, separated by `/`, with `*` as a wildcard; `None` if the path is complete.
    pub rest: Option<&'static str>,
}

impl Beginnings {
    /// Collects the rows for which `is_wanted` returns true.
    pub fn of(is_wanted: impl Fn(&Name) -> bool) -> Self {
        let is_wanted = |name: &Name| name.scope == Scope::Anywhere && is_wanted(name);
        Self { wanted: patterns().map(|(_, pattern)| pattern.name().is_some_and(&is_wanted)).collect() }
    }

    /// Returns the paths that begin with a name.
    pub fn with(&self, name: &str) -> Vec<Beginning> {
        let path = [fold(name)];
        let [first] = &path;
        let wanted =
            beginning_with(Table::of(Scope::Anywhere), first).filter(|(number, _)| self.wants(*number));
        let beginning = |(_, pattern): (usize, &'static Pattern)| {
            let (name, rest) = (pattern.name()?, pattern.path().split_once('/').map(|(_, rest)| rest));
            (rest.is_some() || !is_excepted(name, &path)).then_some(Beginning { name, rest })
        };
        wanted.filter_map(beginning).collect()
    }

    /// Iterates over every path, for a directory that cannot be listed, so that each name must be tried.
    pub fn paths(&self) -> impl Iterator<Item = (&'static Name, &'static str)> {
        let wanted = patterns().filter(|(number, _)| self.wants(*number));
        wanted.filter_map(|(_, pattern)| Some((pattern.name()?, pattern.path())))
    }

    fn wants(&self, number: usize) -> bool {
        self.wanted.get(number).copied().unwrap_or(false)
    }
}

/// Position of a path within git's directories.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    None,
    /// The next component is inside a repository.
    Repository,
    /// The next component names a worktree.
    Worktrees,
    /// Submodule names may have several components, so a repository may begin at each.
    Modules,
}

impl Inside {
    const fn may_begin_a_repository(self) -> bool {
        matches!(self, Self::Repository | Self::Modules)
    }

    fn after(self, name: &str) -> Self {
        match (self, name) {
            (Self::Modules, _) | (Self::Repository, "modules") => Self::Modules,
            (Self::Repository, "worktrees") => Self::Worktrees,
            (Self::Worktrees, _) | (_, ".git") => Self::Repository,
            _ => Self::None,
        }
    }
}

/// Adds the rows of the path that begins at component `at`.
fn look(table: &Table, path: &[Cow<'_, str>], at: usize, found: &mut Vec<Hit>) {
    let Some((first, rest)) = path.get(at..).and_then(<[_]>::split_first) else { return };
    for (_, pattern) in beginning_with(table, first) {
        let mut rest = rest.iter();
        let mut parts = pattern.folded().split('/').skip(1);
        let leads_there = parts.all(|part| rest.next().is_some_and(|name| fits(name, part)));
        let Some(name) = pattern.name() else { continue };
        if leads_there && !is_excepted(name, path) {
            found.push(Hit { name, length: path.len() - rest.len() });
        }
    }
}

/// Returns the patterns whose first component matches a folded name.
fn beginning_with(table: &Table, name: &str) -> impl Iterator<Item = (usize, &'static Pattern)> {
    table.may_begin_with(name).filter(move |(_, it)| it.has_ends_of(name) && fits(name, it.first()))
}

impl Name {
    /// Whether a path that one of the row's paths matches is an exception.
    pub fn excepts<N: AsRef<str>>(&self, path: impl IntoIterator<Item = N>) -> bool {
        let path: Vec<N> = path.into_iter().collect();
        let path: Vec<Cow<'_, str>> = path.iter().map(|name| fold(name.as_ref())).collect();
        is_excepted(self, &path)
    }
}

/// Whether a folded path is an exception of a row, one that only looks the same.
fn is_excepted(name: &Name, path: &[Cow<'_, str>]) -> bool {
    name.but.iter().any(|end| {
        let mut names = path.iter().rev();
        end.rsplit('/').all(|part| names.next().is_some_and(|name| fits(name, &fold(part))))
    })
}

#[cfg(test)]
mod tests;
