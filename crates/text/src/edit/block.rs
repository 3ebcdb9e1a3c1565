//! Changes of YAML in block style, where indentation nests.

use super::emit::{block_item, block_lines, block_member, inline, is_inline};
use super::flow::end_of;
use super::rewrite::{Source, Step, indent};
use crate::document::{Node, TableEntry, Value};

/// Returns the texts that a change could yield; nothing if the text is not as expected.
pub(super) fn after(source: &Source<'_>, step: &Step<'_>) -> Option<Vec<String>> {
    match step {
        Step::Members { to, of, new } => {
            let lines: Vec<String> =
                new.iter().flat_map(|entry| block_member(&entry.key, &entry.node.value)).collect();
            match (&to.value, of) {
                (Value::Table(entries), _) => {
                    let column = entries.first()?.at.column - 1;
                    let ends = ends(source, entries.last()?.at.line - 1, column, true);
                    Some(ends.iter().filter_map(|end| inserted(source, *end, column, &lines)).collect())
                }
                (_, Some(of)) => Some(vec![filled(source, of.entry, &lines)?]),
                (_, None) => Some(vec![inserted(source, source.line_starts.len(), 0, &lines)?]),
            }
        }
        Step::Items { list, new, .. } => {
            let lines: Vec<String> = new.iter().flat_map(block_item).collect();
            let (_, column) = dash_of(source, list.first()?)?;
            let (line, _) = dash_of(source, list.last()?)?;
            let ends = ends(source, line, column, false);
            Some(ends.iter().filter_map(|end| inserted(source, *end, column, &lines)).collect())
        }
        Step::Replace { of, new } => replaced(source, of.entry, new),
        Step::DropMember { entries, index, .. } => {
            let at = entries.get(*index)?.at;
            let ends = ends(source, at.line - 1, at.column - 1, true);
            Some(ends.iter().filter_map(|end| without(source, at.line - 1, *end)).collect())
        }
        Step::DropItem { list, index, .. } => {
            let (line, column) = dash_of(source, list.get(*index)?)?;
            let is_comment = |line: &usize| {
                source
                    .line(*line)
                    .is_some_and(|text| indent(text).len() == column && text.trim().starts_with('#'))
            };
            let first = (0..line).rev().take_while(is_comment).last().unwrap_or(line);
            let ends = ends(source, line, column, false);
            Some(ends.iter().filter_map(|end| without(source, first, *end)).collect())
        }
    }
}

/// Returns where the lines of a member or an item can end, as the number of the line behind: without the comments that follow,
/// and with them, which may be part of a text. The lists of a member may have its indentation.
fn ends(source: &Source<'_>, line: usize, column: usize, is_member: bool) -> Vec<usize> {
    let (mut short, mut long) = (line + 1, line + 1);
    for next in line + 1..source.line_starts.len() {
        let Some(text) = source.line(next) else { break };
        let (depth, content) = (indent(text).len(), text.trim());
        let is_item = is_member && depth == column && (content == "-" || content.starts_with("- "));
        match content {
            "" => {}
            _ if content.starts_with('#') => long = if depth > column { next + 1 } else { long },
            _ if depth > column || is_item => (short, long) = (next + 1, next + 1),
            _ => break,
        }
    }
    let mut ends = vec![short, long];
    ends.dedup();
    ends
}

/// Returns the line and the column of the dash of an item.
fn dash_of(source: &Source<'_>, item: &Node) -> Option<(usize, usize)> {
    let line = item.at.line - 1;
    let before =
        source.line(line)?.get(..source.offset(item.at).checked_sub(*source.line_starts.get(line)?)?)?;
    if let Some(column) = before.rfind("- ") {
        return Some((line, column));
    }
    // A quirk of positions: that of an item without indentation can be the dash itself.
    (0..=line).rev().find_map(|above| {
        let text = source.line(above)?;
        let column = indent(text).len();
        (text.get(column..)?.starts_with('-') && (above < line || before.trim().is_empty()))
            .then_some((above, column))
    })
}

fn inserted(source: &Source<'_>, line: usize, column: usize, lines: &[String]) -> Option<String> {
    let at = source.line_starts.get(line).copied().unwrap_or(source.text.len());
    let end = end_of_lines(source);
    let (before, behind) = (source.text.get(..at)?, source.text.get(at..)?);
    let apart = if before.is_empty() || before.ends_with('\n') { "" } else { end };
    let indent = " ".repeat(column);
    let new: String = lines.iter().map(|line| format!("{indent}{line}{end}")).collect();
    Some(format!("{before}{apart}{new}{behind}"))
}

fn without(source: &Source<'_>, first: usize, behind: usize) -> Option<String> {
    let at = |line: usize| source.line_starts.get(line).copied().unwrap_or(source.text.len());
    source.with(at(first), at(behind), "")
}

fn end_of_lines(source: &Source<'_>) -> &'static str {
    if source.text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Gives a key without a value these lines below it.
fn filled(source: &Source<'_>, entry: &TableEntry, lines: &[String]) -> Option<String> {
    let (from, to) = value_on_line(source, entry)?;
    if !["", "~", "null", "Null", "NULL"].contains(&source.text.get(from..to)?.trim()) {
        return None;
    }
    let indent = " ".repeat(entry.at.column - 1 + 2);
    let end = end_of_lines(source);
    let line_end = source.line_starts.get(entry.at.line).copied().unwrap_or(source.text.len());
    let rest = source.text.get(to..line_end)?.trim_end_matches(['\r', '\n']);
    let new: String = lines.iter().map(|line| format!("{end}{indent}{line}")).collect();
    source.with(from, line_end, &format!("{rest}{new}{end}"))
}

fn replaced(source: &Source<'_>, entry: &TableEntry, new: &Value) -> Option<Vec<String>> {
    let (from, to) = value_on_line(source, entry)?;
    let (line, column) = (entry.at.line - 1, entry.at.column - 1);
    let end = end_of_lines(source);
    let new = if is_inline(new) {
        format!(" {}", inline(new, true))
    } else {
        let indent = " ".repeat(column + 2);
        block_lines(new).iter().map(|line| format!("{end}{indent}{line}")).collect()
    };
    let line_end = source.line_starts.get(line + 1).copied().unwrap_or(source.text.len());
    let comment = source.text.get(to..line_end)?.trim_end_matches(['\r', '\n']);
    let (first, rest) = match new.strip_prefix(end) {
        Some(lines) => (comment.to_owned(), format!("{end}{lines}")),
        None => (format!("{new}{comment}"), String::new()),
    };
    let behind = |last: usize| source.line_starts.get(last).copied().unwrap_or(source.text.len());
    let ends = ends(source, line, column, true);
    Some(
        ends.iter()
            .filter_map(|last| source.with(from, behind(*last), &format!("{first}{rest}{end}")))
            .collect(),
    )
}

/// Returns the part of the key's line that has the value, without the comment behind it.
fn value_on_line(source: &Source<'_>, entry: &TableEntry) -> Option<(usize, usize)> {
    let key = source.offset(entry.at);
    let line_end = source.line_starts.get(entry.at.line).copied().unwrap_or(source.text.len());
    let line = source.text.get(key..line_end)?.trim_end();
    let name = if line.starts_with(['"', '\'']) { end_of(source, key)? - key } else { 0 };
    let behind = line.get(name..)?;
    let colon = behind.find(": ").or_else(|| behind.ends_with(':').then(|| behind.len() - 1))?;
    let from = key + name + colon + 1;
    let rest = source.text.get(from..key + line.len())?;
    let begins = from + (rest.len() - rest.trim_start().len());
    let to = match rest.trim_start().chars().next() {
        None | Some('#') => from,
        Some('"' | '\'' | '{' | '[') => end_of(source, begins)?.min(key + line.len()),
        Some(_) => from + rest.find(" #").unwrap_or(rest.len()),
    };
    let to = from + source.text.get(from..to)?.trim_end().len();
    Some((from, to))
}
