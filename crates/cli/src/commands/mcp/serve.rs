//! `stockade mcp serve`: a server of our own.
#![expect(clippy::disallowed_methods, reason = "talks over standard input and output")]

use std::io;
use std::sync::Arc;

use stockade_guard::admission::answers::AnswerStore;

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_mcp::serve::serve;
use stockade_serve::{Audit, Evaluations, MAX_REQUEST, ServeOptions, Server, end_by_signal};
use stockade_state::command_rules::{configuration, of_agent};

const EXAMPLES: &str = "\
Examples:
  stockade mcp serve                    what a client starts: {\"command\": \"stockade\", \"args\": [\"mcp\", \"serve\"]}
  stockade mcp serve --agent claude     by the configuration of the agent `claude`";

const MORE: &str = "\
Exit codes:
  0  the input has ended, and everything was answered
  2  the command line is wrong, or the configuration
  3  the input could not be read, or the answers could not be written

The tools are `scan`, `check_command`, `exec` and `audit_query`. They are methods of 'stockade serve', without the parameters that would make
anything milder: what a person has said, rules, and what a sandbox shows. The configuration of the agent decides, and what it asks a
person about is refused, with the way to allow it.";

/// How many commands may run at the same time.
const COMMANDS: usize = 16;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(super) struct ServeArgs {
    /// The agent whose configuration holds
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name)]
    agent: String,
}

/// Runs the command.
pub(super) fn run(args: &ServeArgs) -> Result<Exit, Failure> {
    of_agent(&configuration(Some(&args.agent))?, &args.agent)?;
    let server = Arc::new(Server::new(ServeOptions {
        max_request: MAX_REQUEST,
        max_commands: COMMANDS,
        audit: Audit::Default,
        agent: Some(args.agent.clone()),
        evaluations: Evaluations::Configured,
        answers: AnswerStore::of_user(),
        rules: None,
        may_widen: false,
        may_leave_sandbox: false,
        graphs: stockade_state::graph_runs::base(),
    }));
    server.check().map_err(Failure::usage)?;
    end_by_signal(&server)
        .map_err(|error| Failure::incomplete(format_args!("cannot listen to signals: {error}")))?;
    let ended = serve(&server, &args.agent, io::stdin().lock(), io::stdout());
    server.end();
    ended.map(|()| Exit::Clean).map_err(|error| Failure::incomplete(format_args!("cannot go on: {error}")))
}
