//! `stockade mcp`: wraps untrusted MCP servers, and runs Stockade as one.

mod address;
mod bridge;
pub(super) mod launchers;
mod pins;
mod serve;
mod wrap;

use std::process::ExitCode;

use clap::Subcommand;

use crate::args::HELP;

const EXAMPLES: &str = "\
Examples:
  stockade mcp wrap --name fs -- npx -y @modelcontextprotocol/server-filesystem .
                                        start a server in a sandbox, with its tools checked
  stockade mcp pins list                list known tool definitions, and which have changed
  stockade mcp serve                    serve tools that scan, check commands, run them in a sandbox and query the trail";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run an MCP server in a sandbox, and filter its tools, calls and texts
    Wrap(Box<wrap::WrapArgs>),
    #[command(hide = true)]
    Bridge(bridge::BridgeArgs),
    /// Run Stockade as an MCP server with the tools scan, check_command, exec and audit_query
    Serve(serve::ServeArgs),
    /// List, accept and forget pinned tool definitions
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
