//! Runs a command in a workspace: `confine WORKSPACE COMMAND…`. It is the shortest honest use of this crate.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a command that reports to a person")]

use std::process::ExitCode;

use stockade_exec_sandbox::run::{Input, Signals, Stream, Streams};
use stockade_exec_sandbox::{End, SandboxSpec, plan, probe, run};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let workspace = arguments.next().ok_or("usage: confine WORKSPACE COMMAND…")?;
    let spec = SandboxSpec::new(workspace, arguments);
    let plan = plan(&spec, &probe(&spec))?;
    let streams = Streams {
        stdin: Input::Inherit,
        stdout: Stream::Relay,
        stderr: Stream::Relay,
        signals: Signals::Forward,
        ..Streams::default()
    };
    let outcome = run(&plan, streams)?;
    for gap in &outcome.enforcement.gaps {
        eprintln!("not enforced: {}: {}", gap.property, gap.why);
    }
    Ok(match outcome.end {
        End::Exited(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        end => {
            eprintln!("{end:?}");
            ExitCode::FAILURE
        }
    })
}
