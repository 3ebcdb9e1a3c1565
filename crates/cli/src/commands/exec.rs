//! `stockade exec`: runs a command in a sandbox.
#![expect(clippy::disallowed_methods, reason = "asks where standard streams lead, and prints")]

mod document;
mod hosts;
mod report;
mod units;
mod wish;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use hosts::{Record, WayOut};
use stockade_guard::audit::{AuditError, AuditOptions, AuditTrail, AuditedRun};
use stockade_guard::egress::Brokered;
use stockade_guard::exec::{
    End, Input, Outcome, Plan, Property, Refusal, RunError, SandboxSpec, Signals, Stream, Streams, Terminal,
    TerminalSize, plan, plan_and_run, probe,
};
use units::{duration, memory, size};

use stockade_text::escape_lines;

use crate::args::{Format, HELP};
use crate::record;

const EXAMPLES: &str = "\
Examples:
  stockade exec -- make test                      no network, and of the disk only this folder is writable
  stockade exec --ro ~/data -- ./run.sh           it may read one folder more
  stockade exec --allow-host registry.npmjs.org:443 -- npm ci
                                                  it may talk to this host, and to no other
  stockade exec --network broker --broker /run/user/1000/broker.sock -- npm test
                                                  one socket leads out, and its broker decides
  stockade exec -t -- bash                        look around in the sandbox, at a terminal of its own
  stockade exec --dry-run -- make                 say what the command would see, and run nothing";

const EXIT_CODES: &str = "\
Exit codes:
  that of the command, or 128 and the number of the signal that ended it
  124  it took longer than --timeout
  125  the sandbox could not be made, or the options are wrong; nothing ran
  126  it was refused, or the program cannot be run
  127  there is no such program in the view of the command";

/// How a command ends that did not end by itself.
const TIMED_OUT: u8 = 124;
const FAILED: u8 = 125;
const REFUSED: u8 = 126;
const NOT_FOUND: u8 = 127;
const BY_SIGNAL: i32 = 128;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ExecArgs {
    /// The folder that the command works in and may change, if not this one
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

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

    /// A host that the command may talk to, over a proxy that judges every connection; may be repeated
    ///
    /// A name, `*.NAME` for all names below one, or an address, each perhaps with a port. Programs are told of the proxy by the
    /// usual variables, such as HTTPS_PROXY.
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["network", "broker"])]
    allow_host: Vec<String>,

    /// What the command sees of your home
    #[arg(long, value_name = "WHAT", default_value = "tools")]
    home: Tools,

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

    /// How large a file may become that it writes: 100M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    file_size: Option<u64>,

    /// How much it may print; what goes beyond is dropped
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_output: Option<u64>,

    /// What must be enforced beside what always must be, or nothing is run
    #[arg(long, value_name = "PROPERTY", value_parser = properties())]
    require: Vec<Property>,

    /// What makes the sandbox; auto takes the first that works and enforces what is required
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    backend: Maker,

    /// What to do where no sandbox can be made; warn runs the command without one
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    on_unavailable: WithoutOne,

    /// Let the command have threads, and start nothing else
    #[arg(long)]
    no_spawn: bool,

    /// Let the command only read the workspace
    #[arg(long)]
    read_only: bool,

    /// Give the command a terminal of its own, as a shell or an editor needs it
    #[arg(long, short)]
    tty: bool,

    /// Look at what the command asks for and says, to tell what it was refused; what is refused is the same, and takes longer
    #[arg(long)]
    explain: bool,

    /// Put the command on record in the audit trail of this user, or in FILE; without a record it does not run
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "dry_run")]
    audit: Option<Option<PathBuf>>,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

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

/// What a command may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reach {
    /// Itself
    None,
    /// Itself, and the socket of a broker
    Broker,
    /// Whatever this machine reaches
    Open,
}

/// What a command sees of the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tools {
    /// Settings of git, and programs that are installed there, without credentials
    Tools,
    /// Settings of git
    Private,
}

/// What makes a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Maker {
    /// The first that works and enforces what is required
    Auto,
    /// This program: namespaces, a filter of system calls, Landlock
    Native,
    /// Bubblewrap, with our filter and limits; not for root
    Bwrap,
    /// Landlock and a filter of system calls, where namespaces are forbidden
    Landlock,
}

/// What to do where no sandbox can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WithoutOne {
    /// Run nothing
    Refuse,
    /// Run the command without a sandbox, and say so
    Warn,
}

fn properties() -> impl clap::builder::TypedValueParser<Value = Property> {
    let find = |name: String| Property::all().find(|property| property.name() == name);
    PossibleValuesParser::new(Property::all().map(Property::name))
        .try_map(move |name| find(name).ok_or("there is no such property"))
}

/// Runs the command and ends as it ends.
pub(crate) fn run(args: &ExecArgs) -> ExitCode {
    let mut spec = match wish::wish(args) {
        Ok(spec) => spec,
        Err(error) => return failed(args, &format_args!("cannot find what the command is to see: {error}")),
    };
    if args.dry_run {
        let _way_out = match let_out(args, &mut spec, None) {
            Ok(way_out) => way_out,
            Err(error) => return failed(args, &error),
        };
        return match plan(&spec, &probe(&spec)).map(|plan| print(&escape_lines(&plan.to_string()))) {
            Ok(Ok(())) => ExitCode::SUCCESS,
            Ok(Err(error)) => failed(args, &format_args!("cannot write the plan: {error}")),
            Err(refusal) => refused(args, &refusal),
        };
    }
    let begun = match begin(args) {
        Ok(begun) => begun,
        Err(error) => {
            return failed(args, &format_args!("nothing runs that cannot be put on record: {error}"));
        }
    };
    let (trail, record) = begun.unzip();
    let named = |trail| (trail, record.as_ref().and_then(|record| record.name().map(str::to_owned)));
    let way_out = match let_out(args, &mut spec, trail.map(named)) {
        Ok(way_out) => way_out,
        Err(error) => {
            if let Some(record) = record
                && let Err(unkept) = record::failed(record, &error)
            {
                report::say(&format!("the end of the command is not on record: {unkept}"));
            }
            return failed(args, &error);
        }
    };
    let ran = plan_and_run(&spec, streams(args));
    let unreached = way_out.map(WayOut::end).unwrap_or_default();
    if let Some(record) = record {
        end(record, &ran);
    }
    match ran {
        Ok((plan, outcome)) => ended(args, &plan, &outcome, &unreached),
        Err(RunError::Refused(refusal)) => refused(args, &refusal),
        Err(error) => failed(args, &error),
    }
}

/// Lets the command out to the hosts that it may talk to, if any were named.
fn let_out(args: &ExecArgs, spec: &mut SandboxSpec, record: Record) -> Result<Option<WayOut>, String> {
    let way_out = WayOut::open(&args.allow_host, record)?;
    if let Some(way_out) = &way_out {
        spec.network = way_out.network();
    }
    Ok(way_out)
}

/// Puts on record that the command begins, if that is asked for.
fn begin(args: &ExecArgs) -> Result<Option<(AuditTrail, AuditedRun)>, AuditError> {
    let Some(file) = &args.audit else { return Ok(None) };
    let options = AuditOptions::default();
    let trail = match file {
        Some(file) => AuditTrail::open(file, options)?,
        None => AuditTrail::open_default(options)?,
    };
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let run = record::start(&trail, &words.join(" "))?;
    Ok(Some((trail, run)))
}

/// Puts on record how it ended. What cannot be written now is ended as interrupted when the trail is opened next.
fn end(record: AuditedRun, ran: &Result<(Plan, Outcome), RunError>) {
    let kept = match ran {
        Ok((plan, outcome)) => record::ran(record, plan, outcome, code(outcome.end).into()),
        Err(error) => record::failed(record, &error.to_string()),
    };
    if let Err(error) = kept {
        report::say(&format!("the end of the command is not on record: {error}"));
    }
}

/// A command has a terminal of its own if that was asked for. If not, that of this program is handed over as it is: programs
/// ask it for its size. Anything else is fed up to the limit.
fn streams(args: &ExecArgs) -> Streams {
    let stream = |is_terminal| match args.format {
        Format::Json => Stream::Keep,
        Format::Text if is_terminal => Stream::Inherit,
        Format::Text => Stream::Relay,
    };
    if args.tty {
        let stdout = if args.format == Format::Json { Stream::Keep } else { Stream::Relay };
        let terminal = Terminal::Own(TerminalSize::default());
        return Streams {
            stdin: Input::Inherit,
            stdout,
            terminal,
            signals: Signals::HandOn,
            ..Streams::default()
        };
    }
    Streams {
        stdin: Input::Inherit,
        stdout: stream(io::stdout().is_terminal()),
        stderr: stream(io::stderr().is_terminal() && !args.explain),
        signals: Signals::HandOn,
        ..Streams::default()
    }
}

fn ended(args: &ExecArgs, plan: &Plan, outcome: &Outcome, unreached: &[Brokered]) -> ExitCode {
    let code = code(outcome.end);
    match args.format {
        Format::Json => match print(&format!("{}\n", document::ran(plan, outcome, code, unreached))) {
            Ok(()) => {}
            Err(error) => report::say(&format!("cannot write the outcome: {error}")),
        },
        Format::Text if args.quiet && matches!(outcome.end, End::NotFound | End::NotExecutable) => {
            report::ended(plan, outcome);
        }
        Format::Text if args.quiet => {}
        Format::Text => report::outcome(plan, outcome, unreached),
    }
    ExitCode::from(code)
}

fn code(end: End) -> u8 {
    let by_signal = |signal| u8::try_from(BY_SIGNAL + signal).unwrap_or(FAILED);
    match end {
        End::Exited(code) => u8::try_from(code).unwrap_or(FAILED),
        End::Signalled(signal) => by_signal(signal),
        End::TimedOut => TIMED_OUT,
        End::OutOfMemory => by_signal(SIGKILL),
        End::OutOfCpuTime => by_signal(SIGXCPU),
        End::NotFound => NOT_FOUND,
        End::NotExecutable => REFUSED,
        _ => FAILED,
    }
}

fn refused(args: &ExecArgs, refusal: &Refusal) -> ExitCode {
    report::refused(refusal);
    not_run(args, &document::refused(refusal, REFUSED), REFUSED)
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
