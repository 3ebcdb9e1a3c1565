//! `stockade mcp serve`: Stockade as an MCP server.
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
  stockade mcp serve                    client settings: {\"command\": \"stockade\", \"args\": [\"mcp\", \"serve\"]}
  stockade mcp serve --agent claude     use the configuration of the agent `claude`";

const MORE: &str = "\
Exit codes:
  0  the input ended, and every request was answered
  2  the command line or the configuration is wrong
  3  the input could not be read, or the output not be written

The tools are `scan`, `check_command`, `exec` and `audit_query`. They are methods of 'stockade serve' without the parameters that could
loosen a policy: answers of the user, rules, and the visible part of the file system. The configuration of the agent decides. Where it
would ask the user, the call is refused with instructions to allow it.";

/// Maximum number of concurrent commands.
const COMMANDS: usize = 16;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(super) struct ServeArgs {
    /// Agent whose configuration to use
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
        .map_err(|error| Failure::incomplete(format_args!("cannot handle signals: {error}")))?;
    let ended = serve(&server, &args.agent, io::stdin().lock(), io::stdout());
    server.end();
    ended.map(|()| Exit::Clean).map_err(|error| Failure::incomplete(format_args!("cannot continue: {error}")))
}
