//! `scan` and `scan.bundle`: looks for attacks.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::admission::scan_report::{
    JSON_HEAD, ScanDocument, ScanTally, SetAside, SetAsideRow, findings_json, summary_json,
};
use stockade_guard::admission::{
    Coverage, FileOptions, Source, check_scanner, scan_bytes, scan_files, syntax_of,
};
use stockade_guard::scanner::{Deobfuscate, RuleFile, RuleFormat, ScanOptions, ScanReport, Scanner};

use super::{AskedBy, Json, Lane, Parameters, bytes_of};
use crate::Server;
use crate::bounds::{MAX_SCANNED, at_most};
use crate::fault::Fault;

/// Maximum size of the findings in a bundle's answer, in bytes. Further findings make it truncated.
const MAX_FINDINGS: usize = 8 << 20;

/// The default file name of a text, which is parsed as a skill.
const NAME: &str = "SKILL.md";

/// Scan a text for attacks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Scan {
    /// The text.
    text: Option<String>,
    /// The text as bytes in Base64, decoded like a file, including UTF-16. Positions refer to the decoded text.
    text_base64: Option<String>,
    /// The name of its file; the extension selects the syntax. The file is not opened.
    path: Option<PathBuf>,
    /// The options.
    #[serde(default)]
    options: RequestedScan,
}

/// Options of a scan.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ScanOptions")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RequestedScan {
    /// Use only the rules with these IDs.
    rules: Option<Vec<String>>,
    /// Additional rules in TOML.
    rules_toml: Option<String>,
    /// Whether to deobfuscate and decode text as well; true by default.
    decode: Option<bool>,
    /// The maximum number of findings; 1000 by default.
    max_findings: Option<usize>,
}

/// Scan all files of a skill for attacks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScanBundle {
    /// The directory of the skill, or its SKILL.md.
    path: PathBuf,
}

impl Parameters for Scan {
    const METHOD: &'static str = "scan";
    const LANE: Lane = Lane::Here;
    type Answer = ScanReport<'static>;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let own = self.options.rules_toml.as_deref().map(own_rules).transpose()?;
        let scanner = own.as_ref().unwrap_or_else(|| Scanner::builtin());
        check_scanner(scanner).map_err(|blind| Fault::of(&blind))?;
        let scanner = &server.scanner_rules.of(scanner)?;
        let wanted = self.options.rules.as_deref();
        check_known(wanted.unwrap_or_default(), scanner)?;
        let usual = ScanOptions::default();
        let most = self.options.max_findings.unwrap_or(usual.max_findings);
        let options = ScanOptions {
            deobfuscate: if self.options.decode == Some(false) {
                Deobfuscate::Never
            } else {
                usual.deobfuscate
            },
            // Findings of other rules must not use up the limit.
            max_findings: if wanted.is_some() { most.max(usual.max_findings) } else { most },
            ..usual
        };
        let answer = |mut report: ScanReport<'_>| {
            if let Some(wanted) = wanted {
                report.findings.retain(|finding| wanted.iter().any(|id| id == finding.rule_id));
                report.truncated |= report.findings.len() > most;
                report.findings.truncate(most);
            }
            Json::of(&report)
        };
        let path = self.path.as_deref().unwrap_or(Path::new(NAME));
        let length = |text: &String| text.len();
        let bytes =
            self.text.as_ref().map_or(0, length).max(self.text_base64.as_ref().map_or(0, length) / 4 * 3);
        at_most("bytes of the text", bytes, MAX_SCANNED, "scan.bundle reads files")?;
        match (self.text, self.text_base64) {
            // Positions refer to the given text, whatever it contains.
            (Some(text), None) => {
                let options = ScanOptions { syntax: syntax_of(path, &text), ..options };
                Ok(answer(scanner.scan_with(&text, &options)))
            }
            (None, Some(base64)) => {
                let bytes = bytes_of("textBase64", &base64)?;
                // For an archive, the report of the worst member, because positions refer to a single text.
                let seen = scan_bytes(path, &bytes, scanner, &options, |mut scan| {
                    let unseen = scan.gap.as_ref().is_some_and(|gap| gap.coverage() >= Coverage::Opaque);
                    scan.report.truncated |= unseen;
                    let key = (scan.report.worst(), scan.report.findings.len(), unseen);
                    (Reverse(key), answer(scan.report))
                });
                let worst = seen.into_iter().min_by_key(|(key, _)| *key);
                worst.map(|(_, report)| report).ok_or_else(|| Fault::parameters("there is nothing to scan"))
            }
            (Some(_), Some(_)) => Err(Fault::parameters("give either `text` or `textBase64`")),
            (None, None) => Err(Fault::parameters("`text` or `textBase64` is missing")),
        }
    }
}

fn own_rules(text: &str) -> Result<Scanner, Fault> {
    let file = RuleFile::parse(text, RuleFormat::Toml).map_err(|error| Fault::of(&error))?;
    Scanner::with_rule_files([&file]).map_err(|error| Fault::of(&error))
}

fn check_known(wanted: &[String], scanner: &Scanner) -> Result<(), Fault> {
    let known = || scanner.rules().iter().map(|rule| rule.id.as_str());
    match wanted.iter().find(|id| !known().any(|known| known == *id)) {
        Some(id) => Err(Fault::unknown("rule", id, known())),
        None => Ok(()),
    }
}

impl Parameters for ScanBundle {
    const METHOD: &'static str = "scan.bundle";
    const LANE: Lane = Lane::Work;
    type Answer = ScanDocument<'static>;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        check_scanner(Scanner::builtin()).map_err(|blind| Fault::of(&blind))?;
        let scanner = server.scanner_rules.of(Scanner::builtin())?;
        let is_manifest = self.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        // The parent of a bare name is the current directory.
        let folder = self.path.parent().filter(|_| is_manifest).map(|folder| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_path_buf() }
        });
        let sources = [Source::Path(folder.unwrap_or(self.path))];
        let off = SetAside::of(scanner.rules_off().map(SetAsideRow::of_rule).collect());
        let (mut findings, mut tally) = (String::new(), ScanTally { set_aside: off, ..ScanTally::default() });
        scan_files(
            &sources,
            &scanner,
            &FileOptions::default(),
            |file| (findings_json(&file), ScanTally::of(&file).with_surfaces(&file, &sources)),
            |(printed, numbers)| {
                tally.add(numbers);
                if findings.len() + printed.len() > MAX_FINDINGS {
                    tally.truncated = true;
                } else {
                    findings.push_str(&printed);
                }
                ControlFlow::Continue(())
            },
        );
        let findings = findings.strip_prefix(',').unwrap_or(&findings);
        Ok(Json::document(&format!("{}{findings}{}", JSON_HEAD, summary_json(&tally))))
    }
}
