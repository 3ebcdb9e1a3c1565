//! The subject of a record.

use stockade_guard::audit::{AuditRecord, Detail};

/// Details that may contain it, in order of preference. Evaluations have no subject, but name what was evaluated.
const ABOUT: [&str; 3] = ["subject", "command", "path"];

/// Returns the subject of a record.
pub(crate) fn about(record: &AuditRecord) -> Option<String> {
    ABOUT.into_iter().find_map(|name| detail(record, name))
}

/// Returns a detail, if it is a string.
pub(crate) fn detail(record: &AuditRecord, name: &str) -> Option<String> {
    match record.data.get(name) {
        Some(Detail::Text(text)) => Some(text.clone()),
        _ => None,
    }
}
