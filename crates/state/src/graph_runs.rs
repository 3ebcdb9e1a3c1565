//! Location of graph runs: `stockade/graph-runs` in `$XDG_CACHE_HOME` or `~/.cache`. The directory of the trail is never shared
//! with a command.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the environment, and creates the directory of all runs"
)]

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use stockade_guard::{GraphRun, GuardError, Session};
use stockade_text::{escape_path, with_causes};

use crate::StateError;

/// Returns the directory of graph runs, if this user can have one.
pub fn base() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("stockade/graph-runs"))
}

/// Error if this user cannot have one.
pub const NO_BASE: &str = "cannot create a graph run: neither XDG_CACHE_HOME nor HOME is an absolute path";

/// Creates a graph run in a directory, which is created if missing.
pub fn begin(base: &Path) -> Result<GraphRun, GuardError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(base);
    made.map_err(|source| GuardError::GraphRun { path: base.to_owned(), source })?;
    GraphRun::begin(base)
}

/// Finds a graph run by its name or directory.
pub fn find(meant: &Path) -> Result<GraphRun, StateError> {
    const HELP: &str = "run `stockade graph begin` to create one, or `stockade graph list` to list them";
    let base = base().ok_or_else(|| StateError::unavailable(NO_BASE))?;
    let name = meant.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let found = GraphRun::resume(&base, name)
        .map_err(|error| StateError::input(with_causes(&error)).with_help(HELP))?;
    let is_name = meant.components().count() == 1;
    if is_name || meant.canonicalize().is_ok_and(|path| path == found.path()) {
        return Ok(found);
    }
    let (meant, base) = (escape_path(meant), escape_path(&base));
    Err(StateError::input(format_args!("{meant} is not a graph run in {base}")).with_help(HELP))
}

/// Adds a session's agent to a graph run, if one is given.
pub fn join(session: &mut Session, meant: Option<&PathBuf>) -> Result<(), StateError> {
    if let Some(meant) = meant {
        session.join(&find(meant)?);
    }
    Ok(())
}
