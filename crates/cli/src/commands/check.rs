//! `stockade check`: queries the policy about a tool, path, command or host, and reports the rule and the fix.

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
                                             check which of these tools an agent may use
  stockade check path .env --preset default  check whether a tool may read this file
  stockade check path --write ../notes.md    check whether a tool may write it
  stockade check command 'ls && rm -rf x'    show what a command would run, and whether it is allowed
  stockade check net https://api.example.com check whether an agent's commands may connect to this host";

const EXIT_CODES: &str = "\
Exit codes:
  0  everything is allowed
  1  at least one is refused, needs a sandbox, or would ask the user
  2  the command line or a policy is wrong
  3  something that is needed for the answer could not be read

Nothing is run, opened or changed. If the configuration sets `audit.evaluations`, the decision about a command is recorded.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    #[command(subcommand)]
    command: CheckCommand,

    /// Output format
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
