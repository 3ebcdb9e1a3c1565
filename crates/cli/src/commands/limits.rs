//! `stockade limits`: shows, resets and simulates usage limits of agents.

mod reset;
mod simulate;
mod status;

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use stockade_guard::SqliteStore;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::limits::store::StoreError;
use stockade_text::escape_path;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::render::style::ColorChoice;

const EXAMPLES: &str = "\
Examples:
  stockade limits status                   show used and remaining budgets, and circuit breakers
  stockade limits reset bot                reset the usage of the agent `bot`, after confirmation
  stockade limits reset --only breaker bot close its circuit breaker
  stockade limits simulate trace.json      replay the calls of an agent against its limits";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing is refused; with reset: done
  1  something is refused; with reset: not confirmed
  2  the command line, the configuration or the script is wrong
  3  something required could not be read, or a reset could not be recorded";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct LimitsArgs {
    #[command(subcommand)]
    command: LimitsCommand,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", display_order = 800)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum LimitsCommand {
    Status(status::StatusArgs),
    Reset(reset::ResetArgs),
    Simulate(simulate::SimulateArgs),
}

/// Location of the limits.
#[derive(Debug, clap::Args)]
struct LimitFile {
    /// File of limits, as written by `SqliteStore` [default: your own]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &LimitsArgs, color: ColorChoice) -> Result<Exit, Failure> {
    match &args.command {
        LimitsCommand::Status(status) => status::run(status, args.format, color),
        LimitsCommand::Reset(reset) => reset::run(reset, args.format),
        LimitsCommand::Simulate(simulate) => simulate::run(simulate, args.format),
    }
}

/// Returns what agents spent, as text; empty if nothing is recorded.
#[cfg(target_os = "linux")]
pub(super) fn shown() -> Result<String, Failure> {
    status::shown()
}

impl LimitFile {
    /// Returns the file, which must exist.
    fn path(&self) -> Result<PathBuf, Failure> {
        let path = self.named()?;
        if is_there(&path)? { Ok(path) } else { Err(missing(&path)) }
    }

    /// Returns the file, or `None` if the user's own does not exist yet. A file of --file must exist.
    fn begun(&self) -> Result<Option<PathBuf>, Failure> {
        let path = self.named()?;
        match is_there(&path)? {
            true => Ok(Some(path)),
            false if self.file.is_some() => Err(missing(&path)),
            false => Ok(None),
        }
    }

    fn named(&self) -> Result<PathBuf, Failure> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        if configuration()?.limit_store().server.is_some() {
            return Err(on_a_server());
        }
        SqliteStore::default_path().ok_or_else(|| {
            Failure::usage("cannot find your limits: neither XDG_STATE_HOME nor HOME is set")
                .with_help("set one of them, or use --file")
        })
    }
}

/// Whether a file or a symlink exists. An error if that cannot be determined.
#[expect(clippy::disallowed_methods, reason = "looks whether there is such a file")]
fn is_there(path: &Path) -> Result<bool, Failure> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::incomplete(format_args!("cannot access {}: {error}", escape_path(path)))
            .with_help("make its directory readable, or use another file with --file")),
    }
}

fn missing(path: &Path) -> Failure {
    Failure::incomplete(format_args!("no limits in {}", escape_path(path))).with_help(
        "the file is created when a program counts calls with SqliteStore; to read another, use --file",
    )
}

/// Where limits are on a server, a file of them holds what was used before, or nothing.
fn on_a_server() -> Failure {
    Failure::incomplete("`limits.server` is set, and this command cannot read or reset limits on a server yet").with_help(
        "on the server, `redis-cli --scan --pattern 'stockade:limits:rows:core:*'` lists the agents; for limits in a file, use --file",
    )
}

/// Returns the configuration for the current directory.
#[expect(clippy::disallowed_methods, reason = "asks in which folder it runs")]
fn configuration() -> Result<Config, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    Config::load(&ConfigSources::of_process(&folder)).map_err(|error| super::config::failure(&error))
}

/// Returns the named agents, each of which must be known, or all agents.
fn chosen(store: &SqliteStore, named: &[String]) -> Result<Vec<String>, Failure> {
    of_known(store.agents().map_err(|error| unreadable(&error))?, named)
}

fn of_known(known: Vec<String>, named: &[String]) -> Result<Vec<String>, Failure> {
    for name in named {
        if !known.contains(name) {
            let hint = match stockade_text::nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "run `stockade limits status` to list the agents".to_owned(),
            };
            return Err(Failure::usage(format_args!("no usage recorded for agent `{name}`")).with_help(hint));
        }
    }
    match named.is_empty() {
        true => Ok(known),
        false => Ok(named.to_vec()),
    }
}

fn unreadable(error: &StoreError) -> Failure {
    Failure::incomplete(with_causes(error))
}
