//! Which shapes a path can have at all: nearly every path has none, and finds that out by looking up its names.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Access, FileShape, SHAPES};
use crate::commands::hazards::target::Target;
use stockade_shell::lookup::ByName;

/// The patterns for one kind of access, by the first name in them that is no pattern.
#[derive(Default)]
struct Index {
    named: ByName<Vec<(usize, &'static str)>>,
    unnamed: Vec<(usize, &'static str)>,
}

static READ: LazyLock<Index> = LazyLock::new(|| Index::of(Access::Read));
static WRITE: LazyLock<Index> = LazyLock::new(|| Index::of(Access::Write));

/// Returns the shapes of a path, in the order of the table.
pub(super) fn shapes(target: &Target, access: Access) -> impl Iterator<Item = &'static FileShape> {
    let index = match access {
        Access::Read => &READ,
        Access::Write => &WRITE,
    };
    let mut found = vec![false; SHAPES.len()];
    for (shape, pattern) in index.candidates(target) {
        if let Some(found) = found.get_mut(*shape).filter(|found| !**found) {
            *found = target.fits(pattern);
        }
    }
    SHAPES.iter().zip(found).filter_map(|(shape, found)| found.then_some(shape))
}

impl Index {
    fn of(access: Access) -> Self {
        let mut index = Self::default();
        for (at, shape) in SHAPES.iter().enumerate().filter(|(_, shape)| shape.access == access) {
            for pattern in shape.files {
                let is_name = |part: &&str| !part.is_empty() && !part.contains('*') && *part != "~";
                match pattern.split('/').find(is_name) {
                    Some(name) => index.named.entry(name).or_default().push((at, pattern)),
                    None => index.unnamed.push((at, pattern)),
                }
            }
        }
        index
    }

    /// Every pattern that could fit: a name that is a pattern itself can be any.
    fn candidates<'i>(
        &'i self,
        target: &'i Target,
    ) -> Box<dyn Iterator<Item = &'i (usize, &'static str)> + 'i> {
        if !target.is_certain() {
            return Box::new(self.named.values().flatten().chain(&self.unnamed));
        }
        // A name that comes again leads to nothing new.
        let mut seen = HashSet::new();
        let named = target.names.iter().filter_map(|name| self.named.get_key_value(name.as_str()));
        let named = named.filter(move |(name, _)| seen.insert(**name)).flat_map(|(_, patterns)| patterns);
        Box::new(named.chain(&self.unnamed))
    }
}
