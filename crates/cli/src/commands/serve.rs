//! `stockade serve`: all layers for programs in any language.
#![expect(
    clippy::disallowed_methods,
    reason = "uses standard input and output, and reads the current directory"
)]

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use stockade_guard::admission::answers::AnswerStore;
use stockade_text::escape_path;

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_serve::{
    Audit, Evaluations, MAX_REQUEST, ServeOptions, Server, SocketError, converse, end_by_signal, listen,
    schema,
};
use stockade_state::command_rules::{configuration, of_agent};
use stockade_state::saved_rules::SavedRules;

const EXAMPLES: &str = "\
Examples:
  echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"sanitize\", \"params\": {\"text\": \"a<!-- b -->\"}}' | stockade serve
  stockade serve --socket ~/.local/state/stockade/serve.sock
  stockade serve --schema                            print a JSON Schema of all methods";

const MORE: &str = "\
Exit codes:
  0  the input ended, and every request was answered
  2  the command line is wrong, or the socket cannot be created
  3  the input could not be read, or the output not be written

SIGTERM, SIGINT and SIGHUP stop the server: no further command starts, running commands get five seconds, and the end of each is recorded.
A second signal cancels them at once.

Requests and answers are one per line; answers are sent as they become ready. SERVE.md documents the methods. Typed clients for Python
and Node.js are in packages. The server stops reading from a client that does not read its answers.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct ServeArgs {
    /// Listen on a unix socket for programs of this user, instead of standard input
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Maximum length of a line in bytes
    #[arg(long, value_name = "BYTES", default_value_t = MAX_REQUEST, value_parser = request_size)]
    max_request: usize,

    /// Maximum number of concurrent commands
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = commands)]
    max_commands: usize,

    /// Audit trail of run commands [default: your own]
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,

    /// Do not record commands
    #[arg(long, conflicts_with = "audit")]
    no_audit: bool,

    /// Run commands only as this agent, with its configuration
    #[arg(long, value_name = "ID", conflicts_with = "no_audit", value_parser = stockade_state::agents::parse_name)]
    agent: Option<String>,

    /// Rule file (TOML, YAML or JSON) that takes precedence over rules in requests; policy.add adds to it
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Let requests add rules that allow, and remove rules that restrict
    #[arg(long)]
    requests_may_widen: bool,

    /// Let requests run commands without a sandbox (mode danger-full-access)
    #[arg(long, conflicts_with = "no_audit")]
    allow_danger_full_access: bool,

    /// Print the JSON Schema of every method and exit
    #[arg(
        long,
        conflicts_with_all = [
            "socket", "audit", "no_audit", "agent", "rules", "requests_may_widen", "allow_danger_full_access",
        ]
    )]
    schema: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> Result<Exit, Failure> {
    if args.schema {
        let mut output = Output::new();
        let _: ControlFlow<()> = output.write(&format!("{:#}\n", schema()));
        return output.finish(Exit::Clean);
    }
    if let Some(agent) = &args.agent
        && let Ok(config) = configuration(Some(agent))
    {
        // An invalid configuration may be fixed before the first request, but the agent is fixed here.
        of_agent(&config, agent)?;
    }
    let audit = match &args.audit {
        _ if args.no_audit => Audit::Off,
        Some(path) => Audit::File(path.clone()),
        None => Audit::Default,
    };
    let options = ServeOptions {
        max_request: args.max_request,
        max_commands: args.max_commands,
        audit,
        agent: args.agent.clone(),
        evaluations: if args.no_audit { Evaluations::Off } else { Evaluations::Configured },
        answers: AnswerStore::of_user(),
        rules: args.rules.as_deref().map(SavedRules::of_file).transpose()?,
        may_widen: args.requests_may_widen,
        may_leave_sandbox: args.allow_danger_full_access,
        #[cfg(target_os = "linux")]
        graphs: stockade_state::graph_runs::base(),
    };
    let server = Arc::new(Server::new(options));
    // Invalid rules are reported before the first request.
    server.check().map_err(Failure::usage)?;
    end_by_signal(&server)
        .map_err(|error| Failure::incomplete(format_args!("cannot handle signals: {error}")))?;
    match &args.socket {
        None => {
            let ended = converse(&server, io::stdin().lock(), io::stdout(), &is_heard);
            server.end();
            ended
                .map(|()| Exit::Clean)
                .map_err(|error| Failure::incomplete(format_args!("cannot continue: {error}")))
        }
        Some(path) => {
            let ready = || {
                let line = format!("stockade: listening on {}\n", escape_path(path));
                io::stderr().write_all(line.as_bytes()).ok();
            };
            listen(&server, path, ready).map(|()| Exit::Clean).map_err(|error| no_socket(&error))
        }
    }
}

fn no_socket(error: &SocketError) -> Failure {
    let help = match error {
        SocketError::UnknownPeers => "omit `--socket` to use standard input",
        SocketError::Bound(error) => error.fix(),
    };
    Failure::usage(error).with_help(help)
}

/// Whether standard output still has a reader.
fn is_heard() -> bool {
    let stdout = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut fds, Some(&now));
    polled.is_err() || !fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR))
}

/// A lower limit would refuse ordinary requests, and a higher one would let one client exhaust the memory.
fn request_size(text: &str) -> Result<usize, String> {
    let size = text.parse::<usize>().ok().filter(|size| (1024..=1 << 30).contains(size));
    size.ok_or_else(|| "expected a number of bytes from 1024 to 1073741824".to_owned())
}

fn commands(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "expected a number from 1 to 1024".to_owned())
}
