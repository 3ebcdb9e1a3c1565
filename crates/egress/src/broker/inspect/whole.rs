//! Memory for bodies that are read completely before they are sent, limited for all connections together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;

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
