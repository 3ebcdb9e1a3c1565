//! What a record says of what it is about.

use stockade_guard::audit::{AuditRecord, Detail};

/// Where it may be told, in the order in which it is looked for. What was only evaluated has no subject, but names what it was.
const ABOUT: [&str; 3] = ["subject", "command", "path"];

/// Returns what a record is about.
pub(crate) fn about(record: &AuditRecord) -> Option<String> {
    ABOUT.into_iter().find_map(|name| detail(record, name))
}

/// Returns a detail that is a text.
pub(crate) fn detail(record: &AuditRecord, name: &str) -> Option<String> {
    match record.data.get(name) {
        Some(Detail::Text(text)) => Some(text.clone()),
        _ => None,
    }
}
