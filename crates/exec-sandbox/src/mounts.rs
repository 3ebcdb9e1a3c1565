//! The mounts of a sandbox, in mount order. All other paths do not exist in it.

mod env_names;
mod table;

use std::path::{Path, PathBuf};

use stockade_handoff::trust;
use stockade_names::{SandboxView, home};

use crate::binds::{check, check_folder, forbidden, homes, is_plain};
use crate::choices::HomeView;
use crate::host::{Entry, HostFacts, ProtectedEntry, ProtectionMode};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{HomeState, MountAccess, Network, Protection, SandboxSpec};
pub(crate) use env_names::can_be_shown;
use table::PROGRAMS;
pub(crate) use table::{AT_HOME, IGNORED, SYSTEM, path_at_home, rows_at_home};

/// A mount in the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The path in the sandbox.
    pub target: PathBuf,
    /// What is mounted.
    pub kind: MountKind,
    /// Why it is mounted.
    pub reason: &'static str,
}

impl Mount {
    /// Returns whether it shows a part of the user's home that every command sees.
    #[must_use]
    pub fn is_at_home(&self) -> bool {
        AT_HOME.iter().any(|row| row.3 == self.reason)
    }
}

/// What is mounted at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MountKind {
    /// A bind mount of a file or directory of this machine.
    Bind {
        /// The path on this machine, without symlinks.
        source: PathBuf,
        /// Whether it is writable.
        access: MountAccess,
        /// Whether it is a directory.
        point: MountPoint,
        /// Whose access rights apply.
        owner: Owner,
    },
    /// A symlink, copied from the machine.
    Link {
        /// The target.
        to: PathBuf,
    },
    /// The procfs of the sandbox's PID namespace.
    Processes,
    /// Harmless devices, and private pseudo-terminals.
    Devices,
    /// A tmpfs, which is deleted with the sandbox.
    Scratch {
        /// The capacity in bytes.
        size: u64,
    },
    /// A private writable file with this initial content.
    Generated {
        /// The content.
        text: String,
    },
    /// Replaces a file by a read-only one with this content.
    Replaced {
        /// The content.
        text: String,
    },
    /// Hides a path: a directory behind an empty one, a file behind a device that cannot be opened.
    Hidden {
        /// Whether it is a directory.
        point: MountPoint,
    },
}

/// The type of a mount point: a directory is only mounted on a directory, and a file on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountPoint {
    /// A directory, with everything below it.
    Folder,
    /// A file, or another non-directory such as a socket.
    File,
}

/// Whose access rights apply to a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Those of other users: the command reads what is readable for all.
    System,
    /// Those of the user that starts the command.
    User,
}

/// The reason of the generated git settings.
const WHY_GIT_SETTINGS: &str = "the author of commits, and other harmless git settings";

/// The reason of the empty home.
pub(crate) const PRIVATE_HOME: &str = "private home";

/// The reason of generated files at home.
const WHY_HOME_FILE: &str = "settings or logins of a tool, with placeholders for secrets";

/// The path of the user's git settings, below the home.
const GIT_SETTINGS: &str = ".gitconfig";

/// The directory of temporary files.
pub(crate) const TEMPORARY: &str = "/tmp";

/// The reason of shared directories.
pub(crate) const SHARED: &str = "shared with other commands";

/// The reason of the broker's socket.
pub(crate) const BROKER: &str = "the egress broker";

/// The reason of the directory for spilled output.
const SPILL: &str = "output that is too long to return in one piece";

/// Returns the mounts of `spec`, in mount order.
pub(crate) fn mounts(spec: &SandboxSpec, facts: &HostFacts) -> Result<Vec<Mount>, Refusal> {
    let own_names = name_lookup(&spec.network);
    let is_own = |mount: &Mount| own_names.iter().any(|own| own.target == mount.target);
    let mut mounts: Vec<Mount> = SYSTEM.iter().flat_map(|row| system(row, facts)).collect();
    mounts.retain(|mount| !is_own(mount));
    mounts.extend(own_names);
    mounts.extend(trusted(&spec.network, facts));
    mounts.push(Mount::new("/proc", MountKind::Processes, "processes of the sandbox"));
    mounts.push(Mount::new("/dev", MountKind::Devices, "harmless devices, own terminals"));
    mounts.push(Mount::new(
        TEMPORARY,
        MountKind::Scratch { size: spec.limits.temporary() },
        "private temporary files",
    ));
    let (outer, inner) = read_only(spec, facts)?;
    mounts.extend(outer);
    mounts.extend(home(spec, facts));
    mounts.extend(spill(spec, facts)?);
    let workspace = check_folder(&spec.workspace, spec.workspace_access, facts)?;
    mounts.push(user(workspace, spec.workspace_access, MountPoint::Folder, "the workspace"));
    for shared in &spec.shared {
        let shared = check_folder(shared, MountAccess::ReadWrite, facts)?;
        mounts.push(user(shared, MountAccess::ReadWrite, MountPoint::Folder, SHARED));
    }
    mounts.extend(repository(spec, facts));
    mounts.extend(at_home(spec, facts));
    mounts.extend(inner);
    mounts.extend(protected(spec, facts));
    let unseen = hidden(&mounts);
    // Below a hidden directory there is no mount point for another one.
    let is_seen = |mount: &Mount| !unseen.iter().any(|hidden| mount.target.starts_with(hidden));
    let more = masked(facts, &mounts).into_iter().chain(kept_back(spec, facts));
    mounts.extend(more.filter(is_seen).collect::<Vec<_>>());
    mounts.extend(env_names::mounts(spec, facts, &mounts));
    mounts.extend(home_state(spec, facts)?);
    mounts.extend(broker(spec, facts)?);
    Ok(mounts)
}

/// Returns the table of mounts for the documentation: path, access, and reason.
pub fn mount_table() -> Vec<(String, &'static str, &'static str)> {
    let row = |path: &str, access, why| (path.to_owned(), access, why);
    let mut table: Vec<_> =
        SYSTEM.iter().map(|(path, why)| row(&format!("`{path}`"), "read", *why)).collect();
    table.push(row(
        "`/proc`",
        "own",
        "processes of the sandbox; files that apply to the whole machine are hidden or read-only",
    ));
    table.push(row(
        "`/dev`",
        "own",
        "null, zero, full, random, urandom, tty; private terminals and shared memory",
    ));
    table.push(row("`/tmp`", "own", "private temporary files, in memory"));
    table.push(row("`--ro` paths that contain the workspace", "read", "requested as readable"));
    table.push(row("the home", "own", "private home, in memory"));
    table.push(row("the directory for spilled output", "write", SPILL));
    table.push(row("the workspace", "write, or read", "the workspace"));
    table.push(row("shared directories", "write", SHARED));
    table.push(row("the repository of a linked worktree", "read", "git needs it"));
    table.push(row(
        "its objects, its references, and the worktree's own directory",
        "write",
        "git keeps work there",
    ));
    table.push(row(&format!("`~/{GIT_SETTINGS}`"), "own", WHY_GIT_SETTINGS));
    table.push(row("directories of `PATH` below the home, with `home: tools`", "read", PROGRAMS));
    for (path, home, _, why) in AT_HOME {
        let when = if *home == HomeView::Tools { ", with `home: tools`" } else { "" };
        table.push(row(&format!("`~/{path}`{when}"), "read", *why));
    }
    table.push(row("other `--ro` paths", "read", "requested as readable"));
    table.push(row("credentials of tools in shared parts of the home", "none", "they contain secrets"));
    table.push(row("protected names in the workspace", "read", "other programs obey them"));
    table.push(row(
        "`.env`, keys and sockets in the workspace, unless they are committed unchanged",
        "none",
        "they contain secrets, or reach programs outside",
    ));
    table.push(row("`--env-names` files", "read", "the names of variables, without values"));
    table.push(row("state of a model CLI at home, where it is to be kept", "write", HOME_STATE));
    table.push(row("the socket of a broker", "write", BROKER));
    table.extend(
        NAME_LOOKUP
            .iter()
            .map(|(path, _)| row(&format!("`{path}`, with a host allowlist"), "own", WHY_NAME_LOOKUP)),
    );
    table
}

impl Mount {
    fn new(target: impl Into<PathBuf>, kind: MountKind, reason: &'static str) -> Self {
        Self { target: target.into(), kind, reason }
    }
}

fn user(path: PathBuf, access: MountAccess, point: MountPoint, reason: &'static str) -> Mount {
    let kind = MountKind::Bind { source: path.clone(), access, point, owner: Owner::User };
    Mount { target: path, kind, reason }
}

fn mount_point_of(path: &Path, facts: &HostFacts) -> MountPoint {
    if facts.entry(path) == Some(&Entry::Folder) { MountPoint::Folder } else { MountPoint::File }
}

/// Returns the mounts of a row of [`SYSTEM`].
fn system(&(path, reason): &(&'static str, &'static str), facts: &HostFacts) -> Vec<Mount> {
    let Some(begin) = path.strip_suffix('*') else {
        return system_path(Path::new(path), reason, facts).into_iter().collect();
    };
    let is_meant = |path: &&PathBuf| {
        path.parent() == Path::new(begin).parent()
            && path.as_os_str().as_encoded_bytes().starts_with(begin.as_bytes())
    };
    facts.entries.keys().filter(is_meant).filter_map(|path| system_path(path, reason, facts)).collect()
}

/// Returns the mount of a system path. A symlink to a visible path stays a symlink; for any other, its target is mounted.
fn system_path(target: &Path, reason: &'static str, facts: &HostFacts) -> Option<Mount> {
    let visible = |real: &Path| SYSTEM.iter().any(|(folder, _)| real != target && real.starts_with(folder));
    let source = match facts.entry(target)? {
        Entry::Link { to: Some(to), resolved: Some(real) } if visible(real) => {
            return Some(Mount::new(target, MountKind::Link { to: to.clone() }, reason));
        }
        _ => facts.resolved(target)?,
    };
    let point = mount_point_of(source, facts);
    let kind =
        MountKind::Bind { source: source.into(), access: MountAccess::ReadOnly, point, owner: Owner::System };
    Some(Mount::new(target, kind, reason))
}

/// Returns the additional read-only mounts: those that contain the workspace, and the others. The first are mounted before the
/// workspace and the second after it, because a later mount would silently cover an earlier one.
fn read_only(spec: &SandboxSpec, facts: &HostFacts) -> Result<(Vec<Mount>, Vec<Mount>), Refusal> {
    let mut paths = Vec::new();
    for path in &spec.read_only {
        if let Some(found) = check(path, MountAccess::ReadOnly, facts)?
            && !paths.contains(&found)
        {
            paths.push(found);
        }
    }
    // A parent is mounted before its children.
    paths.sort_by_key(|path| path.components().count());
    let mounts = paths.into_iter().map(|path| {
        let point = mount_point_of(&path, facts);
        user(path, MountAccess::ReadOnly, point, "requested as readable")
    });
    let around = |mount: &Mount| {
        let common = facts.worktree.as_ref().map(|worktree| &worktree.common);
        let writable = std::iter::once(&spec.workspace).chain(&spec.shared).chain(&spec.spill).chain(common);
        writable.into_iter().any(|path| path.starts_with(&mount.target))
    };
    Ok(mounts.partition(around))
}

/// Returns an empty home, unless the home is the root directory or part of the workspace.
fn home(spec: &SandboxSpec, facts: &HostFacts) -> Option<Mount> {
    let home = &facts.home;
    let is_own = !home.as_os_str().is_empty() && home != Path::new("/") && !home.starts_with(&spec.workspace);
    let size = spec.limits.beside_temporary();
    is_own.then(|| Mount::new(home.clone(), MountKind::Scratch { size }, PRIVATE_HOME))
}

/// Whether a directory contains a writable one, which a mount of the directory would cover.
fn is_around_writable(folder: &Path, spec: &SandboxSpec) -> bool {
    std::iter::once(&spec.workspace).chain(&spec.shared).any(|path| path.starts_with(folder))
}

/// Returns directories of the search path that lie below the home and in no row of the table: a toolchain at an unusual place.
/// The search path is the operator's; directories with credentials are not shared through it either.
fn on_path_at_home(spec: &SandboxSpec, facts: &HostFacts, shown: &[Mount]) -> Vec<Mount> {
    if spec.home != HomeView::Tools {
        return Vec::new();
    }
    let is_new = |folder: &PathBuf| {
        !is_around_writable(folder, spec)
            && !folder.starts_with(&spec.workspace)
            && !shown.iter().any(|mount| folder.starts_with(&mount.target))
            && facts.entry(folder) == Some(&Entry::Folder)
            && matches!(check(folder, MountAccess::ReadOnly, facts), Ok(Some(_)))
    };
    let folders = path_at_home(&facts.environment, &facts.home).filter(is_new);
    folders.map(|folder| user(folder, MountAccess::ReadOnly, MountPoint::Folder, PROGRAMS)).collect()
}

/// Returns the visible parts of the home, if that is empty otherwise.
fn at_home(spec: &SandboxSpec, facts: &HostFacts) -> Vec<Mount> {
    if home(spec, facts).is_none() {
        return Vec::new();
    }
    let passed_over = passed_over(spec, facts);
    let wanted = rows_at_home(spec.home).filter(|row| row.0 != IGNORED || passed_over.is_none());
    let shown = wanted.filter_map(|(below, _, access, reason)| {
        let path = facts.home.join(below);
        let plain = matches!(facts.entry(&path), Some(Entry::Folder | Entry::File));
        let point = mount_point_of(&path, facts);
        (plain && !is_around_writable(&path, spec)).then(|| user(path, *access, point, reason))
    });
    let mut shown: Vec<Mount> = shown.collect();
    let on_path = on_path_at_home(spec, facts, &shown);
    shown.extend(on_path);
    let made = spec.home_files.iter().filter(|(below, _)| is_plain(&Path::new("/").join(below)));
    let made = made.map(|(below, text)| {
        Mount::new(facts.home.join(below), MountKind::Generated { text: text.clone() }, WHY_HOME_FILE)
    });
    git_settings(facts).into_iter().chain(passed_over).chain(shown).chain(made).collect()
}

/// Returns the user's gitignore file, extended by the hidden files: `git add -A` fails on the devices that replace them.
fn passed_over(spec: &SandboxSpec, facts: &HostFacts) -> Option<Mount> {
    if facts.passed_over.is_empty() || spec.protection == Protection::Off {
        return None;
    }
    let mut text = facts.git_ignored.clone();
    text.push_str("\n# Generated for this command: hidden files.\n");
    facts.passed_over.iter().for_each(|line| text.extend([line, "\n"]));
    let kind = MountKind::Generated { text };
    Some(Mount::new(facts.home.join(IGNORED), kind, "files that git ignores, and hidden ones"))
}

/// Returns git settings that are generated for the command, because those of the user may contain tokens.
fn git_settings(facts: &HostFacts) -> Option<Mount> {
    let kind = || MountKind::Generated { text: facts.git.text() };
    (!facts.git.is_empty()).then(|| Mount::new(facts.home.join(GIT_SETTINGS), kind(), WHY_GIT_SETTINGS))
}

/// The reason of hidden credentials in shared directories.
const HOLDS_CREDENTIALS: &str = "contains credentials";

/// The reason of paths that the configuration denies.
const KEPT_BACK: &str = "the configuration denies it";

/// Returns the mounts that hide or protect denied paths of the workspace, or their symlink targets there. Hidden ones come last,
/// and so on top.
fn kept_back(spec: &SandboxSpec, facts: &HostFacts) -> Vec<Mount> {
    let real = |path: &PathBuf| {
        let real = facts.resolved(path).filter(|real| real.starts_with(&spec.workspace))?;
        Some((real.to_path_buf(), mount_point_of(real, facts)))
    };
    let unwritable = spec.unwritable.iter().filter_map(real);
    let unwritable = unwritable.map(|(path, point)| user(path, MountAccess::ReadOnly, point, KEPT_BACK));
    let hidden = spec.hidden.iter().filter_map(real);
    let hidden = hidden.map(|(path, point)| Mount::new(path, MountKind::Hidden { point }, KEPT_BACK));
    unwritable.chain(hidden).collect()
}

/// Returns a denied path in a writable directory. Landlock cannot hide it: its rules only add rights, and the command needs to
/// read the files that it creates in the directory.
pub(crate) fn kept_back_in_vain(mounts: &[Mount]) -> Option<&Path> {
    let writable = |path: &Path| {
        mounts.iter().any(|mount| {
            let is_writable = matches!(mount.kind, MountKind::Bind { access: MountAccess::ReadWrite, .. });
            is_writable && path.starts_with(&mount.target)
        })
    };
    let credentials = mounts.iter().filter(|mount| [HOLDS_CREDENTIALS, KEPT_BACK].contains(&mount.reason));
    credentials.map(|mount| mount.target.as_path()).find(|path| writable(path))
}

/// Returns the mounts that hide credentials in shared directories. A path that was shared by its own name is not hidden.
fn masked(facts: &HostFacts, mounts: &[Mount]) -> Vec<Mount> {
    let is_shared_with = |path: &Path, is_meant: fn(MountAccess) -> bool| {
        mounts.iter().any(|mount| match mount.kind {
            MountKind::Bind { owner: Owner::User, access, .. } => {
                is_meant(access) && path != mount.target && path.starts_with(&mount.target)
            }
            _ => false,
        })
    };
    let secrets = facts.entries.iter().filter_map(|(path, entry)| {
        let real = facts.resolved(path)?;
        let mut below = homes(facts).filter_map(|home| path.strip_prefix(home).ok());
        let is_linked = matches!(entry, Entry::Link { .. });
        below
            .any(|below| match home::view_of(below) {
                SandboxView::Masked => is_shared_with(real, |_| true),
                // A writable directory is a project, even if a symlink at home points into it.
                SandboxView::Withheld => {
                    is_linked && is_shared_with(real, |access| access == MountAccess::ReadOnly)
                }
                SandboxView::Shown | SandboxView::Reported | SandboxView::MaskedWithSecret => false,
            })
            .then_some(real)
    });
    let hidden = secrets.map(|path| {
        let point = mount_point_of(path, facts);
        Mount::new(path, MountKind::Hidden { point }, HOLDS_CREDENTIALS)
    });
    hidden.collect()
}

/// The reason of writable directories in the repository of a linked worktree.
pub(crate) const OF_A_WORKTREE: &str = "git keeps work there";

/// Returns the mounts of a linked worktree's repository, unless it is shared already or must not be.
fn repository(spec: &SandboxSpec, facts: &HostFacts) -> Vec<Mount> {
    let Some(worktree) = &facts.worktree else { return Vec::new() };
    let is_shared = spec.shared.iter().any(|shared| worktree.common.starts_with(shared));
    if is_shared || forbidden(&worktree.common, spec.workspace_access, facts).is_some() {
        return Vec::new();
    }
    let folder = |path: &PathBuf, access, why| user(path.clone(), access, MountPoint::Folder, why);
    let mut mounts = vec![folder(&worktree.common, MountAccess::ReadOnly, "the repository of the worktree")];
    if spec.workspace_access == MountAccess::ReadWrite {
        let writable = worktree.writable.iter();
        mounts.extend(writable.map(|path| folder(path, MountAccess::ReadWrite, OF_A_WORKTREE)));
        let obeyed = worktree.obeyed.iter().filter(|(_, kind)| matches!(kind, Entry::Folder | Entry::File));
        mounts.extend(obeyed.map(|(path, kind)| {
            let point = if *kind == Entry::Folder { MountPoint::Folder } else { MountPoint::File };
            user(path.clone(), MountAccess::ReadOnly, point, "other programs obey it")
        }));
    }
    mounts
}

/// The reason of a program's own state at home.
pub(crate) const HOME_STATE: &str = "the program's own state";

/// Returns the mounts of a program's own state at home. Its target is below the private home, where it covers no other file; a
/// read-only path elsewhere is the program itself, and keeps its path.
fn home_state(spec: &SandboxSpec, facts: &HostFacts) -> Result<Vec<Mount>, Refusal> {
    let mut mounts = Vec::new();
    for HomeState { source, target, access } in &spec.home_state {
        let refuse = |rule, fix| {
            let what = match access {
                MountAccess::ReadOnly => What::Read(source.clone()),
                MountAccess::ReadWrite => What::Write(source.clone()),
            };
            Err(Refusal::new(what, rule, fix))
        };
        if !is_plain(source) || !is_plain(target) {
            return refuse(SandboxRule::PlainPath, "use an absolute path without `..`");
        }
        let is_program = *access == MountAccess::ReadOnly && source == target;
        let is_at_home = target != &facts.home && target.starts_with(&facts.home);
        let point = match facts.entry(source) {
            None => continue,
            Some(Entry::Folder) if is_at_home => MountPoint::Folder,
            Some(Entry::File) if is_at_home || is_program => MountPoint::File,
            Some(Entry::Link { .. }) => {
                return refuse(SandboxRule::NoLinks, "replace the symlink by the file or directory");
            }
            Some(_) => return refuse(SandboxRule::Exists, "name a file or folder below the home"),
        };
        let kind = MountKind::Bind { source: source.clone(), access: *access, point, owner: Owner::User };
        mounts.push(Mount::new(target.clone(), kind, HOME_STATE));
    }
    Ok(mounts)
}

fn spill(spec: &SandboxSpec, facts: &HostFacts) -> Result<Option<Mount>, Refusal> {
    let Some(spill) = spec.spill.as_deref().filter(|spill| *spill != Path::new("/tmp")) else {
        return Ok(None);
    };
    let spill = check_folder(spill, MountAccess::ReadWrite, facts)?;
    Ok(Some(user(spill, MountAccess::ReadWrite, MountPoint::Folder, SPILL)))
}

/// Returns the hidden paths.
fn hidden(mounts: &[Mount]) -> Vec<PathBuf> {
    let hidden = mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Hidden { .. }));
    hidden.map(|mount| mount.target.clone()).collect()
}

fn protected(spec: &SandboxSpec, facts: &HostFacts) -> Vec<Mount> {
    if spec.protection == Protection::Off {
        return Vec::new();
    }
    // A secret that the caller named itself, and not only a parent directory, is meant to be visible.
    let is_named = |entry: &ProtectedEntry| {
        let path = spec.workspace.join(&entry.path);
        let is_shown = spec.read_only.contains(&path) || env_names::are_shown(&path, facts);
        entry.mode == ProtectionMode::Hide && is_shown
    };
    let rows = facts.protected.iter().filter(|entry| !matches!(entry.kind, Entry::Link { .. }));
    let rows = rows.filter(|entry| !is_named(entry));
    let mounts = rows.filter_map(|entry| {
        let path = spec.workspace.join(&entry.path);
        let point = if entry.kind == Entry::Folder { MountPoint::Folder } else { MountPoint::File };
        Some(match entry.mode {
            ProtectionMode::ReadOnly => user(path, MountAccess::ReadOnly, point, "other programs obey it"),
            ProtectionMode::Pin => {
                let is_shared = spec.shared.iter().any(|shared| path.starts_with(shared));
                let access = if is_shared { MountAccess::ReadWrite } else { spec.workspace_access };
                user(path, access, point, "must not be renamed")
            }
            ProtectionMode::Hide => {
                Mount::new(path, MountKind::Hidden { point }, "contains secrets, or reaches programs outside")
            }
            ProtectionMode::Check => return None,
        })
    });
    mounts.collect()
}

/// Resolver configuration for sandboxes in which the proxy answers DNS on the loopback. The machine's own files name addresses
/// and services that are not reachable in the sandbox.
const NAME_LOOKUP: &[(&str, &str)] = &[
    ("/etc/resolv.conf", "nameserver 127.0.0.1\n"),
    (
        "/etc/nsswitch.conf",
        "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\n\
         services: files\nethers: files\nrpc: files\n",
    ),
    ("/etc/hosts", "127.0.0.1 localhost localhost.localdomain stockade\n::1 localhost ip6-localhost\n"),
    ("/etc/host.conf", "multi on\n"),
];

/// The reason of the generated resolver configuration.
const WHY_NAME_LOOKUP: &str = "the proxy resolves host names";

fn name_lookup(network: &Network) -> Vec<Mount> {
    match network {
        Network::Proxy(handoff) if handoff.sockets().answers_names => {
            let generated = |text: &str| MountKind::Generated { text: text.to_owned() };
            let mounts = NAME_LOOKUP.iter();
            mounts.map(|(path, text)| Mount::new(*path, generated(text), WHY_NAME_LOOKUP)).collect()
        }
        _ => Vec::new(),
    }
}

/// The reason of the mounted certificates.
const WHY_TRUSTED: &str = "the CA of this run for TLS inspection, and the CAs of the machine";

/// Returns the mounts that make programs trust a TLS-inspecting proxy: a directory of certificate stores, and replacements of the
/// system's own.
fn trusted(network: &Network, facts: &HostFacts) -> Vec<Mount> {
    let Network::Proxy(handoff) = network else { return Vec::new() };
    let Some(trust) = &handoff.sockets().trust else { return Vec::new() };
    let mount = |target: &Path, source: PathBuf, point| {
        let kind = MountKind::Bind { source, access: MountAccess::ReadOnly, point, owner: Owner::System };
        Mount::new(target, kind, WHY_TRUSTED)
    };
    let mut mounts = vec![mount(Path::new(trust::FOLDER), trust.folder.clone(), MountPoint::Folder)];
    let browsers = trust::BROWSER_POLICIES.iter();
    mounts.extend(
        browsers.map(|path| mount(Path::new(path), trust.file(trust::BROWSERS_NAME), MountPoint::Folder)),
    );
    for (path, name) in trust::replaced() {
        let real = facts.resolved(path).filter(|real| facts.entry(real) == Some(&Entry::File));
        let is_shown = |real: &&Path| SYSTEM.iter().any(|(folder, _)| real.starts_with(folder));
        let is_new = |real: &&Path| mounts.iter().all(|mount| mount.target != *real);
        if let Some(real) = real.filter(is_shown).filter(is_new) {
            mounts.push(mount(real, trust.file(name), MountPoint::File));
        }
    }
    mounts
}

fn broker(spec: &SandboxSpec, facts: &HostFacts) -> Result<Option<Mount>, Refusal> {
    let Some(socket) = spec.network.socket() else { return Ok(None) };
    if !is_plain(socket) || facts.entry(socket) != Some(&Entry::Socket) {
        let fix = "start the broker, and use the absolute path of its socket, without symlinks";
        return Err(Refusal::new(What::Write(socket.clone()), SandboxRule::Exists, fix));
    }
    Ok(Some(user(socket.clone(), MountAccess::ReadWrite, MountPoint::File, BROKER)))
}
