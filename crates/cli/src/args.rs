//! Command-line arguments: what all commands share, and the layout of help. Each command defines its own options.
#![expect(clippy::disallowed_methods, reason = "looks whether anything was typed")]

mod command;
mod groups;

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};

pub(crate) use command::Command;

use stockade_text::escape_lines;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::style::ColorChoice;

/// Exit code of `exec` and `run` if no command ran.
pub(crate) const NOTHING_RAN: u8 = 125;

/// Layout of help. Examples come first: they answer most questions.
pub(crate) const HELP: &str = "\
{about}

{before-help}{usage-heading} {usage}

{all-args}{after-help}
";

const EXAMPLES: &str = "\
Examples:
  stockade install claude            protect Claude Code: its calls are decided before they run
  stockade why 'npm ci' --agent claude
                                     explain a decision, and how to change it
  stockade scan skills/              scan a directory of skills for attacks
  stockade scan --format json a.md   print the findings as JSON
  stockade sanitize SKILL.md         print the text without hidden characters
  stockade check command 'git status && rm -rf build'
                                     show what a command would run, and whether it is allowed
  stockade exec -- make test         run a command in a sandbox
  stockade rules show NET_REVERSE_SHELL
                                     explain a scanner rule";

/// Printed without arguments: where to start.
const FIRST: &str = "\
Sandbox, policy, scanning and audit for AI agents

  stockade install claude                    protect Claude Code: its calls are decided before they run
  stockade scan skills/                      scan a directory of skills for attacks
  stockade skill check skills/weather        check whether a skill may be used
  stockade check command 'git push -f'       show what a command would run, and whether it is allowed
  stockade exec -- make test                 run a command in a sandbox
  stockade doctor                            check this machine and suggest fixes
  stockade docs                              show the documentation

Run 'stockade --help' for all commands.
";

/// Sandbox, policy, scanning and audit for AI agents
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

    #[command(flatten)]
    pub(crate) shared: SharedArgs,
}

/// The options of every command, before its name or behind it.
#[derive(Debug, clap::Args)]
pub(crate) struct SharedArgs {
    /// Config file to read and change in place of your own; also STOCKADE_CONFIG
    #[arg(long, value_name = "FILE", display_order = 899)]
    pub(crate) config: Option<PathBuf>,

    /// When to use colors; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true, display_order = 900)]
    pub(crate) color: ColorChoice,
}

impl SharedArgs {
    /// Adds them to a command and those below it. As global options of the program, clap would copy them into all commands at
    /// each start, which takes a twentieth of `stockade --version`.
    fn of_command(command: clap::Command) -> clap::Command {
        let global = |arg: clap::Arg| arg.global(true);
        Self::augment_args(command).mut_arg("config", global).mut_arg("color", global)
    }

    /// Takes those that are written behind the name of a command.
    fn take(&mut self, typed: &clap::ArgMatches) -> Result<(), clap::Error> {
        let Some((_, typed)) = typed.subcommand() else { return Ok(()) };
        let is_written = |name| typed.value_source(name) == Some(ValueSource::CommandLine);
        let behind = Self::from_arg_matches(typed)?;
        if is_written("config") {
            self.config = behind.config;
        }
        if is_written("color") {
            self.color = behind.color;
        }
        Ok(())
    }
}

impl Args {
    fn parsed(typed: &[OsString]) -> Result<Self, clap::Error> {
        let mut program = Self::command();
        let mut matches = program.try_get_matches_from_mut(typed)?;
        let behind = matches.clone();
        let mut args =
            Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))?;
        args.shared.take(&behind).map_err(|error| error.format(&mut program))?;
        Ok(args)
    }

    /// Parses the command line. For help or an error, prints it and returns the exit code.
    pub(crate) fn read() -> Result<Self, ExitCode> {
        let typed = words(std::env::args_os());
        if typed.len() <= 1 {
            return Err(Failure::print(FIRST, Exit::Usage).into());
        }
        let error = match Self::parsed(&typed) {
            Ok(args) => return Ok(args),
            Err(error) => error,
        };
        // The message quotes arguments, which may be untrusted text.
        let mut message = escape_lines(&error.render().to_string());
        if error.kind() == ErrorKind::DisplayHelp {
            message = groups::grouped(&message);
        }
        if runs_a_command(&typed) && is_a_word_too_many(&error) {
            message.push_str("\n  tip: write `--` before the command to run\n");
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

/// Returns the arguments. `stockade help scan`, which many users try first, becomes `stockade scan --help`.
fn words(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut typed: Vec<OsString> = typed.collect();
    if typed.get(1).is_some_and(|word| word == "help") {
        typed.remove(1);
        typed.push("--help".into());
    }
    typed
}

/// Whether an unexpected word was given: most often the command itself, without `--` before it.
fn is_a_word_too_many(error: &clap::Error) -> bool {
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-')
}

/// Whether a command would have run, so that other exit codes could be mistaken for its own.
fn runs_a_command(typed: &[OsString]) -> bool {
    let mut words = typed.iter().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            // The value of an option before the command.
            Some("--color" | "--config") => drop(words.next()),
            Some(word) if word.starts_with('-') => {}
            word => return word.is_some_and(|word| ["exec", "run", "drive"].contains(&word)),
        }
    }
    false
}

/// Output format: text for users, or one JSON document for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Output format of a command.
#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct Form {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Same as --format json
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
    use super::{Args, ColorChoice, runs_a_command, words};
    use clap::CommandFactory as _;
    use std::ffi::OsString;
    use std::path::Path;

    fn typed(line: &str) -> Vec<OsString> {
        words(line.split(' ').map(OsString::from))
    }

    #[test]
    fn help_has_a_short_and_a_long_form() {
        for (line, read) in [
            ("stockade help", "stockade --help"),
            ("stockade help scan", "stockade scan --help"),
            ("stockade scan help", "stockade scan help"),
        ] {
            assert_eq!(typed(line), read.split(' ').map(OsString::from).collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_commands_that_run_something_use_its_exit_code() {
        for (line, runs) in [
            ("stockade exec --nope", true),
            ("stockade --color never run", true),
            ("stockade --config scan exec", true),
            ("stockade --config exec scan", false),
            ("stockade drive nope", true),
            ("stockade scan exec", false),
            ("stockade --nope", false),
        ] {
            assert_eq!(runs_a_command(&typed(line)), runs, "{line}");
        }
    }

    #[test]
    fn shared_options_are_taken_before_and_behind_a_command() {
        for (line, config, color) in [
            ("stockade config get x", None, ColorChoice::Auto),
            ("stockade --config a --color never config get x", Some("a"), ColorChoice::Never),
            ("stockade config --config a get x --color never", Some("a"), ColorChoice::Never),
            ("stockade --config a --color never config get x --config b", Some("b"), ColorChoice::Never),
            ("stockade --color never config get x --color auto", None, ColorChoice::Auto),
        ] {
            let shared = Args::parsed(&typed(line)).unwrap().shared;
            assert_eq!((shared.config.as_deref(), shared.color), (config.map(Path::new), color), "{line}");
        }
    }

    #[test]
    fn arguments_are_consistent() {
        Args::command().debug_assert();
    }
}
