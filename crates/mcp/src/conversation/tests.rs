//! Conversations, line by line, before a judge that is made for them.
#![expect(clippy::disallowed_methods, reason = "begins at some time")]

mod eras;
mod hostile;
mod ordinary;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::{ClientFeature, Conversation, Definition, HookVerdict, Judge, Looked, Out, Pinned, Terms};

/// Judge that offers the tools whose names begin with `t`, and treats `EVIL` as an attack and `~` as an invisible character.
#[derive(Debug, Default)]
struct Strict {
    pins: HashMap<String, String>,
    /// How often definitions were held against them.
    pinned: usize,
    /// Whether there is no room for more of them.
    is_full: bool,
}

fn seen(value: &Json) -> Looked {
    let text = value.to_string();
    if text.contains("LONG") {
        return Looked::Withheld("too long".to_owned());
    }
    if !text.contains("EVIL") && !text.contains('~') {
        return Looked::Fine;
    }
    let cleaned = serde_json::from_str(&text.replace('~', "")).unwrap();
    Looked::Cleaned {
        found: "a finding".to_owned(),
        note: "a note".to_owned(),
        cleaned,
        is_hostile: text.contains("EVIL"),
    }
}

impl Judge for Strict {
    fn offers(&mut self, tool: &str) -> Result<bool, String> {
        Ok(tool.starts_with('t'))
    }

    fn call(&mut self, tool: &str, arguments: &Json) -> Result<HookVerdict, String> {
        Ok(match arguments["please"].as_str() {
            Some("deny") => HookVerdict::Deny(format!("{tool} is denied").into()),
            Some("ask") => HookVerdict::Ask(format!("{tool} is asked about").into()),
            Some("fail") => return Err("the reason is unknown".to_owned()),
            _ => HookVerdict::Silent,
        })
    }

    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> Result<String, String> {
        Ok(format!("{what} {rule}: {reason}"))
    }

    fn result(&mut self, _: &str, result: &Json) -> Result<Looked, String> {
        Ok(seen(result))
    }

    fn text(&mut self, _: &str, text: &Json) -> Result<Looked, String> {
        Ok(seen(text))
    }

    fn bytes(&mut self, _: &str, bytes: &[u8]) -> Result<Looked, String> {
        Ok(seen(&String::from_utf8_lossy(bytes).into_owned().into()))
    }

    fn pin(&mut self, tools: &[Definition]) -> Result<Vec<Pinned>, String> {
        self.pinned += 1;
        if self.is_full {
            return Err("there are too many".to_owned());
        }
        let one = |Definition { tool, written }: &Definition| {
            let known = self.pins.entry(tool.clone()).or_insert_with(|| written.clone());
            if known == written { Pinned::Same } else { Pinned::Changed("another one".to_owned()) }
        };
        Ok(tools.iter().map(one).collect())
    }
}

/// A conversation, and the time in it.
struct Talk {
    conversation: Conversation<Strict>,
    now: Instant,
}

impl Talk {
    fn new(lets: &[ClientFeature]) -> Self {
        let terms = Terms { lets: lets.to_vec(), patience: Duration::from_secs(10) };
        Self { conversation: Conversation::new(Strict::default(), terms), now: Instant::now() }
    }

    /// One that has begun with the handshake.
    fn begun(lets: &[ClientFeature]) -> Self {
        let mut talk = Self::new(lets);
        talk.client(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}));
        talk.server(&json!({"jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}}));
        talk
    }

    /// One whose server has listed these tools.
    fn with_tools(tools: &[&str]) -> Self {
        let mut talk = Self::begun(&[]);
        let tools: Vec<Json> = tools.iter().map(|name| json!({"name": name, "inputSchema": {}})).collect();
        talk.list(&json!(tools));
        talk
    }

    /// Lists tools, and returns the names that the client gets.
    fn list(&mut self, tools: &Json) -> Vec<String> {
        self.client(&json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}));
        let out = self.server(&json!({"jsonrpc": "2.0", "id": "list", "result": {"tools": tools}}));
        let list = clients(&out).pop().unwrap();
        let names = list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    }

    fn client(&mut self, message: &Json) -> Vec<Out> {
        self.conversation.hear_client(message.to_string().as_bytes(), self.now)
    }

    fn server(&mut self, message: &Json) -> Vec<Out> {
        self.conversation.hear_server(message.to_string().as_bytes(), self.now)
    }
}

/// What goes to the client.
fn clients(out: &[Out]) -> Vec<Json> {
    let lines = out.iter().filter_map(|one| match one {
        Out::Client(line) => Some(line),
        _ => None,
    });
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What goes to the server.
fn servers(out: &[Out]) -> Vec<Json> {
    let lines = out.iter().filter_map(|one| match one {
        Out::Server(line) => Some(line),
        _ => None,
    });
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call(id: impl Into<Json>, tool: &str, arguments: &Json) -> Json {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn result(id: impl Into<Json>, result: &Json) -> Json {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": result})
}
