//! Conditions shared by several rules.

use crate::rule::{Exception, Region, Regions};

/// A longer word begins with the name of a shell: `bash-completion`, `sh.example`, `bash_profile`, `sh=`.
pub(crate) const LONGER_WORD: Exception<'static> =
    Exception::After(r"^(?:[-=:/]\w|\.(?:[a-df-z0-9]|e[a-wyz])|[=:/]|[-.]?\*(?:[^*]|\z))");

/// Regions of code, in which no sentence is an excuse.
pub(crate) const PROGRAM: Regions = Regions::of(&[Region::Code, Region::Shell]);
