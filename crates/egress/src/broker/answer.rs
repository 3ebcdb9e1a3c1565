//! What a client is told whose request does not go through.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::super::proxy_request::BadRequest;
use super::Shared;
use super::refusals::Refused;
use super::resolve_check::Brokered;

/// How long a client that was refused may take to read its answer.
pub(super) const MOMENT: Duration = Duration::from_secs(1);

/// The number for what a list does not let through.
const FORBIDDEN: u16 = 403;

/// Numbers for what is refused by other rules.
const STATUS: &[(&str, u16)] = &[
    ("no-address", 502),
    ("cannot-connect", 502),
    ("not-the-host", 502),
    ("unreadable-answer", 502),
    ("unrecorded", 503),
    ("too-many", 429),
    ("too-often", 429),
    ("too-many-bodies", 503),
    ("too-much", 413),
    ("too-slow", 408),
];

/// Returns the whole answer. The rule stands in its first line as well, which is all that some clients show.
fn answer(refused: &Refused, status: Option<u16>) -> String {
    let rule = refused.rule();
    let by_rule = status_of(refused);
    let why = refused.url().map(|url| format!("X-Stockade-Why: {url}\r\n")).unwrap_or_default();
    document(
        &format!("{} Refused by stockade ({rule})", status.unwrap_or(by_rule)),
        &format!("X-Stockade-Rule: {rule}\r\n{why}"),
        &refused.told(),
    )
}

/// The number for what a rule refuses.
pub(super) fn status_of(refused: &Refused) -> u16 {
    STATUS.iter().find(|row| row.0 == refused.rule()).map_or(FORBIDDEN, |row| row.1)
}

/// Returns an answer whose body is a document.
pub(super) fn document(status: &str, headers: &str, text: &str) -> String {
    let length = text.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}"
    )
}

/// A head that was not understood, as what was decided about it.
pub(super) fn about(bad: BadRequest) -> Brokered {
    let BadRequest { rule, reason, fix, .. } = bad;
    Brokered { fix, ..Brokered::refused(&"the request", rule, reason) }
}

/// Puts a refusal on record, and tells the client. What cannot be put on record is refused all the same.
pub(super) fn refuse(client: &TcpStream, shared: &Shared, refused: &Brokered, status: Option<u16>) {
    say(client, &shared.refused(refused), status);
}

/// Tells a client why. What it still sends is read and thrown away for a moment, or it might not get to read its answer.
pub(super) fn say(client: &TcpStream, refused: &Refused, status: Option<u16>) {
    say_bytes(client, answer(refused, status).as_bytes());
}

/// Sends a client the last that it gets.
pub(super) fn say_bytes(mut client: &TcpStream, bytes: &[u8]) {
    let said = client
        .set_write_timeout(Some(MOMENT))
        .and_then(|()| client.write_all(bytes))
        .and_then(|()| client.shutdown(Shutdown::Write));
    let began = Instant::now();
    let mut room = [0; 4 << 10];
    let mut still_sends = said.is_ok();
    while still_sends {
        let left = MOMENT.saturating_sub(began.elapsed());
        still_sends = !left.is_zero()
            && client.set_read_timeout(Some(left)).is_ok()
            && client.read(&mut room).is_ok_and(|read| read > 0);
    }
}
