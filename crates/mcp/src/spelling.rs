//! Names that some readers take for one another: those of some languages ignore case, so that `Method` is `method` to one end and
//! an unknown member to the other.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use stockade_text::{TableEntry, Value};

/// The names of members that mean something to the protocol, in any revision.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "_meta", "action", "annotations", "argument", "arguments", "audience", "blob", "cacheScope", "capabilities", "clientCapabilities",
    "clientInfo", "code", "completion", "content", "contents", "context", "cursor", "data", "description", "elicitation",
    "elicitationId", "error", "experimental", "extensions", "hasMore", "icons", "id", "includeContext", "input", "inputRequests",
    "inputResponses", "inputSchema", "instructions", "isError", "jsonrpc", "level", "listChanged", "logger", "logging", "maxTokens",
    "message", "messages", "metadata", "method", "mimeType", "mode", "model", "modelPreferences", "name", "nextCursor",
    "notifications", "outputSchema", "params", "priority", "progress", "progressToken", "prompts", "protocolVersion", "reason", "ref",
    "requestId", "requestState", "requestedSchema", "resource", "resourceTemplates", "resources", "result", "resultType", "role", "roots",
    "sampling", "serverInfo", "size", "stopReason", "structuredContent", "subscribe", "supportedVersions", "systemPrompt", "task", "taskId",
    "tasks", "temperature", "text", "title", "toolChoice", "tools", "total", "ttl", "ttlMs", "type", "uri",
    "uriTemplate", "url", "values", "version", "websiteUrl",
];

/// The members below which somebody else chooses the names: data, and schemas of data.
#[rustfmt::skip]
const FREE: &[&str] = &[
    "$defs", "_meta", "arguments", "const", "data", "default", "definitions", "dependentSchemas", "enum", "examples", "experimental",
    "extensions", "input", "inputSchema", "metadata", "outputSchema", "patternProperties", "properties", "requestedSchema", "structuredContent",
];

/// The same within `_meta`, where everybody else chooses names too.
const META: &[&str] = &[
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/subscriptionId",
    "progressToken",
];

type Meant = HashMap<String, &'static str>;

static PROTOCOL: LazyLock<Meant> = LazyLock::new(|| by_folded(NAMES));
static OF_META: LazyLock<Meant> = LazyLock::new(|| by_folded(META));

fn by_folded(names: &[&'static str]) -> Meant {
    names.iter().map(|name| (folded(name), *name)).collect()
}

/// Says which name could be taken for another one.
pub(super) fn misspelt(value: &Value) -> Option<String> {
    match value {
        Value::List(items) => items.iter().find_map(|item| misspelt(&item.value)),
        Value::Table(members) => of_table(members),
        _ => None,
    }
}

/// As deep as the value goes, which is never deeper than its parser lets it.
fn of_table(members: &[TableEntry]) -> Option<String> {
    let within = |TableEntry { key, node, .. }: &TableEntry| match &node.value {
        Value::Table(members) if key == "_meta" => confused(members, &OF_META),
        // What a person fills into a form, whose fields the server has named.
        inner @ Value::Table(_) if key == "content" && inner.get("type").is_none() => None,
        inner => {
            if FREE.contains(&key.as_str()) {
                None
            } else {
                misspelt(inner)
            }
        }
    };
    confused(members, &PROTOCOL).or_else(|| members.iter().find_map(within))
}

fn confused(members: &[TableEntry], names: &Meant) -> Option<String> {
    let mut seen = HashSet::new();
    members.iter().find_map(|TableEntry { key, .. }| {
        let folded = folded(key);
        if let Some(meant) = names.get(&folded).filter(|meant| **meant != key) {
            return Some(format!("it has a member `{}`, which some take for `{meant}`", shown(key)));
        }
        (!seen.insert(folded)).then(|| format!("it has two members that some take for `{}`", shown(key)))
    })
}

/// A name without its case, as the most generous reader has it: two letters beyond ASCII fold into it.
fn folded(name: &str) -> String {
    let plain = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(plain).collect()
}

/// A name as it may be repeated in a sentence.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_default).collect()
}
