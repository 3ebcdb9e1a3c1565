//! `stockade exec`: runs a command in a sandbox.
#![expect(clippy::disallowed_methods, reason = "prints what was planned, and documents")]

mod agent;
pub(super) mod document;
mod hidden_programs;
pub(crate) mod hosts;
mod left_files;
mod mode;
pub(crate) mod proxy_bounds;
pub(super) mod report;
mod shown;
mod spec_from_args;
mod withheld;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub(super) use spec_from_args::{existing, variables};
use stockade_guard::admission::ToolResult;
use stockade_guard::audit::{AuditError, AuditEvent, AuditTrail, EventKind, field};
use stockade_guard::command::CommandPolicy;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::exec::patch::SpecPatch;
use stockade_guard::exec::run::{Input, Signals, Stream, Streams, Terminal, TerminalSize};
use stockade_guard::exec::{
    EXIT_CODES, End, HomeView, OnUnavailable, Outcome, Property, Refusal, RunError, SandboxMode,
    backend_option,
};
use stockade_guard::{AgentCommands, Decision, NotRun, PreparedRun, RunRecord, RunReport};

use crate::args::{Format, HELP};
use stockade_state::trail;
use stockade_state::{StateError, command_check, command_rules};

const EXAMPLES: &str = "\
Examples:
  stockade exec -- make test                      no network; only this directory is writable
  stockade exec --ro ~/data -- ./run.sh           also readable: ~/data
  stockade exec --env-names .env -- cat .env      show the names in .env without the values
  stockade exec --allow-host registry.npmjs.org:443 -- npm ci
                                                  allow this host and no other
  stockade exec --allow-host api.github.com --login ~/.config/gh/hosts.yml -- gh issue list
                                                  use this login without seeing its token
  stockade exec --network observe -- npm ci       allow every public host, and report which ones are needed
  stockade exec --network broker --broker /run/user/1000/broker.sock -- npm test
                                                  connect only through the egress proxy at this socket
  stockade exec -t -- bash                        start an interactive shell in the sandbox
  stockade exec --agent ci -- make test           use the configuration of the agent `ci`
  stockade exec --sandbox read-only -- ./check.sh allow no lasting changes
  stockade exec --backend docker --image node@sha256:… -- npm test
                                                  run in a container
  stockade exec --review -- npm audit fix         hold changes for review with 'stockade changes'
  stockade exec --dry-run -- make                 print the sandbox plan without running anything
  stockade exec --agent claude --dry-run -- make  the same as a command of this agent, without recording it";

const MORE: &str = "\
TIME is a number of seconds or such as 90s, 5m or 2h; SIZE is such as 512M or 2G.

A command that the rules deny is refused; run 'stockade check command' to see why. A command that the rules would ask about runs,
because you typed it. With --agent it is refused, because there is no user to ask.";

/// Exit codes if the command did not start.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

/// Options that conflict with --agent, whose configuration decides. Mode, time limit and output limit can still narrow it.
#[rustfmt::skip]
const SHAPING: [&str; 34] = [
    "no_rules", "rules", "read_only_paths", "env_names_paths", "shared_paths", "network", "broker", "allow_host", "secret", "login", "home", "env", "cpu_time_ms", "processors", "memory_bytes", "processes", "priority", "max_connections", "max_requests", "upstream_proxy", "upstream_login",
    "file_size_bytes", "disk_bytes", "disk_files", "require", "backend", "backend_option", "image", "runtime", "on_unavailable", "no_spawn", "tty", "explain", "audit",
];

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = exit_codes(MORE))]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    spec: SpecPatch,

    /// Run as a command of this agent: use its configuration, and record the command in the audit trail
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with_all = SHAPING)]
    agent: Option<String>,

    /// Execution that the command counts toward, for step limits [default: the terminal session, if maxSteps is set]
    #[arg(long, value_name = "NAME", value_parser = stockade_state::executions::parse_name, requires = "agent")]
    execution: Option<String>,

    /// Ticket of the hook, by which the user has agreed to the command
    #[arg(long, value_name = "TICKET", requires = "agent", hide = true)]
    agreed: Option<String>,

    /// Graph run of the agent, as printed by `stockade graph begin`; its shared directory becomes readable and writable
    #[arg(long, value_name = "RUN", requires = "agent")]
    graph: Option<PathBuf>,

    /// Run the command even if the rules for commands deny it; only the sandbox restricts it
    #[arg(long)]
    no_rules: bool,

    /// Additional rule file; admin:FILE and project:FILE set its layer; repeatable
    #[arg(long, value_name = "FILE", conflicts_with = "no_rules")]
    rules: Vec<PathBuf>,

    /// Network access
    #[arg(long, value_name = "WHAT", default_value = "none", requires_if("broker", "broker"))]
    network: Reach,

    /// Socket of the egress proxy, for --network broker
    #[arg(long, value_name = "PATH", requires = "network")]
    broker: Option<PathBuf>,

    /// Host that the command may connect to, optionally with conditions; repeatable
    ///
    /// HOST is a name, `*.NAME` for all its subdomains, or an address, optionally with a port [default: 443 and 80]. Programs
    /// need no
    /// proxy settings: the host name resolves to an address inside the sandbox, and HTTPS_PROXY and similar variables are set.
    /// Connections must be TLS or HTTP for the same host, or SSH at port 22. `HOST:PORT/tcp` allows any protocol.
    ///
    /// Conditions follow in the same argument. Limits: `requests=100 rate=10/s upload=1M download=10M for=10m`, where the head
    /// of a
    /// plain request counts as upload, and `for` is at most `8760h`. Requests: methods, a path, and the only allowed query
    /// parameters,
    /// such as `GET|HEAD /v1/** ?page|q`. `!HOST` denies a host, whatever other entries allow; `!HOST ?token|key` denies
    /// requests with
    /// any of these query parameters.
    ///
    /// Conditions on requests, and `inspect`, require inspecting TLS: the program gets a certificate made for this run, which
    /// the sandbox
    /// trusts by its system store and by variables such as SSL_CERT_FILE. The certificate of the host must be trusted by this
    /// machine, or
    /// by the file that SSL_CERT_FILE names outside of the sandbox.
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["network", "broker"])]
    allow_host: Vec<String>,

    /// Secret that the command can use but not read, bound to a host of --allow-host; repeatable
    ///
    /// `NAME=SOURCE@HOST[:PORT][/PATH] [in PLACE]… [for=10m] [plain]`: in the sandbox, the variable NAME holds a placeholder of
    /// the same
    /// form. The egress proxy replaces it by the secret in requests to this host, path and place, and refuses requests with it
    /// elsewhere.
    /// SOURCE is `env:VARIABLE`, `file:/PATH` or `json:/PATH#MEMBER` (readable only by its owner), `cmd:PROGRAM ARGUMENTS` (run
    /// without
    /// a shell) or `keyring:SERVICE/ACCOUNT`. PLACE is `header:NAME`, `basic`, `query:NAME`, `path`, `body` or `sigv4` [default:
    /// `header:Authorization` and `basic`]. The host gets no other credentials. `for` limits how long the secret is used,
    /// `plain` allows
    /// plain HTTP, and `mentioned` allows the placeholder itself in request bodies to this host.
    #[arg(long, value_name = "NAME=SOURCE@HOST", conflicts_with_all = ["network", "broker"])]
    secret: Vec<String>,

    /// Login file that the command gets with placeholders instead of secrets, such as `~/.netrc`; repeatable
    ///
    /// The file of curl, git, npm, twine, gh, docker, aws, cargo or kubectl in your home directory. The command sees a copy, in
    /// its private
    /// home, of the logins for hosts of --allow-host. The egress proxy replaces the placeholders in requests to these hosts,
    /// as with
    /// --secret.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["network", "broker"])]
    login: Vec<PathBuf>,

    #[command(flatten)]
    proxy: proxy_bounds::ProxyBounds,

    /// Visible part of your home directory
    #[arg(long, value_name = "WHAT", default_value = "tools")]
    home: HomeView,

    /// Environment variable to pass (NAME) or to set (NAME=VALUE); repeatable
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// Property that must be enforced, in addition to the mandatory ones; otherwise nothing runs; repeatable
    #[arg(long, value_name = "PROPERTY", value_parser = properties())]
    require: Vec<Property>,

    /// Option for the backend; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    backend_option: Vec<(String, String)>,

    /// What to do if no sandbox can be created; warn runs the command without one
    #[arg(long, value_name = "WHAT", default_value = "refuse", value_parser = without_sandbox())]
    on_unavailable: OnUnavailable,

    /// Forbid starting processes; threads are allowed
    #[arg(long)]
    no_spawn: bool,

    /// Allocate a terminal, for interactive programs such as shells and editors
    #[arg(long, short)]
    tty: bool,

    /// Trace what the command requests and report what was refused; slower
    #[arg(long)]
    explain: bool,

    /// Record the command in your audit trail, or in FILE; it does not run if it cannot be recorded
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "dry_run")]
    audit: Option<Option<PathBuf>>,

    /// Print the sandbox plan without running anything
    #[arg(long)]
    dry_run: bool,

    /// With --dry-run, print the plan as a policy of another program; exits with 1 if that policy cannot express all of it
    #[arg(long = "as", value_name = "FORM", requires = "dry_run")]
    form: Option<shown::PlanForm>,

    /// Output format; json collects the command's output in one document
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Print no messages, except if the command cannot run
    #[arg(long, short)]
    quiet: bool,

    /// Program and arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Returns the help section about exit codes of a command that exits like the command it runs.
pub(super) fn exit_codes(more: &str) -> String {
    let rows: String = EXIT_CODES.iter().map(|(code, means)| format!("  {code}  {means}\n")).collect();
    format!(
        "Exit codes:\n  that of the command, or 128 and the number of the signal that ended it\n{rows}\n{more}"
    )
}

/// Network access of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reach {
    /// Only its own loopback interface
    None,
    /// Only the egress proxy at the socket of --broker
    Broker,
    /// Every public host over TLS, plain HTTP and SSH; reports the narrowest --allow-host options at the end
    Observe,
    /// The network of this machine
    Open,
}

/// Parses an option of a backend.
pub(super) fn option(text: &str) -> Result<(String, String), &'static str> {
    backend_option(text).ok_or("expected NAME=VALUE, with a name of letters, digits and `._-`")
}

/// Parses --on-unavailable. `ask` is not offered, since the user typed the command and need not be asked.
fn without_sandbox() -> impl TypedValueParser<Value = OnUnavailable> {
    let possible = |value: OnUnavailable| PossibleValue::new(value.name()).help(value.meaning());
    PossibleValuesParser::new([OnUnavailable::Refuse, OnUnavailable::Warn].map(possible))
        .try_map(|word| OnUnavailable::from_name(&word).ok_or("unknown value"))
}

fn properties() -> impl TypedValueParser<Value = Property> {
    let find = |name: String| Property::all().find(|property| property.name() == name);
    PossibleValuesParser::new(Property::all().map(Property::name))
        .try_map(move |name| find(name).ok_or("unknown property"))
}

/// Runs the command and exits like it.
pub(crate) fn run(args: &ExecArgs) -> ExitCode {
    if let Some(agent) = &args.agent {
        return agent::run(args, agent);
    }
    let prepared = match prepare(args, || Ok(RunRecord { trail: trail(args)?, agent: None })) {
        Ok(prepared) => prepared,
        Err(NotPrepared::Denied(why)) => return denied(args, &why),
        Err(NotPrepared::Failed(why)) => return failed(args, &why),
    };
    if args.dry_run {
        return match prepared.check_secrets() {
            Ok(()) => show_plan(args, &prepared),
            Err(error) => failed(args, &format!("{error}: {}", error.fix)),
        };
    }
    if mode::mode(args) == SandboxMode::DangerFullAccess {
        report::say(mode::WARNING);
    }
    match prepared.run(started(args), streams(args)) {
        Ok(report) => ended(args, &report, None, None),
        Err(NotRun::Sandbox { error, unrecorded }) => {
            report::unrecorded(unrecorded.as_ref());
            match error {
                RunError::Refused(refusal) => refused(args, &refusal),
                error => failed(args, &error),
            }
        }
        Err(error) => failed(args, &error),
    }
}

/// Why a command cannot be prepared.
pub(crate) enum NotPrepared {
    /// The rules for commands deny it, for this reason.
    Denied(String),
    /// An argument is invalid or conflicts with another.
    Failed(String),
}

/// Prepares the command that was given, unless the rules for commands deny it.
pub(crate) fn prepare(
    args: &ExecArgs,
    record: impl FnOnce() -> Result<RunRecord, AuditError>,
) -> Result<PreparedRun, NotPrepared> {
    let spec = spec_from_args::spec_from_args(args)
        .map_err(|error| NotPrepared::Failed(format!("cannot resolve a path: {error}")))?;
    if let Some(why) = mode::pointless(args) {
        return Err(NotPrepared::Failed(why));
    }
    let text = text(&args.command);
    let policy = policy(&args.rules).map_err(|error| NotPrepared::Failed(error.to_string()))?;
    if !args.no_rules
        && let Some(decision) = command_check::denied(policy.all_rules(), &text, &spec)
    {
        let why = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        return Err(NotPrepared::Denied(format!("the rules for commands deny this: {why}")));
    }
    let egress = hosts::egress(args).map_err(NotPrepared::Failed)?;
    let record = record().map_err(|error| NotPrepared::Failed(NotRun::Unrecorded(error).to_string()))?;
    PreparedRun::new(spec, egress, record)
        .map_err(|error| NotPrepared::Failed(format!("cannot start the egress proxy: {error}")))
}

/// Returns the built-in rules, with those of these files.
fn policy(files: &[PathBuf]) -> Result<AgentCommands, StateError> {
    if files.is_empty() {
        return Ok(CommandPolicy::builtin().into());
    }
    command_rules::sources_of(files).map(|sources| sources.policy)
}

fn show_plan(args: &ExecArgs, prepared: &PreparedRun) -> ExitCode {
    if args.form.is_some() && args.network == Reach::Observe {
        return failed(args, &"--as does not support --network observe; name the hosts with --allow-host");
    }
    let shown = match prepared.plan().map(|plan| shown::plan(plan, args.form, prepared.hosts())) {
        Ok(Ok(shown)) => shown,
        Ok(Err(why)) => return failed(args, &why),
        Err(refusal) => return refused(args, refusal),
    };
    if let Err(error) = print(&shown.text) {
        return failed(args, &format_args!("cannot write the plan: {error}"));
    }
    shown.lost.iter().for_each(|lost| report::say(lost));
    ExitCode::from(u8::from(!shown.lost.is_empty()))
}

/// Opens the audit trail, if the command is to be recorded.
fn trail(args: &ExecArgs) -> Result<Option<AuditTrail>, AuditError> {
    let open = |path: Option<&Path>| trail::open_at(path, trail::options(None)).map(Some);
    match &args.audit {
        // A command without a sandbox is always recorded.
        None if mode::mode(args) == SandboxMode::DangerFullAccess && !args.dry_run => open(None),
        None => Ok(None),
        Some(file) => open(file.as_deref()),
    }
}

/// Returns the event to record before the command starts.
pub(crate) fn started(args: &ExecArgs) -> AuditEvent {
    AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, text(&args.command))
}

/// Returns the streams of the command. Without --tty it gets pipes, even if this program has a terminal: a process with access
/// to a terminal can change its settings and read what the user types there.
fn streams(args: &ExecArgs) -> Streams {
    let stream = match args.format {
        Format::Json => Stream::Keep,
        Format::Text => Stream::Relay,
    };
    let terminal = if args.tty { Terminal::Own(TerminalSize::default()) } else { Terminal::None };
    Streams {
        stdin: Input::Inherit,
        stdout: stream,
        stderr: stream,
        terminal,
        signals: Signals::Forward,
        speaks_as: Some(report::SPEAKER),
    }
}

fn ended(
    args: &ExecArgs,
    report: &RunReport,
    decision: Option<&Decision>,
    result: Option<&ToolResult>,
) -> ExitCode {
    report::unrecorded(report.unrecorded.as_ref());
    let (end, agent) = (report.outcome.end, args.agent.as_deref());
    match args.format {
        Format::Json => match print(&format!("{}\n", document::ran(report, decision, result, agent))) {
            Ok(()) => {}
            Err(error) => report::say(&format!("cannot write the outcome: {error}")),
        },
        Format::Text if args.quiet => {
            if matches!(end, End::NotFound | End::NotExecutable | End::Exited(127)) {
                report::ended(&report.plan, &report.outcome, agent);
            }
            report::left(&report.outcome);
        }
        Format::Text => report::outcome(report, agent),
    }
    ExitCode::from(exit_code(args.format, &report.outcome))
}

/// Returns the exit code of a command that ran. In JSON, `droppedBytes` reports dropped output, so the code does not.
pub(super) fn exit_code(format: Format, outcome: &Outcome) -> u8 {
    match format {
        Format::Json => outcome.exit_code(),
        Format::Text => outcome.exit_code_with_output(),
    }
}

/// Returns the command as text to check. Bytes that are not UTF-8 have no meaning to a shell, and neither do their replacements.
fn text(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    quote_argv(words.iter().map(AsRef::as_ref))
}

fn denied(args: &ExecArgs, why: &str) -> ExitCode {
    report::refused_for(why, RULES_FIX);
    not_run(args, &document::not_let(why, Some(RULES_FIX), None, REFUSED), REFUSED)
}

/// How to fix a command that the rules deny.
pub(crate) const RULES_FIX: &str =
    "run `stockade check command` for details, or use --no-rules to rely on the sandbox alone";

fn refused(args: &ExecArgs, refusal: &Refusal) -> ExitCode {
    report::refused(refusal);
    not_run(args, &document::not_let(&refusal.to_string(), Some(&refusal.fix), None, REFUSED), REFUSED)
}

fn failed(args: &ExecArgs, why: &dyn fmt::Display) -> ExitCode {
    report::say(&why.to_string());
    not_run(args, &document::failed(why, FAILED), FAILED)
}

/// Prints a document even if nothing ran, since programs expect one.
fn not_run(args: &ExecArgs, document: &str, code: u8) -> ExitCode {
    if args.format == Format::Json {
        // Standard error has the message already, so a failure here is ignored.
        print(&format!("{document}\n")).ok();
    }
    ExitCode::from(code)
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    /// Options that can only narrow what the configuration of an agent allows.
    const NARROWING: [&str; 6] =
        ["workspace", "mode", "workspace_read_only", "review", "wall_time_ms", "output_bytes"];

    #[test]
    fn no_option_of_a_sandbox_is_ignored_with_an_agent() {
        let options = SpecPatch::augment_args(clap::Command::new("exec"));
        let names: Vec<&str> = options.get_arguments().map(|option| option.get_id().as_str()).collect();
        assert!(names.len() > NARROWING.len());
        for name in names {
            assert_ne!(SHAPING.contains(&name), NARROWING.contains(&name), "{name}");
        }
    }
}
