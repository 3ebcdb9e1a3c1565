//! One row of the tables of dangerous programs.

use super::Floor;
use super::command::Command;

/// A form of a command that is dangerous, and the commands that must and must not have it.
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
