//! Values as YAML and JSON.

use crate::document::{Node, TableEntry, Value};

/// Words that YAML parsers take for something other than a string.
const RESERVED: &[&str] =
    &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// Returns a string as YAML: plain where every parser reads it as this string.
pub(super) fn yaml_text(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Returns a string in double quotes, which YAML and JSON share. The characters that YAML refuses or folds are escaped.
pub(super) fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let is_special = |c: &char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        match is_special(&c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
        out
    })
}

/// Whether a value is written in one line, also in block style.
pub(super) fn is_inline(value: &Value) -> bool {
    match value {
        Value::List(list) => list.iter().all(|node| !matches!(node.value, Value::Table(_))),
        Value::Table(entries) => entries.is_empty(),
        _ => true,
    }
}

/// Returns a value in one line.
pub(super) fn inline(value: &Value, is_yaml: bool) -> String {
    let text = |text: &str| if is_yaml { yaml_text(text) } else { quoted(text) };
    match value {
        Value::Nothing => "null".to_owned(),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(_) => value.to_json().to_string(),
        Value::Text(string) | Value::Date(string) => text(string),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|node| inline(&node.value, is_yaml)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(entries) => {
            let members: Vec<String> = entries.iter().map(|entry| inline_member(entry, is_yaml)).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn inline_member(entry: &TableEntry, is_yaml: bool) -> String {
    let key = if is_yaml { yaml_text(&entry.key) } else { quoted(&entry.key) };
    format!("{key}: {}", inline(&entry.node.value, is_yaml))
}

/// Returns the lines of a key and its value in the block style of YAML, without the indentation of the key.
pub(super) fn block_member(key: &str, value: &Value) -> Vec<String> {
    let key = yaml_text(key);
    if is_inline(value) {
        return vec![format!("{key}: {}", inline(value, true))];
    }
    let mut lines = vec![format!("{key}:")];
    lines.extend(block_lines(value).into_iter().map(|line| format!("  {line}")));
    lines
}

/// Returns the lines of a value in the block style of YAML.
pub(super) fn block_lines(value: &Value) -> Vec<String> {
    match value {
        value if is_inline(value) => vec![inline(value, true)],
        Value::Table(entries) => {
            entries.iter().flat_map(|entry| block_member(&entry.key, &entry.node.value)).collect()
        }
        Value::List(list) => list.iter().flat_map(block_item).collect(),
        value => vec![inline(value, true)],
    }
}

/// Returns the lines of an item of a list.
pub(super) fn block_item(node: &Node) -> Vec<String> {
    let lines = block_lines(&node.value).into_iter().enumerate();
    lines.map(|(at, line)| format!("{}{line}", if at == 0 { "- " } else { "  " })).collect()
}

/// Returns a value of JSON over several lines.
pub(super) fn pretty(value: &Value, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let over_lines = |open: char, items: Vec<String>, close: char| {
        let items: Vec<String> = items.into_iter().map(|item| format!("{inner}{item}")).collect();
        format!("{open}\n{}\n{indent}{close}", items.join(",\n"))
    };
    match value {
        Value::Table(entries) if !entries.is_empty() => {
            let member =
                |entry: &TableEntry| format!("{}: {}", quoted(&entry.key), pretty(&entry.node.value, &inner));
            over_lines('{', entries.iter().map(member).collect(), '}')
        }
        Value::List(list) if !is_inline(value) => {
            over_lines('[', list.iter().map(|node| pretty(&node.value, &inner)).collect(), ']')
        }
        value => inline(value, false),
    }
}
