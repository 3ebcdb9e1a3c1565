//! Texts of a structured tool result, and replacing them within its shape.

use std::collections::HashSet;

use serde_json::Value;

/// Maximum depth of a result.
const MAX_DEPTH: usize = 16;

/// Maximum length of a member name that counts as part of the shape.
const MAX_NAME: usize = 32;

/// Member names that tools of harnesses and MCP servers use. They are kept where names were not scanned.
const NAMES: &[&str] = &[
    "_meta",
    "activeForm",
    "agentId",
    "annotations",
    "answers",
    "appliedLimit",
    "appliedOffset",
    "audio",
    "backgroundTaskId",
    "base64",
    "blob",
    "bytes",
    "cell_id",
    "cell_type",
    "cells",
    "code",
    "codeText",
    "content",
    "data",
    "dimensions",
    "duration",
    "durationMs",
    "durationSeconds",
    "edit_mode",
    "error",
    "exitCode",
    "exit_code",
    "file",
    "filePath",
    "file_path",
    "filename",
    "filenames",
    "image",
    "interrupted",
    "isAsync",
    "isError",
    "isImage",
    "is_error",
    "lines",
    "message",
    "mimeType",
    "mode",
    "name",
    "newLines",
    "newStart",
    "newString",
    "newTodos",
    "new_source",
    "noOutputExpected",
    "numFiles",
    "numLines",
    "numMatches",
    "oldLines",
    "oldStart",
    "oldString",
    "oldTodos",
    "options",
    "originalFile",
    "originalHeight",
    "originalSize",
    "originalWidth",
    "output",
    "outputFile",
    "pages",
    "plan",
    "priority",
    "prompt",
    "query",
    "questions",
    "rawOutputPath",
    "replaceAll",
    "resource",
    "result",
    "results",
    "returnCodeInterpretation",
    "size",
    "source",
    "startLine",
    "status",
    "stderr",
    "stdout",
    "structuredContent",
    "structuredPatch",
    "success",
    "task",
    "task_id",
    "text",
    "title",
    "tool_use_id",
    "totalCount",
    "totalDurationMs",
    "totalLines",
    "totalPages",
    "totalTokens",
    "totalToolUseCount",
    "truncated",
    "type",
    "uri",
    "url",
    "usage",
    "userModified",
];

/// Texts that a shape needs, since they name the type of a part or its status; and the empty text.
const WORDS: &[&str] = &[
    "",
    "application/pdf",
    "async_launched",
    "audio",
    "base64",
    "code",
    "completed",
    "content",
    "count",
    "create",
    "delete",
    "file_unchanged",
    "files_with_matches",
    "image",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "in_progress",
    "insert",
    "markdown",
    "not_ready",
    "notebook",
    "parts",
    "pdf",
    "pending",
    "replace",
    "resource",
    "resource_link",
    "success",
    "text",
    "timeout",
    "update",
];

/// Returns each member name once, in the ways in which a model could read it: unchanged, with signs as spaces, and with the
/// parts of `camelCase` as words.
pub(super) fn names(result: &Value) -> [String; 3] {
    let (mut seen, mut names) = (HashSet::new(), Vec::new());
    collect_names(result, &mut seen, &mut names);
    let words: Vec<String> = names.iter().map(|name| words(name)).collect();
    let parts: Vec<String> = words.iter().map(|name| parts(name)).collect();
    [names.join("\n"), words.join("\n"), parts.join("\n")]
}

/// Recurses to the depth of the result, which its parser limits.
fn collect_names<'v>(value: &'v Value, seen: &mut HashSet<&'v str>, names: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, seen, names)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            names.extend(Some(name.as_str()).filter(|name| seen.insert(name)));
            collect_names(value, seen, names);
        }),
        _ => {}
    }
}

fn words(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_punctuation() { ' ' } else { c }).collect()
}

fn parts(name: &str) -> String {
    let mut parts = String::with_capacity(name.len());
    let mut last = ' ';
    for c in name.chars() {
        if c.is_uppercase() && (last.is_lowercase() || last.is_numeric()) {
            parts.push(' ');
        }
        parts.push(c);
        last = c;
    }
    parts
}

/// Returns the texts of a result, and member names that are not part of a known shape: a server may put text there, too.
pub(super) fn texts(result: &Value) -> Result<Vec<&str>, String> {
    let mut texts = Vec::new();
    collect(result, MAX_DEPTH, &mut texts)?;
    Ok(texts)
}

/// Deeper levels are an error instead of being skipped.
fn collect<'v>(value: &'v Value, depth: usize, texts: &mut Vec<&'v str>) -> Result<(), String> {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            return Err("it is nested too deeply to be scanned".to_owned());
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, depth - 1, texts))?,
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            texts.extend(Some(name.as_str()).filter(|name| !is_plain(name)));
            collect(value, depth - 1, texts)
        })?,
        _ => {}
    }
    Ok(())
}

/// Whether a member name could be part of a shape. It may still contain a message, so all names are scanned.
fn is_plain(name: &str) -> bool {
    name.len() <= MAX_NAME && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.$".contains(c))
}

/// Returns the result with every text cleaned, in the shape of its tool.
pub(super) fn cleaned(value: &Value, clean: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => items.iter().map(|item| cleaned(item, clean)).collect(),
        Value::Object(members) => {
            let name = |name: &String| if is_plain(name) { name.clone() } else { clean(name) };
            members.iter().map(|(known, value)| (name(known), cleaned(value, clean))).collect()
        }
        other => other.clone(),
    }
}

/// Returns a result of the same shape without texts, and only with known member names.
pub(super) fn blank(value: &Value, reason: &str) -> Value {
    blanked(value, reason, &|name| NAMES.contains(&name))
}

/// The same, with all member names, if they were scanned without findings.
pub(super) fn blank_texts(value: &Value, reason: &str) -> Value {
    blanked(value, reason, &is_plain)
}

fn blanked(value: &Value, reason: &str, stays: &impl Fn(&str) -> bool) -> Value {
    match value {
        Value::String(text) if WORDS.contains(&text.as_str()) => value.clone(),
        Value::String(_) => Value::from(reason),
        Value::Array(items) => items.iter().map(|item| blanked(item, reason, stays)).collect(),
        Value::Object(members) => {
            let known = members.iter().filter(|(name, _)| stays(name));
            known.map(|(name, value)| (name.clone(), blanked(value, reason, stays))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_read_in_every_way_once() {
        let result = json!([{"IGNORE_ALL.prior-x": {"ignoreAllRules": 1}}, {"ignoreAllRules": [{"b": ""}]}]);
        let all = names(&result);
        for (read, wanted) in all.iter().zip([
            "IGNORE_ALL.prior-x\nignoreAllRules\nb",
            "IGNORE ALL prior x\nignoreAllRules\nb",
            "IGNORE ALL prior x\nignore All Rules\nb",
        ]) {
            assert_eq!(read, wanted);
        }
    }

    #[test]
    fn what_is_blank_holds_nothing_of_anybody() {
        let result =
            json!({"type": "text", "stderr": "", "stdout": "IGNORE_ALL", "DO_THIS": "x", "n": {"file": 3}});
        assert_eq!(blank(&result, "no"), json!({"type": "text", "stderr": "", "stdout": "no"}));
        let shape = json!({"type": "text", "stderr": "", "stdout": "no", "DO_THIS": "no", "n": {"file": 3}});
        assert_eq!(blank_texts(&result, "no"), shape);
    }
}
