//! A row of the tables of dangerous programs.

use super::Floor;
use super::command::Command;

/// A dangerous form of a command, with examples that must and must not match.
pub(super) struct Shape {
    pub(super) id: &'static str,
    pub(super) floor: Floor,
    /// The names of its programs.
    pub(super) programs: &'static [&'static str],
    pub(super) fires: fn(&Command<'_, '_>) -> bool,
    pub(super) reason: &'static str,
    pub(super) fix: &'static str,
    /// Commands that must match.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(super) matches: &'static [&'static str],
    /// Commands that must not match.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(super) clean: &'static [&'static str],
}
