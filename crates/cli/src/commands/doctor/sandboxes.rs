//! Checks of the sandboxes: runs a command in each kind, and queries its protection from inside.
#![expect(
    clippy::disallowed_methods,
    reason = "creates a directory for sandboxes, and reads kernel settings"
)]

use std::fs;
use std::io;
use std::path::Path;

use rustix::process::geteuid;
use stockade_guard::exec::run::{Input, Stream, Streams};
use stockade_guard::exec::{
    End, Limit, MountAccess, Outcome, Property, RunError, SandboxBackend, SandboxSpec, probe, run_spec,
};

use super::Finding;

/// Queries a sandboxed command's own protection, by field names of /proc/self/status.
const ASKED: &str = "grep -E '^(Seccomp|CapEff|NoNewPrivs):' /proc/self/status";

/// Timeout of a sandbox.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Setting of AppArmor that restricts user namespaces to privileged programs.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Tests every kind of sandbox.
pub(super) fn look() -> io::Result<Vec<Finding>> {
    let folder = tempfile::Builder::new().prefix("stockade-doctor-").tempdir()?;
    let workspace = fs::canonicalize(folder.path())?;
    let native = attempt(&workspace, SandboxBackend::Native, None);
    let landlock = attempt(&workspace, SandboxBackend::Landlock, None);
    let bubblewrap = attempt(&workspace, SandboxBackend::Bwrap, None);
    let some_work = [&native, &landlock, &bubblewrap].iter().any(|tried| tried.is_ok());
    let mut findings = vec![namespaces(&native, some_work), bwrap(&bubblewrap), walls(&workspace, &landlock)];
    findings.extend(inside(&native));
    findings.push(held(&workspace));
    findings.push(groups(&attempt(&workspace, SandboxBackend::Auto, Some(Property::TotalMemory))));
    Ok(findings)
}

/// Runs a command in a sandbox and returns its outcome, or why it failed.
fn attempt(workspace: &Path, backend: SandboxBackend, require: Option<Property>) -> Result<Outcome, String> {
    let mut spec = SandboxSpec::new(workspace, ["/bin/sh", "-c", ASKED]);
    spec.backend = backend;
    spec.limits.wall_time = Limit::AtMost(PATIENCE);
    spec.require.extend(require);
    if backend == SandboxBackend::Landlock {
        // Landlock enforces less by design. This only tests whether it works at all.
        spec.require.clear();
        // As root, the command runs as another user, who cannot enter or change directories of root.
        spec.workspace_access = MountAccess::ReadOnly;
        spec.cwd = Some("/usr".into());
    }
    let streams =
        Streams { stdin: Input::Empty, stdout: Stream::Keep, stderr: Stream::Keep, ..Streams::default() };
    match run_spec(&spec, streams) {
        Ok(outcome) if matches!(outcome.end, End::Exited(_)) => Ok(outcome),
        Ok(outcome) => Err(format!("a test command ended unexpectedly: {:?}", outcome.end)),
        Err(RunError::Refused(refusal)) => Err(refusal.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn namespaces(tried: &Result<Outcome, String>, some_work: bool) -> Finding {
    const WHAT: &str = "native sandbox";
    let Err(why) = tried else {
        return Finding::ok(WHAT, "a test command ran in its own namespaces");
    };
    let is_set = |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let (found, fix) = if is_set(APPARMOR, "1") {
        (
            format!("AppArmor forbids namespaces for user programs: {why}"),
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        )
    } else if is_set("/proc/sys/user/max_user_namespaces", "0") {
        (
            format!("the kernel forbids user namespaces: {why}"),
            "sudo sysctl -w user.max_user_namespaces=15000",
        )
    } else if is_set("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        (
            format!("the kernel forbids user namespaces for users: {why}"),
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        )
    } else {
        (
            format!("namespaces cannot be created here: {why}"),
            "start the container with --security-opt seccomp=unconfined, or use a machine that allows user namespaces",
        )
    };
    if some_work { Finding::warn(WHAT, found, fix) } else { Finding::fail(WHAT, found, fix) }
}

fn bwrap(tried: &Result<Outcome, String>) -> Finding {
    const WHAT: &str = "bubblewrap";
    match tried {
        Ok(_) => Finding::ok(WHAT, "a test command ran in it"),
        Err(_) if geteuid().is_root() => {
            Finding::ok(WHAT, "not used by root, since the command would stay root for the kernel (optional)")
        }
        Err(why) => Finding::warn(
            WHAT,
            format!("{why} (optional while the native sandbox works)"),
            "sudo apt install bubblewrap",
        ),
    }
}

fn walls(workspace: &Path, tried: &Result<Outcome, String>) -> Finding {
    const WHAT: &str = "Landlock";
    let version = probe(&SandboxSpec::new(workspace, ["true"])).kernel.landlock;
    match tried {
        Ok(_) if version >= 6 => Finding::ok(WHAT, format!("version {version}; a test command ran in it")),
        Ok(_) => Finding::warn(
            WHAT,
            format!(
                "version {version}; a test command ran in it, but below version 6 signals and abstract sockets are not restricted"
            ),
            "use Linux 6.12 or newer",
        ),
        Err(why) => Finding::warn(
            WHAT,
            format!("{why}: the second layer of protection is missing"),
            "boot with lsm=landlock,… on Linux 5.13 or newer",
        ),
    }
}

/// Checks what a command in the native sandbox reports about itself.
fn inside(tried: &Result<Outcome, String>) -> Vec<Finding> {
    let Ok(outcome) = tried else { return Vec::new() };
    let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
    let value = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    let told = |what, holds: bool, good: &str, bad: String| match holds {
        true => Finding::ok(what, good),
        false => Finding::fail(what, bad, "report it as a security problem, see SECURITY.md"),
    };
    let (seccomp, caps, gains) = (value("Seccomp"), value("CapEff"), value("NoNewPrivs"));
    let none = !caps.is_empty() && caps.bytes().all(|byte| byte == b'0');
    vec![
        told(
            "seccomp",
            seccomp == "2",
            "a sandboxed command reports that its system calls are filtered",
            format!("a sandboxed command reports `Seccomp: {seccomp}`, expected 2"),
        ),
        told(
            "capabilities",
            none && gains == "1",
            "a sandboxed command reports that it has none and cannot gain any",
            format!("a sandboxed command reports `CapEff: {caps}`, `NoNewPrivs: {gains}`"),
        ),
    ]
}

/// Reports the capabilities of this program, none of which a command gets.
fn held(workspace: &Path) -> Finding {
    const WHAT: &str = "own capabilities";
    let held = probe(&SandboxSpec::new(workspace, ["true"])).capabilities;
    if held.is_empty() {
        return Finding::ok(WHAT, "this program has none");
    }
    let names: Vec<String> = held.into_iter().collect();
    let found = format!(
        "this program has {}: {}; sandboxed commands get none of them, and helpers only the few that they need",
        names.len(),
        names.join(" ")
    );
    Finding::ok(WHAT, found)
}

fn groups(tried: &Result<Outcome, String>) -> Finding {
    const WHAT: &str = "control groups";
    const FIX: &str = "systemd-run --user --scope -p Delegate=yes stockade exec …";
    let kind = kind_of_groups();
    match tried {
        Ok(outcome) => {
            let by_group = |(property, means): &(Property, &str)| {
                *property == Property::TotalMemory && means.contains("control group")
            };
            if outcome.enforcement.enforced.iter().any(by_group) {
                Finding::ok(WHAT, format!("{kind}; a test group was created, and limited a command"))
            } else {
                let found = format!(
                    "{kind}; none can be created here, so memory is limited per process and monitored"
                );
                Finding::warn(WHAT, found, FIX)
            }
        }
        Err(why) => Finding::warn(WHAT, format!("{kind}; {why}"), FIX),
    }
}

fn kind_of_groups() -> &'static str {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let has = |kind: &str| mounts.lines().any(|line| line.split(' ').nth(2) == Some(kind));
    match (has("cgroup"), has("cgroup2")) {
        (true, true) => "versions 1 and 2 side by side",
        (true, false) => "version 1",
        (false, true) => "version 2",
        (false, false) => "not mounted",
    }
}
