//! What can be typed. Each command has its own file; this is what they share and how their help reads.
#![expect(clippy::disallowed_methods, reason = "looks whether anything was typed")]

mod command;

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{Parser, ValueEnum};

pub(crate) use command::Command;

use stockade_text::escape_lines;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::style::ColorChoice;

/// How `exec` and `run` end where nothing ran.
pub(crate) const NOTHING_RAN: u8 = 125;

/// Examples come first: they answer most questions.
pub(crate) const HELP: &str = "\
{about}

{before-help}{usage-heading} {usage}

{all-args}{after-help}
";

const EXAMPLES: &str = "\
Examples:
  stockade scan skills/              look for attacks in a folder of skills
  stockade scan --format json a.md   the same, for programs
  stockade sanitize SKILL.md         print the text without what a person cannot see
  stockade check command 'git status && rm -rf build'
                                     say what a command runs, and what may become of it
  stockade exec -- make test         run a command where it sees and reaches only what it was given
  stockade rules show NET_REVERSE_SHELL
                                     say what a rule means and what it looks for";

/// What somebody sees who types nothing more: where to begin.
const FIRST: &str = "\
Defence in depth for AI agents

  stockade scan skills/                      look for attacks in a folder of skills
  stockade skill check skills/weather        say whether a skill may be used, and why not
  stockade check command 'git push -f'       say what a command runs, and what may become of it
  stockade exec -- make test                 run a command where it sees and reaches only what it was given
  stockade doctor                            say what works on this machine, and what mends the rest

'stockade --help' lists all commands.
";

/// Defence in depth for AI agents: finds attacks in skills, and cleans their text.
#[derive(Debug, Parser)]
#[command(
    name = "stockade",
    version,
    help_template = HELP,
    before_help = EXAMPLES,
    after_help = "Run 'stockade COMMAND --help' for the options of a command and its exit codes.",
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        display_order = 900
    )]
    pub(crate) color: ColorChoice,
}

impl Args {
    /// Reads the command line. Where that asks for help, or is wrong, this says so and returns how to end.
    pub(crate) fn read() -> Result<Self, ExitCode> {
        let typed = words(std::env::args_os());
        if typed.len() <= 1 {
            return Err(Failure::print(FIRST, Exit::Usage).into());
        }
        let error = match Self::try_parse_from(&typed) {
            Ok(args) => return Ok(args),
            Err(error) => error,
        };
        // What was typed is repeated in the message, and may have come from somewhere else than a keyboard.
        let mut message = escape_lines(&error.render().to_string());
        if runs_a_command(&typed) && is_a_word_too_many(&error) {
            message.push_str("\n  tip: write `--` before the command that is to run\n");
        }
        if error.use_stderr() {
            let exit = Failure::print(&message, Exit::Usage);
            return Err(if runs_a_command(&typed) { NOTHING_RAN.into() } else { exit.into() });
        }
        let mut output = Output::new();
        let _: ControlFlow<()> = output.write(&message);
        Err(output.finish(Exit::Clean).unwrap_or_else(|failure| failure.report()).into())
    }
}

/// What was typed. `stockade help scan` is what many try first, and means `stockade scan --help`.
fn words(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut typed: Vec<OsString> = typed.collect();
    if typed.get(1).is_some_and(|word| word == "help") {
        typed.remove(1);
        typed.push("--help".into());
    }
    typed
}

/// Whether something was typed where no word is expected: most often the command itself, without `--` before it.
fn is_a_word_too_many(error: &clap::Error) -> bool {
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-')
}

/// Any other code could be one of the command that did not run.
fn runs_a_command(typed: &[OsString]) -> bool {
    // `--color WHEN` is the only option that may stand before the command.
    let mut words = typed.iter().skip(1).filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let is_when = |word: &&OsString| ["auto", "always", "never"].iter().any(|when| *word == when);
    words
        .find(|word| !is_when(word))
        .is_some_and(|word| ["exec", "run", "drive"].iter().any(|name| word == name))
}

/// How to print: for people, or one document for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// How a command prints that can be told in two ways.
#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct Form {
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[cfg(target_os = "linux")]
impl Form {
    pub(crate) const fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, runs_a_command, words};
    use clap::CommandFactory as _;
    use std::ffi::OsString;

    fn typed(line: &str) -> Vec<OsString> {
        words(line.split(' ').map(OsString::from))
    }

    #[test]
    fn help_is_asked_for_in_two_ways() {
        for (line, read) in [
            ("stockade help", "stockade --help"),
            ("stockade help scan", "stockade scan --help"),
            ("stockade scan help", "stockade scan help"),
        ] {
            assert_eq!(typed(line), read.split(' ').map(OsString::from).collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_what_runs_a_command_ends_like_one() {
        for (line, runs) in [
            ("stockade exec --nope", true),
            ("stockade --color never run", true),
            ("stockade drive nope", true),
            ("stockade scan exec", false),
            ("stockade --nope", false),
        ] {
            assert_eq!(runs_a_command(&typed(line)), runs, "{line}");
        }
    }

    #[test]
    fn arguments_are_consistent() {
        Args::command().debug_assert();
    }
}
