//! What both benches run: the same command in a sandbox of ours, and in one of bubblewrap with the same mounts.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use stockade_exec_sandbox::run::{Input, Stream, Streams};
use stockade_exec_sandbox::{End, Plan, SandboxPool, SandboxSpec, bwrap_arguments, plan, probe, run};

/// The command that takes no time itself.
pub(crate) const TRUE: &str = "/bin/true";

/// What a command gets that prints nothing.
pub(crate) fn streams() -> Streams {
    Streams { stdin: Input::Empty, stdout: Stream::Relay, stderr: Stream::Relay, ..Streams::default() }
}

/// A request to run it in a workspace.
pub(crate) fn request(workspace: &Path) -> SandboxSpec {
    SandboxSpec::new(workspace, [TRUE])
}

/// The plan for a request on this machine, as it is now.
pub(crate) fn planned(spec: &SandboxSpec) -> Plan {
    plan(spec, &probe(spec)).unwrap()
}

/// Runs it in a sandbox of ours.
pub(crate) fn native(plan: &Plan) {
    assert_eq!(run(plan, streams()).unwrap().end, End::Exited(0));
}

/// Runs it in a sandbox that was made beforehand, if one is ready. The machine is looked at as ever.
pub(crate) fn pooled(pool: &SandboxPool, spec: &SandboxSpec) {
    let facts = probe(spec);
    let planned = plan(spec, &facts).unwrap();
    assert_eq!(pool.run_prepared(spec, facts, planned, streams()).unwrap().1.end, End::Exited(0));
}

/// A pool that makes sandboxes for such commands.
pub(crate) fn pool(spec: &SandboxSpec, size: usize) -> SandboxPool {
    let pool = SandboxPool::new(size);
    (0..2).for_each(|_| pooled(&pool, spec));
    pool
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
