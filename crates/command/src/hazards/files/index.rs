//! An index of the file shapes: a lookup of a path's components excludes nearly every path.
//!
//! An inverted index by one literal component of each pattern, like the strategies of globset and the literals of Hyperscan. Only
//! rows that share a component with the path are compared.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use stockade_names::{default_workspace, fold};
use stockade_shell::lookup::ByName;

use super::patterns::{exceptions, files, folded};
use super::shape::FileShape;
use super::table::SHAPES;
use crate::hazards::target::{Base, Likeness, PathPattern, Target};
use stockade_names::Access;

/// A pattern of a shape.
#[derive(Clone)]
struct Pattern {
    /// The index of the shape.
    shape: usize,
    /// For words that are globs: they match names with this case.
    spelled: PathPattern,
    /// For case-folded paths, because the file system may ignore case.
    folded: &'static str,
}

/// The patterns for one kind of access, by their first literal component.
#[derive(Default)]
struct Index {
    named: ByName<Vec<Pattern>>,
    unnamed: Vec<Pattern>,
}

static READ: LazyLock<Index> = LazyLock::new(|| Index::of(Access::Read));
static WRITE: LazyLock<Index> = LazyLock::new(|| Index::of(Access::Write));

/// Exceptions of each shape.
static EXCEPTIONS: LazyLock<Vec<Vec<&'static str>>> =
    LazyLock::new(|| SHAPES.iter().map(exceptions).collect());

/// Returns the shapes of a path, in the order of the table.
pub(super) fn shapes(target: &Target, access: Access) -> impl Iterator<Item = &'static FileShape> {
    let found = likenesses(target, access);
    SHAPES.iter().zip(found).filter_map(|(shape, found)| (found == Likeness::Meant).then_some(shape))
}

/// Returns the shapes of a path, and the first shape that a glob could match without indicating it: `*`.
pub(super) fn shapes_and_possible(
    target: &Target,
    access: Access,
) -> (Vec<&'static FileShape>, Option<&'static FileShape>) {
    let found = likenesses(target, access);
    let with = |likeness| {
        let found = SHAPES.iter().zip(&found);
        found.filter_map(move |(shape, found)| (*found == likeness).then_some(shape))
    };
    (with(Likeness::Meant).collect(), with(Likeness::Possible).next())
}

/// How likely a path has each shape.
fn likenesses(target: &Target, access: Access) -> Vec<Likeness> {
    let index = match access {
        Access::Read => &READ,
        Access::Write => &WRITE,
    };
    let mut found = vec![Likeness::Other; SHAPES.len()];
    let in_workspace = in_default_workspace(target);
    let target = in_workspace.as_ref().unwrap_or(target);
    let certain = target.is_certain();
    let folded = certain.then(|| folded_target(target));
    let target = folded.as_deref().unwrap_or(target);
    if certain {
        index.mark(target, |target, pattern| certainly(target.fits(pattern.folded)), &mut found);
    } else {
        index.mark(target, |target, pattern| target.likeness(&pattern.spelled), &mut found);
    }
    for (found, exceptions) in
        found.iter_mut().zip(&*EXCEPTIONS).filter(|(found, _)| **found > Likeness::Other)
    {
        let is_excepted =
            if certain { target.fits_any(exceptions) } else { target.is_within_any(exceptions) };
        if is_excepted {
            *found = Likeness::Other;
        }
    }
    found
}

/// Returns a path in the default workspace of an agent, relative to it, because the directories above are irrelevant.
fn in_default_workspace(target: &Target) -> Option<Target> {
    let below_home = target.below_home()?;
    let names = below_home.get(default_workspace(below_home)?..)?;
    Some(Target { base: Base::Here, names: names.to_vec() })
}

const fn certainly(fits: bool) -> Likeness {
    if fits { Likeness::Meant } else { Likeness::Other }
}

/// Folds a path like the most lenient file system.
fn folded_target(target: &Target) -> Cow<'_, Target> {
    let is_folded = |name: &String| matches!(fold(name), Cow::Borrowed(folded) if folded == name);
    if target.names.iter().all(is_folded) {
        return Cow::Borrowed(target);
    }
    let names = target.names.iter().map(|name| fold(name).into_owned()).collect();
    Cow::Owned(Target { names, ..target.clone() })
}

impl Index {
    fn of(access: Access) -> Self {
        let mut index = Self::default();
        for (shape, row) in SHAPES.iter().enumerate().filter(|(_, row)| row.access == access) {
            for spelled in files(row) {
                let pattern = Pattern { shape, spelled: PathPattern::read(spelled), folded: folded(spelled) };
                let is_name = |part: &&str| !part.is_empty() && !part.contains('*') && *part != "~";
                match pattern.folded.split('/').find(is_name) {
                    Some(name) => index.named.entry(name).or_default().push(pattern),
                    None => index.unnamed.push(pattern),
                }
            }
        }
        index
    }

    /// Sets each shape to its best matching pattern.
    fn mark(&self, target: &Target, near: fn(&Target, &Pattern) -> Likeness, found: &mut [Likeness]) {
        for pattern in self.candidates(target) {
            if let Some(found) = found.get_mut(pattern.shape).filter(|found| **found < Likeness::Meant) {
                *found = near(target, pattern).max(*found);
            }
        }
    }

    /// Returns every pattern that could match. A component that is a glob can match any name.
    fn candidates<'i>(&'i self, target: &'i Target) -> Box<dyn Iterator<Item = &'i Pattern> + 'i> {
        if !target.is_certain() {
            return Box::new(self.named.values().flatten().chain(&self.unnamed));
        }
        // A repeated component has the same rows.
        let mut seen = HashSet::new();
        let named = target.names.iter().filter_map(|name| self.named.get_key_value(name.as_str()));
        let named = named.filter(move |(name, _)| seen.insert(**name)).flat_map(|(_, patterns)| patterns);
        Box::new(named.chain(&self.unnamed))
    }
}
