//! `stockade container run`: verifies a package, and runs it in a container as its manifest declares.
#![expect(
    clippy::disallowed_methods,
    reason = "creates a directory for the verified files, and prints documents"
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

/// Exit codes if the package did not start.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

/// Name of the directory with the files.
const FILES: &str = "package";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Package: a directory with a manifest.json
    #[arg(value_name = "FOLDER")]
    path: PathBuf,

    /// Image by digest: sha256:… or NAME@sha256:… [default: iscl-skill-NAME:latest, which is not pinned]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// Unix socket of the API, the only connection of the container
    #[arg(long, value_name = "SOCKET")]
    api_socket: Option<PathBuf>,

    /// Container engine
    #[arg(long, value_name = "WHAT", default_value = "docker")]
    backend: EngineName,

    /// Container runtime instead of the engine's default, such as runsc
    #[arg(long, value_name = "NAME")]
    runtime: Option<String>,

    /// Record the run in FILE instead of your audit trail; it does not run if it cannot be recorded
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    audit: Option<PathBuf>,

    /// Print the plan without running anything
    #[arg(long)]
    dry_run: bool,

    /// Output format; json collects the package's output in one document
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Program and arguments, relative to the package's files [default: the image's entry point]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Container engines that can run a package.
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

/// Why a package did not run: exit code, error and fix.
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

/// Runs the package and exits like it.
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
        let fix = "use a directory with a manifest.json; run `stockade container check` for details";
        return Err(Stopped::refused(format!("{path} is not a valid package"), fix));
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
        let fix = "run `stockade check command` for details, and start another program";
        return Err(Stopped::refused(format!("the rules for commands deny `{text}`: {why}"), fix));
    }
    if args.dry_run {
        print(&plan.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    // The enforced limits, which may be higher than those of the manifest: engines have minimums.
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

/// Copies the verified files to a new directory, and returns the sandbox spec.
fn made_ready(args: &RunArgs, report: &PackageReport, path: &str) -> Result<(TempDir, PackageRun), Stopped> {
    let package = report.verified().ok_or_else(|| {
        Stopped::refused(format!("{path} is refused"), "run `stockade container check` for details")
    })?;
    let options = ContainerOptions {
        image: args.image.clone(),
        api_socket: args.api_socket.as_deref().map(real),
        runtime: args.runtime.clone(),
        run: None,
    };
    let folder = tempfile::tempdir()
        .map_err(|error| Stopped::failed(format!("cannot create a directory for its files: {error}")))?;
    let files = real(folder.path()).join(FILES);
    let fix = "run `stockade container run --help`";
    let ready = package
        .manifest()
        .package_run(args.backend.into(), &files, &args.command, &options)
        .map_err(|error| Stopped::refused(error, fix))?;
    package.write_to(&files).map_err(|error| Stopped::failed(format!("cannot copy its files: {error}")))?;
    Ok((folder, ready))
}

/// Resolves symlinks: in a path that the user typed, they are trusted.
fn real(path: &std::path::Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn text(plan: &Plan) -> String {
    let words: Vec<_> =
        std::iter::once(&plan.program).chain(&plan.arguments).map(|word| word.to_string_lossy()).collect();
    quote_argv(words.iter().map(AsRef::as_ref))
}

/// Returns the streams. A package has no standard input: its only input is the API.
fn streams(args: &RunArgs) -> Streams {
    let stream = if args.format == Format::Json { Stream::Keep } else { Stream::Relay };
    Streams {
        stdin: Input::Empty,
        stdout: stream,
        stderr: stream,
        signals: Signals::Forward,
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

/// Prints a document even if nothing ran, since programs expect one.
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
