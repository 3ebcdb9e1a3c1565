//! Messages of the server.

use std::time::Instant;

use stockade_text::Value;

use super::{Conversation, Judge, Looked, MAX_GARBAGE, MAX_IN_FLIGHT, Out, own_messages, params};
use crate::confusable_names::shown;
use crate::edit::get;
use crate::message::{Id, Kind, Message, Unread, answers, read};
use crate::methods::{ClientFeature, Era, Side, Subject, is_notification, request};
use crate::written::written;

impl<J: Judge> Conversation<J> {
    /// Handles a line of the server.
    pub(crate) fn hear_server(&mut self, line: &[u8], now: Instant) -> Vec<Out> {
        if self.gone.is_none() {
            match read(line) {
                Err(unread) => self.garbage(line, &unread),
                Ok(Message { kind, whole }) => {
                    self.garbage = 0;
                    match kind {
                        Kind::Request(id, method) => self.wants(id, &method, &whole.value),
                        Kind::Notification(method) => self.notes(&method, &whole.value, now),
                        Kind::Result(id) => self.has_answered(&id, whole.value),
                        Kind::Error(id) => self.has_failed(id.as_ref(), &whole.value),
                    }
                }
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Handles a line above the maximum length, whose subject is unknown.
    pub(crate) fn server_overflowed(&mut self) -> Vec<Out> {
        self.fail_all("the server sent a message that exceeds the maximum length");
        std::mem::take(&mut self.out)
    }

    fn garbage(&mut self, line: &[u8], unread: &Unread) {
        self.garbage += 1;
        self.tell(format!("invalid line of the server: {}", unread.why));
        if let Some(id) = answers(line).filter(|id| self.asked.contains_key(id)) {
            self.asked.remove(&id);
            let why = format!("ambiguous response of the server: {}", unread.why);
            self.error(&id, own_messages::WITHHELD, &why);
        }
        if self.garbage >= MAX_GARBAGE {
            let why = format!("the server sent {MAX_GARBAGE} invalid lines in a row");
            self.gone = Some(why.clone());
            self.fail_all(&why);
            self.out.push(Out::Stop(why));
        }
    }

    /// Handles a request of the server, which exists in the era of the handshake.
    fn wants(&mut self, id: Id, method: &str, whole: &Value) {
        let why = match request(Side::Server, Era::Handshake, method) {
            _ if !self.is_handshake => Some("servers of this protocol version send no requests".to_owned()),
            None => Some(format!("unknown server request `{}`", shown(method))),
            Some(_) if self.wanted.len() >= MAX_IN_FLIGHT || self.wanted.contains(&id) => {
                Some("too many requests are waiting for a response, or one with this id is".to_owned())
            }
            Some(Subject::ClientFeature(wish)) => self.why_not(wish, params(whole)),
            Some(_) => None,
        };
        match why {
            Some(why) => self.out.push(Out::Server(own_messages::error(
                Some(&id),
                own_messages::NO_METHOD,
                &why,
                None,
            ))),
            None => {
                self.wanted.insert(id);
                self.out.push(Out::Client(written(whole)));
            }
        }
    }

    fn notes(&mut self, method: &str, whole: &Value, now: Instant) {
        if !is_notification(Side::Server, self.era(), method) {
            return self.tell(format!("unknown notification of the server: {}", shown(method)));
        }
        let said = params(whole);
        // A server may send requests within the status of a task.
        for within in [Some(said), get(said, "task")].into_iter().flatten() {
            if let Err(why) = self.wishes(within) {
                return self.tell(format!("a notification of the server was dropped: {why}"));
            }
        }
        let id = |name: &str| get(said, name).and_then(Id::of);
        match method {
            "notifications/cancelled" => {
                let of_server = id("requestId").is_some_and(|id| self.wanted.remove(&id));
                // A server ends subscriptions with this notification, and no other request of the client.
                let ends = id("requestId")
                    .filter(|id| self.asked.get(id).is_some_and(|asked| asked.subject == Subject::Listen));
                if !of_server && ends.and_then(|id| self.asked.remove(&id)).is_none() {
                    return;
                }
            }
            "notifications/progress" => {
                let token = id("progressToken");
                let about = self.asked.values_mut().find(|asked| token.is_some() && asked.token == token);
                match about {
                    Some(asked) => asked.heard = now,
                    None => return,
                }
            }
            // All tools have to be checked again before they can be called.
            "notifications/tools/list_changed" => self.tools.clear(),
            _ => {}
        }
        match self.judge.text(method, &said.to_json()) {
            Ok(Looked::Fine) => self.out.push(Out::Client(written(whole))),
            Ok(Looked::Cleaned { found: why, .. } | Looked::Withheld(why)) | Err(why) => {
                self.tell(format!("a notification of the server was dropped: {why}"));
            }
        }
    }

    fn has_failed(&mut self, id: Option<&Id>, whole: &Value) {
        let Some((id, _)) = id.and_then(|id| self.asked.remove_entry(id)) else {
            return self.tell("response of the server to an unknown request");
        };
        let error = get(whole, "error").unwrap_or(whole);
        if sends_to_a_page(error) {
            let why = "it asks to open a web page, whose content cannot be checked";
            let why = self.turn_away(ClientFeature::Elicitation.name(), "url", why);
            return self.error(&id, own_messages::WITHHELD, &why);
        }
        match self.judge.text("error", &error.to_json()) {
            Ok(Looked::Fine) => self.out.push(Out::Client(written(whole))),
            Ok(Looked::Cleaned { found: why, .. } | Looked::Withheld(why)) | Err(why) => {
                let code = match get(error, "code").and_then(Id::of) {
                    Some(Id::Number(code)) => i32::try_from(code).unwrap_or(own_messages::WITHHELD),
                    _ => own_messages::WITHHELD,
                };
                self.error(&id, code, &format!("the server failed; its message is withheld: {why}"));
            }
        }
    }
}

/// Error code that asks the client to open a web page for the user.
const PAGE_REQUIRED: f64 = -32042.0;

/// Whether an error asks the client for something that the server may not request. A code may be encoded in several ways.
fn sends_to_a_page(error: &Value) -> bool {
    let is_code = match get(error, "code") {
        Some(Value::Number(code) | Value::Text(code)) => {
            code.trim().parse::<f64>().is_ok_and(|code| (code - PAGE_REQUIRED).abs() < 0.5)
        }
        _ => false,
    };
    is_code
        || get(error, "data")
            .is_some_and(|data| ["elicitations", "inputRequests"].iter().any(|key| get(data, key).is_some()))
}
