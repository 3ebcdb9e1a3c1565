//! What a sandbox withholds from a command that failed, as far as the plan and the command's text tell.
//!
//! The output of the command is no source, because its author could use it to inject advice.

use std::collections::BTreeSet;
use std::path::Path;

use stockade_guard::command::shell::quote_argv;
use stockade_guard::exec::host::{Entry, ProtectionMode};
use stockade_guard::exec::mounts::{Mount, MountKind};
use stockade_guard::exec::provider::Provider;
use stockade_guard::exec::{End, Explain, Network, Outcome, Plan};
use stockade_text::escape_path;

use super::hidden_programs::runs;

/// Maximum number of hidden files that are listed.
const SHOWN: usize = 3;

/// Something that every sandbox withholds, and programs that do nothing without it.
struct Need {
    programs: &'static [&'static str],
    why: &'static str,
}

#[rustfmt::skip]
const NEEDS: &[Need] = &[
    Need { programs: &["docker", "docker-compose", "nerdctl", "ctr", "crictl", "virsh", "lxc", "incus"], why: "needs the socket of its daemon, which the sandbox withholds" },
    Need { programs: &["systemctl", "loginctl", "busctl", "machinectl", "hostnamectl", "dbus-send", "gdbus", "notify-send", "gsettings", "systemd-run"],
        why: "needs the bus, a socket of this machine that the sandbox withholds" },
    Need { programs: &["sudo", "su", "doas", "pkexec", "runuser", "newgrp", "sg", "passwd", "chsh"], why: "needs privileges, which no program gains in the sandbox" },
    Need { programs: &["unshare", "nsenter", "bwrap", "firejail", "flatpak", "podman", "buildah", "runc", "crun", "runsc", "toolbox", "distrobox", "minijail0", "slirp4netns", "rootlesskit", "chromium", "chromium-browser", "google-chrome", "stockade"],
        why: "needs namespaces of its own, which the sandbox denies" },
    Need { programs: &["mount", "umount", "fusermount", "fusermount3", "sshfs", "losetup", "chroot", "pivot_root", "modprobe", "insmod", "sysctl"], why: "needs privileges to change the system, which the sandbox denies" },
    Need { programs: &["perf", "bpftrace", "bpftool", "trace-cmd"], why: "needs performance events of the kernel, which the sandbox denies" },
    Need { programs: &["at", "batch", "crontab", "atq"], why: "schedules commands for later, outside of the sandbox, which it denies" },
];

/// Programs that reach other machines.
const NETWORK: &[&str] = &[
    "ssh",
    "scp",
    "sftp",
    "mosh",
    "curl",
    "wget",
    "ping",
    "nc",
    "ncat",
    "socat",
    "telnet",
    "dig",
    "nslookup",
    "host",
    "ftp",
    "rsync",
    "gh",
    "aws",
    "gcloud",
    "az",
    "kubectl",
    "helm",
    "terraform",
    "psql",
    "mysql",
    "redis-cli",
];

/// Returns hints for a command that failed, each with what would change it.
pub(super) fn hints(plan: &Plan, outcome: &Outcome, agent: Option<&str>) -> Vec<String> {
    // The requests of a command in a container are not observed.
    let is_contained = plan.provider.container().is_some() || plan.provider == Provider::Nothing;
    if is_contained {
        return Vec::new();
    }
    if let Some(hint) = aborted(plan, outcome) {
        return vec![hint];
    }
    if !matches!(outcome.end, End::Exited(1..)) {
        return Vec::new();
    }
    let runs = runs(plan);
    let has_unknown = runs.is_empty() || runs.iter().any(Option::is_none);
    let names: BTreeSet<String> = runs.into_iter().flatten().collect();
    let mut hints: Vec<String> = needs(plan, &names).into_iter().chain(hidden(plan, agent)).collect();
    if let Some(hint) = unexplained(plan, outcome, has_unknown, !hints.is_empty()) {
        hints.push(hint.to_owned());
    }
    hints
}

/// Returns why a command may have aborted: sanitizers reserve terabytes that they never use. The kernel does not tell that it
/// refused memory, so this follows from the exit code and the limit.
fn aborted(plan: &Plan, outcome: &Outcome) -> Option<String> {
    /// SIGABRT, by itself and as the exit code of a shell.
    const ABORTED: [End; 2] = [End::Signalled(6), End::Exited(134)];
    /// What AddressSanitizer reserves on a machine with 64 bits is less.
    const ENOUGH: u64 = 16 << 40;
    let is_limited = plan.limits.memory.bound().is_some_and(|most| most < ENOUGH);
    (ABORTED.contains(&outcome.end) && is_limited).then(|| {
        "the command aborted; the memory limit counts reserved memory as well: a program that was built with AddressSanitizer needs \
         --memory 32T"
            .to_owned()
    })
}

/// Returns what the programs of a command need and do not get.
fn needs(plan: &Plan, names: &BTreeSet<String>) -> Vec<String> {
    let name = |name: &str| Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
    let names: BTreeSet<String> = names.iter().filter_map(|path| name(path)).collect();
    let need = |name: &String| NEEDS.iter().find(|need| need.programs.contains(&name.as_str()));
    let mut found: Vec<String> =
        names.iter().filter_map(|name| need(name).map(|need| format!("{name} {}", need.why))).collect();
    if plan.network == Network::None {
        let reaching = names.iter().filter(|name| NETWORK.contains(&name.as_str()));
        let fix = "has no network in the sandbox; add --allow-host HOST to reach one";
        found.extend(reaching.map(|name| format!("{name} {fix}")));
    }
    found
}

/// Returns which files of the workspace are hidden, and how to show one.
fn hidden(plan: &Plan, agent: Option<&str>) -> Option<String> {
    let is_secret = |kind: &Entry, mode| *kind == Entry::File && mode == ProtectionMode::Hide;
    // One that was requested by name is not hidden.
    let is_mounted = |path: &Path| {
        let is_it = |mount: &&Mount| matches!(mount.kind, MountKind::Hidden { .. }) && mount.target == path;
        plan.mounts.iter().any(|mount| is_it(&mount))
    };
    let secrets = plan.protected.iter().filter(|entry| is_secret(&entry.kind, entry.mode));
    let hidden = secrets.filter(|entry| is_mounted(&plan.workspace.join(&entry.path)));
    let mut paths: Vec<&Path> = hidden.map(|entry| entry.path.as_path()).collect();
    // Those that the command names come first.
    let words: String =
        plan.arguments.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let is_named =
        |path: &Path| path.file_name().is_some_and(|name| words.contains(&*name.to_string_lossy()));
    paths.sort_by_key(|path| !is_named(path));
    let first = paths.first()?;
    let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| escape_path(path)).collect();
    let more = match paths.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let path = first.to_string_lossy();
    let fix = |option: &str, key: &str| match agent {
        None => quote_argv(["stockade", "exec", option, &path, "--", "…"]),
        Some(agent) => {
            let key = format!("agents.{agent}.skills.execSandbox.{key}");
            let path = plan.workspace.join(first);
            quote_argv(["stockade", "config", "add", &key, &path.to_string_lossy()])
        }
    };
    let is_env_file = first.file_name().is_some_and(|name| name.to_string_lossy().contains(".env"));
    let names = is_env_file.then(|| format!("; its names alone: {}", fix("--env-names", "envNamesPaths")));
    Some(format!(
        "hidden from the command, because of secrets: {}{more}; to show one: {}{}",
        shown.join(", "),
        fix("--ro", "readOnlyAllowPaths"),
        names.unwrap_or_default(),
    ))
}

/// Returns a hint for a command that failed without a reported refusal.
fn unexplained(
    plan: &Plan,
    outcome: &Outcome,
    has_unknown: bool,
    is_explained: bool,
) -> Option<&'static str> {
    if !outcome.denials.is_empty() || (is_explained && plan.explain == Explain::Asked) {
        return None;
    }
    Some(match plan.explain {
        Explain::Asked => "the command failed, but no path or address that it requested was refused",
        Explain::Ends if has_unknown => {
            "the command failed; the sandbox withholds networks, sockets of other programs and namespaces; run it again \
             with --explain to see what was refused"
        }
        Explain::Ends => "the command failed; run it again with --explain to see what was refused",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_one_need() {
        let all: Vec<&str> = NEEDS.iter().flat_map(|need| need.programs).chain(NETWORK).copied().collect();
        let distinct: BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), distinct.len());
        assert!(all.iter().all(|name| !name.contains('/')));
    }
}
