//! Changes of JSON, and of values of YAML that are written in brackets.

use super::emit::{inline, is_inline, pretty, quoted, yaml_text};
use super::rewrite::{Source, Step, indent};
use crate::document::{Format, TableEntry, Value};

/// Returns the texts that a change could yield; nothing if the text is not as expected.
pub(super) fn after(source: &Source<'_>, step: &Step<'_>) -> Option<Vec<String>> {
    match step {
        Step::Members { to, new, .. } => {
            let start = source.offset(to.at);
            if source.text.get(start..).is_some_and(|rest| rest.starts_with('{')) {
                return added(source, start, &|inner| {
                    new.iter().map(|entry| member(source, entry, inner)).collect()
                });
            }
            // An empty document, or `null`.
            let new = new.iter().copied().cloned().collect();
            let table = pretty(&Value::Table(new), indent_at(source, start));
            match source.text.trim() {
                "" => Some(vec![format!("{table}\n")]),
                _ => Some(vec![source.with(start, end_of(source, start)?, &table)?]),
            }
        }
        Step::Items { to, new, .. } => added(source, source.offset(to.at), &|inner| {
            new.iter().map(|node| value(source, &node.value, inner)).collect()
        }),
        Step::Replace { of, new } => {
            let start = source.offset(of.entry.node.at);
            let new = value(source, new, indent_at(source, start));
            Some(vec![source.with(start, end_of(source, start)?, &new)?])
        }
        Step::DropMember { of, entries, index } => {
            let entry = entries.get(*index)?;
            let end = end_of(source, source.offset(entry.node.at))?;
            dropped(source, source.offset(of.at), source.offset(entry.at), end, entries.len() == 1)
        }
        Step::DropItem { of, list, index } => {
            let start = source.offset(list.get(*index)?.at);
            dropped(source, source.offset(of.at), start, end_of(source, start)?, list.len() == 1)
        }
    }
}

fn member(source: &Source<'_>, entry: &TableEntry, indent: &str) -> String {
    let key = if source.format == Format::Yaml { yaml_text(&entry.key) } else { quoted(&entry.key) };
    format!("{key}: {}", value(source, &entry.node.value, indent))
}

fn value(source: &Source<'_>, value: &Value, indent: &str) -> String {
    match source.format {
        Format::Json if !is_inline(value) => pretty(value, indent),
        format => inline(value, format == Format::Yaml),
    }
}

fn indent_at<'t>(source: &Source<'t>, offset: usize) -> &'t str {
    let line = source.line_starts.partition_point(|start| *start <= offset).saturating_sub(1);
    indent(source.line(line).unwrap_or_default())
}

/// Adds items in front of the closing bracket. `items` returns them for an indentation of their lines.
fn added(source: &Source<'_>, start: usize, items: &dyn Fn(&str) -> Vec<String>) -> Option<Vec<String>> {
    let close = end_of(source, start)?.checked_sub(1)?;
    let content = source.text.get(start + 1..close)?;
    let outer = indent_at(source, start);
    let end = start + 1 + content.trim_end().len();
    let over_lines = |inner: &str| items(inner).join(&format!(",\n{inner}"));
    if content.trim().is_empty() {
        let inner = format!("{outer}  ");
        let new = match source.format {
            Format::Json if items(&inner).iter().any(|item| item.contains(':')) => {
                format!("\n{inner}{}\n{outer}", over_lines(&inner))
            }
            _ => items(outer).join(", "),
        };
        return Some(vec![source.with(start + 1, close, &new)?]);
    }
    let comma = if content.trim_end().ends_with(',') { "" } else { "," };
    if !content.contains('\n') {
        return Some(vec![source.with(end, end, &format!("{comma} {}", items(outer).join(", ")))?]);
    }
    let first = start + 1 + (content.len() - content.trim_start().len());
    let inner = indent_at(source, first).to_owned();
    let new = format!("{comma}\n{inner}{}", over_lines(&inner));
    // Behind a comment, the comma needs a line of its own.
    let behind = format!("\n{inner}{}{}\n{outer}", comma, over_lines(&inner));
    Some(vec![source.with(end, end, &new)?, source.with(close, close, &behind)?])
}

/// Removes the text between two offsets, with one of the commas beside it.
fn dropped(source: &Source<'_>, start: usize, from: usize, to: usize, is_only: bool) -> Option<Vec<String>> {
    if is_only {
        let close = end_of(source, start)?.checked_sub(1)?;
        return Some(vec![source.with(start + 1, close, "")?]);
    }
    let behind = source.text.get(to..)?;
    let gap = behind.len() - behind.trim_start().len();
    if let Some(rest) = behind.trim_start().strip_prefix(',') {
        let next = to + gap + 1 + (rest.len() - rest.trim_start().len());
        return Some(vec![source.with(from, next, "")?]);
    }
    let before = source.text.get(..from)?.trim_end().strip_suffix(',')?;
    Some(vec![source.with(before.len(), to, "")?])
}

/// Returns the end of the value that begins at an offset.
pub(super) fn end_of(source: &Source<'_>, start: usize) -> Option<usize> {
    let rest = source.text.get(start..)?;
    match rest.as_bytes().first()? {
        b'"' | b'\'' => Some(start + quoted_len(rest)?),
        b'{' | b'[' => Some(start + bracket_len(rest)?),
        _ => {
            let end = rest.find([',', ']', '}', '\n']).unwrap_or(rest.len());
            let plain = rest.get(..end)?;
            Some(
                start
                    + plain
                        .find(" #")
                        .map_or(plain, |comment| plain.get(..comment).unwrap_or(plain))
                        .trim_end()
                        .len(),
            )
        }
    }
}

/// Returns the length of a string with its quotes.
fn quoted_len(text: &str) -> Option<usize> {
    let quote = *text.as_bytes().first()?;
    let mut at = 1;
    loop {
        match *text.as_bytes().get(at)? {
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote && quote == b'\'' && text.as_bytes().get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Returns the length of a list or table in brackets. In YAML, a quote within a word is part of the word, and a comment ends
/// with its line.
fn bracket_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut begins) = (0, 0_usize, true);
    loop {
        let byte = *bytes.get(at)?;
        let is_apart =
            at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(u8::is_ascii_whitespace);
        match byte {
            b'"' | b'\'' if begins => at += quoted_len(text.get(at..)?)? - 1,
            b'#' if is_apart => at += text.get(at..)?.find('\n')?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        begins = matches!(byte, b'{' | b'[' | b',' | b':') || begins && byte.is_ascii_whitespace();
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}
