//! Headers that repeat parts of the body, as revision 2026-07-28 requires, so that intermediaries can route by them. Each is
//! derived only from the message that is sent.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stockade_text::Value;

use crate::edit::{at, get, text_of};

/// Where a method has the name of its subject.
const NAMED: &[(&str, &str)] = &[("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")];

/// Member of a schema that sets a header's name.
const ANNOTATION: &str = "x-mcp-header";

/// Maximum number of tools, and of headers of one tool.
const MAX_TOOLS: usize = 4096;
const MAX_HEADERS: usize = 32;

/// Maximum depth in a schema at which headers are defined.
const MAX_DEPTH: usize = 8;

/// Headers that mirror arguments of tools: the path of the argument, and the name of the header.
#[derive(Debug, Default)]
pub(super) struct Mirrors(HashMap<String, Vec<(Vec<String>, String)>>);

impl Mirrors {
    /// Stores the headers of listed tools.
    pub(super) fn learn(&mut self, tools: &[&Value]) {
        for tool in tools {
            let (Some(name), Some(schema)) = (text_of(tool, "name"), get(tool, "inputSchema")) else {
                continue;
            };
            let mut found = Vec::new();
            annotated(schema, &mut Vec::new(), &mut found);
            if found.is_empty() {
                self.0.remove(name);
            } else if self.0.len() < MAX_TOOLS {
                self.0.insert(name.to_owned(), found);
            }
        }
    }

    /// Returns the headers of a request with this method.
    pub(super) fn headers(&self, version: &str, method: &str, params: &Value) -> Vec<(String, String)> {
        let mut headers = vec![
            ("MCP-Protocol-Version".to_owned(), version.to_owned()),
            ("Mcp-Method".to_owned(), encoded(method)),
        ];
        if let Some((_, member)) = NAMED.iter().find(|row| row.0 == method)
            && let Some(name) = text_of(params, member)
        {
            headers.push(("Mcp-Name".to_owned(), encoded(name)));
        }
        if method == "tools/call" {
            let mirrored = text_of(params, "name").and_then(|name| self.0.get(name));
            for (path, header) in mirrored.into_iter().flatten() {
                let path: Vec<&str> =
                    std::iter::once("arguments").chain(path.iter().map(String::as_str)).collect();
                if let Some(value) = at(params, &path).and_then(spelled) {
                    headers.push((format!("Mcp-Param-{header}"), encoded(&value)));
                }
            }
        }
        headers
    }
}

/// Finds the properties of a schema that define a header, only below other properties.
fn annotated(schema: &Value, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let Some(Value::Table(properties)) = get(schema, "properties") else { return };
    for property in properties {
        path.push(property.key.clone());
        let inner = &property.node.value;
        let header = text_of(inner, ANNOTATION).filter(|name| is_token(name));
        let is_new = |name: &str| !found.iter().any(|known| known.1.eq_ignore_ascii_case(name));
        if let Some(header) = header.filter(|name| is_new(name) && found.len() < MAX_HEADERS) {
            found.push((path.clone(), header.to_owned()));
        }
        if path.len() < MAX_DEPTH {
            annotated(inner, path, found);
        }
        path.pop();
    }
}

/// Whether a text is a valid header name.
fn is_token(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Returns a value in the format of a header, or `None` if it has none.
fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(written) => Some(written.clone()),
        Value::Flag(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Encodes a text for a header: text that would not survive unchanged is encoded in Base64.
fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if is_plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::made;
    use serde_json::json;

    #[test]
    fn headers_must_agree_with_the_body() {
        let mut mirrors = Mirrors::default();
        let tool = made(&json!({"name": "t", "inputSchema": {"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "third": {"type": "string", "x-mcp-header": "region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "evil": {"type": "string", "x-mcp-header": "A: b\r\nCookie"},
        }}}));
        mirrors.learn(&[&tool]);
        let params = made(
            &json!({"name": "t", "arguments": {"region": "a\nb", "third": "x", "deep": {"n": 7}, "evil": "y"}}),
        );
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            mirrors.headers("2026-07-28", "tools/call", &params),
            [
                header("MCP-Protocol-Version", "2026-07-28"),
                header("Mcp-Method", "tools/call"),
                header("Mcp-Name", "t"),
                header("Mcp-Param-N", "7"),
                header("Mcp-Param-Region", "=?base64?YQpi?="),
            ]
        );
        for (text, wanted) in [
            ("plain text", "plain text"),
            (" a", "=?base64?IGE=?="),
            ("é", "=?base64?w6k=?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
            ("a\r\nHost: evil", "=?base64?YQ0KSG9zdDogZXZpbA==?="),
        ] {
            assert_eq!(encoded(text), wanted);
        }
        let params = made(&json!({"uri": "note://a"}));
        assert_eq!(
            mirrors.headers("v", "resources/read", &params).last(),
            Some(&header("Mcp-Name", "note://a"))
        );
    }
}
