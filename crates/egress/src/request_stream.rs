//! Checks a stream of HTTP/1 requests before a library parses it, so that ambiguous requests never reach the library. Both must
//! find the same end of each body.

use super::chunked::Chunked;
use super::proxy_request::{BadRequest, MAX_HEAD, ProxyRequest, RequestBody};
use super::target::NetTarget;

/// The end of a head.
const EMPTY_LINE: &[u8] = b"\r\n\r\n";

/// The received requests of a connection. An incomplete head is buffered.
#[derive(Debug)]
pub struct RequestStream {
    target: NetTarget,
    state: State,
    head: Vec<u8>,
    /// The length of the head that contains no end.
    searched: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
}

impl RequestStream {
    /// Returns an empty stream.
    #[must_use]
    pub fn new(target: NetTarget) -> Self {
        Self { target, state: State::Head, head: Vec::new(), searched: 0 }
    }

    /// Whether a head is incomplete.
    #[must_use]
    pub fn is_within_head(&self) -> bool {
        !self.head.is_empty()
    }

    /// Whether the next byte begins a request.
    #[must_use]
    pub fn is_between(&self) -> bool {
        self.state == State::Head && self.head.is_empty()
    }

    /// Whether the next byte belongs to a body.
    #[must_use]
    pub fn is_within_body(&self) -> bool {
        self.state != State::Head
    }

    /// Reads received bytes, and appends the checked ones to `passed`.
    ///
    /// # Errors
    /// When a request is ambiguous. No later bytes may be passed.
    pub fn take(&mut self, mut bytes: &[u8], passed: &mut Vec<u8>) -> Result<(), BadRequest> {
        while !bytes.is_empty() {
            let taken = match &mut self.state {
                State::Head => self.take_head(bytes, passed)?,
                State::Length(left) => {
                    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= taken as u64;
                    passed.extend_from_slice(bytes.get(..taken).unwrap_or_default());
                    taken
                }
                State::Chunked(body) => {
                    let taken = body.read(bytes).ok_or_else(odd_pieces)?;
                    passed.extend_from_slice(bytes.get(..taken).unwrap_or_default());
                    taken
                }
            };
            bytes = bytes.get(taken..).unwrap_or_default();
            if matches!(self.state, State::Length(0) | State::Chunked(Chunked::End)) {
                self.state = State::Head;
            }
        }
        Ok(())
    }

    /// Reads bytes of a head, and returns their number.
    fn take_head(&mut self, bytes: &[u8], passed: &mut Vec<u8>) -> Result<usize, BadRequest> {
        let before = self.head.len();
        let room = MAX_HEAD.saturating_sub(before);
        let part = bytes.get(..room).unwrap_or(bytes);
        self.head.extend_from_slice(part);
        let tail = self.head.get(self.searched..).unwrap_or_default();
        let Some(at) = memchr::memmem::find(tail, EMPTY_LINE) else {
            if part.len() < bytes.len() || room == 0 {
                return Err(too_long());
            }
            self.searched = self.head.len().saturating_sub(EMPTY_LINE.len() - 1);
            return Ok(part.len());
        };
        let end = self.searched + at + EMPTY_LINE.len();
        self.head.truncate(end);
        let request = ProxyRequest::read_at(&self.target, &self.head)?;
        self.state = match request {
            ProxyRequest::Plain { body: RequestBody::Length(length), .. } => State::Length(length),
            ProxyRequest::Plain { body: RequestBody::Chunked, .. } => State::Chunked(Chunked::BEGIN),
            ProxyRequest::Websocket { .. } => State::Length(0),
            ProxyRequest::Tunnel(_) => return Err(odd_pieces()),
        };
        passed.append(&mut self.head);
        self.searched = 0;
        Ok(end - before)
    }
}

fn odd_pieces() -> BadRequest {
    let reason = "programs find the end of its body differently".to_owned();
    let fix = Some("send it with a `Content-Length`, or `chunked`".to_owned());
    BadRequest { status: 400, rule: "bad-request", reason, fix }
}

fn too_long() -> BadRequest {
    let reason = format!("its head is longer than {MAX_HEAD} bytes");
    BadRequest { status: 431, rule: "bad-request", reason, fix: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<String, &'static str> {
        let mut reader = RequestStream::new(NetTarget::parse("a.example:443").unwrap());
        let mut passed = Vec::new();
        for piece in pieces {
            reader.take(piece, &mut passed).map_err(|bad| bad.rule)?;
        }
        Ok(String::from_utf8(passed).unwrap())
    }

    const HEAD: &str = "POST /x HTTP/1.1\r\nHost: a.example\r\n";

    #[test]
    fn requests_pass_one_behind_the_other() {
        let whole = format!(
            "{HEAD}Content-Length: 3\r\n\r\nabc{HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n\
             GET / HTTP/1.1\r\nHost: a.example:443\r\n\r\n"
        );
        assert_eq!(read(&[whole.as_bytes()]).unwrap(), whole);
        for size in 1..40 {
            let pieces: Vec<&[u8]> = whole.as_bytes().chunks(size).collect();
            assert_eq!(read(&pieces).unwrap(), whole, "{size}");
        }
    }

    #[test]
    fn nothing_of_an_odd_head_passes() {
        for (odd, rule) in [
            ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "bad-request"),
            ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", "bad-request"),
            ("Content-Length: 3\r\nContent-Length: 4\r\n\r\n", "bad-request"),
            ("Content-Length: +3\r\n\r\n", "bad-request"),
            ("Transfer-Encoding: gzip, chunked\r\n\r\n", "bad-request"),
            ("Transfer-Encoding: xchunked\r\n\r\n", "bad-request"),
            ("Transfer-Encoding : chunked\r\n\r\n", "bad-request"),
            ("A: b\r\n c\r\n\r\n", "bad-request"),
            ("A: b\nHost: evil.test\r\n\r\n", "bad-request"),
            ("A: b\u{0}\r\n\r\n", "bad-request"),
            ("Host: evil.test\r\n\r\n", "bad-request"),
            ("Transfer-Encoding: chunked\r\n\r\n1;x=y\r\n", "bad-request"),
            ("Transfer-Encoding: chunked\r\n\r\n1\n", "bad-request"),
            ("Transfer-Encoding: chunked\r\n\r\n-1\r\n", "bad-request"),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\nab", "bad-request"),
        ] {
            let whole = format!("{HEAD}{odd}");
            assert_eq!(read(&[whole.as_bytes()]), Err(rule), "{odd:?}");
            let bytes: Vec<&[u8]> = whole.as_bytes().chunks(1).collect();
            assert_eq!(read(&bytes), Err(rule), "{odd:?}");
        }
        let other = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
        assert_eq!(read(&[other.as_bytes()]), Err("other-host"));
        assert_eq!(read(&[b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n"]), Err("bad-request"));
        assert_eq!(read(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]), Err("bad-request"));
        let long = format!("{HEAD}A: {}", "a".repeat(MAX_HEAD));
        assert_eq!(read(&[long.as_bytes()]), Err("bad-request"));
    }
}
