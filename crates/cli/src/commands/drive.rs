//! `stockade drive`: runs an AI coding CLI in a sandbox, with a preset.
#![expect(
    clippy::disallowed_methods,
    reason = "prints plans, and checks whether standard input is a terminal"
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
use stockade_guard::exec::patch;
use stockade_guard::exec::run::{Input, Signals, Stream, Streams, Terminal, TerminalSize};
use stockade_guard::exec::{Explain, Limit, Refusal, RunError};
use stockade_guard::{Egress, NotRun, PreparedRun, RunRecord, RunReport};
use stockade_text::escape_lines;

use super::exec::proxy_bounds::ProxyBounds;
use super::exec::{self, report};
use crate::args::HELP;
use stockade_state::{command_check, trail};

const EXAMPLES: &str = "\
Examples:
  stockade drive claude -- -p 'say hello'         run Claude Code without its key; only api.anthropic.com is reachable
  stockade drive claude                           the same, interactively
  stockade drive codex --allow-host crates.io -- exec 'update the packages'
                                                  allow one more host
  stockade drive gemini --keep-state -- -p 'go on'
                                                  keep its home directory for the next run in this directory
  stockade drive claude --api-base https://gateway.example.com --key file:/home/me/.config/gateway.key -- -p hello
                                                  use a gateway with its own key
  stockade drive generic --program ./agent --allow-host api.example.com \\
      --secret 'API_KEY=env:API_KEY@api.example.com in header:X-Api-Key' -- --task x
                                                  run a program without a preset
  stockade drive --list                           list the presets, with the sources of their keys and their hosts";

const MORE: &str = "\
The CLI and every command that it starts run in one sandbox. It starts with an empty home directory, which is removed afterwards, and sees
none of your logins and settings. Its environment holds a placeholder of the same form as the key; the egress proxy inserts the key into
requests to the model's host. Everything is recorded in the audit trail. A project's configuration has no influence.";

/// Exit codes if the CLI did not start.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

/// Name of the host list in the fix of a refusal.
const LIST: &str = "what it may reach with --allow-host";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = exec::exit_codes(MORE))]
pub(crate) struct DriveArgs {
    /// CLI to run: claude, codex, gemini, qwen, copilot, opencode, or generic for any other program
    #[arg(value_name = "CLI", required_unless_present = "list")]
    cli: Option<String>,

    /// List the presets, with the sources of their keys and their hosts
    #[arg(long, exclusive = true)]
    list: bool,

    /// Workspace: the directory that the CLI runs in and may change [default: the current directory]
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Path or name of the program [default: that of the preset]
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,

    /// Base URL of the API, for a gateway: `https://HOST[:PORT][/PATH]`; plain HTTP only for this machine
    #[arg(long, value_name = "URL")]
    api_base: Option<String>,

    /// Source of the API key [default: the sources of the preset]
    ///
    /// `env:VARIABLE`, `file:/PATH` or `json:/PATH#MEMBER.MEMBER` (readable only by its owner), `cmd:PROGRAM ARGUMENTS` (run
    /// without a shell) or `keyring:SERVICE/ACCOUNT`. If a CLI supports several keys, this is the first that `--list` names;
    /// `VARIABLE=SOURCE` selects another.
    #[arg(long, value_name = "[VARIABLE=]SOURCE")]
    key: Option<String>,

    /// Additional host, or with `!` a denied one; repeatable, see 'stockade exec'
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<String>,

    /// Additional secret that the CLI can use but not read; repeatable, see 'stockade exec'
    #[arg(long, value_name = "NAME=SOURCE@HOST")]
    secret: Vec<String>,

    #[command(flatten)]
    proxy: ProxyBounds,

    /// Keep its home directory for the next run in this workspace, or for all runs with this NAME
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keep_state: Option<String>,

    /// Whether to hide its real home directory and login; with false, it uses them, and no key is inserted
    #[arg(long, value_name = "WHETHER", default_value_t = true, action = clap::ArgAction::Set)]
    secure_credential_home: bool,

    /// Additional path that it may read; repeatable
    #[arg(long, value_name = "PATH")]
    ro: Vec<PathBuf>,

    /// Additional directory that it may change; repeatable
    #[arg(long, value_name = "DIR")]
    rw: Vec<PathBuf>,

    /// Environment variable to pass (NAME) or to set (NAME=VALUE); repeatable
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// Wall-clock time limit: 90, 90s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = patch::duration)]
    timeout: Option<Duration>,

    /// Memory limit, including all processes that it starts
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = patch::memory)]
    memory: u64,

    /// Run the CLI even if the rules for commands deny it; only the sandbox restricts it
    #[arg(long)]
    no_rules: bool,

    /// Trace what the CLI requests and report what was refused
    #[arg(long)]
    explain: bool,

    /// Record the run in FILE instead of your audit trail
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    audit: Option<PathBuf>,

    /// Print the sandbox plan without running anything
    #[arg(long)]
    dry_run: bool,

    /// Print no messages, except if the CLI cannot run
    #[arg(long, short)]
    quiet: bool,

    /// Arguments of the CLI
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Why the CLI did not run, and the exit code.
enum Stop {
    Failed(String),
    Denied { why: String, fix: &'static str },
    Refused(Refusal),
}

/// An error message.
fn failed(error: &dyn fmt::Display) -> Stop {
    Stop::Failed(error.to_string())
}

impl From<DriveError> for Stop {
    fn from(error: DriveError) -> Self {
        Self::Failed(format!("{}: {}", error.why, error.fix))
    }
}

/// Runs the CLI and exits like it.
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
        .map_err(|error| Stop::Failed(format!("cannot start the egress proxy: {error}")))?;
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

/// Returns the request to the preset from the arguments.
fn request(args: &DriveArgs) -> Result<DriveRequest, Stop> {
    let workspace = match &args.workspace {
        Some(folder) => folder.canonicalize(),
        None => std::env::current_dir(),
    };
    let workspace =
        workspace.map_err(|error| Stop::Failed(format!("cannot resolve the workspace: {error}")))?;
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

/// Applies the other options to the sandbox spec.
fn shape(args: &DriveArgs, driven: &mut Driven) -> Result<(), Stop> {
    let spec = &mut driven.spec;
    spec.cwd = std::env::current_dir().ok().filter(|here| here.starts_with(&spec.workspace));
    spec.read_only.extend(exec::existing("--ro", &args.ro).map_err(|error| failed(&error))?);
    spec.shared.extend(exec::existing("--rw", &args.rw).map_err(|error| failed(&error))?);
    exec::variables(&args.env, &mut spec.environment);
    spec.explain = if args.explain { Explain::Asked } else { Explain::Ends };
    spec.limits.memory = Limit::AtMost(args.memory);
    // An interactive session prints more than a command.
    spec.limits.output = Limit::Unlimited;
    if let Some(timeout) = args.timeout {
        spec.limits.wall_time = Limit::AtMost(timeout);
    }
    Ok(())
}

/// Returns the allowed hosts, and the secrets that the proxy inserts.
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
    let options = BrokerOptions { list_name: LIST.to_owned(), ..BrokerOptions::default() };
    let options = args.proxy.apply(options).map_err(Stop::Failed)?;
    Ok(Egress { hosts, options, secrets })
}

/// Returns the streams: a CLI that is used interactively gets a terminal of its own.
fn streams() -> Streams {
    let is_talk = io::stdin().is_terminal() && io::stdout().is_terminal();
    Streams {
        stdin: Input::Inherit,
        stdout: Stream::Relay,
        stderr: Stream::Relay,
        terminal: if is_talk { Terminal::Own(TerminalSize::default()) } else { Terminal::None },
        signals: Signals::Forward,
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
            report::say(&format!("cannot write the output: {error}"));
            FAILED.into()
        }
    }
}
