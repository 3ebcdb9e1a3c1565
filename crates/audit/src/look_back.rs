//! A spot check of records whenever a trail is opened to write to it: the newest, and random others. An edit is
//! noticed then without a request; only `verify` checks all of them.

use std::ops::ControlFlow;
use std::path::Path;

use crate::error::AuditError;
use crate::record::BEGINNING;
use crate::store::Store;

/// How many of the newest records are looked at, and how many others.
const LOOKED_AT: u64 = 64;

/// Whether each record has a seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seals {
    /// A register seals them.
    Required,
    /// There is no register.
    Missing,
}

/// Whether some records are as they were written, and follow each other.
///
/// # Errors
/// When one is not, or the random number cannot be had.
pub(crate) fn look_back(path: &Path, store: &dyn Store, seals: Seals) -> Result<(), AuditError> {
    let newest = store.head()?.id.saturating_sub(LOOKED_AT);
    look(path, store, newest, seals)?;
    if newest == 0 {
        return Ok(());
    }
    let chosen = getrandom::u64().map_err(|error| AuditError::Unusable {
        path: path.to_owned(),
        doing: "selecting records",
        source: std::io::Error::from(error).into(),
    })?;
    look(path, store, chosen.checked_rem(newest).unwrap_or_default(), seals)
}

/// Looks at the records behind this number.
fn look(path: &Path, store: &dyn Store, behind: u64, seals: Seals) -> Result<(), AuditError> {
    let mut before = (behind == 0).then(|| BEGINNING.to_owned());
    let mut id = behind + 1;
    let mut is_wrong = false;
    store.each_link_behind(behind, &mut |link| {
        let follows = before.as_ref().is_none_or(|before| before == link.prev);
        let is_stripped = seals == Seals::Required && !link.is_sealed;
        is_wrong = link.id != id || !follows || link.digest != link.hash || is_stripped;
        if is_wrong || id == behind + LOOKED_AT {
            return ControlFlow::Break(());
        }
        before = Some(link.digest);
        id += 1;
        ControlFlow::Continue(())
    })?;
    let reason = "it is not as it was written, or one before it is missing".to_owned();
    if is_wrong { Err(AuditError::Damaged { path: path.to_owned(), id, reason }) } else { Ok(()) }
}
