//! Tool calls in transcripts of harnesses: a line of JSON in, the calls that it records out.
//!
//! Claude Code writes `~/.claude/projects/PROJECT/SESSION.jsonl`: the answers of the model with their calls, and the working
//! directory in every line. Codex writes `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`: one item a line, the working
//! directory in some of them. The form of a line tells which it is, and every other line has no calls.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stockade_guard::audit::Timestamp;
use stockade_guard::command::shell::quote_argv;

use super::call::{Origin, ToolCall};

/// Maximum length of a line in bytes. A call with more is not one that a rule could be proposed for.
pub const MAX_LINE: usize = 1 << 20;

/// Maximum number of calls in a line.
const MAX_CALLS: usize = 256;

/// A call in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The call, with the working directory as its workspace.
    pub call: ToolCall,
    /// When it was made, if the line tells.
    pub at: Option<Timestamp>,
}

/// Reads the lines of one transcript, the oldest first.
#[derive(Debug, Default)]
pub struct TranscriptReader {
    /// The working directory of the last line that named one.
    cwd: Option<PathBuf>,
}

impl TranscriptReader {
    /// Returns the calls of the next line.
    ///
    /// # Errors
    /// When the line is longer than [`MAX_LINE`], or is not a JSON object.
    pub fn calls(&mut self, line: &str) -> Result<Vec<RecordedCall>, String> {
        if line.len() > MAX_LINE {
            return Err(format!("it is longer than {MAX_LINE} bytes"));
        }
        let value: Value = serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
        let line = value.as_object().ok_or("it is not a JSON object")?;
        let payload = line.get("payload").and_then(Value::as_object);
        let named = directory(line).or_else(|| payload.and_then(directory));
        self.cwd = named.or_else(|| self.cwd.take());
        let at = text(line, "timestamp").and_then(timestamp);
        let found = match payload {
            Some(item) => of_codex(item).into_iter().collect(),
            None => of_claude(line),
        };
        let origin = self.origin();
        Ok(found
            .into_iter()
            .map(|(tool, input)| RecordedCall { call: ToolCall::of(&tool, input, origin.clone()), at })
            .collect())
    }

    fn origin(&self) -> Origin {
        let cwd = self.cwd.clone().unwrap_or_default();
        Origin { session: String::new(), workspace: cwd.clone(), cwd }
    }
}

/// Returns the calls in an answer of the model.
fn of_claude(line: &Map<String, Value>) -> Vec<(String, Value)> {
    let content = line.get("message").and_then(|message| message.get("content")).and_then(Value::as_array);
    let parts = content.into_iter().flatten().filter_map(Value::as_object);
    let used = parts.filter(|part| text(part, "type") == Some("tool_use"));
    let calls = used.filter_map(|part| Some((text(part, "name")?.to_owned(), part.get("input")?.clone())));
    calls.filter(|(_, input)| input.is_object()).take(MAX_CALLS).collect()
}

/// Returns the call that an item is.
fn of_codex(item: &Map<String, Value>) -> Option<(String, Value)> {
    match text(item, "type")? {
        "function_call" => {
            let input: Value = serde_json::from_str(text(item, "arguments")?).ok()?;
            Some((text(item, "name")?.to_owned(), with_command(input)?))
        }
        // A patch is a text, not an object.
        "custom_tool_call" => {
            Some((text(item, "name")?.to_owned(), Value::from_iter([("input", text(item, "input")?)])))
        }
        "local_shell_call" => Some(("local_shell".to_owned(), with_command(item.get("action")?.clone())?)),
        _ => None,
    }
}

/// Returns arguments with the command as a text, as hooks get it. Codex writes `["bash", "-lc", TEXT]` for what its hook calls TEXT.
fn with_command(mut input: Value) -> Option<Value> {
    let members = input.as_object_mut()?;
    if let Some(words) = members.get("command").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
        let command = match words.as_slice() {
            [shell, "-lc" | "-c", line] if ["bash", "sh", "zsh"].contains(&base(shell)) => (*line).to_owned(),
            words => quote_argv(words.iter().copied()),
        };
        members.insert("command".to_owned(), command.into());
    }
    Some(input)
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn directory(members: &Map<String, Value>) -> Option<PathBuf> {
    text(members, "cwd").map(Path::new).filter(|path| path.is_absolute()).map(Path::to_owned)
}

fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    members.get(name).and_then(Value::as_str)
}

/// Parses `2026-11-21T09:30:00.123Z`, with any number of digits behind the point.
fn timestamp(text: &str) -> Option<Timestamp> {
    let (seconds, fraction) =
        text.strip_suffix('Z')?.split_once('.').unwrap_or((text.strip_suffix('Z')?, ""));
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    Timestamp::parse(&format!("{seconds}.{digits}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(lines: &[Value]) -> Vec<RecordedCall> {
        let mut reader = TranscriptReader::default();
        lines.iter().flat_map(|line| reader.calls(&line.to_string()).unwrap()).collect()
    }

    #[test]
    fn calls_of_claude_code_are_read() {
        let lines = [
            json!({"type": "summary", "summary": "x", "leafUuid": "y"}),
            json!({"type": "user", "cwd": "/w", "message": {"role": "user", "content": "run it"}}),
            json!({"type": "assistant", "cwd": "/w", "timestamp": "2026-11-21T09:30:00.123Z", "message": {"content": [
                {"type": "text", "text": "ok"},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "npm ci"}},
                {"type": "tool_use", "id": "u", "name": "WebFetch", "input": {"url": "https://docs.rs/"}},
                {"type": "tool_use", "id": "v", "name": "Broken", "input": "text"}
            ]}}),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}}),
        ];
        let calls = read(&lines);
        let [first, second] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!((first.call.tool.as_str(), &first.call.input["command"]), ("Bash", &json!("npm ci")));
        assert_eq!(first.call.origin.workspace, Path::new("/w"));
        assert_eq!(first.at, Timestamp::parse("2026-11-21T09:30:00.123000Z"));
        assert_eq!(second.call.tool, "WebFetch");
    }

    #[test]
    fn calls_of_codex_are_read() {
        let item = |payload: Value| json!({"timestamp": "2026-11-21T09:30:00Z", "type": "response_item", "payload": payload});
        let call = |name: &str, arguments: Value| {
            item(
                json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": "c"}),
            )
        };
        let lines = [
            json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}),
            call("shell", json!({"command": ["bash", "-lc", "cargo test && ls"], "workdir": "/w"})),
            call("shell", json!({"command": ["git", "push", "a b"]})),
            call("exec_command", json!({"cmd": "npm ci"})),
            item(json!({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}})),
            item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n"})),
            item(json!({"type": "function_call", "name": "shell", "arguments": "{"})),
            item(json!({"type": "message", "role": "user", "content": []})),
        ];
        let calls = read(&lines);
        let commands: Vec<&Value> = calls.iter().filter_map(|one| one.call.input.get("command")).collect();
        assert_eq!(commands, [&json!("cargo test && ls"), &json!("git push 'a b'"), &json!("ls")]);
        assert_eq!(calls.len(), 5);
        assert!(calls.iter().all(|one| one.call.origin.cwd == Path::new("/w") && one.at.is_some()));
    }

    #[test]
    fn other_lines_are_errors_or_have_no_calls() {
        let mut reader = TranscriptReader::default();
        for line in
            ["", "x", "[]", "null", "{\"a\":", &"[".repeat(100_000), &format!("\"{}\"", "a".repeat(MAX_LINE))]
        {
            assert!(reader.calls(line).is_err(), "{}", line.len());
        }
        for line in [
            "{}",
            "{\"payload\":{}}",
            "{\"payload\":[]}",
            "{\"message\":{\"content\":{}}}",
            "{\"message\":{\"content\":[{\"type\":\"tool_use\"}]}}",
            "{\"payload\":{\"type\":\"function_call\",\"name\":1,\"arguments\":\"{}\"}}",
            "{\"payload\":{\"type\":\"local_shell_call\",\"action\":{\"command\":[1]}}}",
            "{\"cwd\":\"relative\",\"timestamp\":\"é.1Z\"}",
        ] {
            assert_eq!(reader.calls(line), Ok(Vec::new()), "{line}");
        }
        assert_eq!(reader.cwd, None);
    }

    /// JSON whose members have names that the reader looks for, in any form.
    fn any_line() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "(?s).{0,12}".prop_map(Value::from),
            prop::sample::select(vec![
                "tool_use",
                "function_call",
                "local_shell_call",
                "custom_tool_call",
                "Bash",
                "{}",
                "/w"
            ])
            .prop_map(Value::from),
        ];
        let names = vec![
            "type",
            "message",
            "content",
            "name",
            "input",
            "payload",
            "arguments",
            "action",
            "command",
            "cwd",
            "timestamp",
        ];
        leaf.prop_recursive(5, 64, 6, move |inner| {
            let members = prop::collection::vec((prop::sample::select(names.clone()), inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Value::from),
                members.prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        /// Whatever a line is, its calls have a name and a table of arguments, and what they ask for is found or refused.
        #[test]
        fn every_call_of_any_line_can_be_decided(lines in prop::collection::vec(any_line(), 1..4), text in "(?s).{0,80}") {
            let mut reader = TranscriptReader::default();
            reader.calls(&text).ok();
            for line in lines {
                for recorded in reader.calls(&line.to_string()).unwrap_or_default() {
                    prop_assert!(recorded.call.input.is_object() && recorded.call.server.is_none());
                    prop_assert!(recorded.call.origin.cwd == Path::new("") || recorded.call.origin.cwd.is_absolute());
                    crate::requests::requested(&recorded.call).ok();
                }
            }
        }
    }
}
