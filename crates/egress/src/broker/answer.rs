//! Responses to refused requests.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::super::proxy_request::BadRequest;
use super::Shared;
use super::refusals::Refused;
use super::resolve_check::Brokered;

/// Time that a refused client has to read the response.
pub(super) const MOMENT: Duration = Duration::from_secs(1);

/// The status code for a refusal by the list.
const FORBIDDEN: u16 = 403;

/// Status codes for other rules.
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

/// Returns the whole response. Its status line contains the rule, because some clients show nothing else.
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

/// Returns the status code for a rule.
pub(super) fn status_of(refused: &Refused) -> u16 {
    STATUS.iter().find(|row| row.0 == refused.rule()).map_or(FORBIDDEN, |row| row.1)
}

/// Returns a response with a document as body.
pub(super) fn document(status: &str, headers: &str, text: &str) -> String {
    let length = text.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}"
    )
}

/// Converts an invalid head to a refusal.
pub(super) fn about(bad: BadRequest) -> Brokered {
    let BadRequest { rule, reason, fix, .. } = bad;
    Brokered { fix, ..Brokered::refused(&"the request", rule, reason) }
}

/// Records a refusal, and sends it to the client. A refusal that cannot be recorded is still refused.
pub(super) fn refuse(client: &TcpStream, shared: &Shared, refused: &Brokered, status: Option<u16>) {
    say(client, &shared.refused(refused), status);
}

/// Sends a client the reason. Its remaining bytes are read for a moment, because closing with unread bytes resets the connection
/// before the client has read the response.
pub(super) fn say(client: &TcpStream, refused: &Refused, status: Option<u16>) {
    say_bytes(client, answer(refused, status).as_bytes());
}

/// Sends the last bytes to a client.
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
