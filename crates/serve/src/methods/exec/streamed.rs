//! Streaming of a command's output to the client: notifications `exec.output`, before the answer.
//!
//! ```text
//!  command ──► pipe ──► one thread ──► connection_queue ──► client
//! ```
//!
//! Only two pipes and one piece are buffered: while the client does not read, the thread waits, the pipes fill, and the command
//! blocks.
#![expect(clippy::disallowed_methods, reason = "reads what a command prints, on a thread of its own")]

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use stockade_guard::exec::run::RunControl;

use super::super::base64_of;
use crate::connection_queue::ConnectionQueue;
use crate::fault::Fault;
use crate::methods::AskedBy;
use crate::wire::notification;

/// The most bytes of one notification.
const MAX_PIECE: usize = 32 << 10;

/// Time that a client has to read the rest of the output after the command ended.
const GRACE: Duration = Duration::from_secs(10);

/// The parameters of `exec.output`: a piece of what a command printed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputPiece<'p> {
    /// The `id` of the request.
    #[schemars(with = "serde_json::Value")]
    id: &'p RawValue,
    /// Sequence number of the piece, from 0 and without gaps, over both streams.
    seq: u64,
    /// `stdout` or `stderr`.
    stream: &'static str,
    data_base64: String,
}

/// A command whose output is streamed.
#[derive(Debug)]
pub(super) struct Streamed {
    sender: JoinHandle<()>,
    progress: Arc<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    pieces: AtomicU64,
    /// Bytes that were discarded because the client did not read in time.
    lost: AtomicU64,
    is_over: AtomicBool,
    over_since: Mutex<Option<Instant>>,
}

/// Number of sent pieces and of lost bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) pieces: u64,
    pub(super) lost: u64,
}

impl Streamed {
    /// Starts the thread that sends the output, and sets the command's output descriptors in `control`.
    pub(super) fn begin(caller: &AskedBy<'_>, control: &mut RunControl) -> Result<Self, Fault> {
        let id =
            caller.id.ok_or_else(|| Fault::parameters("`stream` needs a request with an `id`"))?.to_owned();
        let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
        let failed = |error: rustix::io::Errno| Fault::internal(&std::io::Error::from(error));
        let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe().map_err(failed)?, pipe().map_err(failed)?);
        (control.stdout, control.stderr) = (Some(Arc::new(to_stdout)), Some(Arc::new(to_stderr)));
        let progress = Arc::<Progress>::default();
        let (for_thread, queue) = (Arc::clone(&progress), Arc::clone(caller.queue));
        let sender = thread::Builder::new().name("stockade-stream".to_owned());
        let sender = sender.spawn(move || send([Some(stdout), Some(stderr)], &id, &queue, &for_thread));
        Ok(Self { sender: sender.map_err(|error| Fault::internal(&error))?, progress })
    }

    /// Waits until all output is sent. The write ends of the pipes must be closed.
    pub(super) fn end(self) -> Sent {
        *self.progress.over_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.progress.is_over.store(true, Ordering::SeqCst);
        self.sender.join().ok();
        Sent {
            pieces: self.progress.pieces.load(Ordering::SeqCst),
            lost: self.progress.lost.load(Ordering::SeqCst),
        }
    }
}

impl Progress {
    /// Whether to keep waiting for the client.
    fn has_patience(&self) -> bool {
        if !self.is_over.load(Ordering::SeqCst) {
            return true;
        }
        let since = *self.over_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_none_or(|since| since.elapsed() < GRACE)
    }
}

/// Sends output until both pipes are closed.
fn send(mut from: [Option<OwnedFd>; 2], id: &RawValue, queue: &ConnectionQueue, progress: &Progress) {
    let mut piece = vec![0; MAX_PIECE];
    while from.iter().any(Option::is_some) {
        for at in readable(&from) {
            let Some(Some(stream)) = from.get(at) else { continue };
            let read = match rustix::io::read(stream, &mut piece) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(count) if count > 0 => piece.get(..count).unwrap_or_default(),
                _ => {
                    if let Some(ended) = from.get_mut(at) {
                        *ended = None;
                    }
                    continue;
                }
            };
            let seq = progress.pieces.load(Ordering::SeqCst);
            let stream = if at == 0 { "stdout" } else { "stderr" };
            let line =
                notification("exec.output", &OutputPiece { id, seq, stream, data_base64: base64_of(read) });
            // After a lost piece all later ones are lost as well, so that output with a gap never looks complete.
            let is_whole = progress.lost.load(Ordering::SeqCst) == 0;
            if is_whole && queue.notify(&line, || progress.has_patience()) {
                progress.pieces.fetch_add(1, Ordering::SeqCst);
            } else {
                progress.lost.fetch_add(read.len() as u64, Ordering::SeqCst);
            }
        }
    }
}

/// Returns the indexes of the pipes that are readable or closed.
fn readable(from: &[Option<OwnedFd>; 2]) -> Vec<usize> {
    let open: Vec<(usize, &OwnedFd)> =
        from.iter().enumerate().filter_map(|(at, from)| Some((at, from.as_ref()?))).collect();
    let mut fds: Vec<PollFd<'_>> =
        open.iter().map(|(_, from)| PollFd::from_borrowed_fd(from.as_fd(), PollFlags::IN)).collect();
    if poll(&mut fds, None).is_err() {
        return Vec::new();
    }
    let ready = open.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
    ready.map(|((at, _), _)| *at).collect()
}
