//! From nodes to rules: which keys there are, what they hold, and where each stands.

use stockade_text::{Node, TableEntry, TextPosition, Value, nearest};

use super::error::{RuleFileError, RuleFileProblem};
use crate::rule::{Category, Region, Regions, RuleBuf, Severity, ShapeBuf, UnlessBuf};

const FILE_KEYS: &[&str] = &["rule"];
const RULE_KEYS: &[&str] = &[
    "id", "category", "severity", "summary", "remedy", "patterns", "shapes", "regions", "unless", "matches",
    "clean",
];
const SHAPE_KEYS: &[&str] = &["note", "pattern", "regions", "unless"];
const UNLESS_KEYS: &[&str] = &["match", "before", "after"];
const SEVERITIES: &[&str] = &["WARN", "CRITICAL"];
const REGIONS: &[&str] = &["prose", "table_row", "inline_code", "code", "shell"];
const CATEGORIES: &[&str] = &[
    "exec_injection",
    "env_harvesting",
    "crypto_mining",
    "network_exfiltration",
    "obfuscated_encoding",
    "xml_breakout",
    "custom",
];

/// Where the parts of a rule stand.
#[derive(Debug, Clone)]
pub(super) struct RulePositions {
    pub(super) rule: TextPosition,
    pub(super) id: TextPosition,
    pub(super) summary: TextPosition,
    pub(super) remedy: TextPosition,
    /// One for each shape.
    pub(super) patterns: Vec<TextPosition>,
    /// One for each shape: its conditions, or its pattern if it has none.
    pub(super) unless: Vec<TextPosition>,
    pub(super) matches: Vec<TextPosition>,
    pub(super) clean: Vec<TextPosition>,
}

type Result<T> = std::result::Result<T, RuleFileError>;

/// Reads all rules of a file.
pub(super) fn rules(file: &Node) -> Result<Vec<(RuleBuf, RulePositions)>> {
    let table = Table::of(file, "file", "the file", FILE_KEYS)?;
    let list = table.required(
        "rule",
        "put each rule into a `[[rule]]` table (TOML) or a list item of `rule` (YAML, JSON)",
    )?;
    list_of(list)?.iter().map(rule).collect()
}

fn rule(node: &Node) -> Result<(RuleBuf, RulePositions)> {
    let table = Table::of(node, "rule", "a rule", RULE_KEYS)?;
    let id = table.required("id", "give it a name in capitals, such as `MY_RULE`")?;
    let severity =
        table.required("severity", "WARN shows a finding to a person, CRITICAL blocks the text")?;
    let summary = table.required("summary", "say in one line what was found")?;
    let remedy =
        table.required("remedy", "say in one sentence what the author of the text can do about it")?;
    let shapes = shapes(&table)?;
    let (matches, clean) = (texts(table.get("matches"))?, texts(table.get("clean"))?);
    let category = match table.get("category") {
        Some(entry) => word(entry, "category", CATEGORIES, &Category::ALL)?,
        None => Category::Custom,
    };
    let places = RulePositions {
        rule: node.at,
        id: id.node.at,
        summary: summary.node.at,
        remedy: remedy.node.at,
        patterns: shapes.iter().map(|shape| shape.pattern).collect(),
        unless: shapes.iter().map(|shape| shape.unless).collect(),
        matches: matches.iter().map(|(at, _)| *at).collect(),
        clean: clean.iter().map(|(at, _)| *at).collect(),
    };
    let rule = RuleBuf {
        id: text(id)?.to_owned(),
        category,
        severity: word(severity, "severity", SEVERITIES, &Severity::ALL)?,
        summary: text(summary)?.to_owned(),
        remedy: text(remedy)?.to_owned(),
        shapes: shapes.into_iter().map(|shape| shape.shape).collect(),
        matches: matches.into_iter().map(|(_, text)| text).collect(),
        clean: clean.into_iter().map(|(_, text)| text).collect(),
    };
    Ok((rule, places))
}

/// A shape and where it stands.
struct PlacedShape {
    shape: ShapeBuf,
    pattern: TextPosition,
    unless: TextPosition,
}

/// Shapes are given as `shapes`, or as a list `patterns` that shares the `regions` and `unless` of the rule.
fn shapes(rule: &Table<'_>) -> Result<Vec<PlacedShape>> {
    match (rule.get("patterns"), rule.get("shapes")) {
        (Some(patterns), None) => short_shapes(rule, patterns),
        (None, Some(shapes)) => {
            for second in ["regions", "unless"] {
                if let Some(entry) = rule.get(second) {
                    let hint = "give each entry of `shapes` its own";
                    return Err(RuleFileError::at(
                        entry.at,
                        RuleFileProblem::Conflict { first: "shapes", second, hint },
                    ));
                }
            }
            list_of(shapes)?.iter().map(long_shape).collect()
        }
        (Some(_), Some(shapes)) => Err(RuleFileError::at(
            shapes.at,
            RuleFileProblem::Conflict {
                first: "patterns",
                second: "shapes",
                hint: "`patterns` is a list of expressions, `shapes` a list of tables for those that need a note or conditions",
            },
        )),
        (None, None) => Err(rule.missing("patterns", "give the regular expressions that it looks for")),
    }
}

fn short_shapes(rule: &Table<'_>, patterns: &TableEntry) -> Result<Vec<PlacedShape>> {
    let (regions, unless) = (regions(rule.get("regions"))?, unless(rule.get("unless"))?);
    let shape = |(at, pattern)| PlacedShape {
        shape: ShapeBuf { note: String::new(), pattern, regions, unless: unless.clone() },
        pattern: at,
        unless: rule.get("unless").map_or(at, |entry| entry.at),
    };
    Ok(texts(Some(patterns))?.into_iter().map(shape).collect())
}

fn long_shape(node: &Node) -> Result<PlacedShape> {
    let table = Table::of(node, "shapes", "a shape", SHAPE_KEYS)?;
    let pattern = table.required("pattern", "give the regular expression that it looks for")?;
    let shape = ShapeBuf {
        note: table.get("note").map(text).transpose()?.unwrap_or_default().to_owned(),
        pattern: text(pattern)?.to_owned(),
        regions: regions(table.get("regions"))?,
        unless: unless(table.get("unless"))?,
    };
    let unless = table.get("unless").map_or(pattern.node.at, |entry| entry.at);
    Ok(PlacedShape { shape, pattern: pattern.node.at, unless })
}

fn regions(entry: Option<&TableEntry>) -> Result<Regions> {
    let Some(entry) = entry else { return Ok(Regions::ANY) };
    let names = list_of(entry)?.iter().map(|node| {
        let entry = TableEntry { at: node.at, key: entry.key.clone(), node: node.clone() };
        word(&entry, "region", REGIONS, &Region::ALL)
    });
    Ok(Regions::of(&names.collect::<Result<Vec<_>>>()?))
}

fn unless(entry: Option<&TableEntry>) -> Result<Vec<UnlessBuf>> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    list_of(entry)?.iter().map(condition).collect()
}

/// One condition is a table of one key: `{ before = "…" }`.
fn condition(node: &Node) -> Result<UnlessBuf> {
    let table = Table::of(node, "unless", "a condition", UNLESS_KEYS)?;
    match table.entries {
        [] => Err(table.missing("match", "give one of `match`, `before` and `after`")),
        [only] => {
            let pattern = text(only)?.to_owned();
            Ok(match only.key.as_str() {
                "match" => UnlessBuf::Match(pattern),
                "before" => UnlessBuf::Before(pattern),
                _ => UnlessBuf::After(pattern),
            })
        }
        [_, second, ..] => Err(RuleFileError::at(
            second.at,
            RuleFileProblem::Conflict {
                first: "match, before",
                second: "after",
                hint: "write one table for each condition; any of them makes a match innocent",
            },
        )),
    }
}

/// A table whose keys are all known.
struct Table<'n> {
    at: TextPosition,
    name: &'static str,
    entries: &'n [TableEntry],
}

impl<'n> Table<'n> {
    fn of(node: &'n Node, key: &str, name: &'static str, known: &'static [&'static str]) -> Result<Self> {
        let Value::Table(entries) = &node.value else {
            return Err(wrong_kind(node, key, "a table"));
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let nearest = nearest(&entry.key, known.iter().copied());
                let key = entry.key.clone();
                return Err(RuleFileError::at(
                    entry.at,
                    RuleFileProblem::UnknownKey { key, place: name, nearest, known },
                ));
            }
        }
        Ok(Self { at: node.at, name, entries })
    }

    fn get(&self, key: &str) -> Option<&'n TableEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn required(&self, key: &'static str, hint: &'static str) -> Result<&'n TableEntry> {
        self.get(key).ok_or_else(|| self.missing(key, hint))
    }

    fn missing(&self, key: &'static str, hint: &'static str) -> RuleFileError {
        RuleFileError::at(self.at, RuleFileProblem::MissingKey { key, place: self.name, hint })
    }
}

fn wrong_kind(node: &Node, key: &str, wanted: &'static str) -> RuleFileError {
    RuleFileError::at(
        node.at,
        RuleFileProblem::WrongKind { key: key.to_owned(), wanted, found: node.value.kind() },
    )
}

fn list_of(entry: &TableEntry) -> Result<&[Node]> {
    match &entry.node.value {
        Value::List(nodes) => Ok(nodes),
        _ => Err(wrong_kind(&entry.node, &entry.key, "a list")),
    }
}

fn text(entry: &TableEntry) -> Result<&str> {
    match &entry.node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_kind(&entry.node, &entry.key, "a text")),
    }
}

/// Returns the texts of a list with their places; none if there is no such key.
fn texts(entry: Option<&TableEntry>) -> Result<Vec<(TextPosition, String)>> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    let text = |node: &Node| match &node.value {
        Value::Text(text) => Ok((node.at, text.clone())),
        _ => Err(wrong_kind(node, &entry.key, "a text in each place of its list")),
    };
    list_of(entry)?.iter().map(text).collect()
}

/// Returns the choice that a word names. `names` and `choices` stand in the same order.
fn word<T: Copy>(
    entry: &TableEntry,
    what: &'static str,
    names: &'static [&'static str],
    choices: &[T],
) -> Result<T> {
    let word = text(entry)?;
    let choice = names.iter().zip(choices).find(|(name, _)| name.eq_ignore_ascii_case(word));
    choice.map(|(_, choice)| *choice).ok_or_else(|| {
        let nearest = nearest(word, names.iter().copied());
        RuleFileError::at(
            entry.node.at,
            RuleFileProblem::UnknownWord { word: word.to_owned(), what, nearest, known: names },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_their_choices() {
        assert!(Category::ALL.iter().map(|category| category.name()).eq(CATEGORIES.iter().copied()));
        assert!(Region::ALL.iter().map(|region| region.name()).eq(REGIONS.iter().copied()));
        assert!(Severity::ALL.iter().map(|severity| severity.name()).eq(SEVERITIES.iter().copied()));
    }
}
