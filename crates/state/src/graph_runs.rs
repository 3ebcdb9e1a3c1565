//! Where the folders of graph runs are: `stockade/graph-runs` in `$XDG_CACHE_HOME`, or in `~/.cache`. The folder of the trail is never shared
//! with a command.
#![expect(clippy::disallowed_methods, reason = "asks the environment, and makes the folder of all")]

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use stockade_guard::{GraphRun, GuardError, Session};
use stockade_text::{escape_path, with_causes};

use crate::StateError;

/// Where they are, if this user has a place for it.
pub fn base() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("stockade/graph-runs"))
}

/// What is said where this user has none.
pub const NO_BASE: &str =
    "neither XDG_CACHE_HOME nor HOME is an absolute path, so that there is no place for the folder";

/// Begins a run below a folder, which is made where it is missing.
pub fn begin(base: &Path) -> Result<GraphRun, GuardError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(base);
    made.map_err(|source| GuardError::GraphRun { path: base.to_owned(), source })?;
    GraphRun::begin(base)
}

/// Finds the run that a command line means: by its name, or by its folder.
pub fn find(meant: &Path) -> Result<GraphRun, StateError> {
    const HELP: &str =
        "`stockade graph begin` begins one, and `stockade graph list` names those that nobody has ended";
    let base = base().ok_or_else(|| StateError::unavailable(NO_BASE))?;
    let name = meant.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let found = GraphRun::resume(&base, name)
        .map_err(|error| StateError::input(with_causes(&error)).with_help(HELP))?;
    let is_name = meant.components().count() == 1;
    if is_name || meant.canonicalize().is_ok_and(|path| path == found.path()) {
        return Ok(found);
    }
    let (meant, base) = (escape_path(meant), escape_path(&base));
    Err(StateError::input(format_args!("{meant} is no graph run: those are in {base}")).with_help(HELP))
}

/// Makes the agent of a session a node of the run that a command line means, if it means one.
pub fn join(session: &mut Session, meant: Option<&PathBuf>) -> Result<(), StateError> {
    if let Some(meant) = meant {
        session.join(&find(meant)?);
    }
    Ok(())
}
