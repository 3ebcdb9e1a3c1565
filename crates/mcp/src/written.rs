//! Serializer of forwarded messages: one line that every parser reads as the same message.
//!
//! Messages are serialized from their parsed form. Numbers keep their notation, since parsers differ in their precision.
//! Characters that some readers take for a line break are escaped, since they could start another message.

use std::fmt::Write as _;

use stockade_text::Value;

/// Writes a value on one line, without a line break.
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
            // Characters that some readers take for a line break, or ignore.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                // Writing to memory cannot fail.
                write!(out, "\\u{:04x}", u32::from(c)).ok();
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
