//! What can make a sandbox, what each enforces, and which one is chosen.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::backends::contain;
use crate::choices::{BackendName, OnUnavailable, SandboxBackend};
use crate::container_request::{ContainerPlan, Engine};
use crate::enforcement::{Enforcement, Property};
use crate::host::{HostFacts, Searched};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::requirement::{in_whole, require};
use crate::spec::{Confinement, MountAccess, Network, Protection, SandboxSpec, Spawn};

/// What makes the sandbox of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provider {
    /// The launcher of this crate.
    Native,
    /// Bubblewrap, a program of its own that makes namespaces.
    Bwrap {
        /// The program.
        program: PathBuf,
    },
    /// Landlock and a filter of system calls, without namespaces.
    Landlock,
    /// A container, made by an engine.
    Container(Box<ContainerPlan>),
    /// A backend that somebody added to a registry.
    Added(AddedBackend),
    /// Nothing: the command runs like any other program. Somebody chose this by name.
    Nothing,
}

/// A backend that somebody added, as a plan knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedBackend {
    /// Its name.
    pub name: BackendName,
    /// What a command in it sees of the workspace.
    pub sees: Sees,
}

/// What a command sees of the workspace in a backend that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sees {
    /// The folder itself: what the command writes is there at once.
    Itself,
    /// A copy of it: the folder stays as it is, and what the command writes is gone with the copy unless it is brought back.
    Copy,
}

impl Provider {
    /// Returns what it is called in settings and reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Native => "native",
            Self::Bwrap { .. } => "bwrap",
            Self::Landlock => "landlock",
            Self::Container(plan) => plan.engine.name(),
            Self::Added(added) => added.name.as_str(),
            Self::Nothing => "nothing",
        }
    }

    /// Returns the container, where one makes the sandbox.
    #[must_use]
    pub fn container(&self) -> Option<&ContainerPlan> {
        match self {
            Self::Container(plan) => Some(plan),
            Self::Native | Self::Bwrap { .. } | Self::Landlock | Self::Added(_) | Self::Nothing => None,
        }
    }

    /// Whether what makes the sandbox bounds what a command uses up, and not this program.
    pub(crate) const fn bounds_by_itself(&self) -> bool {
        matches!(self, Self::Container(_) | Self::Added(_))
    }
}

/// What a backend would make of a request, by what is known of this machine: nothing was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub(crate) provider: Provider,
    pub(crate) enforcement: Enforcement,
}

impl Offer {
    /// What a backend that was added offers.
    #[must_use]
    pub fn added(name: BackendName, sees: Sees, enforcement: Enforcement) -> Self {
        Self { provider: Provider::Added(AddedBackend { name, sees }), enforcement }
    }

    /// Returns what would hold.
    pub fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// Returns why it is not taken, if anything that is wanted is missing.
    fn holds_what_is_wanted(&self, spec: &SandboxSpec) -> Result<(), Refusal> {
        let wanted = &spec.require | &spec.require_by_name;
        if let Provider::Container(container) = &self.provider {
            contain::bounds(container.engine, &wanted, &self.enforcement)?;
        }
        let Provider::Added(added) = &self.provider else {
            require(&wanted, &self.enforcement)?;
            return in_whole(&spec.require_by_name, &self.enforcement);
        };
        let asked = (spec.spawn == Spawn::Threads).then_some(&Property::NoSpawn);
        let all = ISOLATION.iter().chain(asked).chain(&wanted);
        let missing = all.into_iter().find(|one| !self.enforcement.holds(**one));
        // What somebody named has to hold in full: nobody tries it from inside.
        let in_part = |one: &&Property| self.enforcement.gaps.iter().any(|gap| gap.property == **one);
        let Some(property) = missing.or_else(|| spec.require_by_name.iter().find(in_part)) else {
            return Ok(());
        };
        let gap = self.enforcement.gaps.iter().find(|gap| gap.property == *property);
        let why = gap.map_or("it does not do that", |gap| gap.why);
        let fix =
            format!("choose another backend than `{}`: `stockade backends` says what each holds", added.name);
        Err(Refusal::new(What::Property(*property), SandboxRule::CannotEnforce(why), fix))
    }
}

/// What keeps nothing apart is no sandbox, whatever else it holds.
pub(crate) const ISOLATION: [Property; 2] = [Property::Files, Property::Processes];

/// The first version of Landlock by which signals and abstract sockets stay within.
const SCOPED: u32 = 6;

/// The first version by which files may be moved between folders.
const USABLE: u32 = 2;

/// The backends of this crate that are taken by themselves, the strongest first.
pub(crate) const BY_THEMSELVES: [SandboxBackend; 3] =
    [SandboxBackend::Native, SandboxBackend::Bwrap, SandboxBackend::Landlock];

/// Returns what those that come with this crate offer for a request, in the order in which they are taken.
pub(crate) fn offers(spec: &SandboxSpec, facts: &HostFacts) -> impl Iterator<Item = Result<Offer, Refusal>> {
    let named = [spec.backend];
    let wanted = if spec.backend == SandboxBackend::Auto { &BY_THEMSELVES[..] } else { &named[..] };
    let wanted: Vec<SandboxBackend> = wanted.to_vec();
    wanted.into_iter().map(move |backend| offer(backend, spec, facts))
}

/// Returns what one that comes with this crate offers, by what is known of this machine.
pub(crate) fn offer(
    backend: SandboxBackend,
    spec: &SandboxSpec,
    facts: &HostFacts,
) -> Result<Offer, Refusal> {
    let provider = match backend {
        SandboxBackend::Native if facts.kernel.namespaces => Some(Provider::Native),
        // The last filter lets one start pass, and bubblewrap would be the one that starts.
        SandboxBackend::Bwrap if spec.spawn == Spawn::Free => {
            facts.bubblewrap.clone().map(|program| Provider::Bwrap { program })
        }
        // Root becomes somebody else with it, which nobody expects who has not named it.
        SandboxBackend::Landlock if spec.backend == SandboxBackend::Landlock || facts.user != 0 => {
            has_landlock(facts).then_some(Provider::Landlock)
        }
        SandboxBackend::Docker | SandboxBackend::Podman => match Engine::of(backend) {
            Some(engine) => Some(Provider::Container(Box::new(contain::planned(engine, spec, facts)?))),
            None => None,
        },
        _ => None,
    };
    let provider = provider.ok_or_else(|| unavailable(backend, facts))?;
    let enforcement = promise(&provider, spec, facts);
    Ok(Offer { provider, enforcement })
}

/// Returns what makes the sandbox, and what that enforces: the first offer that enforces what is required.
pub(crate) fn choose(
    spec: &SandboxSpec,
    facts: &HostFacts,
    offers: impl IntoIterator<Item = Result<Offer, Refusal>>,
) -> Result<Offer, Refusal> {
    if spec.confinement == Confinement::None {
        return unconfined(spec, facts);
    }
    let (mut lacking, mut absent) = (None, None);
    for offer in offers {
        match offer {
            Ok(offer) => match offer.holds_what_is_wanted(spec) {
                Ok(()) => return Ok(offer),
                Err(why) => lacking = lacking.or(Some(why)),
            },
            Err(why) => absent = absent.or(Some(why)),
        }
    }
    // A name that means nothing is a slip, and not a machine that lacks something.
    if let Some(slip) = absent.take_if(|why: &mut Refusal| why.rule == SandboxRule::UnknownBackend) {
        return Err(slip);
    }
    if spec.on_unavailable == OnUnavailable::Warn && asks_for_what_a_sandbox_has(spec).is_none() {
        return unconfined(spec, facts);
    }
    let absent = absent.filter(|_| spec.backend != SandboxBackend::Auto);
    Err(lacking.or(absent).unwrap_or_else(|| unavailable(spec.backend, facts)))
}

/// What holds where nothing makes a sandbox. What was required beside the usual is required still.
fn unconfined(spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal> {
    if let Some(property) = asks_for_what_a_sandbox_has(spec) {
        let why = "there is no sandbox that could hold it to that";
        let fix = "leave that out, or let it run in a sandbox";
        return Err(Refusal::new(What::Property(property), SandboxRule::CannotEnforce(why), fix));
    }
    let enforcement = promise(&Provider::Nothing, spec, facts);
    let usual = &Property::required_by_default() - &spec.require_by_name;
    let named: BTreeSet<Property> = &(&spec.require | &spec.require_by_name) - &usual;
    require(&named, &enforcement).map(|()| Offer { provider: Provider::Nothing, enforcement })
}

/// What a request asks for that means nothing without a sandbox.
fn asks_for_what_a_sandbox_has(spec: &SandboxSpec) -> Option<Property> {
    match (spec.spawn, &spec.network) {
        (Spawn::Threads, _) => Some(Property::NoSpawn),
        (_, Network::Proxy(_)) => Some(Property::Network),
        _ => None,
    }
}

/// Whether Landlock and a filter of system calls can keep a command in.
fn has_landlock(facts: &HostFacts) -> bool {
    facts.kernel.landlock >= USABLE && facts.kernel.seccomp
}

fn unavailable(backend: SandboxBackend, facts: &HostFacts) -> Refusal {
    let (why, fix) = match backend {
        SandboxBackend::Auto if facts.user == 0 && has_landlock(facts) => (
            "user namespaces cannot be made here, bubblewrap is not for root, and Landlock is taken for root only where it is named",
            "permit user namespaces (sysctl user.max_user_namespaces), start this as an ordinary user, or choose the landlock backend, with which the command runs as the owner of the workspace",
        ),
        SandboxBackend::Auto => (
            "user namespaces cannot be made here, bubblewrap does not work, and the kernel has no Landlock",
            "permit them (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), or install bubblewrap where it may make \
             them (on Debian and Ubuntu `apt install bubblewrap`)",
        ),
        SandboxBackend::Native => (
            "user namespaces cannot be made here",
            "permit them: sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; or choose another backend",
        ),
        SandboxBackend::Bwrap => (
            "there is no bubblewrap that works for this user",
            "install it (on Debian and Ubuntu `apt install bubblewrap`) and start this as an ordinary user, or choose another backend",
        ),
        SandboxBackend::Landlock => (
            "this kernel has no Landlock that is new enough",
            "use Linux 5.19 or later, or choose another backend",
        ),
        SandboxBackend::Docker | SandboxBackend::Podman => {
            ("the engine makes no container here", "choose another backend")
        }
        SandboxBackend::Added(_) => {
            let fix = "name one that `stockade backends` lists";
            return Refusal::new(What::Backend(backend), SandboxRule::UnknownBackend, fix);
        }
    };
    Refusal::new(What::Property(Property::Files), SandboxRule::CannotEnforce(why), fix)
}

/// What a provider enforces on such a machine.
fn promise(provider: &Provider, spec: &SandboxSpec, facts: &HostFacts) -> Enforcement {
    let mut promise = Enforcement::default();
    let is_container = matches!(provider, Provider::Container(_));
    if spec.spawn == Spawn::Threads && facts.kernel.seccomp && !is_container {
        promise.enforce(Property::NoSpawn, "a last filter of system calls, which lets threads pass");
    }
    match provider {
        Provider::Native | Provider::Bwrap { .. } => namespaces(provider, spec, facts, &mut promise),
        Provider::Landlock => landlock(spec, facts, &mut promise),
        Provider::Container(plan) => {
            contain::promise(plan, spec, &mut promise);
            // Nobody outside decides calls that are made in a container.
            let kernel = crate::host::Kernel { mediation: false, ..facts.kernel.clone() };
            names(spec, &HostFacts { kernel, ..facts.clone() }, &mut promise);
        }
        // What it promises is for it to say.
        Provider::Added(_) => {}
        Provider::Nothing => {
            Property::required_by_default().into_iter().for_each(|property| {
                promise.gap(property, "the command runs without a sandbox, as was chosen");
            });
            promise.gap(
                Property::ProtectedNames,
                "new ones are taken away at the end, existing ones can be changed",
            );
        }
    }
    promise
}

fn namespaces(provider: &Provider, spec: &SandboxSpec, facts: &HostFacts, promise: &mut Enforcement) {
    promise.enforce(Property::Files, "an own view of the disk");
    promise.enforce(Property::Processes, "own processes, all gone when the first one is");
    promise.enforce(Property::Ipc, "own queues, shared memory and keys");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any");
    match spec.network {
        Network::None => promise.enforce(Property::Network, "an own network, without a way out"),
        Network::Broker { .. } => promise.enforce(Property::Network, "an own network, and one socket"),
        Network::Proxy(_) if *provider == Provider::Native => {
            promise.enforce(Property::Network, "an own network, and one door to a proxy");
        }
        Network::Proxy(_) => promise.gap(Property::Network, "bubblewrap cannot open a door to a proxy"),
        Network::Open => promise.enforce(Property::Network, "open, as asked for"),
    }
    if facts.kernel.seccomp {
        promise.enforce(Property::SystemCalls, "a filter of system calls");
    }
    let is_walled = *provider == Provider::Native && facts.kernel.landlock > 0;
    match (provider, facts.kernel.landlock) {
        (Provider::Native, 1..) => promise.enforce(Property::SecondWall, "Landlock"),
        (Provider::Native, _) => {
            promise.gap(Property::SecondWall, "the kernel has no Landlock; the first wall stands alone");
        }
        _ => promise.gap(Property::SecondWall, "bubblewrap has none; the first wall stands alone"),
    }
    // Whoever decides on sockets when the command connects them closes both.
    let is_decided = facts.kernel.mediation;
    if spec.network == Network::Open && !is_decided && !(is_walled && facts.kernel.landlock >= SCOPED) {
        promise
            .gap(Property::Network, "abstract sockets of this machine are reached: no Landlock closes them");
    }
    if !is_decided {
        promise.gap(
            Property::Network,
            "a socket of this machine that is made in the workspace while the command runs is reached",
        );
    }
    names(spec, facts, promise);
}

fn names(spec: &SandboxSpec, facts: &HostFacts, promise: &mut Enforcement) {
    let property = Property::ProtectedNames;
    match (spec.protection, spec.workspace_access) {
        (Protection::Off, _) => promise.gap(property, "switched off"),
        (_, MountAccess::ReadOnly) => promise.enforce(property, "the workspace cannot be changed"),
        (Protection::Names, MountAccess::ReadWrite) => {
            let how = match facts.kernel.mediation {
                true => "existing ones cannot be changed, new ones are refused when they are made",
                false => "existing ones cannot be changed, new ones are taken away at the end",
            };
            promise.enforce(property, how);
            if facts.searched == Searched::InPart {
                promise.gap(property, "some folders cannot be looked into");
            }
        }
    }
}

fn landlock(spec: &SandboxSpec, facts: &HostFacts, promise: &mut Enforcement) {
    promise.enforce(
        Property::Files,
        "Landlock: nothing else is opened, made, moved or removed; modes and times are changed by a watcher",
    );
    promise.gap(Property::Files, "names and sizes of other files are seen");
    match spec.network {
        Network::None => promise.enforce(Property::Network, "no socket can be made"),
        Network::Open => promise.enforce(Property::Network, "open, as asked for; no sockets of this machine"),
        Network::Proxy(_) => promise.gap(Property::Network, "Landlock cannot open a door to a proxy"),
        Network::Broker { .. } => {
            promise.gap(Property::Network, "Landlock cannot let a command reach one socket and no other");
        }
    }
    if facts.kernel.landlock >= SCOPED {
        promise.enforce(
            Property::Processes,
            "Landlock: no signals to others and no tracing; a watcher ends what is left",
        );
        promise.gap(Property::Processes, "the numbers of other processes are seen");
    } else {
        promise.gap(Property::Processes, "the kernel's Landlock is too old to keep signals within");
    }
    promise.enforce(Property::Ipc, "queues and shared memory cannot be made; own keys");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any");
    promise.enforce(Property::SystemCalls, "a filter of system calls");
    promise.gap(Property::SecondWall, "Landlock is the first wall here, and stands alone");
    match (spec.protection, spec.workspace_access) {
        (Protection::Names, MountAccess::ReadOnly) => {
            promise.enforce(Property::ProtectedNames, "the workspace cannot be changed");
        }
        _ => promise.gap(
            Property::ProtectedNames,
            "new ones are taken away at the end; existing ones can be changed, and `.env` files read",
        ),
    }
}
