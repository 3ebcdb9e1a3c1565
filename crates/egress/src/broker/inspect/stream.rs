//! The client's stream of an inspected connection: it replays the first bytes, and passes only unambiguous HTTP/1 to the library.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::super::super::proxy_request::BadRequest;
use super::super::super::request_stream::RequestStream;

/// A stream whose first bytes were already read.
pub(super) struct Prefixed<S> {
    first: Vec<u8>,
    at: usize,
    stream: S,
}

impl<S> Prefixed<S> {
    pub(super) fn new(first: Vec<u8>, stream: S) -> Self {
        Self { first, at: 0, stream }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefixed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = self.first.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..taken).unwrap_or_default());
        self.at += taken;
        if self.at == self.first.len() {
            (self.first, self.at) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

/// Writes go directly to the stream.
macro_rules! writes_to {
    ($field:ident) => {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.$field).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.$field).poll_flush(context)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.$field).poll_shutdown(context)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.$field).poll_write_vectored(context, bytes)
        }

        fn is_write_vectored(&self) -> bool {
            self.$field.is_write_vectored()
        }
    };
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefixed<S> {
    writes_to!(stream);
}

/// The method of the request that replaces a refused one: its response contains the reason.
pub(super) const IN_PLACE_OF_BAD: &str = "STOCKADE-REFUSED";

/// State that the stream shares with the code that answers its requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    /// Whether the connection was upgraded, as for a websocket.
    is_raw: Arc<AtomicBool>,
    bad: Arc<Mutex<Option<BadRequest>>>,
}

impl Checks {
    /// Passes all further bytes unchecked.
    pub(super) fn become_raw(&self) {
        self.is_raw.store(true, Ordering::Release);
    }

    /// Returns the error of the request that [`IN_PLACE_OF_BAD`] replaces.
    pub(super) fn bad(&self) -> Option<BadRequest> {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A stream of HTTP/1 requests that yields only unambiguous ones.
pub(super) struct Checked<S> {
    stream: S,
    reader: RequestStream,
    checks: Checks,
    /// Checked bytes that are ready to be read.
    passed: Vec<u8>,
    at: usize,
    end: Option<End>,
    /// The timeout of a head, and its deadline.
    patience: Duration,
    head_by: Option<Pin<Box<Sleep>>>,
}

/// Why no more bytes are read from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    /// An error within a body.
    Broken,
    /// An error in a head, which was replaced with a request that is answered with the reason.
    Refused,
}

/// The size of a read.
const AT_ONCE: usize = 16 << 10;

impl<S: AsyncRead + Unpin> Checked<S> {
    pub(super) fn new(stream: S, reader: RequestStream, checks: Checks, patience: Duration) -> Self {
        Self { stream, reader, checks, passed: Vec::new(), at: 0, end: None, patience, head_by: None }
    }

    /// Stops reading; the response contains the reason.
    fn refuse(&mut self, bad: BadRequest) {
        *self.checks.bad.lock().unwrap_or_else(PoisonError::into_inner) = Some(bad);
        // Within a body, no further request is parsed.
        // A body that breaks the framing cannot be answered: the library still expects the rest of it.
        self.end = Some(if self.reader.is_within_body() { End::Broken } else { End::Refused });
        if self.reader.is_within_body() {
            return;
        }
        let in_place = format!("{IN_PLACE_OF_BAD} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        self.passed.extend_from_slice(in_place.as_bytes());
    }

    /// Fails if the head's timeout has expired.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.reader.is_within_head() {
            self.head_by = None;
            return Poll::Pending;
        }
        let patience = self.patience;
        self.head_by.get_or_insert_with(|| Box::pin(sleep(patience))).as_mut().poll(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Checked<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let mut room = [0; AT_ONCE];
        loop {
            let rest = this.passed.get(this.at..).unwrap_or_default();
            if !rest.is_empty() {
                let taken = rest.len().min(buffer.remaining());
                buffer.put_slice(rest.get(..taken).unwrap_or_default());
                this.at += taken;
                if this.at == this.passed.len() {
                    this.passed.clear();
                    this.at = 0;
                }
                return Poll::Ready(Ok(()));
            }
            match this.end {
                None => {}
                Some(End::Closed) => return Poll::Ready(Ok(())),
                Some(End::Broken) => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                // Pending instead of the end of the stream: the response closes the connection, and after an end the library
                // would not send it.
                Some(End::Refused) => return Poll::Pending,
            }
            // Only between requests: a command could otherwise send a request and its body under cover of an upgrade.
            if this.checks.is_raw.load(Ordering::Acquire) && this.reader.is_between() {
                return Pin::new(&mut this.stream).poll_read(context, buffer);
            }
            // A head that arrives byte by byte (slowloris) would keep a connection and its memory.
            if this.poll_head(context).is_ready() {
                let reason = "the request did not come in time".to_owned();
                this.refuse(BadRequest { status: 408, rule: "too-slow", reason, fix: None });
                continue;
            }
            let mut into = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut into))?;
            let came = into.filled();
            if came.is_empty() {
                this.end = Some(End::Closed);
            } else if let Err(bad) = this.reader.take(came, &mut this.passed) {
                this.refuse(bad);
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Checked<S> {
    writes_to!(stream);
}

/// Returns a deadline from now.
pub(super) fn at(until: std::time::Instant) -> Pin<Box<Sleep>> {
    Box::pin(tokio::time::sleep_until(Instant::from_std(until)))
}
