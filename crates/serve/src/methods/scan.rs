//! `scan` and `scan.bundle`: looks for attacks.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::admission::{
    Coverage, FileOptions, Source, check_scanner, scan_bytes, scan_files, syntax_of,
};
use stockade_guard::scanner::{Deobfuscate, RuleFile, RuleFormat, ScanOptions, ScanReport, Scanner};

use super::{AskedBy, Json, Lane, Parameters, bytes_of};
use crate::Server;
use crate::bounds::{MAX_SCANNED, at_most};
use crate::fault::Fault;
use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::scan_report::{JSON_HEAD, findings_json, summary_json};
use stockade_guard::admission::scan_report::{SetAside, SetAsideRow};

/// The most bytes of a bundle's answer that are findings. What goes beyond makes it truncated.
const MAX_FINDINGS: usize = 8 << 20;

/// What a text is called that has no name: it is read as a skill is.
const NAME: &str = "SKILL.md";

/// Look for attacks in a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Scan {
    /// The text.
    text: Option<String>,
    /// The same as bytes in Base64, read as a file of these bytes would be, UTF-16 too; positions count in the text that comes of
    /// it.
    text_base64: Option<String>,
    /// The name of the file that it is from; its ending tells how it is read. Nothing is opened.
    path: Option<PathBuf>,
    /// How to scan.
    #[serde(default)]
    options: Wish,
}

/// How the text is to be scanned.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ScanOptions")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wish {
    /// Only these rules, by their ids.
    rules: Option<Vec<String>>,
    /// Rules of your own in TOML, added to the built-in ones.
    rules_toml: Option<String>,
    /// Whether to look behind disguises as well; true by default.
    decode: Option<bool>,
    /// The most findings; 1000 by default.
    max_findings: Option<usize>,
}

/// Look for attacks in a skill: its folder with all files, or the folder of its SKILL.md.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScanBundle {
    /// The folder, or the SKILL.md in it.
    path: PathBuf,
}

/// What was found, in the order of the text.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
pub(super) struct Report {
    /// Whether nothing was found, and everything was looked at.
    clean: bool,
    /// The worst severity.
    worst: Option<Severity>,
    findings: Vec<Finding>,
    /// Whether there was more to report than a limit allows, or parts of the input could not be read.
    truncated: bool,
    /// Rules that are off by the configuration, each with where that stands.
    #[schemars(default)]
    rules_off: Vec<String>,
}

/// What was found in a bundle.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what `stockade scan --format json` prints as well")]
pub(super) struct BundleReport {
    /// Whether nothing was found, and everything was looked at.
    clean: bool,
    /// The worst severity.
    worst: Option<Severity>,
    /// How many files were scanned.
    files: usize,
    /// Each with the path of its file.
    findings: Vec<Finding>,
    /// What could not be scanned, or not all of it.
    incomplete: Vec<Gap>,
    /// What is not text: media files (`media`), and files of unknown content, with which the input is not clean.
    not_scanned: Vec<Gap>,
    /// What runs or instructs because it is there, whatever was found in it.
    #[schemars(default)]
    surfaces: Vec<SurfaceInFile>,
    /// Rules that are off by the configuration.
    #[schemars(default)]
    set_aside: Option<serde_json::Value>,
    /// Whether there was more to report than a limit allows.
    truncated: bool,
    /// How many more rows `incomplete`, `notScanned` and `surfaces` would have, had they no limit.
    #[schemars(default)]
    unlisted: usize,
}

/// One hit of one rule.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
struct Finding {
    /// The file; only for bundles.
    #[schemars(default)]
    path: Option<String>,
    /// Whether the path lost bytes that are no text.
    #[schemars(default)]
    path_is_lossy: bool,
    rule_id: String,
    category: String,
    severity: Severity,
    /// Why it is a warning, though its rule is critical: its sentence forbids it or quotes it.
    #[schemars(default)]
    lowered_for: Option<String>,
    /// The line of a configuration that set this severity, if it is not the severity of the rule itself.
    #[schemars(default)]
    changed_by: Option<String>,
    /// What it means.
    description: String,
    /// At most 100 characters of what matched.
    matched_text: String,
    /// In characters, from 0.
    position: usize,
    byte_offset: usize,
    byte_end: usize,
    /// From 1.
    line_number: usize,
    /// In characters, from 1.
    column: usize,
    /// `raw`, `folded` where a disguise had to be taken off first, or `decoded`.
    view: String,
    /// What had to be taken off first: `disguise`, for letters of other scripts, invisible characters and idle quoting, or
    /// `encoding`, for base64, hexadecimal digits, escapes, numbers of characters and texts in parts.
    #[schemars(default)]
    decoded_from: Option<String>,
    /// What to do about it.
    remediation: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "describes what the layer writes")]
enum Severity {
    Warn,
    Critical,
}

/// Something that runs or instructs because it is there.
#[derive(JsonSchema)]
#[schemars(rename = "SkillSurface")]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what `stockade scan --format json` prints as well")]
struct SurfaceInFile {
    /// `hook`, `server`, `installer`, `startsPrograms`, `instructsAgents`, `script`, `machineCode`, `bytecode`, `archive`,
    /// `toolList`.
    kind: String,
    path: String,
    #[schemars(default)]
    path_is_lossy: bool,
    /// From 1.
    line_number: usize,
    /// What it says, the first characters of it.
    text: String,
}

/// Something that was not scanned.
#[derive(JsonSchema)]
#[schemars(rename = "ScanGap")]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what `stockade scan --format json` prints as well")]
struct Gap {
    path: String,
    #[schemars(default)]
    path_is_lossy: bool,
    kind: String,
    reason: String,
}

impl Parameters for Scan {
    const METHOD: &'static str = "scan";
    const LANE: Lane = Lane::Here;
    type Answer = Report;

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
            // What other rules find takes no room away from what is asked for.
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
            // Positions count in the text as it was given, whatever is in it.
            (Some(text), None) => {
                let options = ScanOptions { syntax: syntax_of(path, &text), ..options };
                Ok(answer(scanner.scan_with(&text, &options)))
            }
            (None, Some(base64)) => {
                let bytes = bytes_of("textBase64", &base64)?;
                // Of an archive, the report of the member that is worst: positions count in one text.
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
    Scanner::with_rules(file.rules()).map_err(|error| Fault::of(&error))
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
    type Answer = BundleReport;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        check_scanner(Scanner::builtin()).map_err(|blind| Fault::of(&blind))?;
        let scanner = server.scanner_rules.of(Scanner::builtin())?;
        let is_manifest = self.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        // A bare name has the current folder as its parent.
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
