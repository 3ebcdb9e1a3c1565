//! What both benches run: the same command in a sandbox of ours, and in one of bubblewrap with the same mounts.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use stockade_exec_sandbox::{
    End, Input, Plan, Pool, SandboxSpec, Stream, Streams, bwrap_arguments, plan, probe, run,
};

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

/// The arguments of bubblewrap for the mounts of a sandbox of ours: those that are documented, and what covers the parts of
/// `/proc` that concern the whole machine.
pub(crate) fn same_mounts(plan: &Plan) -> Vec<OsString> {
    let is_there = |path: &&&str| Path::new(path).exists();
    let files = FILES.iter().filter(is_there).flat_map(|path| ["--ro-bind", "/dev/null", path]);
    let folders = FOLDERS.iter().filter(is_there).flat_map(|path| ["--tmpfs", path]);
    files.chain(folders).map(OsString::from).fold(bwrap_arguments(plan), |mut words, word| {
        let before_the_command = words.iter().position(|word| word == "--").unwrap();
        words.insert(before_the_command, word);
        words
    })
}

const FILES: &[&str] = &[
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/kallsyms",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/config.gz",
];

const FOLDERS: &[&str] = &["/dev/shm", "/proc/acpi", "/proc/scsi"];

/// Runs a program without any sandbox of ours.
pub(crate) fn command(program: &str, arguments: &[OsString]) {
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status().unwrap();
    assert!(status.success());
}
