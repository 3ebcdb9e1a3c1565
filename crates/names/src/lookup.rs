//! Finds the rows of a path.
//!
//! Nearly every path has no row, which one hash lookup per component proves.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::families::names;
use crate::fold::fold;
use crate::name::{Name, Scope, Treatment};
use crate::pattern::fits;

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
    let index = &*INDEX;
    let mut found = Vec::new();
    match root {
        Root::Home => index.home.look(&path, 0, &mut found),
        Root::Machine => index.machine.look(&path, 0, &mut found),
        Root::Folder | Root::Repository => {}
    }
    let mut inside = if root == Root::Repository { Inside::Repository } else { Inside::None };
    for (at, name) in path.iter().enumerate() {
        index.anywhere.look(&path, at, &mut found);
        if inside.may_begin_a_repository() {
            index.repository.look(&path, at, &mut found);
        }
        inside = inside.after(name);
    }
    found
}

/// Returns a row whose files some program or agent obeys, if the path has one. Rows that start programs come first.
pub fn obeyed<N: AsRef<str>>(root: Root, path: impl IntoIterator<Item = N>) -> Option<&'static Name> {
    let rows = hits(root, path).into_iter().map(|hit| hit.name);
    rows.filter(|name| name.is_obeyed()).min_by_key(|name| name.kind)
}

/// Returns the strictest treatment of a path's rows, for each kind of access separately.
pub fn treatment<N: AsRef<str>>(root: Root, path: impl IntoIterator<Item = N>) -> Treatment {
    hits(root, path).iter().fold(Treatment::default(), |strictest, hit| strictest.or(hit.name.treatment()))
}

/// Rows of [`Scope::Anywhere`] by the first component of their paths, for a walk that meets
/// one name at a time.
#[derive(Debug)]
pub struct Beginnings(Table);

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
        let mut table = Table::default();
        for name in names().filter(|name| name.scope == Scope::Anywhere && is_wanted(name)) {
            name.paths.iter().for_each(|path| table.add(name, path));
        }
        Self(table)
    }

    /// Returns the paths that begin with a name.
    pub fn with(&self, name: &str) -> Vec<Beginning> {
        let name = [fold(name)];
        let [first] = &name;
        let patterns = self.0.beginning_with(first);
        let meant = patterns.filter(|pattern| pattern.parts.len() > 1 || !pattern.is_excepted(&name));
        meant
            .map(|it| Beginning { name: it.name, rest: it.path.split_once('/').map(|(_, rest)| rest) })
            .collect()
    }

    /// Iterates over every path, for a directory that cannot be listed, so that each name must be tried.
    pub fn paths(&self) -> impl Iterator<Item = (&'static Name, &'static str)> {
        let patterns = self.0.named.values().flatten().chain(self.0.unnamed.values().flatten());
        patterns.map(|pattern| (pattern.name, pattern.path))
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

/// A path of a row.
#[derive(Debug)]
struct Pattern {
    name: &'static Name,
    path: &'static str,
    /// Its components, folded.
    parts: Vec<String>,
    /// Literal prefix and suffix of its first component, around the wildcard; they rule out most names.
    ends: (String, String),
}

/// The rows of one scope, by the first component of their paths.
#[derive(Debug, Default)]
struct Table {
    named: HashMap<String, Vec<Pattern>>,
    /// Rows whose first component is a pattern, by one literal end. A walk through ten thousand files looks up each
    /// name, and would otherwise compare it with a hundred patterns.
    unnamed: HashMap<Edge, Vec<Pattern>>,
}

/// A literal end of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Edge {
    /// The name begins with this byte: `id_rsa*`.
    First(u8),
    /// The name ends with this byte: `*.pem`.
    Last(u8),
    /// Both ends are open: `*`.
    Open,
}

impl Edge {
    /// Returns the literal end of a pattern with this prefix and suffix.
    fn of(begin: &str, end: &str) -> Self {
        let first = begin.bytes().next().map(Self::First);
        first.or_else(|| end.bytes().next_back().map(Self::Last)).unwrap_or(Self::Open)
    }

    /// Returns the ends under which the patterns that a name may match are stored.
    fn of_name(name: &str) -> impl Iterator<Item = Self> + use<> {
        let ends = [name.bytes().next().map(Self::First), name.bytes().next_back().map(Self::Last)];
        ends.into_iter().flatten().chain([Self::Open])
    }
}

#[derive(Default)]
struct Index {
    anywhere: Table,
    home: Table,
    repository: Table,
    machine: Table,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for name in names() {
        let table = match name.scope {
            Scope::Anywhere => &mut index.anywhere,
            Scope::Home => &mut index.home,
            Scope::Repository => &mut index.repository,
            Scope::Machine => &mut index.machine,
        };
        name.paths.iter().for_each(|path| table.add(name, path));
    }
    index
});

impl Table {
    fn add(&mut self, name: &'static Name, path: &'static str) {
        let parts: Vec<String> = path.split('/').map(|part| fold(part).into_owned()).collect();
        let first = parts.first().map_or("", String::as_str);
        let begin = first.split('*').next().unwrap_or_default().to_owned();
        let end = first.rsplit('*').next().unwrap_or_default().to_owned();
        let pattern = Pattern { name, path, parts, ends: (begin, end) };
        match pattern.parts.first() {
            Some(first) if !first.contains('*') => {
                self.named.entry(first.clone()).or_default().push(pattern);
            }
            _ => self.unnamed.entry(Edge::of(&pattern.ends.0, &pattern.ends.1)).or_default().push(pattern),
        }
    }

    fn beginning_with<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Pattern> + use<'t> {
        let unnamed = Edge::of_name(name).filter_map(|edge| self.unnamed.get(&edge)).flatten();
        let unnamed = unnamed.filter(move |it| it.fits_first(name));
        self.named.get(name).into_iter().flatten().chain(unnamed)
    }

    fn look(&self, path: &[Cow<'_, str>], at: usize, found: &mut Vec<Hit>) {
        let Some((first, rest)) = path.get(at..).and_then(<[_]>::split_first) else { return };
        for pattern in self.beginning_with(first) {
            let parts = pattern.parts.get(1..).unwrap_or_default();
            let leads_there =
                rest.len() >= parts.len() && rest.iter().zip(parts).all(|(name, part)| fits(name, part));
            if leads_there && !pattern.is_excepted(path) {
                found.push(Hit { name: pattern.name, length: at + pattern.parts.len() });
            }
        }
    }
}

impl Pattern {
    fn fits_first(&self, name: &str) -> bool {
        let (begin, end) = &self.ends;
        name.ends_with(end.as_str())
            && name.starts_with(begin.as_str())
            && self.parts.first().is_some_and(|part| fits(name, part))
    }

    /// Whether the path is an exception, one that only looks the same.
    fn is_excepted(&self, path: &[Cow<'_, str>]) -> bool {
        self.name.but.iter().any(|end| {
            let mut names = path.iter().rev();
            end.rsplit('/').all(|part| names.next().is_some_and(|name| fits(name, &fold(part))))
        })
    }
}
