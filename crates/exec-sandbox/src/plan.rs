//! The plan of a sandboxed command, as a value that can be printed and compared. Planning does no I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::backends::{added, contain};
use crate::choices::ReviewMode;
use crate::enforcement::{Enforcement, Property};
use crate::env::environment;
use crate::host::{Entry, Exposed, HostFacts, KnownLinks, ProtectedEntry, ProtectionMode, Searched, Watched};
use crate::limits::ResourceLimits;
use crate::mounts::{
    Mount, MountKind, OF_A_WORKTREE, PRIVATE_HOME, SHARED, can_be_shown, kept_back_in_vain, mounts,
};
use crate::provider::{Offer, Provider, choose, native_instead, offers};
use crate::refusal::{Refusal, SandboxRule, What, as_text};
use crate::spec::{Explain, MountAccess, Network, Protection, SandboxSpec, Spawn};

/// A command, and everything that the sandbox will do for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The chosen backend.
    pub provider: Provider,
    /// The program, as the caller named it.
    pub program: OsString,
    /// The arguments, without the program.
    pub arguments: Vec<OsString>,
    /// The environment variables, sorted by name.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
    /// The visible files, in mount order.
    pub mounts: Vec<Mount>,
    /// Network access.
    pub network: Network,
    /// The user that the command runs as.
    pub identity: Identity,
    /// Whether the command may start other processes and programs.
    pub spawn: Spawn,
    /// How denials are found out when the command fails.
    pub explain: Explain,
    /// Resource limits.
    pub limits: ResourceLimits,
    /// Whether protected names in the workspace are protected.
    pub protection: Protection,
    /// Files under a protected name that exist before the command.
    pub protected: Vec<ProtectedEntry>,
    /// Files whose changes are reported, as they are before the command.
    pub watched: Vec<Watched>,
    /// Files with the name of a secret that are visible nevertheless. Their state at the end is recorded.
    pub shown: Vec<PathBuf>,
    /// Visible files that contain secrets, because programs need the rest of their content.
    pub exposed: Vec<Exposed>,
    /// Paths that symlinks and settings of the user resolve to.
    pub git_targets: Vec<PathBuf>,
    /// The symlinks that exist before the command.
    pub links: KnownLinks,
    /// Lines that run programs in git's pending work (such as the todo list of a rebase), as they are before the command.
    pub git_plans: BTreeMap<PathBuf, Vec<String>>,
    /// The Landlock ABI version to use; 0 for none.
    pub landlock: u32,
    /// Whether the supervisor can decide system calls on this machine, see [`Kernel::mediation`](crate::host::Kernel::mediation).
    pub mediation: bool,
    /// What this plan enforces when it runs.
    pub enforcement: Enforcement,
    /// Whether the command works on an overlay of the workspace, and whether its changes are applied at the end.
    pub review: ReviewMode,
    /// The directory of the overlay's upper layer; it is created when the command starts.
    pub(crate) layer: Option<PathBuf>,
    /// Required properties.
    pub require: Vec<Property>,
    /// Properties that the caller required by name: they are tested before the command starts.
    pub require_by_name: Vec<Property>,
}

impl Plan {
    /// Returns whether protected names are decided when the command creates them. Otherwise they are checked when it ends.
    pub fn decides_names(&self) -> bool {
        let (workspace, others) = self.guarded();
        self.decides_shared()
            && self.protection == Protection::Names
            && (workspace.is_some() || !others.is_empty())
    }

    /// Returns whether the supervisor decides system calls on objects that are shared with other programs, such as locks and
    /// sockets, when the command makes them.
    pub fn decides_shared(&self) -> bool {
        self.mediation && matches!(self.provider, Provider::Native | Provider::Bwrap { .. })
    }

    /// Returns the writable directories that other programs open: there, names are protected.
    pub fn guarded(&self) -> (Option<&Path>, Vec<PathBuf>) {
        let workspace =
            (self.workspace_access() == MountAccess::ReadWrite).then_some(self.workspace.as_path());
        let others = self.mounts.iter().filter_map(|mount| match &mount.kind {
            MountKind::Bind { source, access: MountAccess::ReadWrite, .. } if mount.reason == SHARED => {
                Some(source.clone())
            }
            _ => None,
        });
        (workspace, others.collect())
    }

    /// Returns the directories that git writes to in the repository of a linked worktree.
    pub(crate) fn of_a_worktree(&self) -> Vec<PathBuf> {
        let mounts = self.mounts.iter().filter(|mount| mount.reason == OF_A_WORKTREE);
        mounts.map(|mount| mount.target.clone()).collect()
    }

    /// Returns the access of the command to the workspace.
    pub fn workspace_access(&self) -> MountAccess {
        let is_workspace = |mount: &&Mount| mount.target == self.workspace;
        match self.mounts.iter().find(is_workspace).map(|mount| &mount.kind) {
            Some(MountKind::Bind { access, .. }) => *access,
            _ => MountAccess::ReadOnly,
        }
    }
}

/// The user that a command runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// The user that starts it.
    Same,
    /// The unprivileged user 65534, when root starts it: even if the sandbox has a hole, root's files stay closed.
    Unprivileged,
    /// The owner of the workspace, when root starts it without namespaces: files of another user cannot be mapped then.
    Owner {
        /// The user.
        user: u32,
        /// The group.
        group: u32,
    },
}

/// Plans `spec` on a machine like `facts`, or returns why it is refused. Only the backends of this crate are known; a
/// [`BackendRegistry`](crate::backends::BackendRegistry) plans with registered ones as well.
pub fn plan(spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
    plan_of(spec, facts, offers(spec, facts))
}

/// Plans `spec` with the first of these offers that enforces what is required.
pub(crate) fn plan_of(
    spec: &SandboxSpec,
    facts: &HostFacts,
    offers: impl IntoIterator<Item = Result<Offer, Refusal>>,
) -> Result<Plan, Refusal> {
    // A container image may define its own command; every other sandbox needs one in the request.
    let named = (!spec.command.is_empty()).then(|| command(&spec.command)).transpose()?;
    let mut mounts = mounts(spec, facts)?;
    let cwd = spec.cwd.clone().unwrap_or_else(|| spec.workspace.clone());
    check_cwd(&cwd, &mounts)?;
    let mut environment = environment(&spec.environment, &spec.network, facts, &spec.workspace, &cwd)?;
    let Offer { provider, enforcement } = choose(spec, facts, offers)?;
    match &provider {
        Provider::Container(container) => {
            mounts = contain::within(mounts, container.request.purpose);
            contain::check(spec, &mounts, &cwd)?;
        }
        Provider::Added(backend) => mounts = added::within(mounts, *backend, spec)?,
        Provider::Native | Provider::Bwrap { .. } | Provider::Landlock | Provider::Nothing => {}
    }
    fit_environment(&mut environment, &provider, spec)?;
    let (program, arguments) = match (named, &provider) {
        (Some(named), _) => named,
        (None, Provider::Container(container)) => contain::command(container)?,
        (None, _) => command(&[])?,
    };
    if let Some(path) = kept_back_in_vain(&mounts).filter(|_| provider == Provider::Landlock) {
        let rule = SandboxRule::CannotEnforce(
            "it lies in a writable directory, where Landlock can neither hide it nor make it read-only",
        );
        let fix = "make the directory read-only, or choose another backend";
        return Err(Refusal::new(What::Write(path.to_path_buf()), rule, fix));
    }
    protectable(spec, facts, &provider)?;
    own_view(spec, &provider)?;
    can_be_shown(spec, facts, Some(&provider))?;
    reviewable(spec, facts, &provider)?;
    let identity = identity(&provider, spec, facts)?;
    let require = still_required(spec, &provider);
    let plan = Plan {
        provider,
        program,
        arguments,
        environment,
        cwd,
        workspace: spec.workspace.clone(),
        mounts,
        network: spec.network.clone(),
        identity,
        spawn: spec.spawn,
        explain: spec.explain,
        limits: spec.limits.clone(),
        protection: spec.protection,
        protected: facts.protected.clone(),
        watched: facts.watched.clone(),
        shown: facts.shown.clone(),
        exposed: facts.exposed.clone(),
        git_targets: facts.git_targets.clone(),
        links: facts.links.clone(),
        git_plans: facts.git_plans.clone(),
        landlock: facts.kernel.landlock,
        mediation: facts.kernel.mediation,
        enforcement,
        review: spec.review,
        layer: None,
        require,
        require_by_name: spec.require_by_name.iter().copied().collect(),
    };
    Ok(plan.with_removable_worktrees())
}

impl Plan {
    /// Removes the mounts of files that link worktrees and submodules to their repository: a mount point cannot be deleted, as
    /// `git worktree remove` does. Without such a file, git finds no repository, or the one around it.
    fn with_removable_worktrees(mut self) -> Self {
        let pointers = self.removable_pointers();
        self.mounts.retain(|mount| !pointers.contains(&mount.target));
        self
    }

    /// Returns the files that link worktrees and submodules to their repository, if each call that would write or rename them
    /// is decided. The command can delete them, and not replace them.
    pub(crate) fn removable_pointers(&self) -> BTreeSet<PathBuf> {
        if !self.decides_names() || self.review != ReviewMode::Off {
            return BTreeSet::new();
        }
        let is_one = |entry: &&ProtectedEntry| entry.kind == Entry::File && links_a_worktree(&entry.path);
        self.protected.iter().filter(is_one).map(|entry| self.workspace.join(&entry.path)).collect()
    }

    /// Plans the environment and the files at home again, after variables were added to the request and files got their content.
    /// Nothing else of a plan depends on them.
    ///
    /// # Errors
    /// When a variable cannot be handed to the command.
    pub fn renew(&mut self, spec: &SandboxSpec, facts: &HostFacts) -> Result<(), Refusal> {
        let mut environment =
            environment(&spec.environment, &spec.network, facts, &spec.workspace, &self.cwd)?;
        fit_environment(&mut environment, &self.provider, spec)?;
        self.environment = environment;
        for (below, text) in &spec.home_files {
            let path = facts.home.join(below);
            let found = self.mounts.iter_mut().find(|mount| mount.target == path);
            if let Some(MountKind::Generated { text: planned }) = found.map(|mount| &mut mount.kind) {
                planned.clone_from(text);
            }
        }
        Ok(())
    }

    /// Returns the command's home, if it is a private one.
    pub(crate) fn private_home(&self) -> Option<&Path> {
        self.mounts.iter().find(|mount| mount.reason == PRIVATE_HOME).map(|mount| mount.target.as_path())
    }
}

/// Whether a file links a worktree or a submodule with its repository.
fn links_a_worktree(path: &Path) -> bool {
    let around = path.parent().and_then(Path::parent);
    match path.file_name().and_then(|name| name.to_str()) {
        Some(".git") => true,
        Some("gitdir" | "commondir") => around.is_some_and(|around| around.ends_with(".git/worktrees")),
        _ => false,
    }
}

/// Adapts the environment to what the provider can hand over.
fn fit_environment(
    environment: &mut Vec<(OsString, OsString)>,
    provider: &Provider,
    spec: &SandboxSpec,
) -> Result<(), Refusal> {
    match provider {
        Provider::Container(container) => contain::variables(container, spec, environment)?,
        Provider::Added(_) => added::only_named(environment, spec),
        Provider::Native | Provider::Bwrap { .. } | Provider::Landlock | Provider::Nothing => {}
    }
    Ok(())
}

/// Checks that all protected names of the workspace can be protected. Beyond the maximum number of mounts, files would stay
/// readable and writable, and the author of the other files would have chosen which.
fn protectable(spec: &SandboxSpec, facts: &HostFacts, provider: &Provider) -> Result<(), Refusal> {
    // These two do not promise to protect existing files.
    let is_promised = !matches!(provider, Provider::Landlock | Provider::Nothing);
    if spec.protection == Protection::Off || facts.searched != Searched::TooMany || !is_promised {
        return Ok(());
    }
    let why = "the workspace has more protected names than the maximum of 2,000";
    let begin = match most_in_one_folder(&facts.protected) {
        Some(folder) => format!(
            "remove some from {}, where most of them are (`ls -A`)",
            spec.workspace.components().chain(folder.components()).collect::<PathBuf>().display()
        ),
        None => "remove some of them".to_owned(),
    };
    let fix = format!("{begin}, or choose another workspace with -w");
    Err(Refusal::new(What::Property(Property::ProtectedNames), SandboxRule::CannotEnforce(why), fix))
}

/// Returns the directory that contains most protected names, if one contains many.
fn most_in_one_folder(protected: &[ProtectedEntry]) -> Option<&Path> {
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    for entry in protected.iter().filter(|entry| entry.mode != ProtectionMode::Check) {
        *counts.entry(entry.path.parent().unwrap_or(Path::new(""))).or_default() += 1;
    }
    // Where they are spread over many directories, naming one would not help.
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 100).map(|(folder, _)| folder)
}

/// Checks that the state of a program at home can be shown to that program alone: this takes a mount namespace on this machine.
fn own_view(spec: &SandboxSpec, provider: &Provider) -> Result<(), Refusal> {
    match (spec.home_state.first(), provider) {
        (None, _) | (_, Provider::Native) => Ok(()),
        (Some(state), _) => {
            let rule = SandboxRule::CannotEnforce(
                "only the native backend shows a program its own state at home and hides the rest",
            );
            let fix = "choose the native backend";
            Err(Refusal::new(What::Read(state.source.clone()), rule, fix))
        }
    }
}

/// Checks that changes of a command can be kept apart from the workspace, where a review is requested.
fn reviewable(spec: &SandboxSpec, facts: &HostFacts, provider: &Provider) -> Result<(), Refusal> {
    if spec.review == ReviewMode::Off || spec.workspace_access == MountAccess::ReadOnly {
        return Ok(());
    }
    let around = spec.shared.iter().find(|shared| spec.workspace.starts_with(shared));
    let (why, fix) = match (provider, &facts.worktree, around) {
        (Provider::Container(_) | Provider::Added(_), ..) => (
            "processes in a container or external backend may outlive the command and change files after the review",
            "choose the native or bwrap backend, or leave out the review",
        ),
        (Provider::Landlock | Provider::Nothing, ..) => (
            "an overlay of the workspace needs a mount namespace",
            "choose the native or bwrap backend, or leave out the review",
        ),
        (_, Some(_), _) => (
            "it is a linked worktree, and git writes to the repository outside of it",
            "work in the main worktree of the repository, or leave out the review",
        ),
        (.., Some(_)) => (
            "a shared directory contains it, so that changes could bypass the review",
            "share another directory, or leave out the review",
        ),
        _ => return Ok(()),
    };
    let what = What::Write(spec.workspace.clone());
    Err(Refusal::new(what, SandboxRule::CannotEnforce(why), fix))
}

/// Returns the user that the command runs as: never root.
fn identity(provider: &Provider, spec: &SandboxSpec, facts: &HostFacts) -> Result<Identity, Refusal> {
    match (provider, spec.workspace_access) {
        _ if facts.user != 0 => Ok(Identity::Same),
        (Provider::Landlock | Provider::Container(_), MountAccess::ReadWrite) => {
            match facts.workspace_owner {
                Some((user, group)) if user != 0 => Ok(Identity::Owner { user, group }),
                _ => {
                    let why = "with Landlock or a container the command runs as the owner of the workspace, and root owns it";
                    let fix = match facts.kernel.namespaces {
                        true => native_instead(facts).to_owned(),
                        false => {
                            let words =
                                ["-R".into(), "1000:1000".into(), spec.workspace.clone().into_os_string()];
                            format!("give it to an ordinary user: `{}`", as_text("chown".as_ref(), &words))
                        }
                    };
                    let rule = SandboxRule::CannotEnforce(why);
                    Err(Refusal::new(What::Write(spec.workspace.clone()), rule, fix))
                }
            }
        }
        _ => Ok(Identity::Unprivileged),
    }
}

impl SandboxSpec {
    /// Returns the program and its arguments.
    ///
    /// # Errors
    /// When there is no program, or a word has a byte 0.
    pub fn program(&self) -> Result<(OsString, Vec<OsString>), Refusal> {
        command(&self.command)
    }
}

/// Returns the program and its arguments, if they can be passed to exec(2).
pub(crate) fn command(words: &[OsString]) -> Result<(OsString, Vec<OsString>), Refusal> {
    let plain = |word: &OsString| !word.as_encoded_bytes().contains(&0);
    match words.split_first() {
        Some((program, arguments)) if !program.is_empty() && words.iter().all(plain) => {
            Ok((program.clone(), arguments.to_vec()))
        }
        _ => Err(Refusal::new(What::Command, SandboxRule::PlainCommand, "name a program after `--`")),
    }
}

/// Returns the required properties. Without a sandbox, which the caller accepted, the default ones are waived.
fn still_required(spec: &SandboxSpec, provider: &Provider) -> Vec<Property> {
    let waived =
        if *provider == Provider::Nothing { Property::required_by_default() } else { BTreeSet::new() };
    (&(&spec.require - &waived) | &spec.require_by_name).into_iter().collect()
}

/// Checks that the working directory is a visible directory, or below one.
fn check_cwd(cwd: &Path, mounts: &[Mount]) -> Result<(), Refusal> {
    let visible = mounts.iter().any(|mount| match &mount.kind {
        MountKind::Bind { .. } | MountKind::Scratch { .. } => cwd.starts_with(&mount.target),
        _ => false,
    });
    if visible && crate::binds::is_plain(cwd) {
        return Ok(());
    }
    Err(Refusal::new(
        What::Cwd(cwd.to_path_buf()),
        SandboxRule::VisibleCwd,
        "choose the workspace or a directory below it",
    ))
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run      {:?}", self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument:?}"))?;
        writeln!(f, "\nin       {:?}", self.cwd)?;
        writeln!(f, "sandbox  {}", self.provider.name())?;
        let network = match &self.network {
            Network::None => "none".to_owned(),
            Network::Broker { socket } => format!("only through {socket:?}"),
            Network::Proxy(handoff) if handoff.observes() => {
                format!("every public host, recorded by a proxy, at {}", crate::handoff::PROXY_ADDRESS)
            }
            Network::Proxy(_) => format!("only through a proxy, at {}", crate::handoff::PROXY_ADDRESS),
            Network::Open => "open".to_owned(),
        };
        writeln!(f, "network  {network}")?;
        self.mounts.iter().try_for_each(|mount| writeln!(f, "mount    {mount}"))?;
        self.environment.iter().try_for_each(|(name, value)| writeln!(f, "env      {name:?}={value:?}"))?;
        if self.explain == Explain::Asked {
            writeln!(f, "explain  by its system calls")?;
        }
        let enforced = &self.enforcement.enforced;
        enforced.iter().try_for_each(|(property, means)| writeln!(f, "enforced {property}: {means}"))?;
        self.enforcement.gaps.iter().try_for_each(|gap| writeln!(f, "gap      {}: {}", gap.property, gap.why))
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = |access: &MountAccess| if *access == MountAccess::ReadWrite { "rw" } else { "ro" };
        match &self.kind {
            MountKind::Bind { source, access: may, .. } if *source == self.target => {
                write!(f, "{} {:?}", access(may), self.target)
            }
            MountKind::Bind { source, access: may, .. } => {
                write!(f, "{} {:?} from {source:?}", access(may), self.target)
            }
            MountKind::Link { to } => write!(f, "-> {:?} to {to:?}", self.target),
            MountKind::Processes => write!(f, "ps {:?}", self.target),
            MountKind::Devices => write!(f, "dv {:?}", self.target),
            MountKind::Scratch { size } => write!(f, "rw {:?} in memory, {} MiB", self.target, size >> 20),
            MountKind::Generated { .. } => write!(f, "rw {:?} created for the command", self.target),
            MountKind::Replaced { .. } => write!(f, "ro {:?} created for the command", self.target),
            MountKind::Hidden { .. } => write!(f, "-- {:?}", self.target),
        }?;
        write!(f, "  ({})", self.reason)
    }
}
