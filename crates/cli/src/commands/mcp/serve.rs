//! `stockade mcp serve`: a server of our own.
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP)]
pub(super) struct ServeArgs {}

/// Runs the command.
pub(super) fn run(_args: &ServeArgs) -> Result<Exit, Failure> {
    Ok(Exit::Clean)
}
