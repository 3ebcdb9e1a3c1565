//! A bridge from stdio to a remote server: what `stockade mcp wrap --url` runs in the sandbox in place of a local server. It
//! makes no decisions. Messages are judged outside, and the egress proxy checks the host.
//!
//! ```text
//!  wrap ──► a line ──► POST ─────► broker ──► server
//!       ◄── lines  ◄── its answer, or a stream of events
//! ```
//!
//! The era of a request decides how it is sent: in a session (`initialize`), or with headers that repeat the body (2026-07-28).
#![expect(clippy::disallowed_methods, reason = "asks on threads of its own")]

mod events;
mod http;
mod mirror;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use stockade_text::Value;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body};

use super::confusable_names::shown;
use super::conversation::own_messages;
use super::edit::{get, set, text_of};
use super::message::{Id, Kind, MAX_MESSAGE, Message, read};
use super::written::written;
use events::{Event, Events};
pub use http::Header;
use http::{Http, SHORT};
use mirror::Mirrors;
use stockade_files::{BoundedLine, BoundedLines};

/// Maximum number of pending requests: each has a thread and a connection.
const MAX_WAITING: usize = 128;

/// Maximum length of a session id.
const MAX_SESSION: usize = 1024;

/// Maximum number of reconnections of a stream without progress.
const MAX_TRIES: u32 = 5;

/// Delay before a stream is resumed: the default, the minimum and the maximum.
const WAIT: Duration = Duration::from_secs(1);
const MIN_WAIT: Duration = Duration::from_millis(100);
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Maximum number of characters of a server's error that are quoted.
const MAX_SAID: usize = 300;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A request that waits for its response.
#[derive(Debug)]
struct Waiting {
    agent: Agent,
    /// The client has cancelled it.
    is_over: Arc<AtomicBool>,
    is_stateless: bool,
}

/// State of a session, which exists only in the era of `initialize`.
#[derive(Debug, Clone, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

/// A bridge, shared by its threads.
struct Bridge<W> {
    http: Http,
    out: Mutex<W>,
    waiting: Mutex<HashMap<Id, Waiting>>,
    session: Mutex<Session>,
    mirrors: Mutex<Mirrors>,
    listens: AtomicBool,
}

/// A request in flight.
#[derive(Debug)]
struct Asked {
    id: Id,
    method: String,
    line: String,
    headers: Vec<Header>,
    agent: Agent,
    is_over: Arc<AtomicBool>,
    is_stateless: bool,
}

impl Asked {
    /// Whether the client has cancelled it.
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// Forwards messages until the input ends.
pub fn run<W: Write + Send + 'static>(
    address: &str,
    headers: Vec<Header>,
    from: impl Read,
    to: W,
) -> Result<ExitCode, String> {
    let bridge = Arc::new(Bridge {
        http: Http::new(address, headers)?,
        out: Mutex::new(to),
        waiting: Mutex::default(),
        session: Mutex::default(),
        mirrors: Mutex::default(),
        listens: AtomicBool::new(false),
    });
    let mut lines = BoundedLines::new(from, MAX_MESSAGE);
    loop {
        match lines.next_line() {
            Ok(BoundedLine::Whole(line)) => hear(&bridge, line),
            Ok(BoundedLine::TooLong) => note("a message was too long"),
            Ok(BoundedLine::End) => break,
            Err(error) => return Err(format!("cannot read: {error}")),
        }
    }
    bridge.end();
    Ok(ExitCode::SUCCESS)
}

fn hear<W: Write + Send + 'static>(bridge: &Arc<Bridge<W>>, line: &[u8]) {
    let Ok(Message { kind, whole }) = read(line) else { return note("the request is not valid JSON-RPC") };
    let line = written(&whole.value);
    match kind {
        Kind::Request(id, method) => ask(bridge, id, method, line, &whole.value),
        Kind::Notification(method) => bridge.notify(&method, &line, &whole.value),
        Kind::Result(_) | Kind::Error(_) => bridge.tell(&line),
    }
    if bridge.listens.load(Ordering::Acquire) && bridge.listens.swap(false, Ordering::AcqRel) {
        let own = Arc::clone(bridge);
        if let Err(error) = on_a_thread(move || own.listen()) {
            note(&error);
        }
    }
}

/// Sends a request on a thread of its own.
fn ask<W: Write + Send + 'static>(
    bridge: &Arc<Bridge<W>>,
    id: Id,
    method: String,
    line: String,
    whole: &Value,
) {
    const NONE: &Value = &Value::Nothing;
    let params = get(whole, "params").unwrap_or(NONE);
    let version = get(params, "_meta").and_then(|meta| text_of(meta, VERSION));
    let headers = match version {
        Some(version) => lock(&bridge.mirrors).headers(version, &method, params),
        None => bridge.session_headers(),
    };
    let (agent, is_over, is_stateless) =
        (bridge.http.agent(), Arc::new(AtomicBool::new(false)), version.is_some());
    {
        let mut waiting = lock(&bridge.waiting);
        if waiting.len() >= MAX_WAITING {
            drop(waiting);
            return bridge.fail(&id, &format!("{MAX_WAITING} requests are already waiting for the server"));
        }
        let own = Waiting { agent: agent.clone(), is_over: Arc::clone(&is_over), is_stateless };
        waiting.insert(id.clone(), own);
    }
    let asked = Asked { id, method, line, headers, agent, is_over, is_stateless };
    let (own, id) = (Arc::clone(bridge), asked.id.clone());
    let begun = on_a_thread(move || own.wait(asked));
    if let Err(why) = begun {
        lock(&bridge.waiting).remove(&id);
        bridge.fail(&id, &why);
    }
}

fn on_a_thread(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let begun = thread::Builder::new().name("stockade-bridge".to_owned()).spawn(work);
    begun.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

impl<W: Write> Bridge<W> {
    /// Waits for the response to a request. The client gets exactly one response, whatever happens.
    fn wait(&self, asked: Asked) {
        let answered = self.answered(&asked);
        {
            let mut waiting = lock(&self.waiting);
            if waiting.get(&asked.id).is_some_and(|one| Arc::ptr_eq(&one.is_over, &asked.is_over)) {
                waiting.remove(&asked.id);
            }
        }
        if asked.is_over() {
            return;
        }
        match answered {
            Ok(()) => self.http.done(asked.agent),
            Err(why) => self.fail(&asked.id, &why),
        }
    }

    /// Sends a request, and forwards messages until its response.
    fn answered(&self, asked: &Asked) -> Result<(), String> {
        let mut headers = asked.headers.clone();
        headers.push(("Accept".to_owned(), "application/json, text/event-stream".to_owned()));
        let answer = self.http.send(&asked.agent, "POST", &headers, &asked.line, None)?;
        // A request that was cancelled before it had a connection could not be aborted then.
        if asked.is_over() {
            return Ok(());
        }
        let status = answer.status().as_u16();
        if !(200..300).contains(&status) {
            return self.refused(asked, answer);
        }
        let session = (asked.method == "initialize").then(|| session_of(answer.headers())).transpose()?;
        match content_type(answer.headers()).as_str() {
            "application/json" => {
                let text = whole(answer)?;
                self.begin(session);
                match self.hand_on(&text, Some(asked))? {
                    true => Ok(()),
                    false => Err("the server sent a response to another request".to_owned()),
                }
            }
            "text/event-stream" => {
                self.begin(session);
                self.follow(asked, answer)
            }
            _ if status == 202 => Err("the server accepted a request without a response (202)".to_owned()),
            other => Err(format!("unexpected content type `{}` in the server's response", shown(other))),
        }
    }

    /// Reads a stream until it contains the response. If it breaks off, it is resumed after the last event with an id.
    fn follow(&self, asked: &Asked, answer: Response<Body>) -> Result<(), String> {
        let (mut events, mut answer, mut tries) = (Events::default(), answer, 0);
        loop {
            let before = events.last_id.clone();
            if self.events(&mut events, answer, Some(asked))? {
                return Ok(());
            }
            let Some(last) = events.last_id.clone().filter(|_| !asked.is_stateless && !asked.is_over())
            else {
                return Err("the stream of the server ended before its response; the request may or may not have been \
                            carried out"
                    .to_owned());
            };
            tries = if before.as_ref() == Some(&last) { tries + 1 } else { 0 };
            let mut headers = self.session_headers();
            headers.push(("Accept".to_owned(), "text/event-stream".to_owned()));
            headers.push(("Last-Event-ID".to_owned(), last));
            loop {
                if tries >= MAX_TRIES {
                    return Err(
                        "the server's stream ended before its response, and cannot be resumed".to_owned()
                    );
                }
                thread::sleep(events.retry.unwrap_or(WAIT).clamp(MIN_WAIT, MAX_WAIT));
                if asked.is_over() {
                    return Ok(());
                }
                match self.http.send(&asked.agent, "GET", &headers, "", None) {
                    Ok(next)
                        if next.status().as_u16() == 200
                            && content_type(next.headers()) == "text/event-stream" =>
                    {
                        answer = next;
                        break;
                    }
                    Ok(next) if next.status().is_client_error() => return self.refused(asked, next),
                    Ok(_) | Err(_) => tries += 1,
                }
            }
            events = events.again();
        }
    }

    /// Reads a stream to its end. Returns whether it contained the response to a request.
    fn events(
        &self,
        events: &mut Events,
        answer: Response<Body>,
        asked: Option<&Asked>,
    ) -> Result<bool, String> {
        let mut from = answer.into_body().into_with_config().limit(u64::MAX).reader();
        let mut piece = vec![0; 16 << 10];
        loop {
            // A broken stream may be resumed.
            let Ok(length) = from.read(&mut piece) else { return Ok(false) };
            let Some(read) = piece.get(..length).filter(|read| !read.is_empty()) else { return Ok(false) };
            if asked.is_some_and(Asked::is_over) {
                return Ok(false);
            }
            let mut found = Vec::new();
            let fits = events.read(read, MAX_MESSAGE, |event| found.push(event));
            fits.map_err(|_| "the server sent an event that exceeds the maximum length".to_owned())?;
            for Event { name, data } in found {
                // An event without data only sets the id to resume from.
                if name == "message" && !data.is_empty() && self.hand_on(&data, asked)? {
                    return Ok(true);
                }
            }
        }
    }

    /// Forwards a message of the server. Returns whether it is the response to this request; responses to other requests are
    /// rejected.
    fn hand_on(&self, text: &str, asked: Option<&Asked>) -> Result<bool, String> {
        let mut message = match read(text.as_bytes()) {
            Ok(message) => message,
            Err(unread) if asked.is_some() => {
                return Err(format!("ambiguous response of the server: {}", unread.why));
            }
            Err(unread) => {
                note(&format!("ambiguous message of the server: {}", unread.why));
                return Ok(false);
            }
        };
        let is_answer = match (&message.kind, asked) {
            (Kind::Request(..) | Kind::Notification(_), _) => false,
            (Kind::Result(id) | Kind::Error(Some(id)), Some(asked)) if *id == asked.id => true,
            // The server could not parse the request, so its error has no id. It belongs to the request that was sent here.
            (Kind::Error(None), Some(asked)) => {
                set(&mut message.whole.value, "id", asked.id.value());
                true
            }
            _ => {
                note("the server sent a response to an unknown request");
                return Ok(false);
            }
        };
        if asked.is_some_and(Asked::is_over) {
            return Ok(is_answer);
        }
        if is_answer && let Some(result) = get(&message.whole.value, "result") {
            self.learn(asked.map_or("", |asked| &asked.method), result);
        }
        self.put(&message.whole.value);
        Ok(is_answer)
    }

    fn learn(&self, method: &str, result: &Value) {
        match method {
            "initialize" => {
                lock(&self.session).version = text_of(result, "protocolVersion").map(str::to_owned);
            }
            "tools/list" => {
                if let Some(Value::List(tools)) = get(result, "tools") {
                    let tools: Vec<&Value> = tools.iter().map(|tool| &tool.value).collect();
                    lock(&self.mirrors).learn(&tools);
                }
            }
            _ => {}
        }
    }

    /// Handles a refused request: a protocol error is forwarded, everything else is reported.
    fn refused(&self, asked: &Asked, answer: Response<Body>) -> Result<(), String> {
        let status = answer.status().as_u16();
        let leads = answer.headers().get("location").and_then(|to| to.to_str().ok()).map(said_by_server);
        let has_session = lock(&self.session).id.is_some();
        let text = whole(answer).unwrap_or_default();
        if let Ok(Message { kind: Kind::Error(_), .. }) = read(text.as_bytes())
            && self.hand_on(&text, Some(asked))?
        {
            return Ok(());
        }
        let said = said_by_server(&text);
        Err(match status {
            300..=399 => format!(
                "the server redirects ({status}) to `{}`; if you trust it, use that address with --url",
                leads.unwrap_or_default()
            ),
            401 | 403 | 407 => format!(
                "refused by the server or the egress proxy ({status}): {said}; pass a credential with --secret and \
                 --header (browser logins are not supported)"
            ),
            404 if has_session => "the session has ended (404); restart the MCP server".to_owned(),
            404 | 405 if asked.method == "initialize" => format!(
                "no MCP server with the transport Streamable HTTP at this address ({status}); HTTP with SSE \
                 (2024-11-05) is not supported"
            ),
            status => format!("refused by the server ({status}): {said}"),
        })
    }

    /// Sends a notification or a response, to which the server does not respond.
    fn notify(&self, method: &str, line: &str, whole: &Value) {
        if method == "notifications/cancelled" {
            let id = get(whole, "params").and_then(|params| get(params, "requestId")).and_then(Id::of);
            let Some(waiting) = id.and_then(|id| lock(&self.waiting).remove(&id)) else { return };
            waiting.is_over.store(true, Ordering::Release);
            if !waiting.is_stateless {
                self.tell(line);
            }
            // In the stateless era, closing the stream cancels the request.
            waiting.agent.shutdown();
            return;
        }
        self.tell(line);
        if method == "notifications/initialized" {
            self.listens.store(true, Ordering::Release);
        }
    }

    fn tell(&self, line: &str) {
        let mut headers = self.session_headers();
        headers.push(("Accept".to_owned(), "application/json, text/event-stream".to_owned()));
        let agent = self.http.agent();
        match self.http.send(&agent, "POST", &headers, line, Some(SHORT)) {
            Ok(answer) if answer.status().is_success() => self.http.done(agent),
            Ok(answer) => {
                note(&format!("the server refused a notification ({})", answer.status().as_u16()));
            }
            Err(why) => note(&why),
        }
    }

    /// Reads the stream of unsolicited messages, in the era of `initialize`, if the server has one.
    fn listen(&self) {
        let (mut events, mut tries) = (Events::default(), 0);
        while tries < MAX_TRIES {
            let mut headers = self.session_headers();
            headers.push(("Accept".to_owned(), "text/event-stream".to_owned()));
            headers.extend(events.last_id.clone().map(|last| ("Last-Event-ID".to_owned(), last)));
            let agent = self.http.agent();
            match self.http.send(&agent, "GET", &headers, "", None) {
                Ok(answer)
                    if answer.status().is_success()
                        && content_type(answer.headers()) == "text/event-stream" =>
                {
                    let before = events.last_id.clone();
                    if let Err(why) = self.events(&mut events, answer, None) {
                        return note(&why);
                    }
                    tries = if events.last_id == before { tries + 1 } else { 0 };
                }
                // The server has none.
                Ok(answer) if answer.status().is_client_error() => return,
                Ok(_) | Err(_) => tries += 1,
            }
            events = events.again();
            thread::sleep(events.retry.unwrap_or(WAIT).clamp(MIN_WAIT, MAX_WAIT));
        }
    }

    /// Lets the server delete the session.
    fn end(&self) {
        let is_begun = lock(&self.session).id.is_some();
        if is_begun {
            let time = Some(Duration::from_secs(2));
            self.http.send(&self.http.agent(), "DELETE", &self.session_headers(), "", time).ok();
        }
    }

    fn begin(&self, session: Option<Option<String>>) {
        if let Some(id) = session {
            *lock(&self.session) = Session { id, version: None };
        }
    }

    fn session_headers(&self) -> Vec<Header> {
        let Session { id, version } = lock(&self.session).clone();
        let id = id.map(|id| ("Mcp-Session-Id".to_owned(), id));
        id.into_iter().chain(version.map(|version| ("MCP-Protocol-Version".to_owned(), version))).collect()
    }

    fn fail(&self, id: &Id, why: &str) {
        self.write(&own_messages::error(Some(id), own_messages::NO_SERVER, why, None));
    }

    fn put(&self, message: &Value) {
        self.write(&written(message));
    }

    /// Ignores write errors: a closed output means that the client is gone.
    fn write(&self, line: &str) {
        let mut out = lock(&self.out);
        out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).ok();
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A session id, which the server chooses: visible ASCII characters.
fn session_of(headers: &HeaderMap) -> Result<Option<String>, String> {
    let Some(id) = headers.get("mcp-session-id") else { return Ok(None) };
    let text = id
        .to_str()
        .ok()
        .filter(|id| (1..=MAX_SESSION).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()));
    text.map(|id| Some(id.to_owned())).ok_or_else(|| "the server sent an invalid session ID".to_owned())
}

fn content_type(headers: &HeaderMap) -> String {
    let said = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the text of a response, up to the maximum length of a message.
fn whole(answer: Response<Body>) -> Result<String, String> {
    let mut text = Vec::new();
    let most = u64::try_from(MAX_MESSAGE).unwrap_or(u64::MAX);
    let mut from = answer.into_body().into_with_config().limit(u64::MAX).reader().take(most + 1);
    from.read_to_end(&mut text).map_err(|error| format!("the server's response ended early: {error}"))?;
    if text.len() > MAX_MESSAGE {
        return Err("the server sent a response that exceeds the maximum length".to_owned());
    }
    String::from_utf8(text).map_err(|_| "the server's response is not valid UTF-8".to_owned())
}

fn said_by_server(text: &str) -> String {
    text.chars().take(MAX_SAID).flat_map(char::escape_default).collect()
}

/// Prints a message for the user. The parent process marks it as output of the command.
fn note(what: &str) {
    io::stderr().write_all(format!("bridge: {what}\n").as_bytes()).ok();
}
