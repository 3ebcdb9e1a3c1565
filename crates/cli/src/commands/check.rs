//! `stockade check`: what a policy says about a tool, a path, a command or a host, which rule says it, and what would change that.

use std::ops::ControlFlow;

use clap::Subcommand;
use serde::Serialize;

use super::check_command;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::check_text;
use crate::render::style::ColorChoice;
use crate::report::answer::{Answer, Decision};
use stockade_text::to_printable_json;

mod net;
mod path;
mod skill;
mod tool;

const EXAMPLES: &str = "\
Examples:
  stockade check tool exec browser --profile minimal --allow group:web
                                             which of these tools may an agent use?
  stockade check path .env --preset default  may a tool read this file?
  stockade check path --write ../notes.md    may it write that one?
  stockade check command 'ls && rm -rf x'    what would this run, and may it?
  stockade check net https://api.example.com may the commands of an agent talk to this host?";

const EXIT_CODES: &str = "\
Exit codes:
  0  allowed, all of them
  1  refused, or a sandbox is needed or a person would have to be asked, for at least one
  2  the command line is wrong, or a policy has a slip in it
  3  something that is needed to answer could not be read

Nothing is run, opened or changed. Where the configuration sets `audit.evaluations`, the answer to a command is put on record.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    #[command(subcommand)]
    command: CheckCommand,

    /// How to print
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", display_order = 800)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum CheckCommand {
    Tool(tool::ToolArgs),
    Path(path::PathArgs),
    Command(check_command::CommandArgs),
    Net(net::NetArgs),
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let answers = match &args.command {
        CheckCommand::Tool(tool) => tool::check(tool)?,
        CheckCommand::Path(path) => path::check(path)?,
        CheckCommand::Net(net) => net::check(net)?,
        CheckCommand::Command(command) => {
            let (printed, exit) = check_command::run(command, args.format, styles(color))?;
            let mut output = Output::new();
            let _: ControlFlow<()> = output.write(&printed);
            return output.finish(exit);
        }
    };
    let printed = match args.format {
        Format::Text => check_text::answers(&answers, styles(color)),
        Format::Json => json(&answers),
    };
    let all = answers.iter().all(|answer| answer.decision == Decision::Allow);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(if all { Exit::Clean } else { Exit::Found })
}

fn json(answers: &[Answer]) -> String {
    #[derive(Serialize)]
    struct List<'a> {
        results: &'a [Answer],
    }
    format!("{}\n", to_printable_json(&List { results: answers }))
}
