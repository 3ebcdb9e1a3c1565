//! Member names that some parsers confuse: parsers that ignore case read `Method` as `method`, while others see an unknown
//! member.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use stockade_text::{TableEntry, Value};

/// Member names with a meaning in any revision of the protocol.
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

/// Members whose content has freely chosen names: data, and schemas of data.
#[rustfmt::skip]
const FREE: &[&str] = &[
    "$defs", "_meta", "arguments", "const", "data", "default", "definitions", "dependentSchemas", "enum", "examples", "experimental",
    "extensions", "input", "inputSchema", "metadata", "outputSchema", "patternProperties", "properties", "requestedSchema", "structuredContent",
];

/// The same within `_meta`.
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

/// Returns the reason if a name could be confused with another.
pub(super) fn misspelt(value: &Value) -> Option<String> {
    match value {
        Value::List(items) => items.iter().find_map(|item| misspelt(&item.value)),
        Value::Table(members) => of_table(members),
        _ => None,
    }
}

/// Recurses to the depth of the value, which its parser limits.
fn of_table(members: &[TableEntry]) -> Option<String> {
    let within = |TableEntry { key, node, .. }: &TableEntry| match &node.value {
        Value::Table(members) if key == "_meta" => confused(members, &OF_META),
        // Values of a form's fields, whose names the server has chosen.
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
            return Some(format!("it has a member `{}`, which some parsers read as `{meant}`", shown(key)));
        }
        (!seen.insert(folded))
            .then(|| format!("it has two members that some parsers read as `{}`", shown(key)))
    })
}

/// Folds the case of a name like the most lenient parser: two non-ASCII letters fold into ASCII ones.
fn folded(name: &str) -> String {
    let plain = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(plain).collect()
}

/// Escapes a name for a message.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_default).collect()
}
