//! Changes a text step by step until it has the wanted values.

use super::model::{is_same, node};
use super::{EditError, block, flow};
use crate::document::{Format, Node, TableEntry, Value, parse};
use crate::position::TextPosition;

/// Maximum number of steps. An edit makes one for each value that it removes, and a few for all others.
const MAX_STEPS: usize = 1_000;

/// A document while it is edited.
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    pub(super) format: Format,
    pub(super) line_starts: Vec<usize>,
}

/// A member of a table, and the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'n> {
    pub(super) table: &'n Node,
    pub(super) entry: &'n TableEntry,
}

/// One change of the text.
#[derive(Debug)]
pub(super) enum Step<'n> {
    /// Adds members to a table, or to a key without a value.
    Members { to: &'n Node, of: Option<Member<'n>>, new: Vec<&'n TableEntry> },
    /// Adds items at the end of a list that has some.
    Items { to: &'n Node, list: &'n [Node], new: &'n [Node] },
    /// Replaces the value of a member.
    Replace { of: Member<'n>, new: &'n Value },
    /// Removes a member of a table that has others, or of the document.
    DropMember { of: &'n Node, entries: &'n [TableEntry], index: usize },
    /// Removes an item of a list that has others.
    DropItem { of: &'n Node, list: &'n [Node], index: usize },
}

/// Parses a document. An empty text has no values.
pub(super) fn read(text: &str, format: Format) -> Result<Node, EditError> {
    if text.trim().is_empty() {
        return Ok(node(Value::Nothing));
    }
    parse(text, format, text.len()).map_err(|error| EditError::new(error.to_string()))
}

/// Returns the text with these values in place of its own.
pub(super) fn rewrite(text: &str, format: Format, wanted: &Value) -> Result<String, EditError> {
    let by_hand = || EditError::new("its form does not allow this change: edit it by hand");
    let mut text = text.to_owned();
    for _ in 0..MAX_STEPS {
        let now = read(&text, format)?;
        let Some(step) = difference(None, &now, wanted) else {
            return if left(&now, wanted) == 0 { Ok(text) } else { Err(by_hand()) };
        };
        let source = Source::new(&text, format);
        let tried = source.after(&step);
        // Each step must bring the text nearer to the wanted values, and change nothing else.
        let nearer =
            |text: &String| read(text, format).is_ok_and(|new| left(&new, wanted) < left(&now, wanted));
        text = tried.into_iter().find(nearer).ok_or_else(by_hand)?;
    }
    Err(by_hand())
}

/// Returns the first change that brings a value nearer to the wanted one. `of` is the member that has the value.
fn difference<'n>(of: Option<Member<'n>>, now: &'n Node, wanted: &'n Value) -> Option<Step<'n>> {
    let replace = || of.map(|of| Step::Replace { of, new: wanted });
    match (&now.value, wanted) {
        (Value::Table(entries), Value::Table(others)) => {
            let gone = entries.iter().position(|entry| wanted.get(&entry.key).is_none());
            let new: Vec<&TableEntry> =
                others.iter().filter(|one| now.value.get(&one.key).is_none()).collect();
            match gone {
                // A table that becomes empty is written anew.
                Some(_) if entries.len() == 1 && new.is_empty() && of.is_some() => replace(),
                Some(index) if entries.len() > 1 || of.is_none() => {
                    Some(Step::DropMember { of: now, entries, index })
                }
                _ if !new.is_empty() => Some(Step::Members { to: now, of, new }),
                _ => entries.iter().find_map(|entry| {
                    let member = Member { table: now, entry };
                    difference(Some(member), &entry.node, &wanted.get(&entry.key)?.node.value)
                }),
            }
        }
        (Value::Nothing, Value::Table(others)) if !others.is_empty() => {
            Some(Step::Members { to: now, of, new: others.iter().collect() })
        }
        (Value::List(list), Value::List(others)) if !list.is_empty() => {
            let differs = list.iter().zip(others).position(|(one, other)| !is_same(&one.value, &other.value));
            match differs {
                _ if others.is_empty() => replace(),
                None if others.len() > list.len() => {
                    Some(Step::Items { to: now, list, new: others.get(list.len()..).unwrap_or_default() })
                }
                _ if others.len() < list.len() => {
                    Some(Step::DropItem { of: now, list, index: differs.unwrap_or(others.len()) })
                }
                None => None,
                Some(_) => replace(),
            }
        }
        (value, wanted) if is_same(value, wanted) => None,
        _ => replace(),
    }
}

/// Counts the places in which a document differs from the wanted values. Without keys, it is an empty table.
fn left(now: &Node, wanted: &Value) -> usize {
    match &now.value {
        Value::Nothing => distance(&Value::Table(Vec::new()), wanted),
        value => distance(value, wanted),
    }
}

/// Counts the places in which two values differ.
fn distance(one: &Value, other: &Value) -> usize {
    match (one, other) {
        (Value::Table(entries), Value::Table(others)) => {
            let of_one: usize = entries
                .iter()
                .map(|entry| match other.get(&entry.key) {
                    Some(there) => distance(&entry.node.value, &there.node.value),
                    None => 1 + size(&entry.node.value),
                })
                .sum();
            let missing = others.iter().filter(|entry| one.get(&entry.key).is_none());
            of_one + missing.map(|entry| 1 + size(&entry.node.value)).sum::<usize>()
        }
        // A list differs in its whole part behind the first difference, so that removing the right item is nearer.
        (Value::List(list), Value::List(others)) => {
            let same =
                list.iter().zip(others).take_while(|(one, other)| is_same(&one.value, &other.value)).count();
            let from_end = list.iter().rev().zip(others.iter().rev());
            let most = list.len().min(others.len()) - same;
            let same = same
                + from_end.take(most).take_while(|(one, other)| is_same(&one.value, &other.value)).count();
            list.len() + others.len() - 2 * same
        }
        (one, other) if is_same(one, other) => 0,
        (one, other) => 1 + size(one) + size(other),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Table(entries) => entries.iter().map(|entry| 1 + size(&entry.node.value)).sum(),
        Value::List(list) => list.iter().map(|node| 1 + size(&node.value)).sum(),
        _ => 0,
    }
}

impl<'t> Source<'t> {
    fn new(text: &'t str, format: Format) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, format, line_starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Returns the texts that the change could yield, the best one first.
    fn after(&self, step: &Step<'_>) -> Vec<String> {
        let is_flow = match step {
            Step::Members { to, .. } | Step::Items { to, .. } => self.is_flow(to),
            Step::DropMember { of, .. } | Step::DropItem { of, .. } => self.is_flow(of),
            Step::Replace { of, .. } => self.is_flow(of.table),
        };
        let texts = if is_flow { flow::after(self, step) } else { block::after(self, step) };
        texts.unwrap_or_default()
    }

    /// Whether a value is written in brackets.
    fn is_flow(&self, node: &Node) -> bool {
        self.format == Format::Json
            || self.text.get(self.offset(node.at)..).is_some_and(|rest| rest.starts_with(['{', '[']))
    }

    /// Returns the offset of a position.
    pub(super) fn offset(&self, at: TextPosition) -> usize {
        let start = self.line_starts.get(at.line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        start + rest.char_indices().nth(at.column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
    }

    /// Returns the text with a part replaced.
    pub(super) fn with(&self, from: usize, to: usize, new: &str) -> Option<String> {
        Some(format!("{}{new}{}", self.text.get(..from)?, self.text.get(to..)?))
    }

    /// Returns a line without its end.
    pub(super) fn line(&self, index: usize) -> Option<&'t str> {
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).copied().unwrap_or(self.text.len());
        Some(self.text.get(start..end)?.trim_end_matches(['\r', '\n']))
    }
}

/// Returns the indentation of a line.
pub(super) fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches(' ').len()).unwrap_or_default()
}
