//! Skills of a corpus, and their findings.

use std::collections::BTreeMap;
use std::path::Path;

use testkit::{Json, Stop};

/// Tiers of attacks that count. Attacks that only a reader of sentences can recognise have tiers of their own.
const GATE: &[&str] = &["wild", "fixture", "synthetic"];

/// A skill with its label.
#[derive(Debug, Default)]
pub(super) struct Skill {
    /// Where it lies, below the corpus.
    pub(super) folder: String,
    pub(super) tier: String,
    pub(super) category: String,
    /// The attacks of one origin, if the label names it.
    pub(super) campaign: String,
    /// The lines of its attack, by file, where the label knows them.
    pub(super) attack: BTreeMap<String, Vec<usize>>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) is_critical: bool,
    pub(super) rule: String,
    /// The file, below its skill.
    pub(super) file: String,
    /// From 1.
    pub(super) line: usize,
}

/// Reads the labels of a corpus.
pub(super) fn read(corpus: &Path) -> Result<Vec<Skill>, Stop> {
    let path = corpus.join("manifest.json");
    let cannot = |why: &dyn std::fmt::Display| Stop::failed(format!("cannot read {}: {why}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| cannot(&error))?;
    let rows = Json::parse(&text).ok_or_else(|| cannot(&"it is no JSON"))?;
    Ok(rows.items().iter().map(Skill::of).collect())
}

impl Skill {
    fn of(row: &Json) -> Self {
        let attack = match row.at("payload_lines") {
            Json::Object(files) => {
                files.iter().map(|(file, lines)| (file.clone(), numbers(lines.items()))).collect()
            }
            _ => BTreeMap::new(),
        };
        let text = |key: &str| row.at(key).text().to_owned();
        Self {
            folder: text("dir"),
            tier: text("tier"),
            category: text("category"),
            campaign: text("campaign"),
            attack,
        }
    }

    /// Whether it attacks in a way that the figures speak of.
    pub(super) fn attacks(&self) -> bool {
        self.folder.starts_with("malicious/") && GATE.contains(&self.tier.as_str())
    }

    /// The sets that it counts in.
    pub(super) fn sets(&self) -> Vec<String> {
        let mut sets = vec![self.tier.clone()];
        if self.attacks() {
            sets.push("malicious".to_owned());
            sets.push(format!("malicious: {}", self.category));
        }
        if self.folder.starts_with("benign/") && matches!(self.tier.as_str(), "official" | "community") {
            sets.push("reputable".to_owned());
        }
        if self.folder.starts_with("benign/") && self.tier == "synthetic" {
            sets = vec!["synthetic, benign".to_owned()];
        }
        sets
    }
}

impl Found {
    /// Parses a line of the scan, and returns it with its skill.
    pub(super) fn of(row: &Json, corpus: &Path) -> Option<(String, Self)> {
        let path = Path::new(row.at("path").text()).strip_prefix(corpus).ok()?.to_str()?;
        let mut parts = path.splitn(3, '/');
        let (kind, id, file) = (parts.next()?, parts.next()?, parts.next()?);
        let found = Self {
            is_critical: row.at("severity").text() == "CRITICAL",
            rule: row.at("ruleId").text().to_owned(),
            file: file.to_owned(),
            line: number(row.at("lineNumber"))?,
        };
        Some((format!("{kind}/{id}"), found))
    }

    /// Returns what other rules found of the same attack.
    pub(super) fn others(&self, row: &Json) -> Vec<Self> {
        let other = |other: &Json| {
            Some(Self {
                is_critical: other.at("severity").text() == "CRITICAL",
                rule: other.at("ruleId").text().to_owned(),
                file: self.file.clone(),
                line: number(other.at("lineNumber"))?,
            })
        };
        row.at("also").items().iter().filter_map(other).collect()
    }
}

fn number(value: &Json) -> Option<usize> {
    match value {
        Json::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn numbers(items: &[Json]) -> Vec<usize> {
    items.iter().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_findings_are_read() {
        let row = Json::parse(
            r#"{"dir": "malicious/M-1", "tier": "wild", "category": "x", "payload_lines": {"SKILL.md": [3, 4]}}"#,
        );
        let skill = Skill::of(&row.unwrap());
        assert_eq!(skill.sets(), ["wild", "malicious", "malicious: x"]);
        assert_eq!(skill.attack["SKILL.md"], [3, 4]);
        let line =
            r#"{"path": "/c/malicious/M-1/a/b.sh", "ruleId": "A", "severity": "WARN", "lineNumber": 7}"#;
        let found = Found::of(&Json::parse(line).unwrap(), Path::new("/c"));
        let expected = Found { is_critical: false, rule: "A".to_owned(), file: "a/b.sh".to_owned(), line: 7 };
        assert_eq!(found, Some(("malicious/M-1".to_owned(), expected)));
    }
}
