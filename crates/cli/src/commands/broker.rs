//! `stockade broker`: an egress proxy on a unix socket, shared by sandboxes and other programs.
#![expect(clippy::disallowed_methods, reason = "waits for signals, reads the clock, and reports readiness")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Subcommand;
use serde::Serialize;
use stockade_guard::broker::{
    BrokerAskError, BrokerServeError, BrokerServer, BrokerStatus, BrokerToken, ServedEgress, broker_revoke,
    broker_status, broker_token,
};
use stockade_guard::command::shell::quote_argv;
use stockade_guard::{Egress, RunRecord};
use stockade_text::{escape, escape_path};

use super::exec::hosts;
use super::exec::proxy_bounds::ProxyBounds;
use crate::args::{Form, Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_guard::exec::patch::duration;
use stockade_state::trail;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade broker serve --socket ~/.local/state/stockade/broker.sock --allow-host api.github.com
                                             serve a proxy for this host until a signal stops it
  stockade exec --network broker --broker ~/.local/state/stockade/broker.sock -- npm test
                                             run a command that can connect only through it
  stockade broker status --socket ~/.local/state/stockade/broker.sock
                                             show its allowlist and its active runs
  export STOCKADE_BROKER_TOKEN=$(stockade broker token --socket ~/.local/state/stockade/broker.sock)
                                             let your own program connect to the socket";

const MORE: &str = "\
Exit codes:
  0  done
  1  no proxy serves the socket
  2  the command line is wrong, the socket cannot be created, or a secret cannot be read
  3  the proxy failed

Each run and each token has its own allowlist, limits and placeholders. SIGTERM, SIGINT and SIGHUP stop the proxy: its connections are
closed and its sockets removed. BROKER.md documents the protocol of the socket.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct BrokerArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Serve a proxy on a socket until a signal stops it
    #[command(help_template = HELP)]
    Serve(ServeArgs),
    /// Show the allowlist, secrets (without values) and runs of a proxy
    #[command(help_template = HELP)]
    Status {
        #[command(flatten)]
        at: At,

        #[command(flatten)]
        form: Form,
    },
    /// Issue a token, with which a program can connect to the socket
    #[command(help_template = HELP)]
    Token {
        #[command(flatten)]
        at: At,

        /// Lifetime of the token: 90s, 5m, 2h; at most a day
        #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = duration)]
        lifetime: Duration,

        /// Print shell commands that set the variables a program needs
        #[arg(long, conflicts_with = "format")]
        env: bool,

        #[command(flatten)]
        form: Form,
    },
    /// End runs and their tokens, and close their connections
    #[command(help_template = HELP)]
    Revoke {
        #[command(flatten)]
        at: At,

        /// Name of a run, as `stockade broker status` lists it
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct At {
    /// Path of the socket
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
}

#[derive(Debug, clap::Args)]
struct ServeArgs {
    #[command(flatten)]
    at: At,

    /// Allowed host; repeatable. See `stockade exec --help` for the syntax
    #[arg(long, value_name = "HOST[:PORT]", required = true)]
    allow_host: Vec<String>,

    /// Secret that the proxy inserts into requests to one of these hosts; repeatable. See SECRETS.md for the syntax
    #[arg(long, value_name = "NAME=SOURCE@HOST")]
    secret: Vec<String>,

    #[command(flatten)]
    bounds: ProxyBounds,

    /// User id whose programs may also connect with a token; repeatable
    #[arg(long, value_name = "UID")]
    user: Vec<u32>,

    /// Audit trail for allowed and refused requests [default: your own]
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

/// A token and the variables that go with it, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Token<'t> {
    name: &'t str,
    token: &'t str,
    socket: std::borrow::Cow<'t, str>,
    variables: std::collections::BTreeMap<&'t str, &'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<std::borrow::Cow<'t, str>>,
}

/// Runs the command.
pub(crate) fn run(args: &BrokerArgs) -> Result<Exit, Failure> {
    match &args.what {
        What::Serve(args) => serve(args),
        What::Status { at, form } => status(&at.socket, form.format()),
        What::Token { at, lifetime, env, form } => token(&at.socket, *lifetime, *env, form.format()),
        What::Revoke { at, runs } => revoke(&at.socket, runs),
    }
}

fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    let list = "what the broker is started with (--allow-host)";
    let egress = hosts::listed(&args.allow_host, &args.secret, list, false).map_err(Failure::usage)?;
    let options = args.bounds.apply(egress.options).map_err(Failure::usage)?;
    let egress = Egress { options, ..egress };
    let opened = trail::open_at(args.audit.as_deref(), trail::options(None));
    let trail = opened.map_err(|error| {
        Failure::incomplete(format_args!(
            "cannot open the audit trail, without which no request is allowed: {error}"
        ))
        .with_help("use another file with --audit, or make it writable for this user")
    })?;
    let what = ServedEgress {
        egress,
        hosts: args.allow_host.clone(),
        record: RunRecord { trail: Some(trail), agent: None },
        users: args.user.iter().copied().collect::<BTreeSet<_>>(),
    };
    // From here on, a signal stops the proxy cleanly.
    let ended =
        signals().map_err(|error| Failure::incomplete(format_args!("cannot handle signals: {error}")))?;
    let server = BrokerServer::bind(&args.at.socket, what).map_err(|error| not_served(&error))?;
    let line = format!("stockade: serving {}\n", escape_path(server.socket()));
    io::stderr().write_all(line.as_bytes()).ok();
    let waited = ended.wait();
    drop(server);
    waited.map(|()| Exit::Clean).map_err(|error| Failure::incomplete(format_args!("cannot wait: {error}")))
}

fn not_served(error: &BrokerServeError) -> Failure {
    match error {
        BrokerServeError::Socket(error) => Failure::usage(error).with_help(error.fix()),
        BrokerServeError::Secret(_) => Failure::usage(error),
        _ => Failure::incomplete(error),
    }
}

/// Waits for the first signal that stops this program.
struct FirstSignal(UnixStream);

fn signals() -> io::Result<FirstSignal> {
    let (heard, told) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, told.try_clone()?)?;
    }
    Ok(FirstSignal(heard))
}

impl FirstSignal {
    fn wait(mut self) -> io::Result<()> {
        self.0.read_exact(&mut [0])
    }
}

/// Converts an error of a proxy into the failure of this program.
fn unanswered(error: &BrokerAskError) -> Failure {
    let failure = match error {
        BrokerAskError::NotServed { .. } => Failure::found(error),
        _ => Failure::incomplete(error),
    };
    failure.with_help(error.fix())
}

fn status(socket: &Path, format: Format) -> Result<Exit, Failure> {
    let status = broker_status(socket).map_err(|error| unanswered(&error))?;
    let text = match format {
        Format::Json => format!("{}\n", to_printable_json(&status)),
        Format::Text => shown(&status),
    };
    let mut output = Output::new();
    let _ = output.write(&text);
    output.finish(Exit::Clean)
}

fn shown(status: &BrokerStatus) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let ago = |since: u64| format!("{} s", now.saturating_sub(since));
    let mut text = format!("{}\n", escape_path(&status.socket));
    // Writing to a string cannot fail.
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    row("process", &format!("{}, for {}", status.pid, ago(status.since)));
    let host = |host: &String| row("host", &escape(host));
    status.hosts.iter().for_each(host);
    for secret in &status.secrets {
        row("secret", &format!("{} for {}", escape(&secret.name), escape(&secret.to)));
    }
    for user in &status.users {
        row("user", &user.to_string());
    }
    for run in &status.runs {
        let agent = run.agent.as_deref().map(|agent| format!(" of {}", escape(agent))).unwrap_or_default();
        let until =
            run.until.map(|until| format!(", {} s left", until.saturating_sub(now))).unwrap_or_default();
        let (name, since) = (escape(&run.name), ago(run.since));
        row(
            "run",
            &format!("{name}{agent}, for {since}{until}: {} allowed, {} refused", run.allowed, run.refused),
        );
    }
    let BrokerStatus { all_runs, allowed, refused, without_token, .. } = status;
    row(
        "total",
        &format!(
            "{all_runs} runs, {allowed} requests allowed, {refused} refused, {without_token} without a token"
        ),
    );
    text
}

fn revoke(socket: &Path, runs: &[String]) -> Result<Exit, Failure> {
    let mut output = Output::new();
    for run in runs {
        broker_revoke(socket, run).map_err(|error| unanswered(&error))?;
        let _ = output.write(&format!("revoked {}\n", escape(run)));
    }
    output.finish(Exit::Clean)
}

fn token(socket: &Path, lifetime: Duration, as_variables: bool, format: Format) -> Result<Exit, Failure> {
    let given = broker_token(socket, lifetime).map_err(|error| unanswered(&error))?;
    let BrokerToken { name, token, variables, trust, .. } = &given;
    let text = match (format, as_variables) {
        (Format::Json, _) => {
            let variables = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let trust = trust.as_ref().map(|trust| trust.to_string_lossy());
            format!(
                "{}\n",
                to_printable_json(&Token { name, token, socket: socket.to_string_lossy(), variables, trust })
            )
        }
        (Format::Text, false) => format!("{token}\n"),
        (Format::Text, true) => {
            let path = std::path::absolute(socket).unwrap_or_else(|_| socket.to_owned());
            let path = path.to_string_lossy();
            let own = [("STOCKADE_BROKER_SOCKET", &*path), ("STOCKADE_BROKER_TOKEN", token.as_str())];
            let bundle =
                trust.as_ref().map(|trust| trust.join("authorities.pem").to_string_lossy().into_owned());
            let trusted = bundle.iter().map(|path| ("SSL_CERT_FILE", path.as_str()));
            let lent = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let all = own.into_iter().chain(trusted).chain(lent);
            all.map(|(name, value)| format!("export {name}={}\n", quote_argv([value]))).collect()
        }
    };
    let mut output = Output::new();
    let _ = output.write(&text);
    output.finish(Exit::Clean)
}
