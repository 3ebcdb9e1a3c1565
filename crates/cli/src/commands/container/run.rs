//! `stockade container run`: lets a package in, and runs it in a container as its manifest says.
#![expect(
    clippy::disallowed_methods,
    reason = "makes a folder for the files that were checked, and prints documents"
)]

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::command::CommandPolicy;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::container::{ContainerOptions, PackageReport, PackageRun};
use stockade_guard::exec::backends::Engine;
use stockade_guard::exec::run::{Input, Signals, Stream, Streams};
use stockade_guard::exec::{Plan, RunError};
use stockade_guard::{NotRun, PreparedRun, RunRecord};
use stockade_text::escape_path;
use tempfile::TempDir;

use super::look;
use crate::args::Format;
use crate::commands::exec::{self, document, report};
use crate::report::checked_package::CheckedPackage;
use crate::rule_files::Rules;
use stockade_state::{command_check, trail};

/// The exit codes of this program where the package never began.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

/// What the folder of the files is called.
const FILES: &str = "package";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// A folder with a manifest.json
    #[arg(value_name = "FOLDER")]
    path: PathBuf,

    /// The image by its digest: sha256:… or NAME@sha256:… [default: iscl-skill-NAME:latest, whatever that is by then]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// A unix socket of the API, the only way out of the container
    #[arg(long, value_name = "SOCKET")]
    api_socket: Option<PathBuf>,

    /// What makes the container
    #[arg(long, value_name = "WHAT", default_value = "docker")]
    backend: EngineName,

    /// What runs the container in the place of what the engine takes by itself, such as runsc
    #[arg(long, value_name = "NAME")]
    runtime: Option<String>,

    /// Put the run on record in FILE in the place of the audit trail of this user; without a record it does not run
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    audit: Option<PathBuf>,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// How to say how it went; json keeps what the package prints, and puts it into one document
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The program to start and its arguments, in the folder of the files [default: what the image says that it starts]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The engines of containers that a person may name for a package.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum EngineName {
    Docker,
    Podman,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Docker => Self::Docker,
            EngineName::Podman => Self::Podman,
        }
    }
}

/// Why a package did not run: the code to end with, what a person is told, and what mends it.
struct Stopped {
    code: u8,
    why: String,
    fix: Option<String>,
}

impl Stopped {
    fn refused(why: impl fmt::Display, fix: impl Into<String>) -> Self {
        Self { code: REFUSED, why: why.to_string(), fix: Some(fix.into()) }
    }

    fn failed(why: impl fmt::Display) -> Self {
        Self { code: FAILED, why: why.to_string(), fix: None }
    }
}

/// Runs the package and ends as it ends.
pub(crate) fn run(args: &RunArgs, rules: &[PathBuf]) -> ExitCode {
    match Rules::load(rules).and_then(|rules| look(&args.path, &rules)) {
        Ok(checked) => run_checked(args, &checked).unwrap_or_else(|stopped| not_run(args, &stopped)),
        Err(failure) => {
            failure.report();
            document(args, &document::failed(&failure.message(), FAILED), FAILED)
        }
    }
}

fn run_checked(args: &RunArgs, checked: &CheckedPackage) -> Result<ExitCode, Stopped> {
    let path = escape_path(&args.path);
    let CheckedPackage::Package(report) = checked else {
        let fix = "name a folder with a manifest.json; `stockade container check` says what is wrong with it";
        return Err(Stopped::refused(format!("{path} is no package that passes"), fix));
    };
    let (_folder, ready) = made_ready(args, report, &path)?;
    for missing in &ready.not_enforced {
        report::say(&format!("{}: {}", missing.name(), missing.message()));
    }
    let trail = match args.dry_run {
        true => None,
        false => Some(
            trail::open_at(args.audit.as_deref(), trail::options(None))
                .map_err(|error| Stopped::failed(NotRun::Unrecorded(error)))?,
        ),
    };
    let spec = ready.spec.clone();
    let prepared =
        PreparedRun::new(ready.spec, None, RunRecord { trail, agent: None }).map_err(Stopped::failed)?;
    let plan = prepared.plan().map_err(|refusal| Stopped::refused(refusal, refusal.fix.clone()))?;
    let text = text(plan);
    if let Some(decision) = command_check::denied(&CommandPolicy::builtin(), &text, &spec) {
        let why = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        let fix = "`stockade check command` says more; have the package start something else";
        return Err(Stopped::refused(format!("the rules for commands deny `{text}`: {why}"), fix));
    }
    if args.dry_run {
        print(&plan.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    // What is held, which may be more than the manifest says: an engine takes no less than some.
    let memory = spec.limits.memory.bound().map_or(0, |bytes| bytes >> 20);
    let started = AuditEvent {
        skill: Some(report.package.manifest.name().into()),
        ..AuditEvent::new(EventKind::SandboxStarted)
    }
    .with(field::COMMAND, text)
    .with(field::MANIFEST, report.package.hash.to_string())
    .with(field::MEMORY_MB, i64::try_from(memory).unwrap_or_default())
    .with(field::ALLOW_SPAWN, report.package.manifest.sandbox().allow_spawn);
    match prepared.run(started, streams(args)) {
        Ok(ran) => {
            report::unrecorded(ran.unrecorded.as_ref());
            match args.format {
                Format::Json => print(&format!("{}\n", document::ran(&ran, None, None, None))),
                Format::Text => report::outcome_of_package(&ran),
            }
            Ok(ExitCode::from(exec::exit_code(args.format, &ran.outcome)))
        }
        Err(NotRun::Sandbox { error, unrecorded }) => {
            report::unrecorded(unrecorded.as_ref());
            Err(match error {
                RunError::Refused(refusal) => Stopped::refused(&refusal, refusal.fix.clone()),
                error => Stopped::failed(error),
            })
        }
        Err(error) => Err(Stopped::failed(error)),
    }
}

/// Lays the files that were checked into a folder of their own, and says what a sandbox is asked for.
fn made_ready(args: &RunArgs, report: &PackageReport, path: &str) -> Result<(TempDir, PackageRun), Stopped> {
    let package = report.verified().ok_or_else(|| {
        Stopped::refused(format!("{path} is refused"), "`stockade container check` says why")
    })?;
    let options = ContainerOptions {
        image: args.image.clone(),
        api_socket: args.api_socket.as_deref().map(real),
        runtime: args.runtime.clone(),
        run: None,
    };
    let folder = tempfile::tempdir()
        .map_err(|error| Stopped::failed(format!("there is no folder for its files: {error}")))?;
    let files = real(folder.path()).join(FILES);
    let fix = "`stockade container run --help` says what an option is to be";
    let ready = package
        .manifest()
        .package_run(args.backend.into(), &files, &args.command, &options)
        .map_err(|error| Stopped::refused(error, fix))?;
    package
        .write_to(&files)
        .map_err(|error| Stopped::failed(format!("its files cannot be laid out: {error}")))?;
    Ok((folder, ready))
}

/// Links in what a person types are theirs; what they lead to is what is meant.
fn real(path: &std::path::Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn text(plan: &Plan) -> String {
    let words: Vec<_> =
        std::iter::once(&plan.program).chain(&plan.arguments).map(|word| word.to_string_lossy()).collect();
    quote_argv(words.iter().map(AsRef::as_ref))
}

/// A package has no input: whoever started it speaks to it by the API, if at all.
fn streams(args: &RunArgs) -> Streams {
    let stream = if args.format == Format::Json { Stream::Keep } else { Stream::Relay };
    Streams {
        stdin: Input::Empty,
        stdout: stream,
        stderr: stream,
        signals: Signals::HandOn,
        speaks_as: Some(report::SPEAKER),
        ..Streams::default()
    }
}

fn not_run(args: &RunArgs, stopped: &Stopped) -> ExitCode {
    match &stopped.fix {
        Some(fix) => report::refused_for(&stopped.why, fix),
        None => report::say(&stopped.why),
    }
    let said = match stopped.code {
        REFUSED => document::not_let(&stopped.why, stopped.fix.as_deref(), None, REFUSED),
        code => document::failed(&stopped.why, code),
    };
    document(args, &said, stopped.code)
}

/// A program that reads documents gets one in any case.
fn document(args: &RunArgs, document: &str, code: u8) -> ExitCode {
    if args.format == Format::Json {
        print(&format!("{document}\n"));
    }
    ExitCode::from(code)
}

fn print(text: &str) {
    if let Err(error) = io::stdout().write_all(text.as_bytes()) {
        report::say(&format!("cannot write the outcome: {error}"));
    }
}
