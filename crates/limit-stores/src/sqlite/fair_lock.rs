//! A lock between processes that is granted in the order of arrival.
#![expect(clippy::disallowed_methods, reason = "locks files, and waits on a thread")]

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use stockade_files::{OwnAccess, open_own};

/// A lock between processes, beside a database.
///
/// SQLite waits for its own lock by sleeping ever longer and trying again, so that with many processes some wait for seconds.
/// The kernel wakes those that wait in `flock` one by one. A process that takes the lock again at once would still overtake
/// those that are just waking up. So there are two locks: only the first of the queue waits for the turn, and a process that
/// has ended its turn starts again at the end of the queue. The kernel releases both when a process dies.
#[derive(Debug)]
pub(super) struct FairLock {
    files: Arc<Files>,
    waiter: Mutex<Option<Sender<Arc<Request>>>>,
    /// Requests that the waiting thread has not answered.
    pending: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Files {
    queue: File,
    turn: File,
}

/// The turn of this process. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<Files>);

/// A request of a thread that waits with a deadline, to the thread that waits in the kernel, which knows none.
#[derive(Debug, Default)]
struct Request {
    progress: Mutex<Progress>,
    answered: Condvar,
}

#[derive(Debug, Default)]
enum Progress {
    #[default]
    Waiting,
    Answered(io::Result<()>),
    Abandoned,
}

const QUEUE: &str = "-queue";
const TURN: &str = "-turn";

/// How long the file of turns is from when the database was made.
const MADE: u64 = 1;

impl FairLock {
    /// Whether a lock beside a database tells that it was made.
    pub(super) fn tells_made(database: &Path) -> bool {
        std::fs::symlink_metadata(beside(database, TURN)).is_ok_and(|found| found.len() >= MADE)
    }

    /// Opens the files of the lock beside a database, or creates them for their owner alone.
    pub(super) fn beside(database: &Path) -> io::Result<Self> {
        let files = Files { queue: open(database, QUEUE)?, turn: open(database, TURN)? };
        Ok(Self { files: Arc::new(files), waiter: Mutex::default(), pending: Arc::default() })
    }

    /// Notes that the database was made.
    pub(super) fn note_made(&self) -> io::Result<()> {
        self.files.turn.set_len(MADE)
    }

    /// Whether the database was made before, whatever is there now.
    pub(super) fn was_made(&self) -> io::Result<bool> {
        Ok(self.files.turn.metadata()?.len() >= MADE)
    }

    /// Waits for the turn of this process. Threads that share a lock must not wait at once.
    ///
    /// # Errors
    /// When the turn does not come in time: the process that has it may be stopped.
    pub(super) fn wait(&self, patience: Duration) -> io::Result<Turn> {
        // Two threads that ask through the same open file would both be let in.
        let is_free = self.pending.load(Ordering::Acquire) == 0 && self.files.try_take()?;
        if !is_free {
            let request = Arc::new(Request::default());
            self.send(Arc::clone(&request))?;
            request.answer(patience)?;
        }
        Ok(Turn(Arc::clone(&self.files)))
    }

    fn send(&self, request: Arc<Request>) -> io::Result<()> {
        let mut waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match waiter.take() {
            Some(sender) => sender,
            None => self.start_waiter()?,
        };
        self.pending.fetch_add(1, Ordering::AcqRel);
        let sent = sender.send(request).map_err(|_| io::Error::other("the thread that waits has ended"));
        *waiter = Some(sender);
        sent
    }

    fn start_waiter(&self) -> io::Result<Sender<Arc<Request>>> {
        let (sender, requests) = channel();
        let (files, pending) = (Arc::clone(&self.files), Arc::clone(&self.pending));
        let thread = std::thread::Builder::new().name("limits-turn".to_owned());
        thread.spawn(move || wait_for_turns(&files, &requests, &pending))?;
        Ok(sender)
    }
}

fn wait_for_turns(files: &Files, requests: &Receiver<Arc<Request>>, pending: &AtomicUsize) {
    for request in requests {
        let taken = files.take();
        let mut progress = request.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*progress, Progress::Abandoned) {
            files.end_turn();
        } else {
            *progress = Progress::Answered(taken);
        }
        // Before the lock is released, so that the next request of this process finds the true number.
        pending.fetch_sub(1, Ordering::AcqRel);
        request.answered.notify_one();
    }
}

impl Request {
    fn answer(&self, patience: Duration) -> io::Result<()> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let is_waiting = |progress: &mut Progress| matches!(progress, Progress::Waiting);
        let (mut progress, _) = self
            .answered
            .wait_timeout_while(progress, patience, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *progress, Progress::Abandoned) {
            Progress::Answered(taken) => taken,
            Progress::Waiting | Progress::Abandoned => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "another process has kept the lock for too long"))
            }
        }
    }
}

impl Files {
    /// Takes the turn if neither a process has it nor one waits for it.
    fn try_take(&self) -> io::Result<bool> {
        if !try_lock(&self.queue)? {
            return Ok(false);
        }
        let taken = try_lock(&self.turn);
        unlock(&self.queue);
        taken
    }

    fn take(&self) -> io::Result<()> {
        lock(&self.queue)?;
        let taken = lock(&self.turn);
        unlock(&self.queue);
        taken
    }

    fn end_turn(&self) {
        unlock(&self.turn);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.end_turn();
    }
}

fn beside(database: &Path, suffix: &str) -> OsString {
    let mut path = OsString::from(database);
    path.push(suffix);
    path
}

fn open(database: &Path, suffix: &str) -> io::Result<File> {
    open_own(Path::new(&beside(database, suffix)), OwnAccess::Keep)
}

fn lock(file: &File) -> io::Result<()> {
    loop {
        match flock(file, FlockOperation::LockExclusive) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A lock that cannot be released ends with its process at the latest.
fn unlock(file: &File) {
    let _: Result<(), Errno> = flock(file, FlockOperation::Unlock);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);
    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                let (lock, inside) = (FairLock::beside(&folder.path().join("a.db")).unwrap(), &inside);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let _turn = lock.wait(LONG).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }

    /// A stopped process must not stop all others, and a request that timed out must not disturb later ones.
    #[test]
    fn waiting_ends_and_may_begin_again() {
        let folder = tempfile::tempdir().unwrap();
        let beside = || FairLock::beside(&folder.path().join("a.db")).unwrap();
        let (stopped, waits) = (beside(), beside());
        let turn = stopped.wait(LONG).unwrap();
        for _ in 0..3 {
            assert_eq!(waits.wait(SHORT).unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        drop(turn);
        for _ in 0..3 {
            drop(waits.wait(LONG).unwrap());
            let _turn = waits.wait(LONG).unwrap();
            assert_eq!(beside().wait(SHORT).unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("a.db-turn")).unwrap();
        assert!(FairLock::beside(&folder.path().join("a.db")).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
