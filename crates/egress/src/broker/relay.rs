//! Relays bytes between two connections until both directions are silent.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::chunked::Chunked;
use super::exchange::Exchange;
use super::last_answer::LastAnswer;

/// When bytes were last relayed, in either direction: during a long download the client sends nothing.
pub(super) struct Pulse {
    began: Instant,
    /// In milliseconds since `began`: an atomic that both directions update without a lock.
    last: AtomicU64,
    idle: Duration,
    /// When both directions are closed, even if active.
    until: Option<Instant>,
    /// The exceeded limit, if any.
    over: AtomicU8,
}

/// A limit that ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Upload = 1,
    Download,
    Lifetime,
    /// The lifetime of a secret in a request.
    Lease,
}

impl Pulse {
    pub(super) fn new(idle: Duration, until: Option<Instant>) -> Self {
        Self { began: Instant::now(), last: AtomicU64::new(0), idle, until, over: AtomicU8::new(0) }
    }

    /// Returns the exceeded limit.
    pub(super) fn over(&self) -> Option<Over> {
        let over = self.over.load(Ordering::Relaxed);
        [Over::Upload, Over::Download, Over::Lifetime, Over::Lease].into_iter().find(|one| *one as u8 == over)
    }

    fn ends(&self, over: Over) -> io::Error {
        self.over.store(over as u8, Ordering::Relaxed);
        io::ErrorKind::QuotaExceeded.into()
    }

    /// Returns the timeout of a single read.
    pub(super) fn wait(&self) -> Duration {
        // With an end, checked every second, so that it is observed in time on a silent connection.
        let often = if self.until.is_some() { Duration::from_secs(1) } else { self.idle };
        (self.idle / 4).min(often).max(Duration::from_millis(10))
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Records activity.
    pub(super) fn beat(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        let still = self.now().saturating_sub(self.last.load(Ordering::Relaxed));
        u128::from(still) >= self.idle.as_millis()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whether the end of one direction is forwarded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtEnd {
    Tell,
    /// A complete request does not end the connection.
    Keep,
}

/// The number of bytes to relay in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upload {
    /// The length in the head of a request, or unlimited.
    Length(u64),
    /// A chunked body, whose end its chunks determine.
    Chunked(Chunked),
}

impl Upload {
    /// Without a limit.
    pub(super) const fn all() -> Self {
        Self::Length(u64::MAX)
    }

    /// Returns the number of these bytes that belong to it.
    ///
    /// # Errors
    /// When its end cannot be determined.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Length(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                Ok(taken)
            }
            Self::Chunked(body) => body.read(bytes).ok_or_else(|| io::ErrorKind::InvalidData.into()),
        }
    }

    const fn is_over(self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked(Chunked::End))
    }
}

/// A limit on bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Most {
    pub(super) bytes: Option<u64>,
    pub(super) bound: Over,
}

impl Most {
    /// Uses some of it, if that much is left.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        match &mut self.bytes {
            None => true,
            // A piece that exceeds the limit is not sent in part, so a limit of n never lets n+1 bytes through.
            Some(left) => left.checked_sub(bytes as u64).inspect(|rest| *left = *rest).is_some(),
        }
    }
}

/// When a connection is closed, and by which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: Instant,
    pub(super) bound: Over,
}

impl End {
    /// Returns the earlier of two ends: that of an entry, and that of a secret.
    pub(super) fn first(of_entry: Option<Instant>, of_lease: Option<Instant>) -> Option<Self> {
        let ends = |at, bound| Self { at, bound };
        let both = [of_lease.map(|at| ends(at, Over::Lease)), of_entry.map(|at| ends(at, Over::Lifetime))];
        both.into_iter().flatten().min_by_key(|end| end.at)
    }
}

/// Relays one direction until its end or limit. On an error or after the idle time both sides are closed, which ends the other
/// direction as well.
pub(super) fn carry(
    from: &TcpStream,
    to: &TcpStream,
    (upload, most): (Upload, Most),
    (at_end, answer): (AtEnd, Option<LastAnswer>),
    (pulse, exchange): (&Pulse, &Exchange),
) {
    match carry_all(from, to, (upload, most), answer, (pulse, exchange)) {
        Ok(()) if at_end == AtEnd::Keep => {}
        // Half-closed: protocols such as SSH and HTTP/1.0 send a response after the client has closed its side.
        Ok(()) => drop(to.shutdown(Shutdown::Write)),
        Err(_) => [from, to].into_iter().for_each(|side| drop(side.shutdown(Shutdown::Both))),
    }
}

fn carry_all(
    mut from: &TcpStream,
    mut to: &TcpStream,
    (mut left, mut most): (Upload, Most),
    mut answer: Option<LastAnswer>,
    (pulse, exchange): (&Pulse, &Exchange),
) -> io::Result<()> {
    // Reads time out periodically, to check whether the other direction is active.
    from.set_read_timeout(Some(pulse.wait()))?;
    to.set_write_timeout(Some(pulse.idle.max(Duration::from_millis(10))))?;
    let mut room = [0; 16 << 10];
    while !left.is_over() {
        if pulse.is_late() {
            return Err(pulse.ends(Over::Lifetime));
        }
        let read = match from.read(&mut room) {
            Ok(0) => return to.write_all(&answer.map(|mut answer| answer.end()).unwrap_or_default()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_timeout(&error) && !pulse.is_over() => continue,
            Err(error) => return Err(error),
        };
        let bytes = room.get(..read).unwrap_or_default();
        // Bytes after the end are dropped: they would be a request that was not checked.
        let taken = left.take(bytes)?;
        if !most.take(taken) {
            return Err(pulse.ends(most.bound));
        }
        let bytes = bytes.get(..taken).unwrap_or_default();
        match &mut answer {
            Some(answer) => {
                to.write_all(&answer.pass(bytes))?;
                answer.status.into_iter().for_each(|status| exchange.answered(status));
            }
            None => to.write_all(bytes)?,
        }
        exchange.carried(most.bound, taken);
        pulse.beat();
    }
    Ok(())
}

pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
