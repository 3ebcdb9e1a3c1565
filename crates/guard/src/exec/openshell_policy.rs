//! A plan as a policy of [NVIDIA OpenShell](https://docs.nvidia.com/openshell), for those who run agents there.
//!
//! What OpenShell has no words for is said beside the policy, and nothing is written wider than it is planned: a host of which something is
//! asked or kept out is left out where that cannot be said.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::Path;

use stockade_exec_sandbox::mounts::{Mount, MountKind};
use stockade_exec_sandbox::{Identity, MountAccess, Network, Plan, Protection, Spawn};

/// The most paths that a policy may list.
const MAX_PATHS: usize = 256;
/// The longest of them, in bytes.
const MAX_PATH: usize = 4096;
/// Devices that every program expects.
const DEVICES: [&str; 2] = ["/dev/null", "/dev/zero"];
/// Devices that are read.
const RANDOM: [&str; 2] = ["/dev/random", "/dev/urandom"];

/// A policy of OpenShell, and what of a plan it does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenShellPolicy {
    /// The document, for `openshell sandbox create --policy FILE`. What it does not hold stands in its comments.
    pub yaml: String,
    /// The parts of the request that are not enforced there.
    pub lost: Vec<String>,
}

/// An entry of a list of hosts, for a policy of OpenShell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenShellEntry {
    /// The host.
    pub(super) host: OpenShellHost,
    /// One port, or those of the web.
    pub(super) port: Option<u16>,
    /// Whether it keeps out what it is about.
    pub(super) is_denied: bool,
    /// Whether something is asked of requests, or so much is let through and no more.
    pub(super) has_conditions: bool,
    /// The entry as it was written.
    pub(super) written: String,
}

/// The host of an [`OpenShellEntry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OpenShellHost {
    /// A name, and that name alone.
    Name(String),
    /// All names below this one, and not the name itself.
    Below(String),
    /// One address, of IPv4 or IPv6.
    Address(IpAddr),
}

/// A plan has no policy of OpenShell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("OpenShell has no equivalent policy: {why}; {fix}")]
#[non_exhaustive]
pub struct OpenShellError {
    /// Why.
    pub why: String,
    /// What to do instead.
    pub fix: &'static str,
}

/// Returns the policy of OpenShell that holds what `plan` does, as far as that goes. `hosts` are those that the command may reach.
///
/// # Errors
/// When the network is open, which no policy of OpenShell is, or there are more paths than one may list.
pub(super) fn openshell_policy(
    plan: &Plan,
    hosts: &[OpenShellEntry],
) -> Result<OpenShellPolicy, OpenShellError> {
    let error = |why: &str, fix| OpenShellError { why: why.to_owned(), fix };
    if plan.network == Network::Open {
        return Err(error(
            "the network is open, and OpenShell only supports host lists",
            "list the hosts: `--allow-host NAME`",
        ));
    }
    let (read, written) = paths(plan);
    let odd =
        read.iter().chain(&written).find(|path| path.len() > MAX_PATH || path.chars().any(char::is_control));
    if odd.is_some() || read.len() + written.len() > MAX_PATHS {
        return Err(error(
            "it has more than 256 paths, or a path that is too long or has special characters",
            "share a parent directory instead",
        ));
    }
    let mut lost = lost(plan);
    let mut yaml = String::new();
    for line in notes(plan, hosts, &mut lost) {
        // A name of a file may hold what ends a line, and with it the comment.
        writeln!(yaml, "# {}", stockade_text::escape(&line)).ok();
    }
    yaml.push_str("version: 1\n\nfilesystem_policy:\n");
    writeln!(yaml, "  include_workdir: {}", plan.workspace_access() == MountAccess::ReadWrite).ok();
    list(&mut yaml, "read_only", &read);
    list(&mut yaml, "read_write", &written);
    // Without this, a kernel without Landlock would hold nothing, and say so in a log.
    yaml.push_str("\nlandlock:\n  compatibility: hard_requirement\n");
    if let Some((user, group)) = user(plan) {
        writeln!(yaml, "\nprocess:\n  run_as_user: \"{user}\"\n  run_as_group: \"{group}\"").ok();
    }
    network(&mut yaml, hosts);
    Ok(OpenShellPolicy { yaml, lost })
}

fn list(yaml: &mut String, name: &str, paths: &[String]) {
    if paths.is_empty() {
        writeln!(yaml, "  {name}: []").ok();
        return;
    }
    writeln!(yaml, "  {name}:").ok();
    for path in paths {
        writeln!(yaml, "    - {}", quoted(path)).ok();
    }
}

/// What the command reads, and what it writes beside the workspace.
fn paths(plan: &Plan) -> (Vec<String>, Vec<String>) {
    // OpenShell has a home of its own, so what every command sees of this one is left out.
    let (mut read, mut written) = (vec!["/proc".to_owned()], Vec::new());
    let around = Around::of(plan);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    for mount in plan.mounts.iter().filter(|mount| !mount.is_at_home()) {
        match &mount.kind {
            MountKind::Bind { access: MountAccess::ReadWrite, .. } if mount.target == plan.workspace => {}
            MountKind::Bind { access: MountAccess::ReadWrite, .. } => written.push(text(&mount.target)),
            // What may be written as a whole cannot be kept from being written in part.
            MountKind::Bind { .. } if around.is_written(mount) => {}
            MountKind::Bind { .. } => read.push(text(&mount.target)),
            MountKind::Scratch { .. } if mount.target.starts_with("/tmp") => {
                written.push(text(&mount.target));
            }
            MountKind::Devices => {
                read.extend(RANDOM.map(str::to_owned));
                written.extend(DEVICES.map(str::to_owned));
            }
            // OpenShell has what such a mount makes, or no words for it: see `lost`.
            _ => {}
        }
    }
    for paths in [&mut read, &mut written] {
        paths.sort();
        paths.dedup();
    }
    read.retain(|path| !written.contains(path));
    (read, written)
}

/// The folders that are handed over as a whole: whatever lies in one is as that one is.
struct Around<'p> {
    written: BTreeSet<&'p Path>,
    read: BTreeSet<&'p Path>,
}

impl<'p> Around<'p> {
    fn of(plan: &'p Plan) -> Self {
        let mut around = Self { written: BTreeSet::new(), read: BTreeSet::new() };
        for mount in plan.mounts.iter().filter(|mount| !mount.is_at_home()) {
            if let MountKind::Bind { access, .. } = &mount.kind {
                let folders = match access {
                    MountAccess::ReadWrite => &mut around.written,
                    MountAccess::ReadOnly => &mut around.read,
                };
                folders.insert(&mount.target);
            }
        }
        around
    }

    /// Whether what is mounted lies in what may be written.
    fn is_written(&self, mount: &Mount) -> bool {
        mount.target.ancestors().skip(1).any(|folder| self.written.contains(folder))
    }

    fn is_read(&self, mount: &Mount) -> bool {
        self.is_written(mount) || mount.target.ancestors().skip(1).any(|folder| self.read.contains(folder))
    }

    /// As what a mount would be kept, and is not there.
    fn loses(&self, mount: &Mount) -> Option<&'static str> {
        match &mount.kind {
            MountKind::Hidden { .. } if self.is_read(mount) => Some("hidden"),
            MountKind::Bind { access: MountAccess::ReadOnly, .. } if self.is_written(mount) => {
                Some("read-only")
            }
            _ => None,
        }
    }
}

/// As whom the command runs. Root is refused there, too.
fn user(plan: &Plan) -> Option<(u32, u32)> {
    match plan.identity {
        Identity::Owner { user, group } if user != 0 && group != 0 => Some((user, group)),
        Identity::Unprivileged => Some((65534, 65534)),
        Identity::Owner { .. } | Identity::Same => None,
    }
}

/// The parts of the request that a policy of OpenShell cannot express.
fn lost(plan: &Plan) -> Vec<String> {
    let around = Around::of(plan);
    let kept = plan.mounts.iter().filter_map(|mount| Some((mount, around.loses(mount)?)));
    let mut lost: Vec<String> = kept
        .map(|(mount, verb)| {
            format!("{} is not {verb} there: paths of OpenShell only add", mount.target.display())
        })
        .collect();
    if plan.spawn == Spawn::Threads {
        lost.push("the command may start other programs there".to_owned());
    }
    if let Network::Broker { socket } = &plan.network {
        lost.push(format!("the socket of the broker, {}, is not there", socket.display()));
    }
    lost
}

/// What is said in comments: what does not hold, and what was written narrower.
fn notes(plan: &Plan, entries: &[OpenShellEntry], lost: &mut Vec<String>) -> Vec<String> {
    let mut notes = vec![
        "Made by stockade from what it would hold on this machine.".to_owned(),
        "Memory, processes and time are bounded by options of `openshell sandbox create`, and not here."
            .to_owned(),
    ];
    let (workspace, shared) = plan.guarded();
    if plan.protection == Protection::Names {
        let folders = workspace.map(|_| "the workspace".to_owned());
        let folders = folders.into_iter().chain(shared.iter().map(|folder| folder.display().to_string()));
        notes
            .extend(folders.map(|folder| {
                format!("Files in {folder} that other programs obey are not protected there.")
            }));
    }
    for entry in entries.iter().filter(|entry| !entry.is_denied) {
        if let Some(why) = left_out(entry, entries) {
            lost.push(format!("{} is not reached there: {why}", entry.written));
        }
    }
    if !reached(entries).is_empty() {
        notes.push(
            "What goes to a host there may be of any kind; here, it has to be TLS, HTTP or SSH.".to_owned(),
        );
        notes.push(
            "There, a name may lead into a private network; here, it may not unless it is named.".to_owned(),
        );
    }
    notes.extend(lost.iter().map(|lost| format!("LOST: {lost}.")));
    notes
}

/// Why an entry is left out: more would be let through otherwise.
fn left_out(entry: &OpenShellEntry, entries: &[OpenShellEntry]) -> Option<&'static str> {
    if destination(entry).is_none() {
        return Some("OpenShell lets no program reach it");
    }
    if entry.has_conditions {
        return Some("its conditions cannot be said there");
    }
    let is_kept_out = entries.iter().any(|other| other.is_denied && may_meet(entry, other));
    is_kept_out.then_some("what another entry keeps out of it cannot be said there")
}

/// Whether two entries may be about the same host.
fn may_meet(one: &OpenShellEntry, other: &OpenShellEntry) -> bool {
    let is_within = |name: &str, above: &str| {
        name.strip_suffix(above).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    match (&one.host, &other.host) {
        (OpenShellHost::Address(one), OpenShellHost::Address(other)) => one == other,
        (
            OpenShellHost::Name(one) | OpenShellHost::Below(one),
            OpenShellHost::Name(other) | OpenShellHost::Below(other),
        ) => is_within(one, other) || is_within(other, one),
        _ => false,
    }
}

/// The entries that are written.
fn reached(entries: &[OpenShellEntry]) -> Vec<(String, &OpenShellEntry)> {
    let written = entries.iter().filter(|entry| !entry.is_denied && left_out(entry, entries).is_none());
    written.filter_map(|entry| Some((destination(entry)?, entry))).collect()
}

/// A host in the notation of OpenShell; `None` for one that it lets no program reach.
fn destination(entry: &OpenShellEntry) -> Option<String> {
    match &entry.host {
        OpenShellHost::Name(name) | OpenShellHost::Below(name)
            if name == "localhost" || name.ends_with(".localhost") =>
        {
            None
        }
        // A star is one label there, and two are any number of them.
        OpenShellHost::Below(name) => Some(format!("**.{name}")),
        OpenShellHost::Name(name) => Some(name.clone()),
        OpenShellHost::Address(address) => {
            let is_closed = address.is_loopback() || address.is_unspecified() || is_link_local(*address);
            (!is_closed).then(|| address.to_string())
        }
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn network(yaml: &mut String, entries: &[OpenShellEntry]) {
    let reached = reached(entries);
    if reached.is_empty() {
        yaml.push_str("\nnetwork_policies: {}\n");
        return;
    }
    yaml.push_str("\nnetwork_policies:\n  stockade:\n    name: stockade\n    endpoints:\n");
    for (host, entry) in reached {
        // Without a port, those of the web are meant.
        let ports = entry.port.map_or_else(|| "443, 80".to_owned(), |port| port.to_string());
        writeln!(yaml, "      - host: {}\n        ports: [{ports}]", quoted(&host)).ok();
    }
    // Here, hosts hold for every program.
    yaml.push_str("    binaries:\n      - path: \"/**\"\n");
}

/// Writes a text so that YAML reads it as this text: quotes, and what they need escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                write!(out, "\\u{:04x}", u32::from(c)).ok();
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_exec_sandbox::SandboxSpec;
    use stockade_exec_sandbox::host::{Entry, HostFacts, Kernel, ProtectedEntry, ProtectionMode, Stamp};

    fn facts() -> HostFacts {
        let folders = ["/usr", "/bin", "/lib", "/srv/work", "/srv/more"];
        HostFacts {
            entries: folders
                .map(|path| (path.into(), Entry::Folder))
                .into_iter()
                .chain([("/run/b".into(), Entry::Socket)])
                .collect(),
            home: "/home/agent".into(),
            user: 1000,
            group: 1000,
            kernel: Kernel { namespaces: true, landlock: 7, seccomp: true, mediation: true },
            ..HostFacts::default()
        }
    }

    fn policy(
        change: impl FnOnce(&mut SandboxSpec),
        hosts: &[OpenShellEntry],
    ) -> Result<OpenShellPolicy, OpenShellError> {
        let mut spec = SandboxSpec::new("/srv/work", ["make"]);
        change(&mut spec);
        let plan = stockade_exec_sandbox::plan(&spec, &facts()).unwrap();
        openshell_policy(&plan, hosts)
    }

    /// An entry that names one host with a port, or all below it.
    fn entry(written: &str) -> OpenShellEntry {
        let (rest, is_denied) = written.strip_prefix('!').map_or((written, false), |rest| (rest, true));
        let (rest, has_conditions) = rest.split_once(' ').map_or((rest, false), |(rest, _)| (rest, true));
        let (name, port) =
            rest.split_once(':').map_or((rest, None), |(name, port)| (name, port.parse().ok()));
        let host = match (name.parse(), name.strip_prefix("*.")) {
            (Ok(address), _) => OpenShellHost::Address(address),
            (_, Some(end)) => OpenShellHost::Below(end.to_owned()),
            _ => OpenShellHost::Name(name.to_owned()),
        };
        OpenShellEntry { host, port, is_denied, has_conditions, written: written.to_owned() }
    }

    #[test]
    fn a_policy_is_this() {
        let hosts = [
            "api.example.com:8443",
            "*.example.org",
            "10.1.2.3:443",
            "localhost:80",
            "127.0.0.1:9",
            "asked.example:80 GET /v1/**",
            "*.example.net",
            "!tracker.example.net",
            "tracker.example.net:443",
        ];
        let policy = policy(|spec| spec.read_only = vec!["/srv/more".into()], &hosts.map(entry)).unwrap();
        assert_eq!(policy.yaml, include_str!("openshell/golden.yaml"), "{}", policy.yaml);
        assert_eq!(policy.lost.len(), 5, "{:?}", policy.lost);
    }

    #[test]
    fn what_is_lost_is_told_and_what_is_open_is_refused() {
        let lost = |change: fn(&mut SandboxSpec)| policy(change, &[]).unwrap().lost.join("\n");
        assert_eq!(lost(|_| {}), "");
        assert!(lost(|spec| spec.spawn = Spawn::Threads).contains("start other programs"));
        let broker = |spec: &mut SandboxSpec| spec.network = Network::Broker { socket: "/run/b".into() };
        assert!(policy(broker, &[]).unwrap().lost.join("").contains("/run/b"));
        let refused = policy(|spec| spec.network = Network::Open, &[]).unwrap_err();
        assert!(refused.to_string().contains("--allow-host"), "{refused}");
    }

    /// Wherever something is kept from the command in a folder that is handed over, that is told: in the workspace, and in what is
    /// shared or read besides.
    #[test]
    fn what_is_kept_within_a_folder_is_lost_wherever_that_lies() {
        let entry = |path: &str, kind, mode| ProtectedEntry {
            path: path.into(),
            kind,
            mode,
            stamp: Stamp::default(),
            around: 0,
        };
        for (folder, name, is_written) in
            [("/srv/work", "", true), ("/srv/more", "/srv/more/", true), ("/srv/more", "/srv/more/", false)]
        {
            let mut facts = facts();
            facts.protected = vec![
                entry(&format!("{name}.vscode"), Entry::Folder, ProtectionMode::ReadOnly),
                entry(&format!("{name}.env"), Entry::File, ProtectionMode::Hide),
            ];
            let mut spec = SandboxSpec::new("/srv/work", ["make"]);
            let folders = if is_written { &mut spec.shared } else { &mut spec.read_only };
            folders.extend((folder != "/srv/work").then(|| folder.into()));
            let policy = openshell_policy(&stockade_exec_sandbox::plan(&spec, &facts).unwrap(), &[]).unwrap();
            let lost =
                |verb: &str| policy.lost.iter().any(|lost| lost.contains(verb) && lost.contains(folder));
            assert!(lost(".env is not hidden"), "{folder}: {:?}", policy.lost);
            assert_eq!(lost(".vscode is not read-only"), is_written, "{folder}: {:?}", policy.lost);
            assert_eq!(
                policy.yaml.contains(&format!("- \"{folder}/.vscode\"")),
                !is_written,
                "{}",
                policy.yaml
            );
        }
    }

    #[test]
    fn no_name_of_a_file_ends_a_comment() {
        for end in ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
            let mut facts = facts();
            facts.protected = vec![ProtectedEntry {
                path: format!("a{end}filesystem_policy: x/.env").into(),
                kind: Entry::File,
                mode: ProtectionMode::Hide,
                stamp: Stamp::default(),
                around: 0,
            }];
            let plan = stockade_exec_sandbox::plan(&SandboxSpec::new("/srv/work", ["make"]), &facts).unwrap();
            let policy = openshell_policy(&plan, &[]).unwrap();
            assert_eq!(policy.lost.len(), 1);
            assert!(!policy.yaml.contains(&format!("{end}filesystem_policy: x")), "{:?}", policy.yaml);
        }
    }

    #[test]
    fn texts_mean_themselves() {
        assert_eq!(quoted("/a b"), "\"/a b\"");
        assert_eq!(quoted("/a\"\\\n"), "\"/a\\\"\\\\\\u000a\"");
    }
}
