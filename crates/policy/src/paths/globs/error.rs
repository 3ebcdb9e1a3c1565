//! Why a glob cannot be used.

use thiserror::Error;

/// The most globs that one list may have.
pub(super) const MAX_GLOBS: usize = 10_000;

/// The longest glob, in bytes.
pub(super) const MAX_GLOB_BYTES: usize = 4096;

/// The longest list, in bytes.
pub(super) const MAX_LIST_BYTES: usize = 256 * 1024;

/// A glob that cannot be used. A glob that silently matches nothing protects nothing, so it is refused at load.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("glob `{}`: {kind}", glob.escape_debug())]
#[non_exhaustive]
pub struct GlobError {
    /// The glob, as it was written.
    pub glob: String,
    /// What is wrong with it.
    pub kind: GlobErrorKind,
}

/// What is wrong with a glob.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GlobErrorKind {
    /// The glob is empty, and matches nothing.
    #[error("is empty; write `**` for everything or `.` for the workspace itself")]
    Empty,
    /// It begins with `~`, which nothing expands.
    #[error("`~` is not expanded; write the whole path")]
    Tilde,
    /// It goes upwards. Paths are compared after `..` is resolved, so it could never match.
    #[error("`..` never matches, because paths are resolved first; write the resolved path")]
    Upwards,
    /// It has a NUL byte.
    #[error("contains a NUL byte")]
    Nul,
    /// It is longer than any honest glob, or the list has more globs than any honest list.
    #[error(
        "too long; the maximum is {MAX_GLOBS} globs of {MAX_GLOB_BYTES} bytes, {MAX_LIST_BYTES} bytes in total"
    )]
    TooLong,
    /// The globs of a list are short, but too much to compile.
    #[error("the list is too large to compile; use fewer globs, `?` and brackets")]
    TooLarge,
    /// It cannot be parsed.
    #[error("{0}")]
    Syntax(String),
}

/// Makes an error about the syntax of a glob.
pub(super) fn syntax(what: &str) -> GlobErrorKind {
    GlobErrorKind::Syntax(what.to_owned())
}
