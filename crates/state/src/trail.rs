//! The configured audit trail.

use std::path::{Path, PathBuf};

use stockade_guard::audit::{Anchor, AuditError, AuditEvent, AuditOptions, AuditTrail, Recorded, Unrecorded};
use stockade_guard::config::{AuditConfig, Config};

/// Returns how to fix a trail that could not be opened. Other errors than those of files name their fix.
#[must_use]
pub const fn fix(error: &AuditError) -> Option<&'static str> {
    match error {
        AuditError::Unusable { .. } => {
            Some("set another file in `audit.path`, or make it writable for this user")
        }
        _ => None,
    }
}

/// Returns the file of the trail, which need not exist yet: the configured one, or the user's own.
#[must_use]
pub fn path(config: &Config) -> Option<PathBuf> {
    config.audit().path.clone().or_else(AuditTrail::default_path)
}

/// Opens the trail for writing.
pub fn open(config: &Config) -> Result<AuditTrail, AuditError> {
    let options = AuditOptions { unrecorded: unrecorded(config), ..options(Some(config.audit())) };
    open_at(config.audit().path.as_deref(), options)
}

/// Opens the trail in this file, or the user's own, for writing.
pub fn open_at(path: Option<&Path>, options: AuditOptions) -> Result<AuditTrail, AuditError> {
    match path {
        Some(path) => AuditTrail::open(path, options),
        None => AuditTrail::open_default(options),
    }
}

/// Options of every trail: sealed with keys of this user's trail state, and witnessed by the configured anchors.
pub fn options(configured: Option<&AuditConfig>) -> AuditOptions {
    let anchors = configured.into_iter().flat_map(|audit| &audit.anchors).map(|anchor| Anchor::read(anchor));
    AuditOptions { anchors: anchors.collect(), ..AuditOptions::of_user() }
}

/// What to do with an action that cannot be recorded.
pub fn unrecorded(config: &Config) -> Unrecorded {
    match config.audit().warn_if_unrecorded {
        true => Unrecorded::Warn,
        false => Unrecorded::Refuse,
    }
}

/// Records a queried decision, if the configuration requires it. `event` is only called then.
pub fn evaluated(config: &Config, event: impl FnOnce() -> AuditEvent) -> Result<(), AuditError> {
    if !config.audit().evaluations {
        return Ok(());
    }
    let recorded = open(config).and_then(|trail| trail.record(event()));
    match (recorded, unrecorded(config)) {
        (Ok(Recorded::Kept(_) | Recorded::Lost(_)), _) | (Err(_), Unrecorded::Warn) => Ok(()),
        (Err(error), Unrecorded::Refuse) => Err(error),
    }
}
