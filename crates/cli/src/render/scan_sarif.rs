//! Output of `scan` as SARIF 2.1.0, which code hosts show beside the changed lines.

use std::collections::HashMap;
use std::path::Path;

use stockade_text::{LineIndex, is_unreserved, push_percent_encoded};

use serde_json::{Value, json};
use stockade_guard::admission::FileScan;
use stockade_guard::scanner::{Finding, FindingGroup, RuleBuf, RuleChange, Scanner, Severity};

use super::told::told;
use crate::suppressions::sha256;
use stockade_guard::admission::scan_report::{GapRow, Gaps, ScanTally};
use stockade_text::to_printable_json;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns the start of the document: the tool and all of its rules. The results follow.
pub(crate) fn head(scanner: &Scanner) -> String {
    let rules: Vec<Value> = scanner.rules().iter().map(rule).collect();
    let driver = json!({"name": "stockade", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    format!(
        "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{}}},\
         \"columnKind\":\"unicodeCodePoints\",\"results\":[",
        to_printable_json(&driver)
    )
}

fn rule(rule: &RuleBuf) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": level(rule.severity)},
        "helpUri": help_uri(&rule.id),
        "properties": {"tags": ["security", rule.category.name()], "security-severity": security_severity(rule.severity)},
    })
}

/// Severity as code hosts order it: 9 and more is critical, 4 and more is medium.
const fn security_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.0",
        Severity::Warn => "5.0",
    }
}

/// Returns the address of a rule's page. A custom rule has none, and leads to the page about all rules.
fn help_uri(rule: &str) -> String {
    let pages = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/crates/scanner");
    let is_builtin = Scanner::builtin().rules().iter().any(|known| known.id == rule);
    if is_builtin { format!("{pages}/rules/{rule}.md") } else { format!("{pages}/RULES.md") }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warn => "warning",
    }
}

/// Formats the results of one file, each on a line after a comma.
pub(crate) fn file(scan: &FileScan<'_>, scanner: &Scanner) -> String {
    if scan.report.findings.is_empty() {
        return String::new();
    }
    let uri = uri(scan.path);
    let lines = LineIndex::new(scan.text);
    let mut seen = HashMap::new();
    let groups = scan.report.groups();
    let rows = groups.iter().map(|group| result(&uri, group, scanner, &lines, &mut seen));
    rows.map(|row| format!(",\n{}", to_printable_json(&row))).collect()
}

fn result(
    uri: &str,
    group: &FindingGroup<'_, '_>,
    scanner: &Scanner,
    lines: &LineIndex<'_>,
    seen: &mut HashMap<String, usize>,
) -> Value {
    let finding = group.main;
    let end = lines.position(finding.span.end);
    let index = scanner.rules().iter().position(|rule| rule.id == finding.rule_id);
    let mut result = json!({
        "ruleId": finding.rule_id,
        "level": level(finding.severity),
        "message": {"text": told(group)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {
                "startLine": finding.line,
                "startColumn": finding.column,
                "endLine": end.line,
                "endColumn": end.column,
                "charOffset": finding.position,
                "byteOffset": finding.span.start,
                "byteLength": finding.span.len(),
                "snippet": {"text": finding.matched_text},
            },
        }}],
    });
    if let Some(fields) = result.as_object_mut() {
        fields
            .insert("partialFingerprints".to_owned(), json!({FINGERPRINT: fingerprint(uri, finding, seen)}));
        let related = related_locations(uri, group, lines);
        if !related.is_empty() {
            fields.insert("relatedLocations".to_owned(), related.into());
        }
    }
    if let (Some(index), Some(fields)) = (index, result.as_object_mut()) {
        fields.insert("ruleIndex".to_owned(), index.into());
    }
    let also: Vec<&str> = group.others.iter().map(|other| other.rule_id).collect();
    let properties = [
        ("why", (!finding.why.is_empty()).then(|| finding.why.into())),
        ("changedBy", finding.changed.map(Value::from)),
        ("also", (!also.is_empty()).then(|| also.into())),
    ];
    let properties: serde_json::Map<String, Value> =
        properties.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    if let (false, Some(fields)) = (properties.is_empty(), result.as_object_mut()) {
        fields.insert("properties".to_owned(), properties.into());
    }
    result
}

/// Name of the fingerprint, with its version: code hosts compare only equal ones.
const FINGERPRINT: &str = "stockadeFinding/v1";

/// Returns what identifies a finding after edits elsewhere in its file: rule, file and matched text, and which of several equal ones.
fn fingerprint(uri: &str, finding: &Finding<'_>, seen: &mut HashMap<String, usize>) -> String {
    let identity = format!("{}\0{uri}\0{}", finding.rule_id, finding.matched_text);
    let count = seen.entry(identity.clone()).or_default();
    *count += 1;
    sha256(format!("{identity}\0{count}").as_bytes())
}

/// Returns the places that belong to an attack: the command that completes it, and the matches of other rules.
fn related_locations(uri: &str, group: &FindingGroup<'_, '_>, lines: &LineIndex<'_>) -> Vec<Value> {
    let step = group.main.completed_by.iter();
    let step =
        step.map(|step| ("runs what was downloaded".to_owned(), step.line, step.column, step.span.end));
    let others = group.others.iter().map(|other| {
        let message = format!("{}: {}", other.rule_id, other.description);
        (message, other.line, other.column, other.span.end)
    });
    let places = step.chain(others).enumerate().map(|(at, (message, line, column, end))| {
        let end = lines.position(end);
        json!({
            "id": at + 1,
            "message": {"text": message},
            "physicalLocation": {
                "artifactLocation": {"uri": uri},
                "region": {
                    "startLine": line,
                    "startColumn": column,
                    "endLine": end.line,
                    "endColumn": end.column,
                },
            },
        })
    });
    places.collect()
}

/// Returns the end of the document: whether everything was scanned, and what was not.
pub(crate) fn tail(tally: &ScanTally, scanner: &Scanner) -> String {
    let notes_of = |gaps: &Gaps, level: &str| {
        let note = |gap: &GapRow| json!({"level": level, "message": {"text": format!("{}: {}", gap.shown, gap.reason)}});
        gaps.rows.iter().filter(|gap| gap.is_unseen()).map(note).collect::<Vec<Value>>()
    };
    let set_aside = tally.set_aside.rows.iter().map(|row| format!("{}: {}", row.shown_path, row.told));
    let set_aside = tally.set_aside.sum().into_iter().chain(set_aside);
    let set_aside = set_aside.map(|text| json!({"level": "note", "message": {"text": text}})).collect();
    let notes = [
        notes_of(&tally.incomplete, "warning"),
        notes_of(&tally.listed, "note"),
        notes_of(&tally.excluded, "note"),
        set_aside,
    ]
    .concat();
    let mut invocation =
        json!({"executionSuccessful": tally.complete(), "toolExecutionNotifications": notes});
    let changed: Vec<Value> = scanner.changes().map(changed).collect();
    if let (false, Some(fields)) = (changed.is_empty(), invocation.as_object_mut()) {
        fields.insert("ruleConfigurationOverrides".to_owned(), changed.into());
    }
    format!("\n],\"invocations\":[{}]}}]}}\n", to_printable_json(&invocation))
}

/// Formats the configured change of a rule.
fn changed(change: &RuleChange) -> Value {
    let configuration = match change.severity {
        Some(severity) => json!({"enabled": true, "level": level(severity)}),
        None => json!({"enabled": false}),
    };
    json!({
        "descriptor": {"id": change.rule},
        "configuration": configuration,
        "properties": {"changedBy": change.by},
    })
}

/// Formats a path as a URI reference: relative paths stay relative to the repository.
fn uri(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
    let start = if path.is_absolute() { "file://" } else { "" };
    let mut uri = start.to_owned();
    push_percent_encoded(&mut uri, bytes, |byte| byte == b'/' || is_unreserved(byte));
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;
    use std::path::Path;

    #[test]
    fn paths_are_references() {
        for (path, expected) in [
            ("./skills/a b.md", "skills/a%20b.md"),
            ("é:#?.md", "%C3%A9%3A%23%3F.md"),
            ("/srv/x", "file:///srv/x"),
            ("..", ".."),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
