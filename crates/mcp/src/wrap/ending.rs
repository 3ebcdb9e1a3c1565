//! Shutdown by a signal: the server is stopped first, with all of its processes and resources.
#![expect(clippy::disallowed_methods, reason = "waits for signals, and exits if the shutdown hangs")]

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use stockade_guard::exec::run::Cancellation;

use super::Event;

/// Signals that stop this program.
const SIGNALS: &[i32] =
    &[signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP];

/// How long a client that does not read may delay the exit.
const GRACE: Duration = Duration::from_secs(10);

/// The signal that stops this program, if one was received.
#[derive(Debug)]
pub(super) struct Ending(Arc<AtomicUsize>);

impl Ending {
    /// From now on, a signal stops the server and then this program.
    pub(super) fn by_signal(cancellation: Cancellation, events: SyncSender<Event>) -> io::Result<Self> {
        let (mut heard, told) = UnixStream::pair()?;
        let first = Arc::new(AtomicUsize::new(0));
        for signal in SIGNALS {
            let number = usize::try_from(*signal).unwrap_or_default();
            // In this order: the thread that is woken reads the signal.
            signal_hook::flag::register_usize(*signal, Arc::clone(&first), number)?;
            signal_hook::low_level::pipe::register(*signal, told.try_clone()?)?;
        }
        let own = Self(Arc::clone(&first));
        let ending = Self(first);
        thread::Builder::new().name("stockade-signal".to_owned()).spawn(move || {
            let mut byte = [0_u8; 1];
            if heard.read_exact(&mut byte).is_err() {
                return;
            }
            cancellation.cancel();
            // The conversation may be blocked by a client that does not read.
            thread::spawn(move || events.send(Event::Signal).ok());
            thread::sleep(GRACE);
            std::process::exit(128 + own.signal().map_or(0, i32::from));
        })?;
        Ok(ending)
    }

    pub(super) fn signal(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::Acquire)).ok().filter(|signal| *signal > 0)
    }
}
