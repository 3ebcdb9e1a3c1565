//! Tells a client that its connection ends with an answer.
//!
//! A connection carries one request that is not inspected, and is closed behind the answer. The host was told so and the client was
//! not: it would send its next request while the connection is being closed, and hear nothing.

use std::borrow::Cow;

/// The most bytes of the head of an answer. A longer one passes as it is.
const MAX_HEAD: usize = 64 << 10;

const CLOSE: &[u8] = b"Connection: close\r\n";

/// Headers that speak of the host's connection, which is another one.
const OF_CONNECTION: &[&[u8]] = &[b"connection", b"keep-alive", b"proxy-connection"];

/// The answer to the only request of a connection, while it is carried.
#[derive(Debug, Default)]
pub(super) struct LastAnswer {
    /// The beginning of a head.
    held: Vec<u8>,
    is_begun: bool,
    /// The status code of the answer, once its head has come.
    pub(super) status: Option<u16>,
}

impl LastAnswer {
    /// Takes the next bytes of the host, and returns those that go to the client.
    pub(super) fn pass<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if self.is_begun {
            return Cow::Borrowed(bytes);
        }
        self.held.extend_from_slice(bytes);
        let mut passed = Vec::new();
        while may_begin_http(&self.held)
            && let Some(end) = head_end(&self.held)
        {
            let rest = self.held.split_off(end);
            let head = std::mem::replace(&mut self.held, rest);
            self.status = std::str::from_utf8(status(&head)).ok().and_then(|status| status.parse().ok());
            match status(&head) {
                // Behind it, something else than HTTP is spoken, on a connection that stays.
                b"101" => passed.extend(head),
                // Before its answer, a host may ask for the body, or give hints.
                [b'1', ..] => {
                    passed.extend(head);
                    continue;
                }
                _ => passed.extend(closing(&head)),
            }
            self.is_begun = true;
            break;
        }
        if self.is_begun || self.held.len() > MAX_HEAD || !may_begin_http(&self.held) {
            self.is_begun = true;
            passed.append(&mut self.held);
        }
        Cow::Owned(passed)
    }

    /// Returns what was held back of an answer that ended within its head.
    pub(super) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// Returns where the head ends, with the empty line. Hosts that leave out the carriage return are understood by clients.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut line = 0;
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        if matches!(bytes.get(line..at), Some(b"" | b"\r")) {
            return Some(at + 1);
        }
        line = at + 1;
    }
    None
}

fn may_begin_http(bytes: &[u8]) -> bool {
    b"HTTP/1.".iter().zip(bytes).all(|(expected, byte)| expected == byte)
}

fn status(head: &[u8]) -> &[u8] {
    head.get("HTTP/1.1 ".len()..).and_then(|rest| rest.get(..3)).unwrap_or_default()
}

/// Returns a head with what it says of the connection replaced.
fn closing(head: &[u8]) -> Vec<u8> {
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    let mut written: Vec<u8> = lines.next().unwrap_or_default().to_vec();
    written.extend_from_slice(CLOSE);
    let mut is_left_out = false;
    for line in lines {
        // A line that begins with a blank continues the one before.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            is_left_out = OF_CONNECTION.iter().any(|other| name.eq_ignore_ascii_case(other));
        }
        if !is_left_out {
            written.extend_from_slice(line);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Carries an answer in pieces of a size.
    fn carried(answer: &[u8], size: usize) -> String {
        let mut last = LastAnswer::default();
        let mut passed = Vec::new();
        for piece in answer.chunks(size) {
            passed.extend_from_slice(&last.pass(piece));
        }
        passed.extend(last.end());
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn a_client_is_told_that_the_connection_ends() {
        let rows = [
            (
                "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\n\nmore",
                "HTTP/1.1 200 OK\r\nConnection: close\r\nA: b\r\n\r\nbody\n\nmore",
            ),
            (
                "HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\nCONNECTION: keep-alive,\r\n x\r\nA: b\r\n\r\n",
                "HTTP/1.1 200 OK\r\nConnection: close\r\nA: b\r\n\r\n",
            ),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\nConnection: close\r\n\r\n",
            ),
            ("HTTP/1.0 200 OK\nA: b\n\nbody", "HTTP/1.0 200 OK\nConnection: close\r\nA: b\n\nbody"),
            (
                "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\n\x01",
                "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\n\x01",
            ),
            // What is no head passes as it came.
            ("HTTP/1.1 200 OK\r\nA: b", "HTTP/1.1 200 OK\r\nA: b"),
            ("<html>\n\nConnection: x", "<html>\n\nConnection: x"),
            ("", ""),
        ];
        for (answer, expected) in rows {
            for size in [1, 2, 7, 4096] {
                assert_eq!(carried(answer.as_bytes(), size), expected, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_head_without_an_end_is_not_held_for_ever() {
        let endless = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(3 * MAX_HEAD));
        let mut last = LastAnswer::default();
        let mut passed = 0;
        for piece in endless.as_bytes().chunks(4096) {
            passed += last.pass(piece).len();
            assert!(last.held.len() <= MAX_HEAD + 4096);
        }
        assert_eq!(passed, endless.len());
    }
}
