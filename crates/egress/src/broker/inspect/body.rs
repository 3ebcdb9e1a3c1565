//! Relayed bodies, with limits and filters.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::Sleep;

use super::super::exchange::Exchange;
use super::super::refusals::Refused;
use super::super::relay::{End, Most, Over};
use super::rewrite::{BodyFilter, RewriteRefusal};
use super::stream::at;
use super::watch::Watch;

/// The size of the pieces in which a whole body is sent.
const PIECE: usize = 64 << 10;

/// The body of a request or response.
pub(super) enum Carried {
    /// A body that is complete in memory.
    Whole(Option<Bytes>),
    /// A body that is still being received.
    Stream(Box<Stream>),
}

/// A body that is streamed in pieces.
pub(super) struct Stream {
    from: Incoming,
    most: Most,
    until: Option<(Pin<Box<Sleep>>, Over)>,
    filter: Option<Box<dyn BodyFilter>>,
    /// What follows the delayed bytes.
    behind: Option<Frame<Bytes>>,
    is_over: bool,
    conversation: Arc<dyn Watch>,
    exchange: Arc<Exchange>,
    ended: Ended,
}

/// Why a body was cut short, for the code that answers its request.
pub(super) type Ended = Arc<Mutex<Option<Arc<Refused>>>>;

impl Carried {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    pub(super) fn stream(
        from: Incoming,
        most: Most,
        until: Option<End>,
        filter: Option<Box<dyn BodyFilter>>,
        (conversation, exchange, ended): (Arc<dyn Watch>, Arc<Exchange>, Ended),
    ) -> Self {
        // The timer belongs to the body and not to the connection, because each request has its own end.
        let until = until.map(|end| (at(end.at), end.bound));
        Self::Stream(Box::new(Stream {
            from,
            most,
            until,
            filter,
            behind: None,
            is_over: false,
            conversation,
            exchange,
            ended,
        }))
    }
}

/// Returns the next piece of a complete body, so that only pieces that are sent are copied.
fn next_of(whole: &mut Option<Bytes>) -> Option<Bytes> {
    let mut piece = whole.take()?;
    if piece.len() > PIECE {
        // `split_off` shares the buffer: a body of 8 MiB is not copied once more.
        *whole = Some(piece.split_off(PIECE));
    }
    Some(piece)
}

impl Stream {
    fn ends(&mut self, over: Over) -> io::Error {
        self.is_over = true;
        self.keep(self.conversation.ended_by(over, &self.exchange));
        io::ErrorKind::QuotaExceeded.into()
    }

    fn keep(&self, refused: Arc<Refused>) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
    }

    fn refused(&mut self, refused: RewriteRefusal) -> io::Error {
        self.is_over = true;
        self.keep(self.conversation.cut_by(refused, &self.exchange));
        io::ErrorKind::PermissionDenied.into()
    }

    /// Filters a frame, and returns the frame to pass on unless it is empty.
    fn take(&mut self, frame: Frame<Bytes>) -> io::Result<Option<Frame<Bytes>>> {
        self.conversation.beat();
        let frame = match frame.into_data() {
            Ok(bytes) => {
                // Counted before the filter, so that the limit applies to what was received and cannot be evaded by a
                // filter that shortens it.
                if !self.most.take(bytes.len()) {
                    return Err(self.ends(self.most.bound));
                }
                self.exchange.carried(self.most.bound, bytes.len());
                let Some(filter) = &mut self.filter else { return Ok(Some(Frame::data(bytes))) };
                let bytes = filter.piece(bytes).map_err(|refused| self.refused(refused))?;
                return Ok((!bytes.is_empty()).then(|| Frame::data(bytes)));
            }
            Err(frame) => frame,
        };
        let Ok(mut trailers) = frame.into_trailers() else { return Ok(None) };
        // Trailers can carry as much data as a body, so they count and are filtered.
        let length = trailers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if !self.most.take(length) {
            return Err(self.ends(self.most.bound));
        }
        if let Some(filter) = &mut self.filter {
            filter.trailers(&mut trailers).map_err(|refused| self.refused(refused))?;
        }
        // Bytes that the filter delayed precede the trailers on the wire.
        let held_back = self.held_back()?;
        let trailers = Frame::trailers(trailers);
        match held_back {
            None => Ok(Some(trailers)),
            Some(held_back) => {
                self.behind = Some(trailers);
                Ok(Some(held_back))
            }
        }
    }

    /// Returns the delayed bytes at the end of the body.
    fn held_back(&mut self) -> io::Result<Option<Frame<Bytes>>> {
        // Taken, so that a second call at the end of the stream flushes nothing twice.
        let Some(mut filter) = self.filter.take() else { return Ok(None) };
        self.is_over = true;
        let bytes = filter.end().map_err(|refused| self.refused(refused))?;
        Ok((!bytes.is_empty()).then(|| Frame::data(bytes)))
    }
}

impl Body for Carried {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let stream = match &mut *self {
            Self::Whole(bytes) => return Poll::Ready(next_of(bytes).map(|piece| Ok(Frame::data(piece)))),
            Self::Stream(stream) => stream,
        };
        loop {
            if let Some(behind) = stream.behind.take() {
                return Poll::Ready(Some(Ok(behind)));
            }
            if stream.is_over {
                return Poll::Ready(None);
            }
            // Polled before the source, so that a body that always has data ready still ends in time.
            if let Some((until, bound)) = &mut stream.until
                && until.as_mut().poll(context).is_ready()
            {
                let bound = *bound;
                return Poll::Ready(Some(Err(stream.ends(bound))));
            }
            let frame = match Pin::new(&mut stream.from).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => stream.take(frame),
                Poll::Ready(Some(Err(error))) => Err(io::Error::other(error)),
                Poll::Ready(None) => {
                    let held_back = stream.held_back();
                    stream.is_over = true;
                    held_back
                }
            };
            match frame {
                Ok(None) => {}
                Ok(Some(frame)) => return Poll::Ready(Some(Ok(frame))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            // A filter may still have delayed bytes, so the end of the source is not the end of the body.
            Self::Stream(stream) if stream.filter.is_some() => false,
            Self::Stream(stream) => {
                stream.behind.is_none() && (stream.is_over || stream.from.is_end_stream())
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            // hyper would write a `Content-Length` from an exact hint, and the filter may change the length.
            Self::Stream(stream) if stream.filter.is_some() => SizeHint::default(),
            Self::Stream(stream) => stream.from.size_hint(),
        }
    }
}
