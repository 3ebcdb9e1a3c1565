//! The audit trail that a configuration names.

use stockade_guard::audit::{AuditError, AuditOptions, AuditTrail, Unrecorded};
use stockade_guard::config::Config;

/// Opens the trail, to write to it.
pub(crate) fn open(config: &Config) -> Result<AuditTrail, AuditError> {
    let unrecorded = match config.audit().warn_if_unrecorded {
        true => Unrecorded::Warn,
        false => Unrecorded::Refuse,
    };
    let options = AuditOptions { unrecorded, ..AuditOptions::default() };
    match &config.audit().path {
        Some(path) => AuditTrail::open(path, options),
        None => AuditTrail::open_default(options),
    }
}
