//! Messages between a client and a server: lines in, lines out. Does no I/O and never waits.
//!
//! A message passes if a row of `methods` allows it, if a response belongs to a pending request, and if the judge allows it.
//! Requests keep the ids of their senders.

mod client;
mod listing;
pub(crate) mod own_messages;
mod results;
mod server;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::edit::{get, text_of};
use super::message::Id;
pub use super::methods::ClientFeature;
use super::methods::{Era, Subject};
use stockade_harness::answer::HookVerdict;
use stockade_harness::results::Looked;
use stockade_text::Value;

/// Maximum number of pending requests of one side.
const MAX_IN_FLIGHT: usize = 1024;

/// Maximum number of tools of a server.
const MAX_TOOLS: usize = 4096;

/// Maximum number of consecutive invalid lines.
const MAX_GARBAGE: usize = 100;

/// Decides about calls, scans texts of the server, and stores tool definitions.
pub(crate) trait Judge {
    /// Whether the agent may use this tool of the server.
    fn offers(&mut self, tool: &str) -> Result<bool, String>;
    /// Decides about a tool call, and records the decision.
    fn call(&mut self, tool: &str, arguments: &Json) -> Result<HookVerdict, String>;
    /// Records a refusal for a reason outside of the policy, and returns the message for the sender.
    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> Result<String, String>;
    /// Scans a tool result, and records the findings.
    fn result(&mut self, what: &str, result: &Json) -> Result<Looked, String>;
    /// Scans another text of the server in the same way.
    fn text(&mut self, what: &str, text: &Json) -> Result<Looked, String>;
    /// Scans bytes, and records the findings. Bytes are never changed.
    fn bytes(&mut self, what: &str, bytes: &[u8]) -> Result<Looked, String>;
    /// Compares tool definitions with the pinned ones, and returns a result for each, in order.
    fn pin(&mut self, tools: &[Definition]) -> Result<Vec<Pinned>, String>;
}

/// A tool definition, in a canonical form that is equal for equivalent definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) tool: String,
    pub(crate) written: String,
}

/// Result of comparing a definition with the pinned one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pinned {
    /// It is equal, or is pinned now.
    Same,
    /// It differs. Contains the difference, and the command that accepts it.
    Changed(String),
}

/// An action that a message causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Out {
    /// Send a line to the server.
    Server(String),
    /// Send a line to the client.
    Client(String),
    /// Print a message for the user.
    Note(String),
    /// Stop reading from the server.
    Stop(String),
}

/// A pending request of the client.
#[derive(Debug)]
struct Asked {
    method: String,
    subject: Subject,
    era: Era,
    /// The tool that is called.
    tool: Option<String>,
    /// The token of its progress notifications.
    token: Option<Id>,
    /// Whether the client accepts a task instead of a result.
    takes_tasks: bool,
    /// Whether it requests the first page of a list.
    is_first_page: bool,
    /// Time of the last message about it.
    heard: Instant,
}

/// Result of checking a listed tool.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Offer {
    Offered,
    /// It was omitted, by this rule and for this reason.
    Withheld(&'static str, String),
}

/// Limits of a conversation.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Requests that the server may send to the client.
    pub lets: Vec<ClientFeature>,
    /// Timeout of a request without any message about it.
    pub patience: Duration,
}

/// The state between a client and a server.
#[derive(Debug)]
pub(crate) struct Conversation<J> {
    judge: J,
    terms: Terms,
    /// Pending requests of the client.
    asked: HashMap<Id, Asked>,
    /// Pending requests of the server, which exist only in the era of the handshake.
    wanted: HashSet<Id>,
    /// Tools of the last list, until the server notifies that it has changed.
    tools: HashMap<String, Offer>,
    /// Whether the client has started with the handshake.
    is_handshake: bool,
    /// Number of consecutive invalid lines of the server.
    garbage: usize,
    /// Why the server is no longer used.
    gone: Option<String>,
    out: Vec<Out>,
}

impl<J: Judge> Conversation<J> {
    pub(crate) fn new(judge: J, terms: Terms) -> Self {
        Self {
            judge,
            terms,
            asked: HashMap::new(),
            wanted: HashSet::new(),
            tools: HashMap::new(),
            is_handshake: false,
            garbage: 0,
            gone: None,
            out: Vec::new(),
        }
    }

    /// Returns when the next timeout ends.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let waits = self.asked.values().filter(|asked| asked.subject != Subject::Listen);
        waits.filter_map(|asked| asked.heard.checked_add(self.terms.patience)).min()
    }

    /// Answers requests whose timeout has ended.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Out> {
        let is_late = |asked: &Asked| {
            asked.subject != Subject::Listen
                && now.saturating_duration_since(asked.heard) >= self.terms.patience
        };
        let late: Vec<Id> =
            self.asked.iter().filter(|(_, asked)| is_late(asked)).map(|(id, _)| id.clone()).collect();
        for id in late {
            self.asked.remove(&id);
            let seconds = self.terms.patience.as_secs();
            let why = format!("the server has not answered for {seconds} seconds; --patience waits longer");
            self.out.push(Out::Server(own_messages::cancelled(&id, "timeout")));
            self.error(&id, own_messages::TIMED_OUT, &why);
        }
        std::mem::take(&mut self.out)
    }

    /// The server has ended: pending and later requests get an error.
    pub(crate) fn server_ended(&mut self, why: &str) -> Vec<Out> {
        self.gone = Some(why.to_owned());
        self.fail_all(why);
        std::mem::take(&mut self.out)
    }

    /// Answers all pending requests with an error.
    fn fail_all(&mut self, why: &str) {
        let waiting: Vec<Id> = self.asked.drain().map(|(id, _)| id).collect();
        for id in waiting {
            self.error(&id, own_messages::NO_SERVER, why);
        }
    }

    fn error(&mut self, id: &Id, code: i32, why: &str) {
        self.out.push(Out::Client(own_messages::error(Some(id), code, why, None)));
    }

    fn tell(&mut self, what: impl Into<String>) {
        self.out.push(Out::Note(what.into()));
    }

    /// Records a refusal. If it cannot be recorded, that becomes the reason.
    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> String {
        let said = self.judge.turn_away(what, rule, reason);
        said.unwrap_or_else(|why| undecided(&why))
    }

    /// Era of messages before either side declares one.
    fn era(&self) -> Era {
        if self.is_handshake { Era::Handshake } else { Era::Stateless }
    }

    /// Requests that a server may not send.
    fn is_let(&self, wish: ClientFeature) -> bool {
        self.terms.lets.contains(&wish)
    }
}

/// Message if no decision was possible.
fn undecided(why: &str) -> String {
    format!("stockade could not decide, so this is refused: {why}")
}

/// Parameters of a message; an empty object if it has none.
fn params(whole: &Value) -> &Value {
    const NONE: &Value = &Value::Nothing;
    get(whole, "params").unwrap_or(NONE)
}

/// Progress token of a request.
fn token(params: &Value) -> Option<Id> {
    Id::of(get(get(params, "_meta")?, "progressToken")?)
}

/// Whether a text is a valid tool name.
fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Name of the tool in a definition or a call.
fn tool_name(value: &Value) -> Option<&str> {
    text_of(value, "name").filter(|name| is_tool_name(name))
}
