//! A nap: until it ends, the hook asks no questions, and leaves the calls to the permission prompts of the harness. Denials and the
//! sandbox stay. The file of a nap says when it ends, so that it ends by itself.
#![expect(clippy::disallowed_methods, reason = "keeps a file beside the audit trail, and reads the clock")]

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use stockade_files::KeptFile;
use stockade_guard::audit::private;
use stockade_text::{escape_path, to_printable_json, with_causes};

use crate::StateError;

/// Maximum duration of a nap.
pub const MAX_NAP: Duration = Duration::from_secs(8 * 3600);

/// Maximum size of the file in bytes.
const MAX_NAP_BYTES: u64 = 4096;

const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    version: u32,
    /// Time of its begin and end, in milliseconds since 1970.
    begins_ms: u64,
    ends_ms: u64,
}

/// Begins a nap, or replaces the current one.
///
/// # Errors
/// When the file cannot be written.
pub fn begin(duration: Duration) -> Result<(), StateError> {
    let begins_ms = now_ms();
    let ends_ms = begins_ms.saturating_add(millis(duration.min(MAX_NAP)));
    write(&Written { version: VERSION, begins_ms, ends_ms })
}

/// Ends the current nap. Returns whether there was one.
///
/// # Errors
/// When the file cannot be written.
pub fn end() -> Result<bool, StateError> {
    let was_there = remaining().is_some();
    if was_there {
        write(&Written { version: VERSION, begins_ms: 0, ends_ms: 0 })?;
    }
    Ok(was_there)
}

/// Returns how long the current nap still takes. A file that cannot be used is no nap: questions are asked then.
#[must_use]
pub fn remaining() -> Option<Duration> {
    let text = file().ok()?.read().ok()??;
    let Written { version, begins_ms, ends_ms } = serde_json::from_str(&text).ok()?;
    let now = now_ms();
    // A clock that was set back must not prolong a nap.
    let is_current = version == VERSION && (begins_ms..ends_ms).contains(&now);
    let left = Duration::from_millis(ends_ms.saturating_sub(now));
    (is_current && left <= MAX_NAP).then_some(left)
}

fn write(nap: &Written) -> Result<(), StateError> {
    let file = file()?;
    let unusable = |error: &dyn std::error::Error| {
        StateError::unavailable(format_args!(
            "cannot use {}: {}",
            escape_path(file.path()),
            with_causes(error)
        ))
    };
    if let Some(folder) = file.path().parent() {
        private::create_private_folder(folder).map_err(|error| unusable(&error))?;
    }
    let changed = file.change(|_| Ok::<_, StateError>((Some(format!("{}\n", to_printable_json(nap))), ())));
    changed.map_err(|error| unusable(&error))?
}

fn file() -> Result<KeptFile, StateError> {
    let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from));
    let folder =
        folder.ok_or_else(|| StateError::unavailable("cannot find the state directory: HOME is not set"))?;
    Ok(KeptFile::new(folder.join("nap.json"), MAX_NAP_BYTES).private())
}

fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
