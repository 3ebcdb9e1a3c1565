//! Reads a client's first bytes. One timeout applies to all of them, so that a client cannot hold a thread by sending slowly.

use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::super::proxy_request::{BadRequest, MAX_HEAD};
use super::relay::is_timeout;

/// The end of a head.
const EMPTY_LINE: &[u8] = b"\r\n\r\n";

/// The bytes that a client has sent so far.
pub(super) struct Incoming<'c> {
    client: &'c TcpStream,
    began: Instant,
    patience: Duration,
    pub(super) bytes: Vec<u8>,
}

/// The result of waiting for more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Came,
    /// The client closed the connection.
    Ended,
    /// The timeout expired before enough bytes arrived.
    TooSlow,
}

impl<'c> Incoming<'c> {
    pub(super) fn new(client: &'c TcpStream, patience: Duration, bytes: Vec<u8>) -> Self {
        Self { client, began: Instant::now(), patience, bytes }
    }

    /// Returns the client.
    pub(super) fn client(&self) -> &'c TcpStream {
        self.client
    }

    /// Waits for more bytes.
    pub(super) fn more(&mut self) -> io::Result<More> {
        let mut room = [0; 4 << 10];
        loop {
            let left = self.patience.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return Ok(More::TooSlow);
            }
            self.client.set_read_timeout(Some(left))?;
            let mut client = self.client;
            let read = match client.read(&mut room) {
                Ok(0) => return Ok(More::Ended),
                Ok(read) => read,
                Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.bytes.extend_from_slice(room.get(..read).unwrap_or_default());
            return Ok(More::Came);
        }
    }
}

/// Reads until a head is complete. Returns the end of the head or the problem with it; nothing if the connection ended.
pub(super) fn head(incoming: &mut Incoming<'_>) -> io::Result<Option<Result<usize, BadRequest>>> {
    let mut searched = 0_usize;
    loop {
        let tail = incoming.bytes.get(searched..).unwrap_or_default();
        if let Some(at) = memchr::memmem::find(tail, EMPTY_LINE) {
            let end = searched + at + EMPTY_LINE.len();
            return Ok(Some(if end > MAX_HEAD { Err(too_long()) } else { Ok(end) }));
        }
        if incoming.bytes.len() > MAX_HEAD {
            return Ok(Some(Err(too_long())));
        }
        // The last bytes are searched again, because they may begin the empty line.
        searched = incoming.bytes.len().saturating_sub(EMPTY_LINE.len() - 1);
        match incoming.more()? {
            More::Came => {}
            More::Ended => return Ok(None),
            More::TooSlow => return Ok(Some(Err(too_slow()))),
        }
    }
}

fn too_slow() -> BadRequest {
    let reason = "the request did not come in time".to_owned();
    BadRequest { status: 408, rule: "too-slow", reason, fix: None }
}

fn too_long() -> BadRequest {
    let reason = format!("its head is longer than {MAX_HEAD} bytes");
    BadRequest { status: 431, rule: "bad-request", reason, fix: None }
}
