//! The table of dangerous programs, put together from a file for each kind.

use std::sync::LazyLock;

use super::command::Command;
use super::{Floor, code, contain, destroy, git, machine, network, options, packages, persist, secrets};
use stockade_shell::lookup::{ByName, by_name};

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

const KINDS: &[&[Shape]] = &[
    destroy::SHAPES,
    machine::SHAPES,
    persist::SHAPES,
    network::SHAPES,
    code::SHAPES,
    code::sed::SHAPES,
    git::SHAPES,
    contain::SHAPES,
    packages::SHAPES,
    secrets::SHAPES,
    options::SHAPES,
];

/// Every shape.
pub(super) fn all() -> impl Iterator<Item = &'static Shape> {
    KINDS.iter().copied().flatten()
}

/// The shapes of a program.
pub(super) fn of(program: &str) -> impl Iterator<Item = &'static Shape> {
    BY_PROGRAM.get(program).into_iter().flatten().copied()
}

static BY_PROGRAM: LazyLock<ByName<Vec<&'static Shape>>> =
    LazyLock::new(|| by_name(all(), |shape| shape.programs));
