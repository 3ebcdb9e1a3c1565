//! Converts nodes to rules, with the positions of their parts.

use stockade_text::{Node, SchemaError, TableEntry, TableReader, TextPosition, choice, item_text};

use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, ExceptionBuf, PatternBuf, Region, Regions, RuleBuf, Severity};

const FILE_KEYS: &[&str] = &["rule"];
const RULE_KEYS: &[&str] = &[
    "id", "category", "severity", "summary", "remedy", "patterns", "shapes", "regions", "unless", "matches",
    "clean",
];
const PATTERN_KEYS: &[&str] = &["note", "pattern", "regions", "unless"];
const EXCEPTION_KEYS: &[&str] = &["match", "before", "after", "without"];
const FLOWS: &[&str] = &[
    "secret_file",
    "environment",
    "foreign_secret",
    "encoded_secret",
    "download",
    "decoded",
    "many_secrets",
    "startup_file",
    "agent_file",
    "setting",
    "run_later",
    "removes_data",
    "package_address",
    "look_alike_package",
    "trusted_file",
    "pushes_secret",
];
const SEVERITIES: &[&str] = &["WARN", "CRITICAL"];
const REGIONS: &[&str] = &["prose", "table_row", "inline_code", "code", "shell", "decoded"];
const CATEGORIES: &[&str] = &[
    "exec_injection",
    "env_harvesting",
    "crypto_mining",
    "network_exfiltration",
    "obfuscated_encoding",
    "xml_breakout",
    "data_exfiltration",
    "fake_prerequisite",
    "prompt_injection",
    "hidden_text",
    "persistence",
    "agent_state",
    "privilege",
    "supply_chain",
    "impact",
    "custom",
];

/// Positions of the parts of a rule.
#[derive(Debug, Clone)]
pub(super) struct RulePositions {
    pub(super) rule: TextPosition,
    pub(super) id: TextPosition,
    pub(super) summary: TextPosition,
    pub(super) remedy: TextPosition,
    /// One per pattern.
    pub(super) patterns: Vec<TextPosition>,
    /// One per pattern: its exceptions, or its regular expression if it has none.
    pub(super) exceptions: Vec<TextPosition>,
    pub(super) matches: Vec<TextPosition>,
    pub(super) clean: Vec<TextPosition>,
}

type Result<T> = std::result::Result<T, SchemaError>;

/// Reads all rules of a file.
pub(super) fn rules(file: &Node) -> Result<Vec<(RuleBuf, RulePositions)>> {
    let table = table(file, "file", "the file", FILE_KEYS)?;
    let list = table.required(
        "rule",
        "put each rule into a `[[rule]]` table (TOML) or a list item of `rule` (YAML, JSON)",
    )?;
    list.list()?.iter().map(rule).collect()
}

fn rule(node: &Node) -> Result<(RuleBuf, RulePositions)> {
    let table = table(node, "rule", "a rule", RULE_KEYS)?;
    let id = table.required("id", "give it a name in capitals, such as `MY_RULE`")?;
    let severity =
        table.required("severity", "WARN shows a finding to a person, CRITICAL blocks the text")?;
    let summary = table.required("summary", "say in one line what was found")?;
    let remedy =
        table.required("remedy", "say in one sentence what the author of the text can do about it")?;
    let patterns = patterns(&table)?;
    let (matches, clean) = (texts(table.get("matches"))?, texts(table.get("clean"))?);
    let category = match table.get("category") {
        Some(entry) => entry.choice("category", CATEGORIES, &Category::ALL)?,
        None => Category::Custom,
    };
    let places = RulePositions {
        rule: node.at,
        id: id.node.at,
        summary: summary.node.at,
        remedy: remedy.node.at,
        patterns: patterns.iter().map(|pattern| pattern.regex).collect(),
        exceptions: patterns.iter().map(|pattern| pattern.exceptions).collect(),
        matches: matches.iter().map(|(at, _)| *at).collect(),
        clean: clean.iter().map(|(at, _)| *at).collect(),
    };
    let rule = RuleBuf {
        id: id.text()?.to_owned(),
        category,
        severity: severity.choice("severity", SEVERITIES, &Severity::ALL)?,
        summary: summary.text()?.to_owned(),
        remedy: remedy.text()?.to_owned(),
        patterns: patterns.into_iter().map(|pattern| pattern.pattern).collect(),
        matches: matches.into_iter().map(|(_, text)| text).collect(),
        clean: clean.into_iter().map(|(_, text)| text).collect(),
    };
    Ok((rule, places))
}

/// A pattern and its position.
struct PlacedPattern {
    pattern: PatternBuf,
    regex: TextPosition,
    exceptions: TextPosition,
}

/// Patterns are given as `shapes`, or as a list `patterns` with common `regions` and `unless`.
fn patterns(rule: &TableReader<'_>) -> Result<Vec<PlacedPattern>> {
    match (rule.get("patterns"), rule.get("shapes")) {
        (Some(patterns), None) => short_patterns(rule, patterns),
        (None, Some(shapes)) => {
            for second in ["regions", "unless"] {
                if let Some(entry) = rule.get(second) {
                    let hint = "give each entry of `shapes` its own";
                    return Err(SchemaError::conflict(entry.at, "shapes", second, hint));
                }
            }
            shapes.list()?.iter().map(long_pattern).collect()
        }
        (Some(_), Some(shapes)) => Err(SchemaError::conflict(
            shapes.at,
            "patterns",
            "shapes",
            "`patterns` is a list of expressions, `shapes` a list of tables for those that need a note or conditions",
        )),
        (None, None) => Err(rule.missing("patterns", "give the regular expressions that it looks for")),
    }
}

fn short_patterns(rule: &TableReader<'_>, patterns: &TableEntry) -> Result<Vec<PlacedPattern>> {
    let (regions, exceptions) = (regions(rule.get("regions"))?, exceptions(rule.get("unless"))?);
    let pattern = |(at, regex)| PlacedPattern {
        pattern: PatternBuf { note: String::new(), regex, regions, exceptions: exceptions.clone() },
        regex: at,
        exceptions: rule.get("unless").map_or(at, |entry| entry.at),
    };
    Ok(texts(Some(patterns))?.into_iter().map(pattern).collect())
}

fn long_pattern(node: &Node) -> Result<PlacedPattern> {
    let table = table(node, "shapes", "a shape", PATTERN_KEYS)?;
    let regex = table.required("pattern", "give the regular expression that it looks for")?;
    let pattern = PatternBuf {
        note: table.get("note").map(TableEntry::text).transpose()?.unwrap_or_default().to_owned(),
        regex: regex.text()?.to_owned(),
        regions: regions(table.get("regions"))?,
        exceptions: exceptions(table.get("unless"))?,
    };
    let exceptions = table.get("unless").map_or(regex.node.at, |entry| entry.at);
    Ok(PlacedPattern { pattern, regex: regex.node.at, exceptions })
}

fn regions(entry: Option<&TableEntry>) -> Result<Regions> {
    let Some(entry) = entry else { return Ok(Regions::ANY) };
    let region = |node: &Node| choice(node.at, item_text(node, &entry.key)?, "region", REGIONS, &Region::ALL);
    Ok(Regions::of(&entry.list()?.iter().map(region).collect::<Result<Vec<_>>>()?))
}

fn exceptions(entry: Option<&TableEntry>) -> Result<Vec<ExceptionBuf>> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    entry.list()?.iter().map(condition).collect()
}

/// One condition is a table of one key: `{ before = "…" }`.
fn condition(node: &Node) -> Result<ExceptionBuf> {
    let table = table(node, "unless", "a condition", EXCEPTION_KEYS)?;
    match table.entries() {
        [] => Err(table.missing("match", "give one of `match`, `before`, `after` and `without`")),
        [only] if only.key == "without" => {
            let flow =
                |node: &Node| choice(node.at, item_text(node, &only.key)?, "flow", FLOWS, &Inflow::ALL);
            Ok(ExceptionBuf::Without(Inflows::of(
                &only.list()?.iter().map(flow).collect::<Result<Vec<_>>>()?,
            )))
        }
        [only] => {
            let pattern = only.text()?.to_owned();
            Ok(match only.key.as_str() {
                "match" => ExceptionBuf::Match(pattern),
                "before" => ExceptionBuf::Before(pattern),
                _ => ExceptionBuf::After(pattern),
            })
        }
        [_, second, ..] => Err(SchemaError::conflict(
            second.at,
            "match, before",
            "after",
            "write one table for each condition; any of them makes a match innocent",
        )),
    }
}

/// A table whose keys are all known.
fn table<'n>(
    node: &'n Node,
    key: &str,
    name: &'static str,
    known: &'static [&'static str],
) -> Result<TableReader<'n>> {
    TableReader::new(node, key, name, known)?.has_known_keys_only()
}

/// Returns the strings of a list with their positions; empty if the key is missing.
fn texts(entry: Option<&TableEntry>) -> Result<Vec<(TextPosition, String)>> {
    let texts = entry.map(TableEntry::texts).transpose()?.unwrap_or_default();
    Ok(texts.into_iter().map(|(at, text)| (at, text.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_their_choices() {
        assert!(Category::ALL.iter().map(|category| category.name()).eq(CATEGORIES.iter().copied()));
        assert!(Region::ALL.iter().map(|region| region.name()).eq(REGIONS.iter().copied()));
        assert!(Inflow::ALL.iter().map(|flow| flow.name()).eq(FLOWS.iter().copied()));
        assert!(Severity::ALL.iter().map(|severity| severity.name()).eq(SEVERITIES.iter().copied()));
    }
}
