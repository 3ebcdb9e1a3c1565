//! Operations in the body of a request: those of GraphQL, and calls of JSON-RPC.
//!
//! Servers read JSON in different ways: the first or the last of two equal members, `Query` as `query`, a body by what it looks
//! like. So a body that could be read in more than one way is unread: no entry allows it, and an entry that denies operations
//! refuses it.

mod graphql;
mod messages;
mod operation;

use messages::{Message, NoMessages};
pub(super) use operation::Unread;
use operation::{MAX_OPERATIONS, Operation};

/// Maximum length of a body that is read for its operations.
pub(super) const MAX_READ: usize = 8 << 20;

/// Names in a query that some servers prefer to the body.
pub(super) const NAMES_IN_QUERY: [&str; 8] =
    ["query", "operationName", "variables", "extensions", "id", "documentId", "method", "params"];

/// The kind of operations that an entry lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Graphql,
    Rpc,
}

/// The condition of an entry: `graphql=query|mutation:addStar`, `rpc=tools/list|tools/call:search`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OperationRule {
    protocol: Protocol,
    patterns: Vec<Pattern>,
}

/// A kind, and a name if only this one is meant. Each may end with `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    kind: String,
    name: Option<String>,
}

/// A body, read for its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    is_empty: bool,
    graphql: Result<Vec<Operation>, Unread>,
    rpc: Result<Vec<Operation>, Unread>,
    /// The identifiers of its calls as JSON, and whether they are in an array.
    calls: Option<RpcCalls>,
}

/// The calls of JSON-RPC in a body, which expect an answer each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RpcCalls {
    ids: Vec<String>,
    is_batch: bool,
}

/// Maximum length of an identifier that is repeated in an answer.
const MAX_ID: usize = 256;

/// The code of the error that answers a refused call: of those that the protocol leaves to servers.
const REFUSED: i32 = -32001;

impl RpcCalls {
    fn of(messages: &[Message], is_batch: bool) -> Option<Self> {
        let ids: Vec<_> = messages.iter().filter(|message| message.method.is_some()).collect();
        let ids: Vec<_> = ids
            .into_iter()
            .filter_map(|message| message.id.clone())
            .filter(|id| id.len() <= MAX_ID)
            .collect();
        (!ids.is_empty()).then_some(Self { ids, is_batch })
    }

    /// Returns the answer to refused calls: an error for each of them. `details` is a document of JSON.
    pub(super) fn refused(&self, reason: &str, details: &str) -> String {
        let message = serde_json::Value::from(format!("refused by stockade: {reason}"));
        let details = details.trim_end();
        let answer = |id: &String| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{REFUSED},"message":{message},"data":{details}}}}}"#
            )
        };
        let answers: Vec<_> = self.ids.iter().map(answer).collect();
        if self.is_batch { format!("[{}]\n", answers.join(",")) } else { answers.concat() + "\n" }
    }
}

impl Reading {
    /// Reads a body that is declared as JSON. `is_declared` says whether its head does so, in one way only.
    pub(super) fn of(is_declared: bool, body: &[u8]) -> Self {
        let unread = |why| Self { is_empty: body.is_empty(), graphql: Err(why), rpc: Err(why), calls: None };
        if !is_declared {
            return unread(Unread::Kind);
        }
        let messages = std::str::from_utf8(body).map_err(|_| NoMessages::Json).and_then(messages::read);
        match messages {
            Err(NoMessages::Json) => unread(Unread::Json),
            Err(NoMessages::TooMany) => unread(Unread::TooMany),
            Ok(messages) => {
                let (graphql, rpc) = (all_of(&messages, in_graphql), all_of(&messages, in_rpc));
                let is_batch = body.trim_ascii_start().starts_with(b"[");
                let calls = rpc.is_ok().then(|| RpcCalls::of(&messages, is_batch)).flatten();
                Self { is_empty: false, graphql, rpc, calls }
            }
        }
    }

    /// Whether there is no body.
    pub(super) const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns its operations as a condition lists them, if they can be listed.
    pub(super) fn written(&self) -> Option<String> {
        let [graphql, rpc] = [(&self.graphql, "graphql"), (&self.rpc, "rpc")].map(|(read, word)| {
            let mut operations = read.as_ref().ok()?.clone();
            operations.sort();
            operations.dedup();
            let written: Option<Vec<String>> = operations.iter().map(Operation::written).collect();
            written.filter(|list| !list.is_empty()).map(|list| format!("{word}={}", list.join("|")))
        });
        graphql.or(rpc)
    }

    /// Returns its calls of JSON-RPC, if it consists of them.
    pub(super) fn into_calls(self) -> Option<RpcCalls> {
        self.calls
    }

    /// Returns its operations for the record.
    pub(super) fn shown(&self) -> Vec<String> {
        let both = [&self.graphql, &self.rpc].into_iter().filter_map(|read| read.as_ref().ok());
        both.flatten().take(MAX_SHOWN).map(Operation::shown).collect()
    }
}

/// Maximum number of operations in a record.
const MAX_SHOWN: usize = 16;

fn all_of(
    messages: &[Message],
    read: fn(&Message, &mut Vec<Operation>) -> Result<(), Unread>,
) -> Result<Vec<Operation>, Unread> {
    let mut operations = Vec::new();
    messages.iter().try_for_each(|message| read(message, &mut operations))?;
    if operations.len() > MAX_OPERATIONS { Err(Unread::TooMany) } else { Ok(operations) }
}

fn in_graphql(message: &Message, operations: &mut Vec<Operation>) -> Result<(), Unread> {
    message.is_plain()?;
    if message.is_stored {
        return Err(Unread::Stored);
    }
    let query = message.query.as_deref().filter(|_| !message.is_rpc);
    let query = query.ok_or(if message.is_rpc { Unread::Unknown } else { Unread::Stored })?;
    operations.extend(graphql::operations(query)?);
    Ok(())
}

fn in_rpc(message: &Message, operations: &mut Vec<Operation>) -> Result<(), Unread> {
    message.is_plain()?;
    if message.is_graphql {
        return Err(Unread::Unknown);
    }
    match &message.method {
        Some(method) if !message.is_answer => {
            let is_about_address = method.starts_with("resources/");
            let name = if is_about_address { &message.uri } else { &message.name };
            operations.push(Operation { kind: method.clone(), name: name.clone() });
            Ok(())
        }
        // An answer to a call of the server calls nothing.
        None if message.is_answer => Ok(()),
        _ => Err(Unread::Unknown),
    }
}

impl OperationRule {
    /// Parses `graphql=…` or `rpc=…`; nothing for another word.
    ///
    /// # Errors
    /// When the list is invalid: what to write instead.
    pub(super) fn read(word: &str) -> Option<Result<Self, (String, String)>> {
        let (name, list) = word.split_once('=')?;
        let (protocol, example) = match name {
            "graphql" => (Protocol::Graphql, "graphql=query|mutation:addStar"),
            "rpc" => (Protocol::Rpc, "rpc=tools/list|tools/call:search"),
            _ => return None,
        };
        let patterns: Option<Vec<_>> = list.split('|').map(|item| Pattern::read(item, protocol)).collect();
        let wrong = || (format!("`{}` is not a list of operations", list.escape_debug()), example);
        let patterns = patterns.filter(|all| all.len() <= MAX_OPERATIONS).ok_or_else(wrong);
        let fix = |(why, example)| (why, format!("write `{example}`"));
        Some(patterns.map(|patterns| Self { protocol, patterns }).map_err(fix))
    }

    /// Whether it lists all operations of a body, of which there is one at least.
    pub(super) fn lists_all(&self, reading: &Reading) -> Result<bool, Unread> {
        let operations = self.of(reading)?;
        Ok(operations.iter().all(|one| self.patterns.iter().any(|pattern| pattern.is(one))))
    }

    /// Whether it lists an operation of a body, in any reading by servers.
    pub(super) fn lists_any(&self, reading: &Reading) -> Result<bool, Unread> {
        let operations = self.of(reading)?;
        Ok(operations.iter().any(|one| self.patterns.iter().any(|pattern| pattern.may_be(one))))
    }

    fn of<'r>(&self, reading: &'r Reading) -> Result<&'r [Operation], Unread> {
        let read = if self.protocol == Protocol::Graphql { &reading.graphql } else { &reading.rpc };
        read.as_deref().map_err(|why| *why)
    }
}

impl Pattern {
    fn read(item: &str, protocol: Protocol) -> Option<Self> {
        let (kind, name) = item.split_once(':').map_or((item, None), |(kind, name)| (kind, Some(name)));
        let is_pattern = |text: &str| {
            let stem = text.strip_suffix('*').unwrap_or(text);
            !text.is_empty() && !stem.contains('*') && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let is_known = protocol == Protocol::Rpc || graphql::KINDS.contains(&kind);
        let is_valid = is_pattern(kind) && name.is_none_or(is_pattern) && is_known;
        is_valid.then(|| Self { kind: kind.to_owned(), name: name.map(str::to_owned) })
    }

    fn is(&self, operation: &Operation) -> bool {
        let is_named = |wanted: &str| operation.name.as_deref().is_some_and(|name| fits(wanted, name));
        fits(&self.kind, &operation.kind) && self.name.as_deref().is_none_or(is_named)
    }

    /// Whether it means an operation for a server that ignores case, or that finds its name where this one does not.
    fn may_be(&self, operation: &Operation) -> bool {
        let folded = |wanted: &str, text: &str| fits(&wanted.to_lowercase(), &text.to_lowercase());
        let is_named = |wanted: &str| operation.name.as_deref().is_none_or(|name| folded(wanted, name));
        folded(&self.kind, &operation.kind) && self.name.as_deref().is_none_or(is_named)
    }
}

/// Whether a text is the wanted one, or begins with it if that ends with `*`.
fn fits(wanted: &str, text: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(stem) => text.starts_with(stem),
        None => wanted == text,
    }
}

#[cfg(test)]
mod tests;
