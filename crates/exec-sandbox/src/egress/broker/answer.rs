//! What a client is told whose request does not go through.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::super::proxy_request::BadRequest;
use super::Shared;
use super::resolve_check::Brokered;

/// How long a client that was refused may take to read its answer.
pub(super) const MOMENT: Duration = Duration::from_secs(1);

/// The number for what a list does not let through.
const FORBIDDEN: u16 = 403;

/// Numbers for what is refused by other rules.
const STATUS: &[(&str, u16)] = &[
    ("no-address", 502),
    ("cannot-connect", 502),
    ("unrecorded", 503),
    ("too-many", 429),
    ("too-often", 429),
    ("too-much", 413),
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

/// Puts a refusal on record, and tells the client. What cannot be put on record is refused all the same.
pub(super) fn refuse(client: &TcpStream, shared: &Shared, refused: &Brokered, status: Option<u16>) {
    shared.told(refused).ok();
    say(client, refused, status);
}

/// Tells a client why. What it still sends is read and thrown away for a moment, or it might not get to read its answer.
pub(super) fn say(client: &TcpStream, refused: &Brokered, status: Option<u16>) {
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
