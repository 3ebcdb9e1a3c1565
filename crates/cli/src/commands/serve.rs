//! `stockade serve`: every layer for a program in any language.
#![expect(
    clippy::disallowed_methods,
    reason = "talks over standard input and output, and asks in which folder it runs"
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
  stockade serve --schema                            what every method takes and answers, as JSON Schema";

const MORE: &str = "\
Exit codes:
  0  the input has ended, and everything was answered
  2  the command line is wrong, or the socket cannot be made
  3  the input could not be read, or the answers could not be written

SIGTERM, SIGINT and SIGHUP end it: no command begins any more, those that run have five seconds, and each end is on record; a second
signal cancels them at once.

One request a line, one answer a line, in the order in which answers are ready; SERVE.md says what methods there are.
Typed clients for Python and Node.js are in packages. A client that does not read its answers is not read from.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct ServeArgs {
    /// Listen on a socket that only programs of this user reach, instead of standard input
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// The longest line that is read, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = MAX_REQUEST, value_parser = request_size)]
    max_request: usize,

    /// How many commands may run at the same time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = commands)]
    max_commands: usize,

    /// The audit trail of commands that are run [default: that of this user]
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,

    /// Put no command on record
    #[arg(long, conflicts_with = "audit")]
    no_audit: bool,

    /// Run commands of this agent alone, each as its configuration decides
    #[arg(long, value_name = "ID", conflicts_with = "no_audit", value_parser = stockade_state::agents::parse_name)]
    agent: Option<String>,

    /// A file of rules for commands in TOML that decide before those of requests; policy.add adds to it
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Let requests add rules that allow, and remove those that do not
    #[arg(long)]
    requests_may_widen: bool,

    /// Let requests run commands in the mode danger-full-access, which is no sandbox at all
    #[arg(long, conflicts_with = "no_audit")]
    allow_danger_full_access: bool,

    /// Print the JSON Schema of every method, and end
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
        // A configuration that cannot be used may be mended before anybody asks; who is guarded is settled here.
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
    // Rules that cannot be used are told before anybody asks.
    server.check().map_err(Failure::usage)?;
    end_by_signal(&server)
        .map_err(|error| Failure::incomplete(format_args!("cannot listen to signals: {error}")))?;
    match &args.socket {
        None => {
            let ended = converse(&server, io::stdin().lock(), io::stdout(), &is_heard);
            server.end();
            ended
                .map(|()| Exit::Clean)
                .map_err(|error| Failure::incomplete(format_args!("cannot go on: {error}")))
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
        SocketError::UnknownPeers => "leave `--socket` out: requests come by standard input then",
        SocketError::Bound(error) => error.fix(),
    };
    Failure::usage(error).with_help(help)
}

/// Whether anybody still reads standard output.
fn is_heard() -> bool {
    let stdout = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut fds, Some(&now));
    polled.is_err() || !fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR))
}

/// A shorter limit would refuse ordinary requests, and a longer one would let one client fill the memory.
fn request_size(text: &str) -> Result<usize, String> {
    let size = text.parse::<usize>().ok().filter(|size| (1024..=1 << 30).contains(size));
    size.ok_or_else(|| "expected a number of bytes from 1024 to 1073741824".to_owned())
}

fn commands(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "expected a number from 1 to 1024".to_owned())
}
