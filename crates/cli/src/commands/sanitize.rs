//! `stockade sanitize`: removes hidden and invisible characters from text.
#![expect(
    clippy::disallowed_methods,
    reason = "checks whether standard input is a terminal, writes to standard error"
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
  stockade sanitize --check SKILL.md       only check whether the file needs cleaning
  curl -s URL | stockade sanitize          clean standard input";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; with --check: the text is clean
  1  with --check: the text needs cleaning
  2  the command line is wrong
  3  the text could not be read or written

HTML comments are removed, and so are characters that are invisible to a reader but not to a model. The remaining text is normalized
(NFKC) and truncated to the limit.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct SanitizeArgs {
    /// File to clean; - for standard input [default: standard input]
    file: Option<PathBuf>,

    /// Output format; json has the text and the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Maximum number of characters to keep
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_CHARS)]
    max_chars: usize,

    /// Only check: exit with 1 if the text needs cleaning
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
    // Decoding to UTF-8 may have changed the text even if cleaning did not.
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

/// Returns the standard output.
fn printed(args: &SanitizeArgs, cleaned: &Sanitized<'_>) -> String {
    match args.format {
        Format::Json => format!("{}\n", to_printable_json(cleaned)),
        Format::Text if args.check => String::new(),
        Format::Text => cleaned.body.to_string(),
    }
}

/// Reads the whole text: the result for a part of it would be misleading.
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
    Failure::usage("nothing to clean: no file was given and standard input is a terminal").with_help(
        "clean a file with 'stockade sanitize SKILL.md', or standard input with 'stockade sanitize < SKILL.md'",
    )
}
