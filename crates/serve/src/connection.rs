//! One client: reads its requests, has them answered, and writes the answers in the order in which they are ready.
#![expect(clippy::disallowed_methods, reason = "reads and writes on threads of their own")]

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;

use super::catch_panic::catch_panic;
use super::connection_queue::Traffic;
use super::fault::{self, Fault};
use super::in_flight::Cancellation;
use super::methods::{AskedBy, Lane, Method};
use super::requests::{self, Message, Refused, Request};
use super::wire::response;
use crate::Server;
use stockade_files::{BoundedLine, BoundedLines};

/// A longer request goes to the workers, however quick its method is.
const SMALL: usize = 16 << 10;

/// Answers everything that comes, until nothing more does and all of it is answered. `is_heard` tells whether anybody still
/// hears the answers of a client whose input has ended.
///
/// # Errors
/// When the input cannot be read, or the answers cannot be written.
pub fn converse(
    server: &Arc<Server>,
    from: impl Read,
    to: impl Write + Send,
    is_heard: &dyn Fn() -> bool,
) -> io::Result<()> {
    let traffic = Arc::new(Traffic::new(server.options.max_request));
    server.ending.welcome(&traffic);
    thread::scope(|scope| {
        let writer = thread::Builder::new()
            .name("stockade-write".to_owned())
            .spawn_scoped(scope, || write(&traffic, to))?;
        let read = read(server, &traffic, BoundedLines::new(from, server.options.max_request));
        traffic.drain(is_heard);
        server.left(traffic.client());
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer ended early")));
        read.and(written)
    })
}

fn write(traffic: &Traffic, mut to: impl Write) -> io::Result<()> {
    let mut chunk = Vec::new();
    while traffic.take(&mut chunk) {
        if let Err(error) = to.write_all(&chunk).and_then(|()| to.flush()) {
            traffic.close();
            // A client that has seen enough is no error.
            return if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) };
        }
    }
    Ok(())
}

fn read(server: &Arc<Server>, traffic: &Arc<Traffic>, mut lines: BoundedLines<impl Read>) -> io::Result<()> {
    while traffic.may_read() {
        match lines.next_line()? {
            BoundedLine::End => break,
            BoundedLine::Whole(line) => take(server, traffic, line),
            BoundedLine::TooLong => {
                let most = server.options.max_request;
                let fault = Fault::new(
                    fault::REQUEST,
                    format!("the line is longer than {most} bytes; `--max-request` allows more"),
                );
                traffic.answer(&response(None, &Err(fault)));
            }
        }
    }
    Ok(())
}

/// Answers a line at once where that is quick, else has a worker do it.
fn take(server: &Arc<Server>, traffic: &Arc<Traffic>, line: &[u8]) {
    let Some(message) = requests::read(line) else { return };
    let lane = lane(server, &message);
    if lane == Lane::Here && line.len() <= SMALL {
        if let Some(answer) = answer(server, traffic, message, &mut Tickets::none(traffic)) {
            traffic.answer(&answer);
        }
        return;
    }
    let mut tickets = Tickets::of(server, traffic, &message);
    drop(message);
    traffic.begin(line.len());
    let (server, traffic, line) = (Arc::clone(server), Arc::clone(traffic), line.to_vec());
    let pool = if lane == Lane::Run { server.run.clone() } else { server.work.clone() };
    pool.give(Box::new(move || {
        // Taken note of whatever happens, or the connection would wait for it for ever.
        let done = Done { traffic: &traffic, bytes: line.len() };
        if let Some(answer) =
            requests::read(&line).and_then(|message| answer(&server, &traffic, message, &mut tickets))
        {
            traffic.answer(&answer);
        }
        drop(done);
    }));
}

/// What ends the commands of a line, in the order of its requests: it is there from the moment at which the line was read.
struct Tickets {
    traffic: Arc<Traffic>,
    all: Vec<Option<Cancellation>>,
    next: usize,
}

impl Tickets {
    fn none(traffic: &Arc<Traffic>) -> Self {
        Self { traffic: Arc::clone(traffic), all: Vec::new(), next: 0 }
    }

    fn of(server: &Server, traffic: &Arc<Traffic>, message: &Message<'_>) -> Self {
        let one = |request: &Result<Request<'_>, Refused<'_>>| {
            let request = request.as_ref().ok()?;
            let lane = Method::find(&request.method)?.lane(server, request.parameters);
            (lane == Lane::Run)
                .then(|| traffic.under_way.begin(request.id.map(serde_json::value::RawValue::get)))
        };
        let all = match message {
            Message::One(request) => vec![one(request)],
            Message::Batch(requests) => requests.iter().map(one).collect(),
        };
        Self { traffic: Arc::clone(traffic), all, next: 0 }
    }

    /// That of the next request.
    fn next(&mut self) -> Option<Cancellation> {
        self.next += 1;
        self.all.get(self.next - 1).cloned().flatten()
    }
}

impl Drop for Tickets {
    fn drop(&mut self) {
        self.all.iter().flatten().for_each(|cancellation| self.traffic.under_way.end(cancellation));
    }
}

struct Done<'t> {
    traffic: &'t Traffic,
    bytes: usize,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.traffic.end(self.bytes);
    }
}

/// Returns where a line is answered: a batch where its slowest request is.
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
    traffic: &Arc<Traffic>,
    message: Message<'_>,
    tickets: &mut Tickets,
) -> Option<String> {
    match message {
        Message::One(request) => answer_one(server, traffic, request, tickets.next()),
        Message::Batch(requests) => {
            let one = |request| answer_one(server, traffic, request, tickets.next());
            let answers: Vec<String> = requests.into_iter().filter_map(one).collect();
            (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
        }
    }
}

fn answer_one(
    server: &Arc<Server>,
    traffic: &Arc<Traffic>,
    request: Result<Request<'_>, Refused<'_>>,
    cancellation: Option<Cancellation>,
) -> Option<String> {
    let request = match request {
        Ok(request) => request,
        Err(refused) => return Some(response(refused.id, &Err(refused.fault))),
    };
    if cancellation.is_some() && server.ending.has_begun() {
        let fault = Fault::new(fault::BUSY, "the server is about to end, and begins no command any more");
        return request.id.map(|id| response(Some(id), &Err(fault)));
    }
    let caller = AskedBy { id: request.id, traffic, cancellation };
    let answer = match Method::find(&request.method) {
        // One request is not to end the others. What a bug leaves half done, a lock that is lost with it guards.
        Some(method) => catch_panic(|| (method.call)(server, request.parameters, &caller))
            .unwrap_or_else(|| Err(a_bug(method))),
        None => Err(no_method(&request.method)),
    };
    request.id.map(|id| response(Some(id), &answer))
}

fn a_bug(method: &Method) -> Fault {
    let message =
        format!("a bug in stockade ended `{}`; standard error says where: please report it", method.name);
    Fault::new(fault::INTERNAL, message)
}

fn no_method(name: &str) -> Fault {
    let known = super::methods::METHODS.iter().map(|method| method.name);
    let shown: String = name.chars().take(100).collect();
    Fault { code: fault::METHOD, ..Fault::unknown("method", &shown, known) }
}
