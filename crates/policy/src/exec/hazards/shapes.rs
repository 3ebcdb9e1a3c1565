//! The table of dangerous shapes, put together from a file for each kind.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::command::Command;
use super::{Floor, destroy};

/// One dangerous shape.
pub(super) struct Shape {
    pub(super) id: &'static str,
    pub(super) floor: Floor,
    /// The names of the programs it is about.
    pub(super) programs: &'static [&'static str],
    pub(super) fires: fn(&Command<'_, '_>) -> bool,
    pub(super) reason: &'static str,
    pub(super) fix: &'static str,
    /// Commands in which it must be found.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(super) matches: &'static [&'static str],
    /// Commands in which it must not be found.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(super) clean: &'static [&'static str],
}

/// Every shape.
pub(super) fn all() -> impl Iterator<Item = &'static Shape> {
    [destroy::SHAPES].into_iter().flatten()
}

/// The shapes of a program.
pub(super) fn of(program: &str) -> impl Iterator<Item = &'static Shape> {
    BY_PROGRAM.get(program).into_iter().flatten().copied()
}

static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<&'static Shape>>> = LazyLock::new(|| {
    let mut shapes: HashMap<&'static str, Vec<&'static Shape>> = HashMap::new();
    for shape in all() {
        shape.programs.iter().for_each(|program| shapes.entry(program).or_default().push(shape));
    }
    shapes
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::hazards::{hazards, script_hazards};
    use crate::shell::{ReadOptions, Script};

    fn ids(text: &str) -> Vec<&'static str> {
        let script = Script::read(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let runs = script.actions().runs;
        let found = runs.iter().flat_map(hazards).chain(script_hazards(&script));
        found.map(|hazard| hazard.id).collect()
    }

    #[test]
    fn every_shape_is_found_where_it_must_be_and_nowhere_else() {
        let mut wrong = Vec::new();
        for shape in all() {
            assert!(!shape.matches.is_empty() && !shape.clean.is_empty(), "{} has no examples", shape.id);
            wrong.extend(
                shape.matches.iter().filter(|text| !ids(text).contains(&shape.id)).map(|t| (shape.id, t)),
            );
            wrong.extend(
                shape.clean.iter().filter(|text| ids(text).contains(&shape.id)).map(|t| (shape.id, t)),
            );
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
