//! Messages of the client.

use std::time::Instant;

use stockade_text::Value;

use super::listing::NOT_GRANTED;
use super::{
    Asked, ClientFeature, Conversation, HookVerdict, Judge, MAX_IN_FLIGHT, Offer, Out, own_messages, params,
    token, tool_name, undecided,
};
use crate::confusable_names::shown;
use crate::edit::{at, get, get_mut, remove, text_of};
use crate::message::{Id, Kind, Message, answers, read};
use crate::methods::{Era, STATELESS, Side, Subject, is_notification, request};
use crate::written::written;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Reason for refusing a tool that was not listed and checked.
const LIST_FIRST: &str = "its server has not listed this tool since it started or reported changed tools, or the agent did not have the tool then; send `tools/list` first";

impl<J: Judge> Conversation<J> {
    /// Handles a line of the client.
    pub(crate) fn hear_client(&mut self, line: &[u8], now: Instant) -> Vec<Out> {
        match read(line) {
            Err(unread) => {
                let why = format!("ambiguous or invalid message: {}", unread.why);
                let id = answers(line).filter(|id| !self.asked.contains_key(id));
                self.out.push(Out::Client(own_messages::error(id.as_ref(), unread.code, &why, None)));
            }
            Ok(Message { kind, whole }) => match kind {
                Kind::Request(id, method) => self.asks(id, method, whole.value, now),
                Kind::Notification(method) => self.tells(&method, &whole.value),
                Kind::Result(id) => self.answers_server(Some(&id), &whole.value),
                Kind::Error(id) => self.answers_server(id.as_ref(), &whole.value),
            },
        }
        std::mem::take(&mut self.out)
    }

    fn asks(&mut self, id: Id, method: String, mut whole: Value, now: Instant) {
        if self.asked.contains_key(&id) {
            // A duplicate id would make the response ambiguous.
            return self
                .tell(format!("two requests of the client have the same id: {}", written(&id.value())));
        }
        let era = match era(params(&whole)) {
            Ok(era) => era,
            Err(other) => {
                let (wanted, known) = (shown(&other), STATELESS);
                return self.out.push(Out::Client(own_messages::other_version(&id, &wanted, known)));
            }
        };
        let Some(subject) = request(Side::Client, era, &method) else {
            let why = format!("unknown method `{}`", shown(&method));
            return self.error(&id, own_messages::NO_METHOD, &why);
        };
        if let Some(gone) = self.gone.clone() {
            return self.error(&id, own_messages::NO_SERVER, &gone);
        }
        if self.asked.len() >= MAX_IN_FLIGHT {
            let why = format!("{MAX_IN_FLIGHT} requests are already waiting for a response");
            return self.error(&id, own_messages::NO_SERVER, &why);
        }
        self.is_handshake |= era == Era::Handshake && subject == Subject::Greeting;
        self.keep_back(&mut whole);
        let params = params(&whole);
        let takes_tasks = get(params, "task").is_some()
            || at(params, &["_meta", CAPABILITIES, "extensions", "io.modelcontextprotocol/tasks"]).is_some();
        let tool = match subject {
            Subject::Call => match self.may_call(params) {
                Ok(tool) => Some(tool),
                Err(why) => return self.out.push(Out::Client(own_messages::no_call(&id, era, &why))),
            },
            _ => None,
        };
        let (token, is_first_page) = (token(params), get(params, "cursor").is_none());
        self.out.push(Out::Server(written(&whole)));
        self.asked
            .insert(id, Asked { method, subject, era, tool, token, takes_tasks, is_first_page, heard: now });
    }

    /// Decides about a call: forwards it, or returns an error in place of its result.
    fn may_call(&mut self, params: &Value) -> Result<String, String> {
        let Some(tool) = tool_name(params) else {
            return Err(
                "stockade: invalid tool name: use 1 to 128 letters, digits, `_`, `-` and `.`".to_owned()
            );
        };
        let arguments = match get(params, "arguments") {
            None => serde_json::json!({}),
            Some(table @ Value::Table(_)) => table.to_json(),
            Some(_) => return Err("stockade: the arguments of the call are not a JSON object".to_owned()),
        };
        let listed = self.tools.get(tool).cloned();
        let is_offered = listed == Some(Offer::Offered);
        match listed {
            Some(Offer::Offered) => {}
            // The configuration's reason applies, as at every other entry point, unless it now allows a tool that was not
            // checked.
            Some(Offer::Withheld(NOT_GRANTED, _)) if self.judge.offers(tool) == Ok(false) => {}
            Some(Offer::Withheld(NOT_GRANTED, _)) => {
                return Err(self.turn_away(tool, "not-listed", LIST_FIRST));
            }
            Some(Offer::Withheld(rule, why)) => return Err(self.turn_away(tool, rule, &why)),
            None => return Err(self.turn_away(tool, "not-listed", LIST_FIRST)),
        }
        match self.judge.call(tool, &arguments) {
            Ok(HookVerdict::Silent) if is_offered => Ok(tool.to_owned()),
            Ok(HookVerdict::Silent) => Err(self.turn_away(tool, "not-listed", LIST_FIRST)),
            Ok(HookVerdict::Deny(why)) => Err(why.text),
            // Here is no user to ask.
            Ok(HookVerdict::Ask(why)) => {
                Err(format!("{why}; the user has to agree, and cannot be asked here"))
            }
            Ok(HookVerdict::Rewrite(_)) => Err(undecided("arguments of a server's tool are never changed")),
            Err(why) => Err(undecided(&why)),
        }
    }

    /// Removes capabilities from the handshake that the server may not use, so that it does not try.
    fn keep_back(&self, whole: &mut Value) {
        let kept: Vec<&str> = ClientFeature::ALL
            .iter()
            .filter(|wish| !self.is_let(**wish))
            .map(|wish| wish.name())
            .chain(["tasks"])
            .collect();
        let Some(params) = get_mut(whole, "params") else { return };
        if let Some(capabilities) = get_mut(params, "capabilities") {
            remove(capabilities, &kept);
        }
        if let Some(capabilities) = get_mut(params, "_meta").and_then(|meta| get_mut(meta, CAPABILITIES)) {
            remove(capabilities, &kept);
        }
    }

    fn tells(&mut self, method: &str, whole: &Value) {
        if !is_notification(Side::Client, self.era(), method) {
            return self.tell(format!("unknown notification of the client: {}", shown(method)));
        }
        if method == "notifications/cancelled" {
            let id = get(params(whole), "requestId").and_then(Id::of);
            // A request that is not pending has ended, or never existed: these cases cannot be distinguished.
            if id.and_then(|id| self.asked.remove(&id)).is_none() {
                return;
            }
        }
        if method == "notifications/roots/list_changed" && !self.is_let(ClientFeature::Roots) {
            return;
        }
        self.out.push(Out::Server(written(whole)));
    }

    fn answers_server(&mut self, id: Option<&Id>, whole: &Value) {
        match id.is_some_and(|id| self.wanted.remove(id)) {
            true => self.out.push(Out::Server(written(whole))),
            false => self.tell("response of the client to an unknown request"),
        }
    }
}

/// Returns the era of a request, or the unknown revision.
fn era(params: &Value) -> Result<Era, String> {
    match get(params, "_meta").and_then(|meta| get(meta, VERSION)) {
        None => Ok(Era::Handshake),
        Some(_) => {
            let version = get(params, "_meta").and_then(|meta| text_of(meta, VERSION)).unwrap_or("none");
            if STATELESS.contains(&version) { Ok(Era::Stateless) } else { Err(version.to_owned()) }
        }
    }
}
