//! Results of the server, which are scanned before a model sees them.

use base64::Engine as _;
use stockade_text::Value;

use super::listing::UNDECIDED;
use super::{Asked, ClientFeature, Conversation, Judge, Looked, Offer, Out, own_messages, undecided};
use crate::confusable_names::shown;
use crate::edit::{Bytes, get, get_mut, node, remove, set, table, text, text_of};
use crate::message::Id;
use crate::methods::{Era, HANDSHAKE, STATELESS, Subject, wish};
use crate::written::written;

/// Maximum length of the state that a server stores in its client.
const MAX_STATE: usize = 1 << 20;

/// Maximum number of requests within one result.
const MAX_WISHES: usize = 64;

/// Maximum number of notes about the bytes of a result.
const MAX_NOTES: usize = 16;

/// Member with requests within a result.
const WISHES: &str = "inputRequests";

/// Subject of a note, for a result without a better name.
const NOTE: &str = "stockade:note";

impl<J: Judge> Conversation<J> {
    pub(super) fn has_answered(&mut self, id: &Id, mut whole: Value) {
        let Some(asked) = self.asked.remove(id) else {
            return self.tell("response of the server to an unknown request");
        };
        let Some(result) = get_mut(&mut whole, "result") else { return };
        match self.looked(&asked, result) {
            Ok(()) => self.out.push(Out::Client(written(&whole))),
            Err(why) if asked.subject == Subject::Call => {
                self.tell(format!("a result was withheld: {why}"));
                self.out.push(Out::Client(own_messages::no_call(id, asked.era, &why)));
            }
            Err(why) => {
                self.tell(format!("the answer to {} was withheld: {why}", asked.method));
                self.error(id, own_messages::WITHHELD, &why);
            }
        }
    }

    /// Returns the form in which a result may pass, or why it may not.
    fn looked(&mut self, asked: &Asked, result: &mut Value) -> Result<(), String> {
        match kind(asked, result)? {
            ResultKind::Complete => {}
            ResultKind::InputRequired => return self.input_required(asked, result),
        }
        match asked.subject {
            Subject::Greeting => self.greeting(asked.era, result),
            Subject::Tools => self.listing(asked, result),
            Subject::Offers => self.offers(&asked.method, result),
            Subject::Plain | Subject::Listen | Subject::ClientFeature(_) => self.plain(&asked.method, result),
            Subject::Call | Subject::Content | Subject::Prompt => self.content(asked, result),
        }
    }

    /// Checks the result of a tool, a prompt or a resource.
    fn content(&mut self, asked: &Asked, result: &mut Value) -> Result<(), String> {
        let name = asked.tool.as_deref().unwrap_or(&asked.method);
        let of_bytes = self.bytes(name, result)?;
        let looked = self.judge.result(name, &Bytes::Apart.readable(result));
        let of_text = match looked.map_err(|why| undecided(&why))? {
            Looked::Fine => None,
            Looked::Withheld(why) => return Err(why),
            // A prompt instructs the model, so a warning beside it would not help.
            Looked::Cleaned { found, is_hostile: true, .. } if asked.subject == Subject::Prompt => {
                return Err(format!("stockade: the prompt could be an attack: {found}"));
            }
            Looked::Cleaned { note, cleaned, .. } => {
                Bytes::Apart.put(result, &cleaned);
                Some(note)
            }
        };
        for note in of_text.into_iter().chain(of_bytes) {
            if !add_note(asked, result, &note) {
                return Err(format!("stockade: cannot add this note to the result: {note}"));
            }
        }
        Ok(())
    }

    /// Checks Base64 content, which clients may decode as text. Returns a note about it.
    fn bytes(&mut self, name: &str, result: &Value) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        Bytes::Apart.each(result, &mut found);
        let mut notes = Vec::new();
        for spelled in found {
            let bytes = base64::engine::general_purpose::STANDARD.decode(spelled);
            let bytes = bytes.map_err(|_| "stockade: the result has invalid base64".to_owned())?;
            match self.judge.bytes(name, &bytes).map_err(|why| undecided(&why))? {
                Looked::Fine => {}
                Looked::Cleaned { found, note, is_hostile: false, .. } => {
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    if notes.len() > MAX_NOTES {
                        return Err(format!(
                            "stockade: too many binary parts of the result have findings: {found}"
                        ));
                    }
                }
                Looked::Cleaned { found: why, .. } | Looked::Withheld(why) => {
                    return Err(format!("stockade: binary content of the result could be an attack: {why}"));
                }
            }
        }
        Ok(notes)
    }

    /// Checks the server's description of itself: its instructions reach the model first.
    fn greeting(&mut self, era: Era, result: &mut Value) -> Result<(), String> {
        match era {
            Era::Handshake => {
                let version = text_of(result, "protocolVersion").unwrap_or("none");
                if !HANDSHAKE.contains(&version) {
                    let version = shown(version);
                    return Err(format!(
                        "stockade: the server uses the protocol version `{version}`, which this proxy does not support"
                    ));
                }
            }
            Era::Stateless => known_versions(result),
        }
        self.private(result);
        match self.judge.text("instructions", &result.to_json()).map_err(|why| undecided(&why))? {
            Looked::Fine => return Ok(()),
            Looked::Cleaned { cleaned, is_hostile: false, .. } => {
                Bytes::Text.put(result, &cleaned);
                return Ok(());
            }
            Looked::Cleaned { found: why, .. } | Looked::Withheld(why) => {
                self.tell(format!("the instructions of the server were withheld: {why}"));
                remove(result, &["instructions"]);
            }
        }
        self.plain("initialize", result)
    }

    /// Checks lists: each item is checked separately.
    fn offers(&mut self, method: &str, result: &mut Value) -> Result<(), String> {
        self.private(result);
        for list in ["prompts", "resources", "resourceTemplates"] {
            let Some(Value::List(items)) = get_mut(result, list) else { continue };
            let mut kept = Vec::new();
            for mut item in std::mem::take(items) {
                match self.plain(method, &mut item.value) {
                    Ok(()) => kept.push(item),
                    Err(why) => self.tell(format!("an entry of {list} was withheld: {why}")),
                }
            }
            set(result, list, Value::List(kept));
        }
        self.plain(method, result)
    }

    /// Checks results of unknown form: they are cleaned, and possible attacks do not pass.
    pub(super) fn plain(&mut self, what: &str, value: &mut Value) -> Result<(), String> {
        match self.judge.text(what, &value.to_json()).map_err(|why| undecided(&why))? {
            Looked::Fine => Ok(()),
            Looked::Cleaned { found, is_hostile: true, .. } => {
                Err(format!("stockade: it could be an attack: {found}"))
            }
            Looked::Cleaned { cleaned, .. } => {
                Bytes::Text.put(value, &cleaned);
                Ok(())
            }
            Looked::Withheld(why) => Err(why),
        }
    }

    /// Sets cache control: the checked response was made only for this client.
    pub(super) fn private(&self, result: &mut Value) {
        if get(result, "cacheScope").is_some() {
            set(result, "cacheScope", text("private"));
        }
    }

    /// In the stateless era, a server sends requests within its result.
    fn input_required(&mut self, asked: &Asked, result: &Value) -> Result<(), String> {
        match get(result, "requestState") {
            None => {}
            Some(Value::Text(state)) if state.len() <= MAX_STATE => {}
            Some(_) => {
                return Err(
                    "stockade: the request state of the server is not a string, or too long".to_owned()
                );
            }
        }
        self.wishes(result)?;
        let mut rest = result.clone();
        remove(&mut rest, &[WISHES, "requestState"]);
        match self.judge.text(&asked.method, &rest.to_json()).map_err(|why| undecided(&why))? {
            Looked::Fine => Ok(()),
            Looked::Cleaned { found: why, .. } | Looked::Withheld(why) => Err(why),
        }
    }

    /// Checks requests within a result: each must be allowed.
    pub(super) fn wishes(&mut self, within: &Value) -> Result<(), String> {
        let wishes = match get(within, WISHES) {
            None => return Ok(()),
            Some(Value::Table(wishes)) if wishes.len() <= MAX_WISHES => wishes,
            Some(_) => {
                return Err(
                    "stockade: the input requests of the server are not an object, or too many".to_owned()
                );
            }
        };
        for wanted in wishes {
            let wanted = &wanted.node.value;
            let method = text_of(wanted, "method").unwrap_or_default();
            let Some(wish) = wish(method) else {
                let method = shown(method);
                return Err(format!("stockade: unknown method `{method}` in an input request of the server"));
            };
            if let Some(why) = self.why_not(wish, super::params(wanted)) {
                return Err(why);
            }
        }
        Ok(())
    }

    /// Returns why a request of the server is refused, if it is.
    pub(super) fn why_not(&mut self, wish: ClientFeature, params: &Value) -> Option<String> {
        let (name, meaning) = (wish.name(), wish.meaning());
        if !self.is_let(wish) {
            let why = format!("it wants to {meaning}, which --let {name} allows");
            return Some(self.turn_away(name, "not-let", &why));
        }
        if wish == ClientFeature::Elicitation && text_of(params, "mode") == Some("url") {
            let why = "it asks to open a web page, whose content cannot be checked";
            return Some(self.turn_away(name, "url", why));
        }
        match self.judge.text(name, &params.to_json()) {
            Ok(Looked::Fine) => None,
            Ok(Looked::Cleaned { found: why, .. } | Looked::Withheld(why)) => {
                Some(self.turn_away(name, "scanner", &why))
            }
            Err(why) => Some(undecided(&why)),
        }
    }

    /// Stores the result of checking a listed tool. For a name that is listed twice, the stricter result applies.
    pub(super) fn note_offer(&mut self, tool: &str, offer: Offer) {
        let is_withheld = matches!(self.tools.get(tool), Some(Offer::Withheld(..)));
        match offer {
            // Nothing is known about it, so it counts as unlisted.
            Offer::Withheld(UNDECIDED, _) if !is_withheld => drop(self.tools.remove(tool)),
            Offer::Withheld(UNDECIDED, _) => {}
            Offer::Offered if is_withheld => {}
            offer => drop(self.tools.insert(tool.to_owned(), offer)),
        }
    }
}

enum ResultKind {
    Complete,
    InputRequired,
}

fn kind(asked: &Asked, result: &Value) -> Result<ResultKind, String> {
    let may_ask = matches!(asked.subject, Subject::Call | Subject::Prompt | Subject::Content);
    let kind = get(result, "resultType");
    // Only one result type contains requests. Another type with requests would bypass their checks.
    let is_asking = matches!(kind, Some(Value::Text(kind)) if kind == "input_required");
    let asks = |one: &Value| get(one, WISHES).is_some();
    let asks_within = [get(result, "task"), get(result, "result")].into_iter().flatten().any(asks);
    if asks_within || asks(result) && !is_asking {
        return Err("stockade: the result has input requests, but its type does not permit them".to_owned());
    }
    match (kind, asked.era) {
        // Earlier revisions do not have this member.
        (None, _) => match get(result, "task") {
            Some(_) if asked.subject == Subject::Call && !asked.takes_tasks => {
                Err("stockade: the server started a task that the client did not request".to_owned())
            }
            _ => Ok(ResultKind::Complete),
        },
        (Some(Value::Text(kind)), _) if kind == "complete" => Ok(ResultKind::Complete),
        (Some(Value::Text(_)), Era::Stateless) if is_asking && may_ask => Ok(ResultKind::InputRequired),
        (Some(Value::Text(kind)), Era::Stateless) if kind == "task" && asked.takes_tasks => {
            Ok(ResultKind::Complete)
        }
        _ => Err("stockade: unknown type of the result".to_owned()),
    }
}

/// Keeps the known revisions.
fn known_versions(result: &mut Value) {
    if let Some(Value::List(versions)) = get_mut(result, "supportedVersions") {
        let is_known = |value: &Value| match value {
            Value::Text(version) => [HANDSHAKE, STATELESS].concat().contains(&version.as_str()),
            _ => false,
        };
        versions.retain(|version| is_known(&version.value));
    }
}

/// Adds a note for the model to a result, where the client reads it. Returns whether the result has such a place.
fn add_note(asked: &Asked, result: &mut Value, note: &str) -> bool {
    match (asked.subject, asked.method.as_str()) {
        // Clients read the result of a task and ignore text beside it.
        (Subject::Call, _)
            if get(result, "task").is_some() || text_of(result, "resultType") == Some("task") =>
        {
            false
        }
        (Subject::Call, _) | (_, "tasks/result") => add(result, "content", own_messages::block(note)),
        (Subject::Prompt, _) => {
            let message = table([("role", text("user")), ("content", own_messages::block(note))]);
            add(result, "messages", message)
        }
        (_, "resources/read") => {
            let uri = ("uri", text(NOTE));
            let said = table([uri, ("mimeType", text("text/plain")), ("text", text(note))]);
            add(result, "contents", said)
        }
        _ => {
            get_mut(result, "result").is_some_and(|result| add(result, "content", own_messages::block(note)))
        }
    }
}

/// Appends to the list with this name, which is created if missing. Returns whether it is a list.
fn add(to: &mut Value, list: &str, item: Value) -> bool {
    if get(to, list).is_none() {
        set(to, list, Value::List(Vec::new()));
    }
    match get_mut(to, list) {
        Some(Value::List(items)) => {
            items.push(node(item));
            true
        }
        _ => false,
    }
}
