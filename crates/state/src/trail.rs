//! The audit trail that a configuration names.

use std::path::Path;

use stockade_guard::audit::{Anchor, AuditError, AuditEvent, AuditOptions, AuditTrail, Recorded, Unrecorded};
use stockade_guard::config::{AuditConfig, Config};

/// What to do about a trail that cannot be used.
pub const ELSEWHERE: &str =
    "name another file in `audit.path` of the configuration, or let this user write there";

/// Opens the trail, to write to it.
pub fn open(config: &Config) -> Result<AuditTrail, AuditError> {
    let options = AuditOptions { unrecorded: unrecorded(config), ..options(Some(config.audit())) };
    open_at(config.audit().path.as_deref(), options)
}

/// Opens the trail in this file, or that of the user, to write to it.
pub fn open_at(path: Option<&Path>, options: AuditOptions) -> Result<AuditTrail, AuditError> {
    match path {
        Some(path) => AuditTrail::open(path, options),
        None => AuditTrail::open_default(options),
    }
}

/// How every trail is written: sealed with the keys of the register of this user, and told to the anchors of a configuration.
pub fn options(configured: Option<&AuditConfig>) -> AuditOptions {
    let anchors = configured.into_iter().flat_map(|audit| &audit.anchors).map(|anchor| Anchor::read(anchor));
    AuditOptions { anchors: anchors.collect(), ..AuditOptions::of_user() }
}

/// What becomes of an action that cannot be put on record.
pub fn unrecorded(config: &Config) -> Unrecorded {
    match config.audit().warn_if_unrecorded {
        true => Unrecorded::Warn,
        false => Unrecorded::Refuse,
    }
}

/// Puts a decision on record that was only asked for, where the configuration says so. `event` is made only then.
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
