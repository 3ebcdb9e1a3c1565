//! The audit trail that a configuration names.

use stockade_guard::audit::{AuditError, AuditEvent, AuditOptions, AuditTrail, Recorded, Unrecorded};
use stockade_guard::config::Config;

/// Opens the trail, to write to it.
pub(crate) fn open(config: &Config) -> Result<AuditTrail, AuditError> {
    let options = AuditOptions { unrecorded: unrecorded(config), ..AuditOptions::default() };
    match &config.audit().path {
        Some(path) => AuditTrail::open(path, options),
        None => AuditTrail::open_default(options),
    }
}

/// What becomes of an action that cannot be put on record.
pub(crate) fn unrecorded(config: &Config) -> Unrecorded {
    match config.audit().warn_if_unrecorded {
        true => Unrecorded::Warn,
        false => Unrecorded::Refuse,
    }
}

/// Puts a decision on record that was only asked for, where the configuration says so. `event` is made only then.
pub(crate) fn evaluated(config: &Config, event: impl FnOnce() -> AuditEvent) -> Result<(), AuditError> {
    if !config.audit().evaluations {
        return Ok(());
    }
    let recorded = open(config).and_then(|trail| trail.record(event()));
    match (recorded, unrecorded(config)) {
        (Ok(Recorded::Kept(_) | Recorded::Lost(_)), _) | (Err(_), Unrecorded::Warn) => Ok(()),
        (Err(error), Unrecorded::Refuse) => Err(error),
    }
}
