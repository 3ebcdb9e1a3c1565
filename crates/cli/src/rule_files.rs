//! The scanner rules of a command: built-in rules and the user's own, with configured severities.
#![expect(clippy::disallowed_methods, reason = "reads the current directory, to find its configuration")]

use std::path::{Path, PathBuf};

use stockade_guard::admission::{FileOptions, Source, read_text};
use stockade_guard::config::ConfigSources;
use stockade_guard::scanner::{
    MAX_RULE_FILE_BYTES, RuleBuf, RuleError, RuleFile, RuleFileError, RuleFormat, Scanner,
};
use stockade_text::escape_path;

use crate::failure::Failure;

/// A set of rules.
#[derive(Debug)]
pub(crate) struct Rules {
    /// `None` for only the built-in rules, which need no compilation.
    changed: Option<Scanner>,
}

impl Rules {
    /// Adds the rules of these files to the built-in ones, whose severities the configuration may change.
    pub(crate) fn load(paths: &[PathBuf]) -> Result<Self, Failure> {
        let rules = Self::of_files(paths)?;
        let sources = ConfigSources::of_process(&std::env::current_dir().unwrap_or_default());
        let changes = sources.rule_changes().map_err(|error| crate::commands::config::failure(&error))?;
        match changes.is_empty() {
            true => Ok(rules),
            false => Ok(Self { changed: Some(rules.scanner().changed(&changes)) }),
        }
    }

    fn of_files(paths: &[PathBuf]) -> Result<Self, Failure> {
        if paths.is_empty() {
            return Ok(Self { changed: None });
        }
        let files = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
        match Scanner::with_rule_files(&files) {
            Ok(scanner) => Ok(Self { changed: Some(scanner) }),
            Err(error) => Err(clash(paths, &files, &error)),
        }
    }

    /// Checks a rule file together with the others, and returns its rules.
    pub(crate) fn test(path: &Path, others: &[PathBuf]) -> Result<Vec<RuleBuf>, Failure> {
        let paths: Vec<PathBuf> = others.iter().cloned().chain([path.to_path_buf()]).collect();
        Self::of_files(&paths)?;
        Ok(read(path)?.rules().to_vec())
    }

    pub(crate) fn scanner(&self) -> &Scanner {
        self.changed.as_ref().unwrap_or_else(|| Scanner::builtin())
    }
}

fn read(path: &Path) -> Result<RuleFile, Failure> {
    let Some(format) = path.to_str().and_then(RuleFormat::of_name) else {
        let message = format_args!("{}: unknown extension of a rule file", escape_path(path));
        return Err(Failure::usage(message).with_help("use the extension .toml, .yaml, .yml or .json"));
    };
    // One byte above the limit, so that a larger file is refused as too large.
    let options = FileOptions { max_file_bytes: MAX_RULE_FILE_BYTES + 1, ..FileOptions::default() };
    let file = read_text(&Source::Path(path.to_path_buf()), &options)
        .map_err(|gap| Failure::usage(format_args!("{}: {gap}", escape_path(path))))?;
    RuleFile::parse(&file.text, format).map_err(|error| wrong(path, &error))
}

/// Reports a rule id that occurs in two files. The error names the later file.
fn clash(paths: &[PathBuf], files: &[RuleFile], error: &RuleError) -> Failure {
    let place = |(path, file): (&PathBuf, &RuleFile)| Some(wrong(path, &file.locate(error)?));
    paths.iter().zip(files).rev().find_map(place).unwrap_or_else(|| Failure::usage(error))
}

fn wrong(path: &Path, error: &RuleFileError) -> Failure {
    let RuleFileError { line, column, problem, .. } = error;
    Failure::usage(format_args!("{}:{line}:{column}: {problem}", escape_path(path))).with_help(
        "run 'stockade rules test FILE' to check the file; 'stockade rules show ID' shows an example of a rule",
    )
}
