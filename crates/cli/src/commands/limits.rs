//! `stockade limits`: shows, watches, resets and simulates usage limits of agents.

mod reset;
mod simulate;
mod status;
mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use stockade_guard::config::{Config, ConfigSources, LimitStoreConfig};
use stockade_guard::limits::store::{ManagedStore, StoreError};
use stockade_guard::{SqliteStore, open_limit_store};
use stockade_text::escape_path;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::render::style::ColorChoice;

const EXAMPLES: &str = "\
Examples:
  stockade limits status                   show used and remaining budgets, and circuit breakers
  stockade limits watch                    show them again whenever they change
  stockade limits reset bot                reset the usage of the agent `bot`, after confirmation
  stockade limits reset --only breaker bot close its circuit breaker
  stockade limits simulate trace.json      replay the calls of an agent against its limits";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing is refused; with reset: done
  1  something is refused; with reset: not confirmed
  2  the command line, the configuration or the script is wrong
  3  something required could not be read, or a reset could not be recorded

Limits are in a file of this user, or on the server of `limits.server`.";

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
    Watch(watch::WatchArgs),
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
        LimitsCommand::Watch(watch) => watch::run(watch, args.format, color),
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
    /// Opens the store to change it. A file must exist.
    fn to_change(&self) -> Result<Arc<dyn ManagedStore>, Failure> {
        match self.place()? {
            ChosenStore::Server(config) => open_limit_store(&config).map_err(|error| away(&error, &config)),
            ChosenStore::File(path) if is_there(&path)? => {
                let store = SqliteStore::open(&path).map_err(|error| unreadable(&error))?;
                Ok(Arc::new(store))
            }
            ChosenStore::File(path) => Err(missing(&path)),
        }
    }

    /// Opens the store to read it, or `None` if the user's own file does not exist yet. A file of --file must exist.
    fn to_read(&self) -> Result<Option<Arc<dyn ManagedStore>>, Failure> {
        match self.place()? {
            ChosenStore::Server(_) => self.to_change().map(Some),
            ChosenStore::File(path) if is_there(&path)? => {
                let store = SqliteStore::open_to_read(&path).map_err(|error| unreadable(&error))?;
                Ok(Some(Arc::new(store)))
            }
            ChosenStore::File(path) if self.file.is_some() => Err(missing(&path)),
            ChosenStore::File(_) => Ok(None),
        }
    }

    fn place(&self) -> Result<ChosenStore, Failure> {
        if let Some(file) = &self.file {
            return Ok(ChosenStore::File(file.clone()));
        }
        let config = configuration()?.limit_store().clone();
        if config.server.is_some() {
            return Ok(ChosenStore::Server(config));
        }
        SqliteStore::default_path().map(ChosenStore::File).ok_or_else(|| {
            Failure::usage("cannot find your limits: neither XDG_STATE_HOME nor HOME is set")
                .with_help("set one of them, or use --file")
        })
    }
}

/// The store that an operator asks.
enum ChosenStore {
    File(PathBuf),
    Server(LimitStoreConfig),
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

/// The server of the configuration cannot be used. Its address may contain a password.
fn away(error: &StoreError, config: &LimitStoreConfig) -> Failure {
    unreadable(error).with_help(format!("{}; for limits in a file, use --file", config.fix()))
}

/// Returns the configuration for the current directory.
#[expect(clippy::disallowed_methods, reason = "asks in which folder it runs")]
fn configuration() -> Result<Config, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    Config::load(&ConfigSources::of_process(&folder)).map_err(|error| super::config::failure(&error))
}

/// Returns the named agents, each of which must be known, or all agents.
fn chosen(store: &dyn ManagedStore, named: &[String]) -> Result<Vec<String>, Failure> {
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
