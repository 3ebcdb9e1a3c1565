//! `stockade mcp pins`: pinned tool definitions.

use std::ops::ControlFlow;

use clap::Subcommand;
use stockade_text::escape;

use super::wrap::name;
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_mcp::pins::{DefinitionChange, Pins, names};

const EXAMPLES: &str = "\
Examples:
  stockade mcp pins list                          list all servers, their tools, and changed definitions
  stockade mcp pins accept github search@1a2b3c4d accept this change of the tool `search`
  stockade mcp pins forget github                 delete the pins, so that the next definitions count as new";

const MORE: &str = "\
Exit codes:
  0  done, and no change is pending
  1  `list`: a definition has changed and was not accepted
  2  the command line is wrong, or the name is unknown; `accept`: the tool changed again, and nothing was accepted
  3  the pins cannot be read or written";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(super) struct PinsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List pinned tools, and how their current definitions differ
    List {
        /// Server [default: all]
        #[arg(value_name = "NAME", value_parser = name)]
        server: Option<String>,
    },
    /// Accept changes of tool definitions after you have read them
    Accept {
        /// Server
        #[arg(value_name = "NAME", value_parser = name)]
        server: String,
        /// Changes, as named by the refusal and `list`; a definition that has changed again is not accepted
        #[arg(value_name = "TOOL@CHANGE", required = true)]
        changes: Vec<String>,
    },
    /// Delete pins of a server
    Forget {
        /// Server
        #[arg(value_name = "NAME", value_parser = name)]
        server: String,
        /// Tools [default: all]
        #[arg(value_name = "TOOL")]
        tools: Vec<String>,
    },
}

/// Runs the command.
pub(super) fn run(args: &PinsArgs) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let mut print = |text: &str| {
        let _: ControlFlow<()> = output.write(text);
    };
    let exit = match &args.action {
        Action::List { server: Some(server) } => list(server, &mut print)?,
        Action::List { server: None } => {
            let mut worst = Exit::Clean;
            for server in names() {
                worst = worst.max(list(&server, &mut print)?);
            }
            worst
        }
        Action::Accept { server, changes } => {
            match known(server)?.accept(changes).map_err(Failure::incomplete)? {
                Ok(agreed) => agreed.iter().for_each(|change| print(&agreed_to(change))),
                Err(unknown) => {
                    let what = format_args!("no pending change `{}`", escape(&unknown));
                    let help = format!("run `stockade mcp pins list {server}` to list pending changes");
                    return Err(Failure::usage(what).with_help(help));
                }
            }
            Exit::Clean
        }
        Action::Forget { server, tools } => {
            let count = known(server)?.forget(tools).map_err(Failure::incomplete)?;
            print(&format!("forgot {count} tool(s)\n"));
            Exit::Clean
        }
    };
    output.finish(exit)
}

fn agreed_to(change: &DefinitionChange) -> String {
    format!("accepted {}: {}\n", escape(&change.ticket), change.difference)
}

fn known(server: &str) -> Result<Pins, Failure> {
    let pins = Pins::of_user(server).map_err(Failure::incomplete)?;
    match pins.servers().map_err(Failure::incomplete)?.is_empty() {
        true => Err(Failure::usage(format_args!("no pinned tools of server `{server}`"))
            .with_help("run `stockade mcp pins list` to list all servers")),
        false => Ok(pins),
    }
}

fn list(server: &str, print: &mut dyn FnMut(&str)) -> Result<Exit, Failure> {
    let mut worst = Exit::Clean;
    for known in known(server)?.servers().map_err(Failure::incomplete)? {
        print(&format!("{server}: {}\n", escape(&known.shown)));
        for (name, tool) in &known.tools {
            match tool.change(name) {
                None => print(&format!("  {}\n", escape(name))),
                Some(DefinitionChange { difference, ticket }) => {
                    worst = Exit::Found;
                    let (name, ticket) = (escape(name), escape(&ticket));
                    print(&format!("  {name} HAS CHANGED: {difference}\n"));
                    print(&format!("    accept: `stockade mcp pins accept {server} {ticket}`\n"));
                }
            }
        }
    }
    Ok(worst)
}
