//! `stockade drive`: runs the CLI of a model in a sandbox, by its preset.
#![expect(
    clippy::disallowed_methods,
    reason = "prints what was planned, and asks whether somebody sits at a terminal"
)]

mod list;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::command::CommandPolicy;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::driven::{ApiBase, DriveError, DriveRequest, Driven, KeepState, drive};
use stockade_guard::egress::{BrokerOptions, HostList, SecretBinding};
use stockade_guard::exec::run::{Input, Signals, Stream, Streams, Terminal, TerminalSize};
use stockade_guard::exec::{Explain, Limit, Refusal, RunError};
use stockade_guard::{Egress, NotRun, PreparedRun, RunRecord, RunReport};
use stockade_text::escape_lines;

use super::exec::proxy_bounds::ProxyBounds;
use super::exec::{self, report, units};
use crate::args::HELP;
use stockade_state::{command_check, trail};

const EXAMPLES: &str = "\
Examples:
  stockade drive claude -- -p 'say hello'         its key stays outside; it reaches api.anthropic.com, and no other host
  stockade drive claude                           the same, with somebody at the terminal
  stockade drive codex --allow-host crates.io -- exec 'update the packages'
                                                  it reaches one host more
  stockade drive gemini --keep-state -- -p 'go on'
                                                  what it keeps at home is there again for the next run in this folder
  stockade drive claude --api-base https://gateway.example.com --key file:/home/me/.config/gateway.key -- -p hello
                                                  its model is behind a gateway, which has a key of its own
  stockade drive generic --program ./agent --allow-host api.example.com \\
      --secret 'API_KEY=env:API_KEY@api.example.com in header:X-Api-Key' -- --task x
                                                  a program that has no preset
  stockade drive --list                           the presets, where each looks for a key, and which host gets it";

const MORE: &str = "\
The CLI, and every command that it starts, runs in one sandbox. Of your home it sees no login and no settings of its own: it begins
with an empty home that is gone with it. In its variables stands a value of the same shape as the key, which is of no use; the broker
puts the key into requests to the host of its model. All of it is put on record. A project has no say in any of this.";

/// The exit codes of this program where the CLI never began.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

/// What the list of hosts is called in the fix of a refusal.
const LIST: &str = "what it may reach with --allow-host";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = exec::exit_codes(MORE))]
pub(crate) struct DriveArgs {
    /// The CLI: claude, codex, gemini, qwen, copilot, opencode, or generic for any other program
    #[arg(value_name = "CLI", required_unless_present = "list")]
    cli: Option<String>,

    /// List the presets: where each looks for a key, and which host gets it
    #[arg(long, exclusive = true)]
    list: bool,

    /// The folder that it works in and may change, if not this one
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The program, as a path or a name on the search path, if it is not called as its preset says
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,

    /// The address of its API, for a gateway: `https://HOST[:PORT][/PATH]`; plain HTTP only to this machine itself
    #[arg(long, value_name = "URL")]
    api_base: Option<String>,

    /// Where its key is, if not where it looks by itself
    ///
    /// `env:VARIABLE`, `file:/PATH` (which nobody else may read), `json:/PATH#MEMBER.MEMBER` (likewise), `cmd:PROGRAM ARGUMENTS` (without a
    /// shell) or `keyring:SERVICE/ACCOUNT`. A CLI that knows several keys takes it for the first that `--list` names; `VARIABLE=SOURCE`
    /// says which.
    #[arg(long, value_name = "[VARIABLE=]SOURCE")]
    key: Option<String>,

    /// A host more that it may talk to, or with `!` before it one less; may be repeated, as of 'stockade exec'
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<String>,

    /// A secret more that it uses and never sees; may be repeated, as of 'stockade exec'
    #[arg(long, value_name = "NAME=SOURCE@HOST")]
    secret: Vec<String>,

    #[command(flatten)]
    proxy: ProxyBounds,

    /// Keep what it has at home for the next run in this workspace, or for all that give this NAME
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keep_state: Option<String>,

    /// Whether it is kept from its own home and login; with false, it uses those, and no key is put in
    #[arg(long, value_name = "WHETHER", default_value_t = true, action = clap::ArgAction::Set)]
    secure_credential_home: bool,

    /// Something more that it may read
    #[arg(long, value_name = "PATH")]
    ro: Vec<PathBuf>,

    /// A folder more that it may change
    #[arg(long, value_name = "DIR")]
    rw: Vec<PathBuf>,

    /// A variable to hand on, NAME, or to set, NAME=VALUE
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// How long it may take: 90, 90s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    timeout: Option<Duration>,

    /// How much memory it may use, with all that it starts
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = units::memory)]
    memory: u64,

    /// Run it even if the rules for commands deny it, so that the sandbox alone holds it
    #[arg(long)]
    no_rules: bool,

    /// Look at what it asks for, to tell what it was refused
    #[arg(long)]
    explain: bool,

    /// Put it on record in FILE, and not in the audit trail of this user
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    audit: Option<PathBuf>,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// Say nothing of one's own, unless it could not be run
    #[arg(long, short)]
    quiet: bool,

    /// The words that the CLI is started with
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// What kept the CLI from being run, and so how this ends.
enum Stop {
    Failed(String),
    Denied { why: String, fix: &'static str },
    Refused(Refusal),
}

/// Whatever goes wrong, in words.
fn failed(error: &dyn fmt::Display) -> Stop {
    Stop::Failed(error.to_string())
}

impl From<DriveError> for Stop {
    fn from(error: DriveError) -> Self {
        Self::Failed(format!("{}: {}", error.why, error.fix))
    }
}

/// Runs the CLI and ends as it ends.
pub(crate) fn run(args: &DriveArgs) -> ExitCode {
    if args.list {
        return print(&list::presets());
    }
    match try_run(args) {
        Ok(code) => code,
        Err(Stop::Failed(why)) => {
            report::say(&why);
            FAILED.into()
        }
        Err(Stop::Denied { why, fix }) => {
            report::refused_for(&why, fix);
            REFUSED.into()
        }
        Err(Stop::Refused(refusal)) => {
            report::refused(&refusal);
            REFUSED.into()
        }
    }
}

fn try_run(args: &DriveArgs) -> Result<ExitCode, Stop> {
    let mut driven = drive(&request(args)?)?;
    shape(args, &mut driven)?;
    let text = text(&driven.spec.command);
    if !args.no_rules
        && let Some(decision) = command_check::denied(&CommandPolicy::builtin(), &text, &driven.spec)
    {
        let why = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        let why = format!("the rules for commands deny this: {why}");
        return Err(Stop::Denied { why, fix: exec::RULES_FIX });
    }
    let shown = list::driven(&driven, &args.allow_host);
    let egress = egress(args, &driven)?;
    let trail = match args.dry_run {
        true => None,
        false => Some(
            trail::open_at(args.audit.as_deref(), trail::options(None))
                .map_err(NotRun::Unrecorded)
                .map_err(|error| failed(&error))?,
        ),
    };
    let name = args.cli.as_deref().unwrap_or_default();
    let prepared = PreparedRun::new(driven.spec, Some(egress), RunRecord { trail, agent: None })
        .map_err(|error| Stop::Failed(format!("it cannot be let out to its hosts: {error}")))?;
    if args.dry_run {
        let plan = prepared.plan().map_err(|refusal| Stop::Refused(refusal.clone()))?;
        return Ok(print(&format!("{}{}", shown, escape_lines(&plan.to_string()))));
    }
    if !args.quiet {
        shown.lines().for_each(report::say);
    }
    let started =
        AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, text).with(field::DRIVEN, name);
    match prepared.run(started, streams()) {
        Ok(report) => Ok(ended(args, &report)),
        Err(NotRun::Sandbox { error: RunError::Refused(refusal), unrecorded }) => {
            report::unrecorded(unrecorded.as_ref());
            Err(Stop::Refused(refusal))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// What was typed, as what somebody wants to be driven.
fn request(args: &DriveArgs) -> Result<DriveRequest, Stop> {
    let workspace = match &args.workspace {
        Some(folder) => folder.canonicalize(),
        None => std::env::current_dir(),
    };
    let workspace = workspace.map_err(|error| Stop::Failed(format!("cannot find the workspace: {error}")))?;
    let cli = args.cli.as_deref().unwrap_or_default();
    Ok(DriveRequest {
        program: args.program.clone(),
        api_base: args.api_base.as_deref().map(ApiBase::read).transpose()?,
        key: args.key.clone(),
        keep: match args.keep_state.as_deref() {
            None => KeepState::No,
            Some("") => KeepState::ForWorkspace,
            Some(name) => KeepState::Named(name.to_owned()),
        },
        secure_credential_home: args.secure_credential_home,
        ..DriveRequest::new(cli, workspace, args.arguments.iter().cloned())
    })
}

/// Adds what was typed besides.
fn shape(args: &DriveArgs, driven: &mut Driven) -> Result<(), Stop> {
    let spec = &mut driven.spec;
    spec.cwd = std::env::current_dir().ok().filter(|here| here.starts_with(&spec.workspace));
    spec.read_only.extend(exec::existing("--ro", &args.ro).map_err(|error| failed(&error))?);
    spec.shared.extend(exec::existing("--rw", &args.rw).map_err(|error| failed(&error))?);
    exec::variables(&args.env, &mut spec.environment);
    spec.explain = if args.explain { Explain::Asked } else { Explain::Ends };
    spec.limits.memory = Limit::AtMost(args.memory);
    // What somebody reads for hours is more than what a command prints.
    spec.limits.output = Limit::Unlimited;
    if let Some(timeout) = args.timeout {
        spec.limits.wall_time = Limit::AtMost(timeout);
    }
    Ok(())
}

/// The hosts that it reaches, and what the broker puts in.
fn egress(args: &DriveArgs, driven: &Driven) -> Result<Egress, Stop> {
    let entries: Vec<String> =
        driven.hosts.iter().map(|host| host.entry.clone()).chain(args.allow_host.iter().cloned()).collect();
    let hosts = HostList::compile(&entries);
    let hosts = hosts.map_err(|error| Stop::Failed(format!("--allow-host: {error}: {}", error.fix)))?;
    let read = |text: &String| {
        SecretBinding::read(text).map_err(|error| Stop::Failed(format!("--secret: {error}: {}", error.fix)))
    };
    let more = args.secret.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let secrets = driven.secrets.iter().cloned().chain(more).collect();
    Ok(Egress {
        hosts,
        options: args.proxy.apply(BrokerOptions { list_name: LIST.to_owned(), ..BrokerOptions::default() }),
        secrets,
    })
}

/// Who sits at a terminal talks with the CLI; it gets one of its own.
fn streams() -> Streams {
    let is_talk = io::stdin().is_terminal() && io::stdout().is_terminal();
    Streams {
        stdin: Input::Inherit,
        stdout: Stream::Relay,
        stderr: Stream::Relay,
        terminal: if is_talk { Terminal::Own(TerminalSize::default()) } else { Terminal::None },
        signals: Signals::HandOn,
        speaks_as: Some(report::SPEAKER),
    }
}

fn ended(args: &DriveArgs, report: &RunReport) -> ExitCode {
    report::unrecorded(report.unrecorded.as_ref());
    match args.quiet {
        true => report::left(&report.outcome),
        false => report::outcome(report, None),
    }
    ExitCode::from(report.outcome.exit_code_with_output())
}

fn text(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    quote_argv(words.iter().map(AsRef::as_ref))
}

fn print(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::say(&format!("cannot write what was asked for: {error}"));
            FAILED.into()
        }
    }
}
