//! From nodes to rules: which keys there are, what they hold, and where each stands.

use stockade_text::{Node, SchemaError, TableEntry, TableReader, TextPosition, choice, item_text};

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
    let shapes = shapes(&table)?;
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
        patterns: shapes.iter().map(|shape| shape.pattern).collect(),
        unless: shapes.iter().map(|shape| shape.unless).collect(),
        matches: matches.iter().map(|(at, _)| *at).collect(),
        clean: clean.iter().map(|(at, _)| *at).collect(),
    };
    let rule = RuleBuf {
        id: id.text()?.to_owned(),
        category,
        severity: severity.choice("severity", SEVERITIES, &Severity::ALL)?,
        summary: summary.text()?.to_owned(),
        remedy: remedy.text()?.to_owned(),
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
fn shapes(rule: &TableReader<'_>) -> Result<Vec<PlacedShape>> {
    match (rule.get("patterns"), rule.get("shapes")) {
        (Some(patterns), None) => short_shapes(rule, patterns),
        (None, Some(shapes)) => {
            for second in ["regions", "unless"] {
                if let Some(entry) = rule.get(second) {
                    let hint = "give each entry of `shapes` its own";
                    return Err(SchemaError::conflict(entry.at, "shapes", second, hint));
                }
            }
            shapes.list()?.iter().map(long_shape).collect()
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

fn short_shapes(rule: &TableReader<'_>, patterns: &TableEntry) -> Result<Vec<PlacedShape>> {
    let (regions, unless) = (regions(rule.get("regions"))?, unless(rule.get("unless"))?);
    let shape = |(at, pattern)| PlacedShape {
        shape: ShapeBuf { note: String::new(), pattern, regions, unless: unless.clone() },
        pattern: at,
        unless: rule.get("unless").map_or(at, |entry| entry.at),
    };
    Ok(texts(Some(patterns))?.into_iter().map(shape).collect())
}

fn long_shape(node: &Node) -> Result<PlacedShape> {
    let table = table(node, "shapes", "a shape", SHAPE_KEYS)?;
    let pattern = table.required("pattern", "give the regular expression that it looks for")?;
    let shape = ShapeBuf {
        note: table.get("note").map(TableEntry::text).transpose()?.unwrap_or_default().to_owned(),
        pattern: pattern.text()?.to_owned(),
        regions: regions(table.get("regions"))?,
        unless: unless(table.get("unless"))?,
    };
    let unless = table.get("unless").map_or(pattern.node.at, |entry| entry.at);
    Ok(PlacedShape { shape, pattern: pattern.node.at, unless })
}

fn regions(entry: Option<&TableEntry>) -> Result<Regions> {
    let Some(entry) = entry else { return Ok(Regions::ANY) };
    let region = |node: &Node| choice(node.at, item_text(node, &entry.key)?, "region", REGIONS, &Region::ALL);
    Ok(Regions::of(&entry.list()?.iter().map(region).collect::<Result<Vec<_>>>()?))
}

fn unless(entry: Option<&TableEntry>) -> Result<Vec<UnlessBuf>> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    entry.list()?.iter().map(condition).collect()
}

/// One condition is a table of one key: `{ before = "…" }`.
fn condition(node: &Node) -> Result<UnlessBuf> {
    let table = table(node, "unless", "a condition", UNLESS_KEYS)?;
    match table.entries() {
        [] => Err(table.missing("match", "give one of `match`, `before` and `after`")),
        [only] => {
            let pattern = only.text()?.to_owned();
            Ok(match only.key.as_str() {
                "match" => UnlessBuf::Match(pattern),
                "before" => UnlessBuf::Before(pattern),
                _ => UnlessBuf::After(pattern),
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

/// Returns the texts of a list with their positions; none if there is no such key.
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
        assert!(Severity::ALL.iter().map(|severity| severity.name()).eq(SEVERITIES.iter().copied()));
    }
}
