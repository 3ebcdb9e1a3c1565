//! `stockade sanitize`: prints a text without what a person cannot see.
#![expect(
    clippy::disallowed_methods,
    reason = "asks whether standard input is a terminal, writes to standard error"
)]

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use stockade_guard::admission::{FileOptions, Source, TextFile, read_text};
use stockade_guard::sanitize::{DEFAULT_MAX_CHARS, SanitizeOptions, Sanitized, sanitize};
use stockade_text::escape_path;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::sanitize_text::{self, Verdict};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade sanitize SKILL.md > clean.md    clean a file; the report goes to standard error
  stockade sanitize --check SKILL.md       only tell whether there is something to clean
  curl -s URL | stockade sanitize          clean what is piped in";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; with --check: there is nothing to clean
  1  with --check: there is something to clean
  2  the command line is wrong
  3  the text could not be read or written

What is removed: HTML comments, and characters that a person does not see but a model reads. What remains is brought
into one form (NFKC), and cut where it is too long.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct SanitizeArgs {
    /// The file to clean; standard input if there is none or it is -
    file: Option<PathBuf>,

    /// How to print; json holds the text and the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Characters to keep at most
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_CHARS)]
    max_chars: usize,

    /// Do not print the text; exit with 1 if it needs cleaning
    #[arg(long)]
    check: bool,

    /// Print no report
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn run(args: &SanitizeArgs) -> Result<Exit, Failure> {
    let (name, file) = read(args)?;
    let cleaned =
        sanitize(&file.text, &SanitizeOptions { max_chars: args.max_chars, ..SanitizeOptions::default() });
    // Decoding may have changed the file before cleaning did.
    let changed = cleaned.changed() || !file.as_stored;
    let verdict = match (changed, args.check) {
        (false, _) => Verdict::Untouched,
        (true, false) => Verdict::Cleaned,
        (true, true) => Verdict::NeedsCleaning,
    };
    let mut output = Output::new();
    if let ControlFlow::Continue(()) = output.write(&printed(args, &cleaned))
        && args.format == Format::Text
        && !args.quiet
    {
        let report = sanitize_text::report(&name, &cleaned, verdict);
        io::stderr().write_all(report.as_bytes()).ok();
    }
    output.finish(if args.check && changed { Exit::Found } else { Exit::Clean })
}

/// Returns what goes to standard output.
fn printed(args: &SanitizeArgs, cleaned: &Sanitized<'_>) -> String {
    match args.format {
        Format::Json => format!("{}\n", to_printable_json(cleaned)),
        Format::Text if args.check => String::new(),
        Format::Text => cleaned.body.to_string(),
    }
}

/// Reads all of the text: a part of it would be an answer to another question.
fn read(args: &SanitizeArgs) -> Result<(String, TextFile), Failure> {
    let source = match args.file.as_deref() {
        Some(path) if path != Path::new("-") => Source::Path(path.to_path_buf()),
        None if io::stdin().is_terminal() => return Err(nothing_to_clean()),
        Some(_) | None => Source::Stdin { name: "stdin".into() },
    };
    let name = match &source {
        Source::Path(path) | Source::Stdin { name: path } => escape_path(path),
    };
    let options = FileOptions { max_file_bytes: 64 << 20, ..FileOptions::default() };
    match read_text(&source, &options) {
        Ok(file) => Ok((name, file)),
        Err(gap) => Err(Failure::incomplete(format_args!("{name}: {gap}"))),
    }
}

fn nothing_to_clean() -> Failure {
    Failure::usage("nothing to clean: no file was named and nothing is piped in").with_help(
        "name a file, 'stockade sanitize SKILL.md', or pipe a text in, 'stockade sanitize < SKILL.md'",
    )
}
