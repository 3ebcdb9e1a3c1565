//! What a client is told whose request does not go through.

use super::super::proxy_request::BadRequest;
use super::resolve_check::Brokered;

/// The number for what a list does not let through.
const FORBIDDEN: u16 = 403;

/// Numbers for what is refused by other rules.
const STATUS: &[(&str, u16)] = &[
    ("no-address", 502),
    ("cannot-connect", 502),
    ("unrecorded", 503),
    ("too-many", 429),
    ("too-slow", 408),
];

/// Returns the whole answer. The rule stands in its first line as well, which is all that some clients show.
pub(super) fn answer(refused: &Brokered, status: Option<u16>) -> String {
    let Brokered { target, rule, reason, fix, .. } = refused;
    let by_rule = STATUS.iter().find(|row| row.0 == *rule).map_or(FORBIDDEN, |row| row.1);
    let status = status.unwrap_or(by_rule);
    let fix = fix.as_ref().map(|fix| format!("to allow it: {fix}\n")).unwrap_or_default();
    let text = format!("stockade: `{}` is not reached: {reason} ({rule})\n{fix}", target.escape_debug());
    let length = text.len();
    format!(
        "HTTP/1.1 {status} Refused by stockade ({rule})\r\nContent-Type: text/plain; charset=utf-8\r\n\
         X-Stockade-Rule: {rule}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

/// A head that was not understood, as what was decided about it.
pub(super) fn about(bad: BadRequest) -> Brokered {
    let BadRequest { rule, reason, fix, .. } = bad;
    Brokered { target: "the request".to_owned(), rule, reason, fix, addresses: Vec::new() }
}
