//! The table of dangerous programs, combined from one file for each kind.

use std::sync::LazyLock;

use super::shape::Shape;
use super::{
    attack_tools, code, contain, destroy, git, guards, hiding, loads, machine, network, options, packages,
    persist, secrets, session, spying, trees, windows,
};
use stockade_shell::lookup::{ByName, by_name};

const KINDS: &[&[Shape]] = &[
    destroy::SHAPES,
    machine::SHAPES,
    persist::SHAPES,
    network::SHAPES,
    code::SHAPES,
    code::jq::SHAPES,
    code::sed::SHAPES,
    git::SHAPES,
    contain::SHAPES,
    packages::SHAPES,
    secrets::SHAPES,
    trees::SHAPES,
    loads::SHAPES,
    session::SHAPES,
    options::SHAPES,
    attack_tools::SHAPES,
    hiding::SHAPES,
    spying::SHAPES,
    guards::SHAPES,
    windows::SHAPES,
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
