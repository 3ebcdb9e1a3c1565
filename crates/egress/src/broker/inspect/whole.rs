//! Bodies of requests that are read completely before they are sent. Their memory is limited for all connections together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hyper::body::{Body as _, Bytes, Incoming};

use super::super::super::proxy_request::BadRequest;
use super::super::relay::Over;
use super::super::resolve_check::Brokered;
use super::super::tunnel::too_much;
use super::serve::{Inspected, Stop, with_cause};

/// Maximum memory of whole bodies.
const MAX_BYTES: usize = 64 << 20;

/// Each byte of a body counts twice, because it is copied when its buffer grows and when it is rewritten.
const TIMES: usize = 2;

/// The memory of whole bodies in use.
#[derive(Debug, Default)]
pub(in super::super) struct WholeBodies(AtomicUsize);

/// Reserved memory, until it is dropped.
#[derive(Debug)]
pub(super) struct Room {
    of: Arc<WholeBodies>,
    bytes: usize,
}

impl Room {
    pub(super) fn new(of: &Arc<WholeBodies>) -> Self {
        Self { of: Arc::clone(of), bytes: 0 }
    }

    /// Reserves memory for a body. Returns whether there is enough.
    pub(super) fn is_for(&mut self, length: usize) -> bool {
        // Only the growth is reserved, so that a body that arrives in pieces is not counted several times.
        let wanted = length.saturating_mul(TIMES);
        let more = wanted.saturating_sub(self.bytes);
        let taken = self.of.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
            taken.checked_add(more).filter(|all| *all <= MAX_BYTES)
        });
        if taken.is_ok() {
            self.bytes += more;
        }
        taken.is_ok()
    }

    /// Keeps the buffer space reserved until the last copy of the body is dropped.
    pub(super) fn with(self, body: Bytes) -> Bytes {
        Bytes::from_owner(ReservedBody { body, _room: self })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.of.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The body of a request.
pub(super) enum Coming {
    Stream(Incoming),
    /// A body that was read to decide on the request.
    Whole(Bytes, Room),
}

impl Coming {
    /// Whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Stream(body) => body.is_end_stream(),
            Self::Whole(bytes, _) => bytes.is_empty(),
        }
    }
}

impl Inspected {
    /// Reads a whole body up to a length, within the lifetime of its entry. Each piece has the timeout of a head, and the whole
    /// body the idle timeout, because nothing is relayed until then.
    pub(super) async fn whole(
        &self,
        body: Incoming,
        most: usize,
        until: Option<Instant>,
    ) -> Result<(Bytes, Room), Stop> {
        let idle = Instant::now().checked_add(self.shared.options.idle);
        // The error message depends on which limit ends first.
        let is_first = until.is_some_and(|until| idle.is_none_or(|idle| until < idle));
        let read = self.all_of(body, most);
        let Some(end) = until.filter(|_| is_first).or(idle) else { return read.await };
        let late = |_| match is_first {
            true => Stop::from(Box::new(too_much(&self.target, Over::Lifetime))),
            false => self.too_slow(),
        };
        tokio::time::timeout_at(end.into(), read).await.map_err(late)?
    }

    fn too_slow(&self) -> Stop {
        let reason = "all of it has to be read before it goes, and it did not come in time".to_owned();
        self.malformed(BadRequest { status: 408, rule: "too-slow", reason, fix: None })
    }

    async fn all_of(&self, body: Incoming, most: usize) -> Result<(Bytes, Room), Stop> {
        let mut body = std::pin::pin!(body);
        let (mut all, mut room) = (Vec::new(), Room::new(&self.bodies));
        let patience = self.shared.options.patience;
        loop {
            let next = std::future::poll_fn(|context| body.as_mut().poll_frame(context));
            let Some(frame) = tokio::time::timeout(patience, next).await.map_err(|_| self.too_slow())? else {
                break;
            };
            let frame = frame.map_err(|why| self.incomplete(&why))?;
            self.pulse.beat();
            let more = frame.data_ref().map(Bytes::as_ref).unwrap_or_default();
            let length = all.len().saturating_add(more.len());
            if length > most {
                let refused = Brokered {
                    reason: format!("it must be buffered completely, and is longer than {most} bytes"),
                    ..too_much(&self.target, Over::Upload)
                };
                return Err(Box::new(refused).into());
            }
            if !room.is_for(length) {
                return Err(self.no_room());
            }
            all.extend_from_slice(more);
        }
        Ok((all.into(), room))
    }

    /// Returns the refusal for a body when others already use all buffer space.
    pub(super) fn no_room(&self) -> Stop {
        let refused = Brokered {
            reason: "it must be buffered completely, and the buffers of this run are full".to_owned(),
            fix: Some("retry when other requests have finished".to_owned()),
            ..Brokered::refused(&self.target, "too-many-bodies", "")
        };
        Stop::Refused(Box::new(refused), None)
    }

    /// Returns the refusal of a request whose body did not arrive.
    fn incomplete(&self, why: &hyper::Error) -> Stop {
        let reason = format!("its body is incomplete: {}", with_cause(why));
        self.malformed(BadRequest { status: 400, rule: "bad-request", reason, fix: None })
    }
}

/// Reads a body until its end.
pub(super) async fn thrown_away(body: Incoming) {
    let mut body = std::pin::pin!(body);
    while std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await.is_some_and(|it| it.is_ok())
    {
    }
}

struct ReservedBody {
    body: Bytes,
    _room: Room,
}

impl AsRef<[u8]> for ReservedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_bodies_as_are_held() {
        let all = Arc::new(WholeBodies::default());
        let long = 8 << 20;
        let mut held = Vec::new();
        for _ in 0..MAX_BYTES / (TIMES * long) {
            let mut room = Room::new(&all);
            assert!(room.is_for(1) && room.is_for(long) && room.is_for(long));
            held.push(room.with(vec![b'x'; 10].into()));
        }
        let mut room = Room::new(&all);
        assert!(!room.is_for(1));
        let part = held.pop().map(|mut body| body.split_to(3)).unwrap();
        assert!(!room.is_for(1), "a part of a body keeps the whole of it");
        drop(part);
        assert!(room.is_for(long) && !room.is_for(long + 1));
        drop((room, held));
        assert_eq!(all.0.load(Ordering::Relaxed), 0);
    }
}
