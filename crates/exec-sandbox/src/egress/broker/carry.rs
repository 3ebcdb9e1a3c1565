//! Carries bytes between two connections, as long as somebody sends some.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When something was last carried, in either direction: who downloads for an hour sends nothing in that time.
pub(super) struct Pulse {
    began: Instant,
    last: AtomicU64,
    idle: Duration,
}

impl Pulse {
    pub(super) fn new(idle: Duration) -> Self {
        Self { began: Instant::now(), last: AtomicU64::new(0), idle }
    }

    fn beat(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        let still = self.now().saturating_sub(self.last.load(Ordering::Relaxed));
        u128::from(still) >= self.idle.as_millis()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whether the end of one side is told to the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtEnd {
    Tell,
    /// A request that is complete is not the end of its connection.
    Keep,
}

/// Carries up to so many bytes from one side to the other, until there are no more. When something fails or nothing is
/// carried for too long, both sides are closed, which ends the other direction as well.
pub(super) fn carry(from: &TcpStream, to: &TcpStream, most: u64, at_end: AtEnd, pulse: &Pulse) {
    match carry_all(from, to, most, pulse) {
        Ok(()) if at_end == AtEnd::Keep => {}
        Ok(()) => drop(to.shutdown(Shutdown::Write)),
        Err(_) => [from, to].into_iter().for_each(|side| drop(side.shutdown(Shutdown::Both))),
    }
}

fn carry_all(mut from: &TcpStream, mut to: &TcpStream, most: u64, pulse: &Pulse) -> io::Result<()> {
    // It wakes now and then, to see whether the other direction still carries.
    from.set_read_timeout(Some((pulse.idle / 4).max(Duration::from_millis(10))))?;
    to.set_write_timeout(Some(pulse.idle.max(Duration::from_millis(10))))?;
    let mut room = [0; 16 << 10];
    let mut left = most;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(room.len());
        let Some(room) = room.get_mut(..wanted) else { return Ok(()) };
        let read = match from.read(room) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_timeout(&error) && !pulse.is_over() => continue,
            Err(error) => return Err(error),
        };
        to.write_all(room.get(..read).unwrap_or_default())?;
        left -= read as u64;
        pulse.beat();
    }
    Ok(())
}

pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
