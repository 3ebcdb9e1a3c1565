//! What passes between a client and a server. Lines in, lines out: nothing here waits, reads or writes.
//!
//! A message passes where a row of `methods` knows it, where it answers what was asked and is under way, and where the judge has
//! nothing against it. Requests keep the names that their senders gave them.

mod client;
mod listing;
mod results;
pub(crate) mod said;
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

/// The most requests of one side that wait for an answer.
const MAX_UNDER_WAY: usize = 1024;

/// The most tools of a server.
const MAX_TOOLS: usize = 4096;

/// The most lines in a row that are no messages.
const MAX_GARBAGE: usize = 100;

/// What decides, looks at what servers write, and keeps in mind what was listed.
pub(crate) trait Judge {
    /// Whether the tools of the agent have this one of the server.
    fn offers(&mut self, tool: &str) -> Result<bool, String>;
    /// Decides on a use of a tool, and puts that on record.
    fn call(&mut self, tool: &str, arguments: &Json) -> Result<HookVerdict, String>;
    /// Turns something away for a reason that no policy knows, puts that on record, and returns the sentence for whoever asked.
    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> Result<String, String>;
    /// Looks at what a tool brought back, and puts on record what was found.
    fn result(&mut self, what: &str, result: &Json) -> Result<Looked, String>;
    /// Looks at another text of the server, in the same way.
    fn text(&mut self, what: &str, text: &Json) -> Result<Looked, String>;
    /// Looks at bytes that something brought back, and puts on record what was found. They are never changed.
    fn bytes(&mut self, what: &str, bytes: &[u8]) -> Result<Looked, String>;
    /// Holds the definitions of tools against those that were seen first. One answer for each, in their order.
    fn pin(&mut self, tools: &[Definition]) -> Result<Vec<Pinned>, String>;
}

/// How a server defines a tool: written down so that two of them are the same where they mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) tool: String,
    pub(crate) written: String,
}

/// What a definition is to the one that was seen first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pinned {
    /// It is the same, or the first one.
    Same,
    /// It is another one: the difference, and what accepts it.
    Changed(String),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Out {
    /// A line for the server.
    Server(String),
    /// A line for the client.
    Client(String),
    /// Something that a person should know.
    Told(String),
    /// The server is not to be listened to any longer.
    Stop(String),
}

/// A request of the client that waits for its answer.
#[derive(Debug)]
struct Asked {
    method: String,
    subject: Subject,
    era: Era,
    /// The tool that is called.
    tool: Option<String>,
    /// What reports of its progress name it by.
    token: Option<Id>,
    /// Whether the client can do with a task in the place of a result.
    takes_tasks: bool,
    /// Whether it asks for a list from its beginning.
    is_first_page: bool,
    /// When something was last heard of it.
    heard: Instant,
}

/// What became of a tool when it was listed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Offer {
    Offered,
    /// It was left out, by this rule and for this reason.
    Withheld(&'static str, String),
}

/// What a conversation is held to.
#[derive(Debug, Clone)]
pub struct Terms {
    /// What the server may ask the client for.
    pub lets: Vec<ClientFeature>,
    /// How long nothing may be heard of a request.
    pub patience: Duration,
}

/// A client and a server, and what is under way between them.
#[derive(Debug)]
pub(crate) struct Conversation<J> {
    judge: J,
    terms: Terms,
    /// Requests of the client.
    asked: HashMap<Id, Asked>,
    /// Requests of the server, which are all of the era of the handshake.
    wanted: HashSet<Id>,
    /// The tools of the last list, unless the server has said since that its list has changed.
    tools: HashMap<String, Offer>,
    /// Whether the client has begun with the handshake.
    is_handshake: bool,
    /// How many lines of the server in a row were no messages.
    garbage: usize,
    /// Why the server answers nothing any more.
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

    /// When something is to be looked after next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let waits = self.asked.values().filter(|asked| asked.subject != Subject::Listen);
        waits.filter_map(|asked| asked.heard.checked_add(self.terms.patience)).min()
    }

    /// Answers what the server has left unanswered for too long.
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
            self.out.push(Out::Server(said::cancelled(&id, "nobody waits any longer")));
            self.error(&id, said::TIMED_OUT, &why);
        }
        std::mem::take(&mut self.out)
    }

    /// The server is gone: whoever waits is told, and whoever asks from now on.
    pub(crate) fn server_ended(&mut self, why: &str) -> Vec<Out> {
        self.gone = Some(why.to_owned());
        self.fail_all(why);
        std::mem::take(&mut self.out)
    }

    /// Answers all that waits with an error.
    fn fail_all(&mut self, why: &str) {
        let waiting: Vec<Id> = self.asked.drain().map(|(id, _)| id).collect();
        for id in waiting {
            self.error(&id, said::NO_SERVER, why);
        }
    }

    fn error(&mut self, id: &Id, code: i32, why: &str) {
        self.out.push(Out::Client(said::error(Some(id), code, why, None)));
    }

    fn tell(&mut self, what: impl Into<String>) {
        self.out.push(Out::Told(what.into()));
    }

    /// Turns something away on record; where it cannot be put there, that is the reason.
    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> String {
        let said = self.judge.turn_away(what, rule, reason);
        said.unwrap_or_else(|why| undecided(&why))
    }

    /// The era of what neither side says it of.
    fn era(&self) -> Era {
        if self.is_handshake { Era::Handshake } else { Era::Stateless }
    }

    /// What a server may not ask for.
    fn is_let(&self, wish: ClientFeature) -> bool {
        self.terms.lets.contains(&wish)
    }
}

/// The sentence where nothing could be decided.
fn undecided(why: &str) -> String {
    format!("stockade could not decide, so this is refused: {why}")
}

/// The parameters of a message; a table without members where it has none.
fn params(whole: &Value) -> &Value {
    const NONE: &Value = &Value::Nothing;
    get(whole, "params").unwrap_or(NONE)
}

/// The name by which progress of a request is reported.
fn token(params: &Value) -> Option<Id> {
    Id::of(get(get(params, "_meta")?, "progressToken")?)
}

/// Whether a name could be that of a tool.
fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// The name of a tool in its definition or its call.
fn tool_name(value: &Value) -> Option<&str> {
    text_of(value, "name").filter(|name| is_tool_name(name))
}
