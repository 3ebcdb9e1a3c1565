//! `stockade scan`: scans files, directories and standard input for attacks.
#![expect(clippy::disallowed_methods, reason = "checks whether standard input is a terminal")]

mod facts;
mod page;
mod progress;

use std::io::{self, IsTerminal as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use stockade_guard::admission::{FileOptions, FileScan, Source, check_scanner, scan_files_except};
use stockade_guard::scanner::Scanner;

use crate::args::HELP;
use crate::baseline::{self, Baseline, KnownFinding};
use crate::exclusions::Exclusions;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::styles;
use crate::render::style::ColorChoice;
use crate::report::fail_on::FailOn;
use crate::report::fail_on::{self, Unseen};
use crate::rule_files::Rules;
use crate::suppressions::Suppressions;
use page::{Page, Printer};
use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::scan_report::SetAside;

const EXAMPLES: &str = "\
Examples:
  stockade scan                            scan standard input
  stockade scan skills/ AGENTS.md          scan directories and files
  stockade scan --fail-on warn skills/     fail on warnings, too
  stockade scan --rules team.toml skills/  add your own rules
  stockade scan --exclude node_modules .   skip a directory; the output lists it
  stockade scan --baseline known.json .    fail only on findings that are new since 'scan --write-baseline known.json .'
  stockade scan --format sarif skills/     other formats: json, jsonl, junit, github
  stockade scan --format html skills/ > page.html
  stockade scan --facts skills/            what the files run, download, remove, hide and claim, without a verdict";

const EXIT_CODES: &str = "\
Exit codes:
  0  clean: everything was scanned, and nothing at or above --fail-on was found
  1  found: something at or above --fail-on, whether or not everything could be scanned
  2  the command line or a rule file is wrong
  3  incomplete: nothing found, but something could not be scanned

Scanned files: every file of a directory, including hidden and ignored ones and .git. Symlinks are not followed. A symlink out of the
directory, a pipe, a device, or an unreadable file makes the scan incomplete. In binary data, embedded plain text is scanned. Images, fonts
and audio are only listed. A file with other opaque data, such as an archive, a program, or data appended to an image, is never called
clean; with --strict it makes the scan incomplete. The output lists what --exclude skips, and the exit code is that of the remaining
files; a scanned directory cannot exclude its own files.

Globs of --exclude: 'node_modules' matches a file or directory at any depth, 'node_modules/' only directories, '/dist' and 'docs/*.md'
only relative to the scanned directory, '**/dist' at any depth. A path on the command line is always scanned.

Suppressions: each row is [[suppress]] with rule, path (as in the output), sha256 (as 'sha256sum' prints it), reason and expires
(2027-06-30). It applies to this rule, this file and this content until that day. A baseline applies to a finding in a document until
its paragraph or any command of the document changes, and to a finding in a program until the program changes.
The output lists suppressed and known findings, and such files are never called clean. A suppression file inside of a scanned directory
is reported and has no effect unless --suppressions names it.";

/// Maximum of `--max-file-size`. A scanned file is in memory, and possibly a decoded copy of it.
const MAX_FILE_SIZE: usize = 1 << 30;

/// Maximum of `--threads`. Each thread may have a whole file in memory.
const MAX_THREADS: usize = 256;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ScanArgs {
    /// Files and directories to scan; - for standard input [default: standard input, if it is not a terminal]
    paths: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ScanFormat,

    /// Minimum severity of findings that exit with 1
    #[arg(long, value_name = "SEVERITY", default_value = "critical")]
    fail_on: FailOn,

    /// Additional rule file (TOML, YAML or JSON); repeatable
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// Glob to exclude, in .gitignore syntax; repeatable. The output lists excluded paths
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// File with one --exclude glob per line; lines that start with # are comments
    #[arg(long, value_name = "FILE")]
    exclude_from: Vec<PathBuf>,

    /// Suppression file (TOML) of reviewed findings, with rule, path, sha256, reason and expires of each; repeatable
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,

    /// Baseline of known findings: only new ones count, and those whose commands or paragraph changed
    #[arg(long, value_name = "FILE", visible_alias = "fail-on-new")]
    baseline: Option<PathBuf>,

    /// Save all findings to this file, for --baseline
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,

    /// Print what the rules examine instead of findings: commands, downloads and what runs them, removals, hidden text and claims
    #[arg(long, conflicts_with_all = ["baseline", "write_baseline", "fail_on", "rules", "suppressions"])]
    facts: bool,

    /// Exit with 3 if there are opaque files (archives, programs, unknown data) or excluded paths
    #[arg(long)]
    strict: bool,

    /// Maximum file size, such as 500K or 64M; a larger file makes the scan incomplete
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_size)]
    max_file_size: usize,

    /// Number of threads [default: one per CPU]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<NonZeroUsize>,

    /// File name for standard input, whose extension selects the format
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    stdin_path: PathBuf,

    /// Print nothing; only set the exit code
    #[arg(long, short)]
    quiet: bool,
}

/// Output format: text, one JSON document or one line per finding, SARIF for code hosts, JUnit, GitHub workflow commands, or
/// HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanFormat {
    Text,
    Json,
    Jsonl,
    Sarif,
    Junit,
    Github,
    Html,
}

/// Runs the command.
pub(crate) fn run(args: &ScanArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let sources = sources(args)?;
    let exclusions = Exclusions::load(&args.exclude, &args.exclude_from)?;
    if args.facts {
        return facts::run(args, &sources, &exclusions);
    }
    let rules = Rules::load(&args.rules)?;
    check_scanner(rules.scanner()).map_err(Failure::incomplete)?;
    let lists = Lists::load(args, rules.scanner())?;
    let mut found = Vec::new();
    let page = scan(args, &sources, (&exclusions, &lists), rules.scanner(), color, &mut found);
    // With no path and empty input, "clean" would be misleading.
    if args.paths.is_empty() && page.tally.bytes == 0 && page.tally.complete() {
        return Err(nothing_to_scan("no path was given and standard input is empty"));
    }
    if let Some(path) = &args.write_baseline {
        baseline::write(path, found)?;
    }
    let (output, tally) = page.end();
    let unseen = if args.strict { Unseen::Fails } else { Unseen::Reported };
    output.finish(fail_on::exit(&tally, args.fail_on, unseen))
}

fn scan<'s>(
    args: &ScanArgs,
    sources: &[Source],
    (exclusions, lists): (&Exclusions, &Lists),
    scanner: &'s Scanner,
    color: ColorChoice,
    found: &mut Vec<KnownFinding>,
) -> Page<'s> {
    let options =
        FileOptions { max_file_bytes: args.max_file_size, threads: args.threads, ..FileOptions::default() };
    let format = (!args.quiet).then_some(args.format);
    let printer = Printer { format, styles: styles(color), fail_on: args.fail_on, scanner };
    let mut page = Page::new(printer);
    scan_files_except(
        sources,
        &|below, kind| exclusions.holds(below, kind),
        scanner,
        &options,
        |mut file| {
            let set_aside = lists.apply(&mut file);
            let known = if args.write_baseline.is_some() { baseline::known(&file) } else { Vec::new() };
            let tally = ScanTally { set_aside, ..ScanTally::of(&file) }.with_surfaces(&file, sources);
            (printer.file(&file), tally, known)
        },
        |(printed, tally, known)| {
            found.extend(known);
            page.add(&printed, tally)
        },
    );
    page
}

/// Suppressions and the baseline: findings that do not count.
struct Lists {
    suppressions: Suppressions,
    baseline: Option<Baseline>,
}

impl Lists {
    fn load(args: &ScanArgs, scanner: &Scanner) -> Result<Self, Failure> {
        let others: Vec<&PathBuf> =
            args.exclude_from.iter().chain(&args.baseline).chain(&args.write_baseline).collect();
        let suppressions = Suppressions::load(&args.suppressions, &others, scanner)?;
        let baseline = args.baseline.as_deref().map(Baseline::load).transpose()?;
        Ok(Self { suppressions, baseline })
    }

    /// Removes findings that do not count from the report of a file.
    fn apply(&self, file: &mut FileScan<'_>) -> SetAside {
        let mut rows = self.suppressions.apply(file);
        rows.extend(self.baseline.iter().flat_map(|baseline| baseline.apply(file)));
        SetAside::of(rows)
    }
}

/// Returns the sources to scan.
fn sources(args: &ScanArgs) -> Result<Vec<Source>, Failure> {
    let stdin = || Source::Stdin { name: args.stdin_path.clone() };
    if args.paths.is_empty() {
        return match io::stdin().is_terminal() {
            true => Err(nothing_to_scan("no path was given and standard input is a terminal")),
            false => Ok(vec![stdin()]),
        };
    }
    let source = |path: &PathBuf| match path.as_path() == Path::new("-") {
        true => stdin(),
        false => Source::Path(path.clone()),
    };
    Ok(args.paths.iter().map(source).collect())
}

fn nothing_to_scan(why: &str) -> Failure {
    Failure::usage(format_args!("nothing to scan: {why}")).with_help(
        "scan a path with 'stockade scan skills/', or standard input with 'stockade scan < SKILL.md'",
    )
}

/// Parses a number of threads.
fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MAX_THREADS);
    threads.ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

/// Parses a number of bytes: `4096`, `500K`, `64M`, `1G`.
fn parse_size(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (text.get(..at), 1 << 10),
        Some((at, 'm' | 'M')) => (text.get(..at), 1 << 20),
        Some((at, 'g' | 'G')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    let bytes =
        number.and_then(|number| number.parse::<usize>().ok()).and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|bytes| *bytes <= MAX_FILE_SIZE)
        .ok_or_else(|| "expected a number of bytes up to 1G, such as 4096, 500K or 64M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes() {
        let good = [("0", 0), ("4096", 4096), ("500K", 512_000), ("64m", 64 << 20), ("1G", 1 << 30)];
        for (text, bytes) in good {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "-1", "1.5M", "1 M", "2G", "99999999999999999999", "1KB", "µ"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
