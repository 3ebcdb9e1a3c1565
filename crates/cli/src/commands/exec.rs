//! `stockade exec`: runs a command in a sandbox.
#![expect(clippy::disallowed_methods, reason = "prints what was planned, and documents")]

mod agent;
pub(super) mod document;
mod hidden_programs;
pub(crate) mod hosts;
mod mode;
pub(crate) mod proxy_bounds;
pub(super) mod report;
mod shown;
pub(crate) mod units;
mod wish;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use stockade_guard::admission::ToolResult;
use stockade_guard::audit::{AuditError, AuditEvent, AuditTrail, EventKind, field};
use stockade_guard::command::CommandPolicy;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::exec::run::{Input, Signals, Stream, Streams, Terminal, TerminalSize};
use stockade_guard::exec::{
    EXIT_CODES, End, HomeView, OnUnavailable, Outcome, Priority, Property, Refusal, ReviewMode, RunError,
    SandboxBackend, SandboxMode, backend_option,
};
use stockade_guard::{Decision, NotRun, PreparedRun, RunRecord, RunReport};
use units::{duration, memory, size};
pub(super) use wish::{existing, variables};

use crate::args::{Format, HELP};
use stockade_state::command_check;
use stockade_state::trail;

const EXAMPLES: &str = "\
Examples:
  stockade exec -- make test                      no network, and of the disk only this folder is writable
  stockade exec --ro ~/data -- ./run.sh           it may read one folder more
  stockade exec --allow-host registry.npmjs.org:443 -- npm ci
                                                  it may talk to this host, and to no other
  stockade exec --network observe -- npm ci       it may talk to every public host, and is told which of them it needs
  stockade exec --network broker --broker /run/user/1000/broker.sock -- npm test
                                                  one socket leads out, and its broker decides
  stockade exec -t -- bash                        look around in the sandbox, at a terminal of its own
  stockade exec --agent ci -- make test           it runs as a command of the agent `ci`, by its configuration
  stockade exec --sandbox read-only -- ./check.sh it changes nothing that outlasts it
  stockade exec --backend docker --image node@sha256:… -- npm test
                                                  it runs in a container of this image
  stockade exec --review -- npm audit fix         what it changes waits: 'stockade changes' shows, applies and undoes it
  stockade exec --dry-run -- make                 say what the command would see, and run nothing";

const MORE: &str = "\
What the rules for commands deny is refused here as everywhere ('stockade check command' says why). What they would ask about
runs, since a person typed it; as a command of an agent it is refused, because nobody is asked.";

/// The exit codes of this program where the command never began.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

/// What the configuration of an agent says, and no option beside it. A mode, a time and an amount of output only narrow that.
#[rustfmt::skip]
const SHAPING: [&str; 30] = [
    "no_rules", "ro", "rw", "network", "broker", "allow_host", "secret", "home", "env", "cpu_time", "cpus", "memory", "processes", "priority", "max_connections", "max_requests",
    "file_size", "disk", "files", "require", "backend", "backend_option", "image", "runtime", "on_unavailable", "no_spawn", "tty", "explain", "audit", "dry_run",
];

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = exit_codes(MORE))]
pub(crate) struct ExecArgs {
    /// The folder that the command works in and may change, if not this one
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Run it as a command of this agent: its configuration decides whether and where it runs and what it sees, and all of it
    /// is put on record
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with_all = SHAPING)]
    agent: Option<String>,

    /// Execution whose steps are counted over all its commands [default: the terminal session, if maxSteps is set]
    #[arg(long, value_name = "NAME", value_parser = stockade_state::executions::parse_name, requires = "agent")]
    execution: Option<String>,

    /// The run of a graph that the agent is a node of, as `stockade graph begin` prints it: the command may read and write its
    /// folder
    #[arg(long, value_name = "RUN", requires = "agent")]
    graph: Option<PathBuf>,

    /// Run it even if the rules for commands deny it, so that the sandbox alone holds it
    #[arg(long)]
    no_rules: bool,

    /// Something more that the command may read
    #[arg(long, value_name = "PATH")]
    ro: Vec<PathBuf>,

    /// A folder more that the command may change
    #[arg(long, value_name = "DIR")]
    rw: Vec<PathBuf>,

    /// What the command may reach
    #[arg(long, value_name = "WHAT", default_value = "none", requires_if("broker", "broker"))]
    network: Reach,

    /// The socket of the broker, for --network broker
    #[arg(long, value_name = "PATH", requires = "network")]
    broker: Option<PathBuf>,

    /// A host that the command may talk to, where every connection is judged; may be repeated
    ///
    /// A name, `*.NAME` for all names below one, or an address, each perhaps with a port; without one, 443 and 80. Programs work
    /// unchanged: they find the host at an address of the sandbox's own, and a proxy that HTTPS_PROXY and its kin tell of. What
    /// goes through must be TLS or HTTP that names the same host, or SSH at port 22; with `/tcp` behind the port, it is anything.
    ///
    /// Behind it, in the same argument, may stand how much is let through (`requests=100 rate=10/s upload=1M download=10M for=10m`; the
    /// head of a plain request counts as uploaded, and `for` is `8760h` at most), and which requests: methods, a path, and the only
    /// names in its query (`GET|HEAD /v1/** ?page|q`). `!HOST` keeps out, whatever other entries say; behind it, `?token|key` is about
    /// requests with any of these names.
    ///
    /// Where an entry is about requests, or says `inspect`, those over TLS are looked into: the program is shown a certificate of this
    /// run's own, which it finds trusted by the system and by variables such as SSL_CERT_FILE. The host has to be certified by an
    /// authority of this machine, or of the file that SSL_CERT_FILE names here.
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["network", "broker"])]
    allow_host: Vec<String>,

    /// A secret that the command uses and never sees, bound to a host of --allow-host; may be repeated
    ///
    /// `NAME=SOURCE@HOST[:PORT][/PATH] [in PLACE]… [for=10m] [plain]`: within, the variable NAME holds a value of the same shape that is of no
    /// use. Where it comes in a request to this host, path and place, the secret is put there; anywhere else, it is refused. SOURCE is
    /// `env:VARIABLE`, `file:/PATH` (which nobody else may read), `json:/PATH#MEMBER` (likewise), `cmd:PROGRAM ARGUMENTS` (without a
    /// shell) or `keyring:SERVICE/ACCOUNT`. PLACE is `header:NAME`, `basic`, `query:NAME`, `path`, `body` or `sigv4`; where none is named,
    /// `header:Authorization` and `basic`. The host gets no other credential. `for` lends it for a while, `plain` lets it go over plain
    /// HTTP, `mentioned` lets what stands for it stand in bodies to this host.
    #[arg(long, value_name = "NAME=SOURCE@HOST", conflicts_with_all = ["network", "broker"])]
    secret: Vec<String>,

    #[command(flatten)]
    proxy: proxy_bounds::ProxyBounds,

    /// What the command sees of your home
    #[arg(long, value_name = "WHAT", default_value = "tools", value_parser = homes())]
    home: HomeView,

    /// A variable to hand on, NAME, or to set, NAME=VALUE
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// How long the command may take: 90, 90s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,

    /// How much time of processors each of its processes may take: 90s, 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    cpu_time: Option<Duration>,

    /// How many processors it may use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cpus: Option<u32>,

    /// How much memory it may use: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,

    /// How many processes and threads it may have at once
    #[arg(long, value_name = "N")]
    processes: Option<u64>,

    /// CPU priority of the command [default: low]
    #[arg(long, value_name = "PRIORITY", value_parser = priorities())]
    priority: Option<Priority>,

    /// How large a file may become that it writes: 100M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    file_size: Option<u64>,

    /// By how much the file systems may grow that it may write to: 500M, 10G
    ///
    /// What other programs write there meanwhile counts as well, since file systems do not say who wrote.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    disk: Option<u64>,

    /// By how many files and folders they may grow, likewise
    #[arg(long, value_name = "N")]
    files: Option<u64>,

    /// Maximum output: 10M [default: none; with --format json 32M]
    ///
    /// The rest is dropped. The number of bytes is reported on standard error, also with --quiet, and a command that succeeded ends with 122;
    /// with --format json, `droppedBytes` has it, and the exit code stays.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_output: Option<u64>,

    /// What must be enforced beside what always must be, or nothing is run; it is tried on this machine first
    #[arg(long, value_name = "PROPERTY", value_parser = properties())]
    require: Vec<Property>,

    /// What makes the sandbox; auto takes the first that works and enforces what is required
    ///
    /// Beside the words below, any name that 'stockade backends' lists: others are never taken by themselves.
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = backends())]
    backend: SandboxBackend,

    /// What a backend is told besides, as NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    backend_option: Vec<(String, String)>,

    /// The image of the container, for --backend docker or podman; it is never fetched, and best named by its digest
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// What runs the container in the place of what the engine takes by itself, such as runsc
    #[arg(long, value_name = "NAME")]
    runtime: Option<String>,

    /// What to do where no sandbox can be made; warn runs the command without one
    #[arg(long, value_name = "WHAT", default_value = "refuse", value_parser = without_sandbox())]
    on_unavailable: OnUnavailable,

    /// Let the command have threads, and start nothing else
    #[arg(long)]
    no_spawn: bool,

    /// How much the command may do [default: workspace-write]
    #[arg(long, value_name = "MODE", value_parser = modes())]
    sandbox: Option<SandboxMode>,

    /// The same as --sandbox read-only
    #[arg(long, conflicts_with = "sandbox")]
    read_only: bool,

    /// Let it work on a view of the workspace: what it changes there waits for `stockade changes apply`, or with
    /// `undoable` is applied when it is over and can be undone
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "hold", value_parser = reviews())]
    review: Option<ReviewMode>,

    /// Give the command a terminal of its own, as a shell or an editor needs it
    #[arg(long, short)]
    tty: bool,

    /// Look at what the command asks for, to tell what it was refused; what is refused is the same, and takes longer
    #[arg(long)]
    explain: bool,

    /// Put the command on record in the audit trail of this user, or in FILE; without a record it does not run
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "dry_run")]
    audit: Option<Option<PathBuf>>,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// Say it as the policy of another program; what that does not hold is said beside it, and ends with 1
    #[arg(long = "as", value_name = "FORM", requires = "dry_run")]
    form: Option<shown::PlanForm>,

    /// How to say how it went; json keeps what the command prints, and puts it into one document
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Say nothing of one's own, unless the command could not be run
    #[arg(long, short)]
    quiet: bool,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The exit codes of what ends as its command ends, for the help, and what else is to be said there.
pub(super) fn exit_codes(more: &str) -> String {
    let rows: String = EXIT_CODES.iter().map(|(code, means)| format!("  {code}  {means}\n")).collect();
    format!(
        "Exit codes:\n  that of the command, or 128 and the number of the signal that ended it\n{rows}\n{more}"
    )
}

/// What a command may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reach {
    /// Itself, over its own loopback
    None,
    /// Itself, and the socket of a broker
    Broker,
    /// Every public host over TLS, plain HTTP and SSH; at the end stands which --allow-host it needs, as narrow as can be
    Observe,
    /// Whatever this machine reaches
    Open,
}

fn priorities() -> impl TypedValueParser<Value = Priority> {
    choice(Priority::ALL, Priority::name, Priority::meaning)
}

fn homes() -> impl TypedValueParser<Value = HomeView> {
    choice(HomeView::ALL, HomeView::name, HomeView::meaning)
}

/// The words of all modes, for each command that takes one.
pub(super) fn modes() -> impl TypedValueParser<Value = SandboxMode> {
    choice(SandboxMode::ALL, SandboxMode::name, SandboxMode::meaning)
}

/// The words of what becomes of changes, for each command that takes one.
pub(super) fn reviews() -> impl TypedValueParser<Value = ReviewMode> {
    choice(ReviewMode::ALL, ReviewMode::name, ReviewMode::meaning)
}

/// The words of all backends, for each command that takes one.
pub(super) fn backends() -> Backends {
    Backends
}

/// Reads the name of a backend. Those that come with this program are told of in the help; whether there is another of some name
/// turns out when the command is planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backends;

impl TypedValueParser for Backends {
    type Value = SandboxBackend;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<SandboxBackend, clap::Error> {
        let read = |word: String| {
            SandboxBackend::from_name(&word)
                .ok_or("a backend has a name of a small letter, then small letters, digits and `-`")
        };
        clap::builder::StringValueParser::new().try_map(read).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let offered = SandboxBackend::ALL.iter();
        Some(Box::new(offered.map(|one| PossibleValue::new(one.name()).help(one.meaning()))))
    }
}

/// Reads what a backend is told besides.
pub(super) fn option(text: &str) -> Result<(String, String), &'static str> {
    backend_option(text)
        .ok_or("an option of a backend is NAME=VALUE, with a name of letters, digits and `._-`")
}

/// Whoever types the command has been asked already, so that `ask` is not among the words.
fn without_sandbox() -> impl TypedValueParser<Value = OnUnavailable> {
    choice(&[OnUnavailable::Refuse, OnUnavailable::Warn], OnUnavailable::name, OnUnavailable::meaning)
}

/// Reads one of the values that a layer offers by a word. The help tells what each means.
fn choice<T: Copy + Send + Sync + 'static>(
    offered: &'static [T],
    name: fn(T) -> &'static str,
    meaning: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let possible = |value: &T| PossibleValue::new(name(*value)).help(meaning(*value));
    let find = move |word: &str| offered.iter().copied().find(|value| name(*value) == word);
    PossibleValuesParser::new(offered.iter().map(possible))
        .try_map(move |word| find(&word).ok_or("there is no such word"))
}

fn properties() -> impl TypedValueParser<Value = Property> {
    let find = |name: String| Property::all().find(|property| property.name() == name);
    PossibleValuesParser::new(Property::all().map(Property::name))
        .try_map(move |name| find(name).ok_or("there is no such property"))
}

/// Runs the command and ends as it ends.
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
        return show_plan(args, &prepared);
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

/// Why a command is not made ready.
pub(crate) enum NotPrepared {
    /// The rules for commands deny it, for this reason.
    Denied(String),
    /// Something is missing, or does not go together.
    Failed(String),
}

/// Makes ready what was typed, where the rules for commands do not deny it.
pub(crate) fn prepare(
    args: &ExecArgs,
    record: impl FnOnce() -> Result<RunRecord, AuditError>,
) -> Result<PreparedRun, NotPrepared> {
    let spec = wish::wish(args)
        .map_err(|error| NotPrepared::Failed(format!("cannot find what the command is to see: {error}")))?;
    if let Some(why) = mode::pointless(args) {
        return Err(NotPrepared::Failed(why));
    }
    let text = text(&args.command);
    if !args.no_rules
        && let Some(decision) = command_check::denied(&CommandPolicy::builtin(), &text, &spec)
    {
        let why = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        return Err(NotPrepared::Denied(format!("the rules for commands deny this: {why}")));
    }
    let egress = hosts::egress(args).map_err(NotPrepared::Failed)?;
    let record = record().map_err(|error| NotPrepared::Failed(NotRun::Unrecorded(error).to_string()))?;
    PreparedRun::new(spec, egress, record)
        .map_err(|error| NotPrepared::Failed(format!("the command cannot be let out to its hosts: {error}")))
}

fn show_plan(args: &ExecArgs, prepared: &PreparedRun) -> ExitCode {
    if args.form.is_some() && args.network == Reach::Observe {
        return failed(args, &"no policy of another program observes; name the hosts with --allow-host");
    }
    let shown = match prepared.plan().map(|plan| shown::plan(&plan, args.form, &args.allow_host)) {
        Ok(Ok(shown)) => shown,
        Ok(Err(why)) => return failed(args, &why),
        Err(refusal) => return refused(args, &refusal),
    };
    if let Err(error) = print(&shown.text) {
        return failed(args, &format_args!("cannot write the plan: {error}"));
    }
    shown.lost.iter().for_each(|lost| report::say(lost));
    ExitCode::from(u8::from(!shown.lost.is_empty()))
}

/// Opens the trail, if the command is to be put on record.
fn trail(args: &ExecArgs) -> Result<Option<AuditTrail>, AuditError> {
    let open = |path: Option<&Path>| trail::open_at(path, trail::options(None)).map(Some);
    match &args.audit {
        // What nothing holds is at least on record.
        None if mode::mode(args) == SandboxMode::DangerFullAccess && !args.dry_run => open(None),
        None => Ok(None),
        Some(file) => open(file.as_deref()),
    }
}

/// What is put on record before the command begins.
pub(crate) fn started(args: &ExecArgs) -> AuditEvent {
    AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, text(&args.command))
}

/// A command has a terminal of its own if that was asked for. If not, it sees pipes, whatever the streams of this program are:
/// whoever holds a terminal can change it, read what is typed there, and leave it so.
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
        signals: Signals::HandOn,
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

/// The exit code for a command that ran. A document says by itself what is missing of the output.
pub(super) fn exit_code(format: Format, outcome: &Outcome) -> u8 {
    match format {
        Format::Json => outcome.exit_code(),
        Format::Text => outcome.exit_code_with_output(),
    }
}

/// The command as text to be judged. Bytes that are no text mean nothing to a shell, and neither does what stands for them.
fn text(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    quote_argv(words.iter().map(AsRef::as_ref))
}

fn denied(args: &ExecArgs, why: &str) -> ExitCode {
    report::refused_for(why, RULES_FIX);
    not_run(args, &document::not_let(why, Some(RULES_FIX), None, REFUSED), REFUSED)
}

/// What is to be done about a command that the rules deny.
pub(crate) const RULES_FIX: &str =
    "`stockade check command` says more; --no-rules runs it, held by the sandbox alone";

fn refused(args: &ExecArgs, refusal: &Refusal) -> ExitCode {
    report::refused(refusal);
    not_run(args, &document::not_let(&refusal.to_string(), Some(&refusal.fix), None, REFUSED), REFUSED)
}

fn failed(args: &ExecArgs, why: &dyn fmt::Display) -> ExitCode {
    report::say(&why.to_string());
    not_run(args, &document::failed(why, FAILED), FAILED)
}

/// A program that reads documents gets one in any case.
fn not_run(args: &ExecArgs, document: &str, code: u8) -> ExitCode {
    if args.format == Format::Json {
        // A person has been told; nobody else is left to tell when this fails.
        print(&format!("{document}\n")).ok();
    }
    ExitCode::from(code)
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}
