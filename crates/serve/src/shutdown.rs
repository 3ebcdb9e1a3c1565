//! Shutdown by a signal: no new command starts, running commands are awaited or cancelled, and the end of each is recorded.
#![expect(clippy::disallowed_methods, reason = "waits for signals and for commands, and ends the program")]

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::connection_queue::ConnectionQueue;
use super::locks::lock;
use crate::Server;

/// Time that commands have after the first signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time that cancelled commands have to end, and that answers have to be written.
const AFTER_CANCEL: Duration = Duration::from_secs(5);
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The interval between two checks.
const LOOK: Duration = Duration::from_millis(20);

/// The clients of a server, and whether it is shutting down.
#[derive(Debug, Default)]
pub(super) struct Shutdown {
    ends: AtomicBool,
    /// Connected clients, and some that have left.
    clients: Mutex<Vec<Weak<ConnectionQueue>>>,
    /// The socket, which is removed at the end.
    socket: Mutex<Option<PathBuf>>,
}

impl Shutdown {
    /// Registers a client.
    pub(super) fn welcome(&self, queue: &Arc<ConnectionQueue>) {
        let mut clients = lock(&self.clients);
        clients.retain(|client| client.strong_count() > 0);
        clients.push(Arc::downgrade(queue));
    }

    /// Registers the socket.
    pub(super) fn listens_on(&self, path: PathBuf) {
        *lock(&self.socket) = Some(path);
    }

    /// Whether the shutdown has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.ends.load(Ordering::Acquire)
    }

    fn clients(&self) -> Vec<Arc<ConnectionQueue>> {
        lock(&self.clients).iter().filter_map(Weak::upgrade).collect()
    }

    fn is_busy(&self) -> bool {
        self.clients().iter().any(|client| client.is_busy())
    }

    /// Waits until no client is busy, or `patience` has passed.
    fn wait(&self, patience: Duration, is_over: &dyn Fn() -> bool) {
        let began = Instant::now();
        while self.is_busy() && began.elapsed() < patience && !is_over() {
            thread::sleep(LOOK);
        }
    }

    /// Waits for running commands, and cancels those that do not end in time.
    fn run_out(&self, is_hurried: &dyn Fn() -> bool) {
        self.ends.store(true, Ordering::Release);
        self.wait(PATIENCE, is_hurried);
        self.clients().iter().for_each(|client| client.in_flight.cancel_all());
        self.wait(AFTER_CANCEL, &|| false);
        let began = Instant::now();
        while self.clients().iter().any(|client| client.has_answers()) && began.elapsed() < LAST_WORDS {
            thread::sleep(LOOK);
        }
        if let Some(path) = lock(&self.socket).take() {
            std::fs::remove_file(path).ok();
        }
    }
}

/// Ends the program on a signal: commands have some seconds to end, then they are cancelled, and each end is recorded. A
/// second signal cancels them at once.
///
/// # Errors
/// When the signal handlers or the thread cannot be created.
pub fn end_by_signal(server: &Arc<Server>) -> io::Result<()> {
    let (mut heard, told) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, told.try_clone()?)?;
    }
    let server = Arc::clone(server);
    let listen = move || {
        let mut byte = [0_u8; 1];
        if heard.read_exact(&mut byte).is_err() {
            return;
        }
        let again = Arc::new(AtomicBool::new(false));
        let hurry = Arc::clone(&again);
        thread::spawn(move || {
            heard.read_exact(&mut byte).ok();
            hurry.store(true, Ordering::Release);
        });
        server.shutdown.run_out(&|| again.load(Ordering::Acquire));
        server.end();
        std::process::exit(0);
    };
    thread::Builder::new().name("stockade-signal".to_owned()).spawn(listen).map(drop)
}
