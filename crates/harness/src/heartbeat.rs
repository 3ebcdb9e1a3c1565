//! Heartbeat: when a harness last called the hook, which its settings cannot show.
#![expect(clippy::disallowed_methods, reason = "keeps a file beside the audit trail, and reads the clock")]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stockade_files::{KeptFile, OwnAccess, check_owned_once, open_own};
use stockade_guard::audit::AuditTrail;

use super::Harness;
use super::call::Origin;

/// Session id of calls that `doctor` makes, which are not heartbeats.
pub const REPLAY: &str = "stockade-replay";

const MAX_BYTES: u64 = 4096;

/// Returns the directory for state about harnesses.
pub fn folder() -> Option<PathBuf> {
    AuditTrail::default_path()?.parent().map(|state| state.join("harnesses"))
}

fn file(harness: &Harness) -> Option<PathBuf> {
    Some(folder()?.join(format!("{}.seen", harness.name)))
}

/// Returns the id of a session in the form in which it is stored; nothing if the harness has none.
pub fn session_id(origin: &Origin) -> Option<String> {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let id: String = origin.session.chars().filter(is_plain).take(64).collect();
    (!id.is_empty()).then_some(id)
}

/// Stores that the hook was called. A failure does not affect decisions.
pub fn note(harness: &Harness, origin: &Origin) {
    let Some(path) = file(harness).filter(|path| origin.session != REPLAY && check_owned_once(path).is_ok())
    else {
        return;
    };
    let line = format!("{}\n", session_id(origin).unwrap_or_default());
    // Only the first call of all finds no directory.
    if replace(&path, &line).is_err()
        && let Some(folder) = path.parent()
    {
        fs::create_dir_all(folder).ok();
        replace(&path, &line).ok();
    }
}

fn replace(path: &Path, line: &str) -> io::Result<()> {
    open_own(path, OwnAccess::Replace)?.write_all(line.as_bytes())
}

/// Returns when the hook was last called, and in which session.
pub fn last(harness: &Harness) -> Option<(SystemTime, String)> {
    let path = file(harness)?;
    let at = fs::symlink_metadata(&path).ok()?.modified().ok()?;
    let session = KeptFile::new(path, MAX_BYTES).read().ok()??;
    Some((at, session.trim().to_owned()))
}

/// Returns the session in which the harness of an agent called its hook last.
pub fn session_of(agent: &str) -> Option<String> {
    let (_, session) = last(Harness::named(agent)?)?;
    Some(session).filter(|session| !session.is_empty())
}
