//! What both benches run: the same command in a sandbox of ours, and in one of bubblewrap with the same mounts.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use stockade_exec_sandbox::{End, Input, Plan, Pool, SandboxSpec, Stream, Streams, plan, probe, run};

/// The command that takes no time itself.
pub(crate) const TRUE: &str = "/bin/true";

/// What a command gets that prints nothing.
pub(crate) fn streams() -> Streams {
    Streams { stdin: Input::Empty, stdout: Stream::Inherit, stderr: Stream::Inherit, ..Streams::default() }
}

/// A wish to run it in a workspace.
pub(crate) fn wish(workspace: &Path) -> SandboxSpec {
    SandboxSpec::new(workspace, [TRUE])
}

/// The plan for a wish on this machine, as it is now.
pub(crate) fn planned(spec: &SandboxSpec) -> Plan {
    plan(spec, &probe(spec)).unwrap()
}

/// Runs it in a sandbox of ours.
pub(crate) fn native(plan: &Plan) {
    assert_eq!(run(plan, streams()).unwrap().end, End::Exited(0));
}

/// Runs it in a sandbox that was made beforehand.
pub(crate) fn pooled(pool: &Pool) {
    assert_eq!(pool.run([TRUE]).unwrap().1.end, End::Exited(0));
}

/// Runs a program without any sandbox of ours.
pub(crate) fn command(program: &str, arguments: &[OsString]) {
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status().unwrap();
    assert!(status.success());
}
