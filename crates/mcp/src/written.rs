//! A message as it is sent on: one line that every reader takes for the same message.
//!
//! It is written anew from what was understood. Numbers are spelled as they came, since readers differ in what they can hold. Nothing but
//! what JSON means passes: a line break between two members would begin another message for a reader that takes it for the end of a line.

use std::fmt::Write as _;

use stockade_text::Value;

/// Writes a value on one line, without its end.
pub(crate) fn written(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Nothing => out.push_str("null"),
        Value::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(written) => out.push_str(written),
        Value::Date(text) | Value::Text(text) => write_text(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write(&item.value, out);
            }
            out.push(']');
        }
        Value::Table(members) => {
            out.push('{');
            for (index, member) in members.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_text(&member.key, out);
                out.push(':');
                write(&member.node.value, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // What some take for the end of a line, or for no character at all.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                // Nothing is written but to memory.
                write!(out, "\\u{:04x}", u32::from(c)).ok();
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
