//! `stockade mcp`: servers of the Model Context Protocol that nobody has to trust, and one of our own.

mod address;
mod bridge;
mod pins;
mod serve;
mod wrap;

use std::process::ExitCode;

use clap::Subcommand;

use crate::args::HELP;

const EXAMPLES: &str = "\
Examples:
  stockade mcp wrap --name fs -- npx -y @modelcontextprotocol/server-filesystem .
                                        what a client starts in the place of the server
  stockade mcp pins list                the tools that were seen, and which of them have changed
  stockade mcp serve                    a server that scans, checks commands, runs them contained and reads the record";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run a server in the sandbox, and let pass what the agent may see and call
    Wrap(Box<wrap::WrapArgs>),
    #[command(hide = true)]
    Bridge(bridge::BridgeArgs),
    /// Be a server: scan, check, exec and audit as tools
    Serve(serve::ServeArgs),
    /// List, agree to and forget the definitions of tools that were seen first
    Pins(pins::PinsArgs),
}

/// Runs the command.
pub(crate) fn run(args: &McpArgs) -> ExitCode {
    match &args.action {
        Action::Wrap(wrap) => wrap::run(wrap),
        Action::Bridge(args) => bridge::run(args),
        Action::Serve(serve) => ended(serve::run(serve)),
        Action::Pins(pins) => ended(pins::run(pins)),
    }
}

fn ended(outcome: Result<crate::exit::Exit, crate::failure::Failure>) -> ExitCode {
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}
