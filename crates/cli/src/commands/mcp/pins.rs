//! `stockade mcp pins`: the definitions of tools that were seen first.

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
  stockade mcp pins list                          all servers, their tools, and what has changed
  stockade mcp pins accept github search@1a2b3c4d agree to this change of the tool `search` alone
  stockade mcp pins forget github                 what is seen next is seen for the first time";

const MORE: &str = "\
Exit codes:
  0  it is so, and nothing waits to be agreed to
  1  `list`: a definition has changed and was not agreed to
  2  the command line is wrong, or nothing of that name is known; `accept`: a tool is another by now, and nothing is agreed to
  3  the pins cannot be read or written";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(super) struct PinsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the tools that were seen, and how they differ from what is agreed to
    List {
        /// The server, if not all
        #[arg(value_name = "NAME", value_parser = name)]
        server: Option<String>,
    },
    /// Agree to changes that were read
    Accept {
        /// The server
        #[arg(value_name = "NAME", value_parser = name)]
        server: String,
        /// The changes, as the refusal and `list` name them: what is another by now was not read
        #[arg(value_name = "TOOL@CHANGE", required = true)]
        changes: Vec<String>,
    },
    /// Forget what was seen
    Forget {
        /// The server
        #[arg(value_name = "NAME", value_parser = name)]
        server: String,
        /// The tools, if not all
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
                    let what = format_args!("`{}` names no change that waits", escape(&unknown));
                    let help = format!(
                        "`stockade mcp pins list {server}` shows those that do, and how to agree to them"
                    );
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
    format!("agreed to {}: {}\n", escape(&change.ticket), change.difference)
}

fn known(server: &str) -> Result<Pins, Failure> {
    let pins = Pins::of_user(server).map_err(Failure::incomplete)?;
    match pins.servers().map_err(Failure::incomplete)?.is_empty() {
        true => Err(Failure::usage(format_args!("no tool of a server `{server}` was seen"))
            .with_help("`stockade mcp pins list` shows those that were")),
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
                    print(&format!("    `stockade mcp pins accept {server} {ticket}` agrees to that\n"));
                }
            }
        }
    }
    Ok(worst)
}
