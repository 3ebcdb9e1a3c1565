//! A plan: everything that will be done, as a value that can be printed and compared. Making one touches nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::backends::{added, contain};
use crate::choices::ReviewMode;
use crate::enforcement::{Enforcement, Property};
use crate::env::environment;
use crate::host::{Exposed, HostFacts, KnownLinks, ProtectedEntry, ProtectionMode, Searched, Watched};
use crate::limits::ResourceLimits;
use crate::mounts::{Mount, MountKind, OF_A_WORKTREE, SHARED, kept_back_in_vain, mounts};
use crate::provider::{Offer, Provider, choose, offers};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{Explain, MountAccess, Network, Protection, SandboxSpec, Spawn};

/// What will be run, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// What makes the sandbox.
    pub provider: Provider,
    /// The program, as it was named.
    pub program: OsString,
    /// Its arguments, without the program.
    pub arguments: Vec<OsString>,
    /// Its variables, sorted by name.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
    /// What it sees, in the order in which it is mounted.
    pub mounts: Vec<Mount>,
    /// What it reaches.
    pub network: Network,
    /// As whom it runs.
    pub identity: Identity,
    /// Whether it may start others.
    pub spawn: Spawn,
    /// How it is found out what it was refused.
    pub explain: Explain,
    /// What it may use up.
    pub limits: ResourceLimits,
    /// Whether names in the workspace are protected.
    pub protection: Protection,
    /// What had a protected name before.
    pub protected: Vec<ProtectedEntry>,
    /// What is reported when it changes, as it was before.
    pub watched: Vec<Watched>,
    /// What has the name of a secret and is seen all the same; how it looks at the end is remembered.
    pub shown: Vec<PathBuf>,
    /// What it sees although secrets stand in it, since programs need the rest.
    pub exposed: Vec<Exposed>,
    /// Paths that links and settings of the user's lead to.
    pub led_to: Vec<PathBuf>,
    /// The links that were there before.
    pub links: KnownLinks,
    /// The lines that run programs in what git has still to do, as they were before.
    pub git_plans: BTreeMap<PathBuf, Vec<String>>,
    /// The version of Landlock to use; 0 for none.
    pub landlock: u32,
    /// Whether this machine lets somebody else decide calls, see [`Kernel::mediation`](crate::host::Kernel::mediation).
    pub mediation: bool,
    /// What this plan enforces once it runs.
    pub enforcement: Enforcement,
    /// Whether the command works on a view of the workspace, and what becomes of that.
    pub review: ReviewMode,
    /// The folder in which an overlay of the workspace keeps what is different; it is made when the command begins.
    pub(crate) layer: Option<PathBuf>,
    /// What must be enforced.
    pub require: Vec<Property>,
    /// What of it somebody named: that is tried before the command starts.
    pub require_by_name: Vec<Property>,
}

impl Plan {
    /// Returns whether names are decided when the command makes them. Otherwise they are looked at when it is over.
    pub fn decides_names(&self) -> bool {
        let (workspace, others) = self.guarded();
        self.decides_shared()
            && self.protection == Protection::Names
            && (workspace.is_some() || !others.is_empty())
    }

    /// Returns whether calls that reach what is shared with other programs, as locks and sockets, are decided when the command
    /// makes them.
    pub fn decides_shared(&self) -> bool {
        self.mediation && matches!(self.provider, Provider::Native | Provider::Bwrap { .. })
    }

    /// Returns the folders that the command may change and that others open: there, names are protected.
    pub(crate) fn guarded(&self) -> (Option<&Path>, Vec<PathBuf>) {
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

    /// Returns the folders of the repository that a linked worktree belongs to, which git writes to.
    pub(crate) fn of_a_worktree(&self) -> Vec<PathBuf> {
        let mounts = self.mounts.iter().filter(|mount| mount.reason == OF_A_WORKTREE);
        mounts.map(|mount| mount.target.clone()).collect()
    }

    /// Returns what the command may do with the workspace.
    pub fn workspace_access(&self) -> MountAccess {
        let is_workspace = |mount: &&Mount| mount.target == self.workspace;
        match self.mounts.iter().find(is_workspace).map(|mount| &mount.kind) {
            Some(MountKind::Bind { access, .. }) => *access,
            _ => MountAccess::ReadOnly,
        }
    }
}

/// As whom a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// As whoever starts it.
    Same,
    /// As nobody: it was started by root, whose files it must not be able to open even where the sandbox has a hole.
    Nobody,
    /// As the owner of the workspace: it was started by root, and what belongs to somebody cannot be mapped to nobody without
    /// namespaces.
    Owner {
        /// The user.
        user: u32,
        /// The group.
        group: u32,
    },
}

/// Returns what will be done for `spec` on a machine like `facts`, or why nothing will. Of backends, those that come with this
/// crate are known; a registry plans with those that were added as well.
pub fn plan(spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
    plan_of(spec, facts, offers(spec, facts))
}

/// The same, with the first of these offers that enforces what is required.
pub(crate) fn plan_of(
    spec: &SandboxSpec,
    facts: &HostFacts,
    offers: impl IntoIterator<Item = Result<Offer, Refusal>>,
) -> Result<Plan, Refusal> {
    // An image may say what it starts; whoever makes another sandbox has to.
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
            "it lies in what the command may change, where it cannot be hidden or kept by Landlock",
        );
        let fix = "let the command read the folder only, or choose another backend";
        return Err(Refusal::new(What::Write(path.to_path_buf()), rule, fix));
    }
    protectable(spec, facts, &provider)?;
    own_view(spec, &provider)?;
    reviewable(spec, facts, &provider)?;
    let identity = identity(&provider, spec, facts)?;
    let require = still_required(spec, &provider);
    Ok(Plan {
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
        led_to: facts.led_to.clone(),
        links: facts.links.clone(),
        git_plans: facts.git_plans.clone(),
        landlock: facts.kernel.landlock,
        mediation: facts.kernel.mediation,
        enforcement,
        review: spec.review,
        layer: None,
        require,
        require_by_name: spec.require_by_name.iter().copied().collect(),
    })
}

impl Plan {
    /// Plans the environment again, after variables were added to the request. Nothing else of a plan depends on them.
    ///
    /// # Errors
    /// When a variable cannot be handed to the command.
    pub fn renew_environment(&mut self, spec: &SandboxSpec, facts: &HostFacts) -> Result<(), Refusal> {
        let mut environment =
            environment(&spec.environment, &spec.network, facts, &spec.workspace, &self.cwd)?;
        fit_environment(&mut environment, &self.provider, spec)?;
        self.environment = environment;
        Ok(())
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

/// Whether all names can be protected that have to be. Where the bound on mounts is passed, what lies beyond could be read or
/// changed, and whoever made the others would have chosen what.
fn protectable(spec: &SandboxSpec, facts: &HostFacts, provider: &Provider) -> Result<(), Refusal> {
    // These two promise nothing about what is there already.
    let is_promised = !matches!(provider, Provider::Landlock | Provider::Nothing);
    if spec.protection == Protection::Off || facts.searched != Searched::TooMany || !is_promised {
        return Ok(());
    }
    let why = "there are more of them in the workspace than can be protected (2,000)";
    let begin = match most_in_one_folder(&facts.protected) {
        Some(folder) => format!(
            "most of them lie in {}: remove them from there (`ls -A`)",
            spec.workspace.components().chain(folder.components()).collect::<PathBuf>().display()
        ),
        None => "remove some of them".to_owned(),
    };
    let fix = format!("{begin}, or let the command work in another folder with -w");
    Err(Refusal::new(What::Property(Property::ProtectedNames), SandboxRule::CannotEnforce(why), fix))
}

/// The folder in which most protected names lie.
fn most_in_one_folder(protected: &[ProtectedEntry]) -> Option<&Path> {
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    for entry in protected.iter().filter(|entry| entry.mode != ProtectionMode::Check) {
        *counts.entry(entry.path.parent().unwrap_or(Path::new(""))).or_default() += 1;
    }
    // Where they are spread, no folder holds most of them.
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 100).map(|(folder, _)| folder)
}

/// Whether what a program keeps at home can be shown to it and to nobody else: that takes a view of the disk of this machine.
fn own_view(spec: &SandboxSpec, provider: &Provider) -> Result<(), Refusal> {
    match (spec.home_state.first(), provider) {
        (None, _) | (_, Provider::Native) => Ok(()),
        (Some(state), _) => {
            let rule = SandboxRule::CannotEnforce(
                "only a sandbox with an own view of this disk shows a program what it keeps at home and hides the rest",
            );
            let fix = "choose the native backend";
            Err(Refusal::new(What::Read(state.source.clone()), rule, fix))
        }
    }
}

/// Whether what a command changes can be kept apart from the workspace, where somebody wants that.
fn reviewable(spec: &SandboxSpec, facts: &HostFacts, provider: &Provider) -> Result<(), Refusal> {
    if spec.review == ReviewMode::Off || spec.workspace_access == MountAccess::ReadOnly {
        return Ok(());
    }
    let around = spec.shared.iter().find(|shared| spec.workspace.starts_with(shared));
    let (why, fix) = match (provider, &facts.worktree, around) {
        (Provider::Container(_) | Provider::Added(_), ..) => (
            "what runs in another sandbox than this program's own may outlast it, and could change what was judged",
            "choose the native backend or bubblewrap, or leave the review out",
        ),
        (Provider::Landlock | Provider::Nothing, ..) => (
            "only a sandbox with an own view of the disk shows a command another workspace than there is",
            "let it run in a sandbox of namespaces, or leave the review out",
        ),
        (_, Some(_), _) => (
            "it is a linked worktree, and what git writes to the repository is written outside of it",
            "work in the main worktree of the repository, or leave the review out",
        ),
        (.., Some(_)) => (
            "a folder around it is shared, and could be written to by that",
            "share another folder, or leave the review out",
        ),
        _ => return Ok(()),
    };
    let what = What::Write(spec.workspace.clone());
    Err(Refusal::new(what, SandboxRule::CannotEnforce(why), fix))
}

/// As whom the command runs: never as root.
fn identity(provider: &Provider, spec: &SandboxSpec, facts: &HostFacts) -> Result<Identity, Refusal> {
    match (provider, spec.workspace_access) {
        _ if facts.user != 0 => Ok(Identity::Same),
        (Provider::Landlock | Provider::Container(_), MountAccess::ReadWrite) => {
            match facts.workspace_owner {
                Some((user, group)) if user != 0 => Ok(Identity::Owner { user, group }),
                _ => {
                    let why = "neither Landlock nor a container keeps root from the files of root, so the command runs as the owner of the workspace, which is root";
                    let fix = "give the workspace to an ordinary user, let the command read it only, or start this as an ordinary user";
                    let rule = SandboxRule::CannotEnforce(why);
                    Err(Refusal::new(What::Write(spec.workspace.clone()), rule, fix))
                }
            }
        }
        _ => Ok(Identity::Nobody),
    }
}

/// The program and its arguments, if they can be handed over.
pub(crate) fn command(words: &[OsString]) -> Result<(OsString, Vec<OsString>), Refusal> {
    let plain = |word: &OsString| !word.as_encoded_bytes().contains(&0);
    match words.split_first() {
        Some((program, arguments)) if !program.is_empty() && words.iter().all(plain) => {
            Ok((program.clone(), arguments.to_vec()))
        }
        _ => Err(Refusal::new(What::Command, SandboxRule::PlainCommand, "name a program after `--`")),
    }
}

/// Whoever chose to run without a sandbox, should there be none, does without what is usually required.
fn still_required(spec: &SandboxSpec, provider: &Provider) -> Vec<Property> {
    let waived =
        if *provider == Provider::Nothing { Property::required_by_default() } else { BTreeSet::new() };
    (&(&spec.require - &waived) | &spec.require_by_name).into_iter().collect()
}

/// The command starts in a folder that was let in, or below one.
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
        "start in the workspace or below it",
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
            Network::Broker { socket } => format!("only by {socket:?}"),
            Network::Proxy(handoff) if handoff.observes() => {
                format!("every public host, seen by a proxy, at {}", crate::handoff::PROXY_ADDRESS)
            }
            Network::Proxy(_) => format!("only by a proxy, at {}", crate::handoff::PROXY_ADDRESS),
            Network::Open => "open".to_owned(),
        };
        writeln!(f, "network  {network}")?;
        self.mounts.iter().try_for_each(|mount| writeln!(f, "mount    {mount}"))?;
        self.environment.iter().try_for_each(|(name, value)| writeln!(f, "env      {name:?}={value:?}"))?;
        if self.explain == Explain::Asked {
            writeln!(f, "explain  by what it asks for")?;
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
            MountKind::Generated { .. } => write!(f, "rw {:?} made for it", self.target),
            MountKind::Hidden { .. } => write!(f, "-- {:?}", self.target),
        }?;
        write!(f, "  ({})", self.reason)
    }
}
