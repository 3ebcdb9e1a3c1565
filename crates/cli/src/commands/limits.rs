//! `stockade limits`: what agents used and may still use, a fresh start for one of them, and what limits would do.

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
  stockade limits status                   what each agent used and may still use, and whether its service works
  stockade limits reset bot                forget what the agent `bot` used, after a question
  stockade limits reset --only breaker bot let it call its service again at once
  stockade limits simulate trace.json      replay the calls of an agent through its limits";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing is refused; with reset: done
  1  something is refused; with reset: somebody was asked, and did not say yes
  2  the command line, the configuration or the script is wrong
  3  something that is needed could not be read, or a reset not be put on record";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct LimitsArgs {
    #[command(subcommand)]
    command: LimitsCommand,

    /// How to print
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", display_order = 800)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum LimitsCommand {
    Status(status::StatusArgs),
    Reset(reset::ResetArgs),
    Simulate(simulate::SimulateArgs),
}

/// Where the limits are kept.
#[derive(Debug, clap::Args)]
struct Kept {
    /// The file of limits, as a program keeps it with `SqliteStore` [default: that of this user]
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

impl Kept {
    /// Returns the file, which is there.
    fn path(&self) -> Result<PathBuf, Failure> {
        let path = self.named()?;
        if is_there(&path)? { Ok(path) } else { Err(missing(&path)) }
    }

    /// Returns the file, or nothing if no program has begun that of this user yet. A file that somebody names should be
    /// there.
    fn begun(&self) -> Result<Option<PathBuf>, Failure> {
        let path = self.named()?;
        match is_there(&path)? {
            true => Ok(Some(path)),
            false if self.file.is_some() => Err(missing(&path)),
            false => Ok(None),
        }
    }

    fn named(&self) -> Result<PathBuf, Failure> {
        self.file.clone().or_else(SqliteStore::default_path).ok_or_else(|| {
            Failure::usage("neither XDG_STATE_HOME nor HOME says where your limits are kept")
                .with_help("name the file with --file")
        })
    }
}

/// Whether there is a file, or a link that should lead to one. Where nobody can look, that is not known.
#[expect(clippy::disallowed_methods, reason = "looks whether there is such a file")]
fn is_there(path: &Path) -> Result<bool, Failure> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            Err(Failure::incomplete(format_args!("cannot look for {}: {error}", escape_path(path)))
                .with_help("let its folder be read, or name another file with --file"))
        }
    }
}

fn missing(path: &Path) -> Failure {
    Failure::incomplete(format_args!("no limits are kept in {}", escape_path(path))).with_help(
        "a program begins the file when it counts its calls with SqliteStore; name another with --file",
    )
}

/// The configuration that holds in this folder.
#[expect(clippy::disallowed_methods, reason = "asks in which folder it runs")]
fn configuration() -> Result<Config, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    Config::load(&ConfigSources::of_process(&folder)).map_err(|error| super::config::failure(&error))
}

/// Those that were named, each of which must be known; all, where none was.
fn chosen(store: &SqliteStore, named: &[String]) -> Result<Vec<String>, Failure> {
    of_known(store.agents().map_err(|error| unreadable(&error))?, named)
}

fn of_known(known: Vec<String>, named: &[String]) -> Result<Vec<String>, Failure> {
    for name in named {
        if !known.contains(name) {
            let hint = match stockade_text::nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`stockade limits status` lists those that there are".to_owned(),
            };
            return Err(Failure::usage(format_args!("nothing is kept of an agent `{name}`")).with_help(hint));
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
