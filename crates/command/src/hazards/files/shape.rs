//! A row of the table of dangerous files.

use stockade_names::Name;

use crate::hazards::Floor;
use stockade_names::Access;

/// Files that are dangerous to touch.
pub(in crate::hazards) struct FileShape {
    pub(in crate::hazards) id: &'static str,
    pub(in crate::hazards) floor: Floor,
    pub(in crate::hazards) access: Access,
    /// Selects rows of the table of names.
    pub(in crate::hazards) names: fn(&Name) -> bool,
    /// Patterns of `Target::fits` for paths that are not in the table of names, such as devices and system directories.
    pub(in crate::hazards) files: &'static [&'static str],
    /// Exceptions, besides those of the rows of names.
    pub(in crate::hazards) but: &'static [&'static str],
    pub(in crate::hazards) reason: &'static str,
    pub(in crate::hazards) fix: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(in crate::hazards) matches: &'static [&'static str],
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(in crate::hazards) clean: &'static [&'static str],
}
