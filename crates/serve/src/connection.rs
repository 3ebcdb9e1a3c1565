//! One client: reads its requests, has them answered, and writes the answers in the order in which they are ready.
#![expect(clippy::disallowed_methods, reason = "reads and writes on threads of their own")]

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;

use super::catch_panic::catch_panic;
use super::connection_queue::ConnectionQueue;
use super::fault::{self, Fault};
use super::in_flight::Cancellation;
use super::methods::{AskedBy, Lane, Method};
use super::requests::{self, Message, Refused, Request};
use super::wire::response;
use crate::Server;
use stockade_files::{BoundedLine, BoundedLines};

/// A longer request goes to the workers, however quick its method is.
const SMALL: usize = 16 << 10;

/// Answers all requests until the input ends and each is answered. `is_heard` returns whether a client whose input has ended
/// still reads answers.
///
/// # Errors
/// When the input cannot be read, or the answers cannot be written.
pub fn converse(
    server: &Arc<Server>,
    from: impl Read,
    to: impl Write + Send,
    is_heard: &dyn Fn() -> bool,
) -> io::Result<()> {
    let queue = Arc::new(ConnectionQueue::new(server.options.max_request));
    server.shutdown.welcome(&queue);
    thread::scope(|scope| {
        let writer = thread::Builder::new()
            .name("stockade-write".to_owned())
            .spawn_scoped(scope, || write(server, &queue, to))?;
        let read = read(server, &queue, BoundedLines::new(from, server.options.max_request));
        queue.drain(is_heard);
        server.left(queue.client());
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer ended early")));
        read.and(written)
    })
}

fn write(server: &Server, queue: &ConnectionQueue, mut to: impl Write) -> io::Result<()> {
    let mut chunk = Vec::new();
    while queue.take(&mut chunk) {
        if let Err(error) = to.write_all(&chunk).and_then(|()| to.flush()) {
            queue.close();
            // A client that closes its end early is not an error.
            return if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) };
        }
        server.answered();
    }
    Ok(())
}

fn read(
    server: &Arc<Server>,
    queue: &Arc<ConnectionQueue>,
    mut lines: BoundedLines<impl Read>,
) -> io::Result<()> {
    while queue.may_read() {
        match lines.next_line()? {
            BoundedLine::End => break,
            BoundedLine::Whole(line) => take(server, queue, line),
            BoundedLine::TooLong => {
                let most = server.options.max_request;
                let fault = Fault::new(
                    fault::REQUEST,
                    format!("the line is longer than {most} bytes; `--max-request` allows more"),
                );
                queue.answer(&response(None, &Err(fault)));
            }
        }
    }
    Ok(())
}

/// Answers a line at once if that is quick; otherwise a worker does.
fn take(server: &Arc<Server>, queue: &Arc<ConnectionQueue>, line: &[u8]) {
    let Some(message) = requests::read(line) else { return };
    let lane = lane(server, &message);
    if lane == Lane::Here && line.len() <= SMALL {
        if let Some(answer) = answer(server, queue, message, &mut Tickets::none(queue)) {
            queue.answer(&answer);
        }
        return;
    }
    let mut tickets = Tickets::of(server, queue, &message);
    drop(message);
    queue.begin(line.len());
    let (server, queue, line) = (Arc::clone(server), Arc::clone(queue), line.to_vec());
    let pool = if lane == Lane::Run { server.run.clone() } else { server.work.clone() };
    pool.give(Box::new(move || {
        // Dropped on every path, or the connection would wait for this request forever.
        let done = Done { queue: &queue, bytes: line.len() };
        if let Some(answer) =
            requests::read(&line).and_then(|message| answer(&server, &queue, message, &mut tickets))
        {
            queue.answer(&answer);
        }
        drop(done);
    }));
}

/// Cancellations of the commands of a line, in the order of its requests. They exist from the moment at which the line was read,
/// so that a later `cancel` always finds them.
struct Tickets {
    queue: Arc<ConnectionQueue>,
    all: Vec<Option<Cancellation>>,
    next: usize,
}

impl Tickets {
    fn none(queue: &Arc<ConnectionQueue>) -> Self {
        Self { queue: Arc::clone(queue), all: Vec::new(), next: 0 }
    }

    fn of(server: &Server, queue: &Arc<ConnectionQueue>, message: &Message<'_>) -> Self {
        let one = |request: &Result<Request<'_>, Refused<'_>>| {
            let request = request.as_ref().ok()?;
            let lane = Method::find(&request.method)?.lane(server, request.parameters);
            (lane == Lane::Run)
                .then(|| queue.in_flight.begin(request.id.map(serde_json::value::RawValue::get)))
        };
        let all = match message {
            Message::One(request) => vec![one(request)],
            Message::Batch(requests) => requests.iter().map(one).collect(),
        };
        Self { queue: Arc::clone(queue), all, next: 0 }
    }

    /// Returns the cancellation of the next request.
    fn next(&mut self) -> Option<Cancellation> {
        self.next += 1;
        self.all.get(self.next - 1).cloned().flatten()
    }
}

impl Drop for Tickets {
    fn drop(&mut self) {
        self.all.iter().flatten().for_each(|cancellation| self.queue.in_flight.end(cancellation));
    }
}

struct Done<'t> {
    queue: &'t ConnectionQueue,
    bytes: usize,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.queue.end(self.bytes);
    }
}

/// Returns the lane of a line: that of its slowest request for a batch.
fn lane(server: &Server, message: &Message<'_>) -> Lane {
    let one = |request: &Result<Request<'_>, Refused<'_>>| match request {
        Ok(request) => {
            Method::find(&request.method).map_or(Lane::Here, |method| method.lane(server, request.parameters))
        }
        Err(_) => Lane::Here,
    };
    match message {
        Message::One(request) => one(request),
        Message::Batch(requests) => requests.iter().map(one).max().unwrap_or(Lane::Here).max(Lane::Work),
    }
}

/// Returns the answer to a line; notifications have none.
fn answer(
    server: &Arc<Server>,
    queue: &Arc<ConnectionQueue>,
    message: Message<'_>,
    tickets: &mut Tickets,
) -> Option<String> {
    match message {
        Message::One(request) => answer_one(server, queue, request, tickets.next()),
        Message::Batch(requests) => {
            let one = |request| answer_one(server, queue, request, tickets.next());
            let answers: Vec<String> = requests.into_iter().filter_map(one).collect();
            (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
        }
    }
}

fn answer_one(
    server: &Arc<Server>,
    queue: &Arc<ConnectionQueue>,
    request: Result<Request<'_>, Refused<'_>>,
    cancellation: Option<Cancellation>,
) -> Option<String> {
    let request = match request {
        Ok(request) => request,
        Err(refused) => return Some(response(refused.id, &Err(refused.fault))),
    };
    if cancellation.is_some() && server.shutdown.has_begun() {
        let fault = Fault::new(fault::BUSY, "the server is shutting down and starts no new command");
        return request.id.map(|id| response(Some(id), &Err(fault)));
    }
    let caller = AskedBy { id: request.id, queue, cancellation };
    let answer = match Method::find(&request.method) {
        // A panic in one request must not end the others. State that it leaves half changed is behind a poisoned lock.
        Some(method) => catch_panic(|| (method.call)(server, request.parameters, &caller))
            .unwrap_or_else(|| Err(a_bug(method))),
        None => Err(no_method(&request.method)),
    };
    request.id.map(|id| response(Some(id), &answer))
}

fn a_bug(method: &Method) -> Fault {
    let message = format!(
        "a bug in stockade ended `{}`; standard error has its location: please report it",
        method.name
    );
    Fault::new(fault::INTERNAL, message)
}

fn no_method(name: &str) -> Fault {
    let known = super::methods::METHODS.iter().map(|method| method.name);
    let shown: String = name.chars().take(100).collect();
    Fault { code: fault::METHOD, ..Fault::unknown("method", &shown, known) }
}
