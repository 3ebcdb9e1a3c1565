//! A backend as a program: one request on standard input, its answers as lines on standard output.
//!
//! ```text
//!  standard input ──► request ──► plan ──► Backend::run ──► pipes ──► lines on standard output
//!                 └─► what the command reads; once it is closed, the command is ended
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "reads the request, its arguments and what a command prints, and writes the answers"
)]

mod answer;
mod streams;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use stockade_exec_sandbox::backends::protocol::{
    BackendLine, NetworkRequest, RefusedRequest, SandboxRequest,
};
use stockade_exec_sandbox::backends::{Backend, BackendRegistry, BackendRun, Probed, Selection};
use stockade_exec_sandbox::host::HostFacts;
use stockade_exec_sandbox::run::{Cancellation, Input, RunControl, Stream, Streams};
use stockade_exec_sandbox::{Limit, Network, Outcome, RunError, SandboxBackend, SandboxSpec, probe};

use answer::{Lines, capabilities, ended, failed};
use streams::{CommandInput, Relay};

/// The version of the protocol.
const VERSION: u32 = 1;

/// The longest request that is read: words and variables of a command are together shorter than a mebibyte.
const MAX_REQUEST: u64 = 8 << 20;

/// How long the last lines of a command may take to be written.
const UNTIL_READ: Duration = Duration::from_secs(10);

/// What a person sees who starts the program.
const USAGE: &str =
    "is started by `stockade exec --backend NAME`, and reads a JSON request from standard input";

/// A request, as far as this program needs it: the whole sandbox, and no part of it twice.
#[derive(Debug, Deserialize)]
struct Request {
    stockade: u32,
    request: String,
    #[serde(default)]
    sandbox: Option<SandboxRequest>,
    #[serde(default, rename = "try")]
    tries: bool,
    #[serde(default)]
    options: BTreeMap<String, String>,
}

/// Answers the request on standard input by `backend`: the whole of a program that is a backend.
#[must_use]
pub fn backend_program(backend: impl Backend + Copy + 'static) -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    if arguments.next().is_some() || io::stdin().is_terminal() {
        Lines::tell(&format!("{} {USAGE}", name.display()));
        return ExitCode::FAILURE;
    }
    let lines = Lines::default();
    let registry = BackendRegistry::default();
    registry.register(Box::new(backend), 0, Selection::ByNameOnly);
    let answered = read().and_then(|(request, rest)| answer(&backend, &registry, request, rest, &lines));
    let last = answered.unwrap_or_else(|message| BackendLine::Error { message, doing: None });
    if lines.write(&last).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads the request. What follows it is what the command reads.
fn read() -> Result<(Request, BufReader<File>), String> {
    // A descriptor of its own: that of standard input becomes the command's.
    let input = rustix::io::dup(rustix::stdio::stdin()).map_err(|error| error.to_string())?;
    let mut input = BufReader::new(File::from(input));
    let mut line = Vec::new();
    (&mut input)
        .take(MAX_REQUEST)
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("the request cannot be read: {error}"))?;
    let request: Request =
        serde_json::from_slice(&line).map_err(|error| format!("invalid request: {error}"))?;
    match request.stockade {
        VERSION => Ok((request, input)),
        other => Err(format!("unknown protocol version {other}")),
    }
}

fn answer(
    backend: &dyn Backend,
    registry: &BackendRegistry,
    request: Request,
    rest: BufReader<File>,
    lines: &Lines,
) -> Result<BackendLine, String> {
    let Request { request, sandbox, tries, options, .. } = request;
    if !["probe", "run", "cleanup"].contains(&request.as_str()) {
        return Err(format!("unknown request `{request}`"));
    }
    let sandbox = sandbox.ok_or("missing `sandbox`: this program is started by `stockade`")?;
    if !sandbox.is_of_this_release() {
        let why = format!(
            "its version is {}, and that of stockade is {}",
            env!("CARGO_PKG_VERSION"),
            sandbox.release
        );
        let fix = "install both from the same release".to_owned();
        return Ok(BackendLine::Unavailable { why, fix });
    }
    let network = sandbox.network;
    let mut spec = sandbox.into_spec(options);
    spec.backend = SandboxBackend::from_name(backend.name()).unwrap_or_default();
    Ok(match request.as_str() {
        "probe" if tries => match backend.probe(&spec) {
            Probed::Works(enforcement) => capabilities(&enforcement),
            Probed::Not { why, fix } => BackendLine::Unavailable { why, fix },
        },
        "probe" => match backend.offer(&spec, &facts()) {
            Ok(offer) => capabilities(offer.enforcement()),
            Err(refusal) => BackendLine::Refused(RefusedRequest::of(&refusal)),
        },
        "cleanup" => BackendLine::Cleaned { count: backend.cleanup(&spec) as u64 },
        _ => {
            // The egress proxy is on the machine of `stockade`: elsewhere, nothing reaches it.
            if network == NetworkRequest::Broker {
                spec.network = Network::None;
            }
            // `stockade` counts what is printed, and cuts it.
            spec.limits.output = Limit::Unlimited;
            run(registry, &spec, rest, lines).map_or_else(|error| failed(&error), |outcome| ended(&outcome))
        }
    })
}

/// What is known of this machine without a look at the workspace.
fn facts() -> HostFacts {
    HostFacts {
        home: std::env::home_dir().unwrap_or_default(),
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        ..HostFacts::default()
    }
}

/// Runs the command, and writes what it prints as it comes.
fn run(
    registry: &BackendRegistry,
    spec: &SandboxSpec,
    rest: BufReader<File>,
    lines: &Lines,
) -> Result<Outcome, RunError> {
    let cancellation = Cancellation::default();
    let facts = probe(spec);
    let plan = registry.plan(spec, &facts)?;
    CommandInput::from(rest, &cancellation).map_err(RunError::setup("making a pipe for standard input"))?;
    let stdout = Relay::start(lines, |data| BackendLine::Stdout { data });
    let stderr = Relay::start(lines, |data| BackendLine::Stderr { data });
    let (stdout, stderr) =
        stdout.and_then(|stdout| Ok((stdout, stderr?))).map_err(RunError::setup("making pipes"))?;
    let control = RunControl {
        cancellation: Some(cancellation),
        stdout: Some(stdout.end()),
        stderr: Some(stderr.end()),
    };
    let streams =
        Streams { stdin: Input::Inherit, stdout: Stream::Hand, stderr: Stream::Hand, ..Streams::default() };
    let ran = registry.run(BackendRun::new(spec, facts, plan, streams, &control));
    drop(control);
    // The end is the last line, so what was printed comes before it.
    stdout.finish();
    stderr.finish();
    ran.map(|(_, outcome)| outcome)
}
