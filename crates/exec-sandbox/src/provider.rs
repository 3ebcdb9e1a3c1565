//! Sandbox providers: what each enforces, and which one is chosen.

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

/// The backend that creates the sandbox of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provider {
    /// The launcher of this crate.
    Native,
    /// Bubblewrap, an external program that creates namespaces.
    Bwrap {
        /// The path of `bwrap`.
        program: PathBuf,
    },
    /// Landlock and a seccomp filter, without namespaces.
    Landlock,
    /// A container of an engine.
    Container(Box<ContainerPlan>),
    /// A backend of a registry.
    Added(AddedBackend),
    /// No sandbox: the command runs like any other program. The operator chose this explicitly.
    Nothing,
}

/// A registered backend, as a plan refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedBackend {
    /// The name.
    pub name: BackendName,
    /// Whether a command in it sees the workspace or a copy.
    pub sees: Sees,
}

/// How a command in a registered backend sees the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sees {
    /// The directory itself: what the command writes is in the workspace at once.
    Itself,
    /// A copy: the directory stays unchanged, and changes are lost with the copy unless the backend copies them back.
    Copy,
}

impl Provider {
    /// Returns the name in settings and reports.
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

    /// Returns the container, if the sandbox is one.
    #[must_use]
    pub fn container(&self) -> Option<&ContainerPlan> {
        match self {
            Self::Container(plan) => Some(plan),
            Self::Native | Self::Bwrap { .. } | Self::Landlock | Self::Added(_) | Self::Nothing => None,
        }
    }

    /// Whether the backend enforces the resource limits itself, instead of this program.
    pub(crate) const fn bounds_by_itself(&self) -> bool {
        matches!(self, Self::Container(_) | Self::Added(_))
    }
}

/// What a backend would enforce for a request, according to the facts about this machine. Nothing was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub(crate) provider: Provider,
    pub(crate) enforcement: Enforcement,
}

impl Offer {
    /// Returns the offer of a registered backend.
    #[must_use]
    pub fn added(name: BackendName, sees: Sees, enforcement: Enforcement) -> Self {
        Self { provider: Provider::Added(AddedBackend { name, sees }), enforcement }
    }

    /// Returns what the backend would enforce.
    pub fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// Checks that every required property is enforced.
    fn enforces_required(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<(), Refusal> {
        let wanted = &spec.require | &spec.require_by_name;
        if let Provider::Container(container) = &self.provider {
            contain::bounds(container.engine, &wanted, &self.enforcement)?;
        }
        let Provider::Added(added) = &self.provider else {
            require(&wanted, &self.enforcement).map_err(|lack| advised(lack, &self.provider, spec, facts))?;
            return in_whole(&spec.require_by_name, &self.enforcement);
        };
        let asked = (spec.spawn == Spawn::Threads).then_some(&Property::NoSpawn);
        let all = ISOLATION.iter().chain(asked).chain(&wanted);
        let missing = all.into_iter().find(|one| !self.enforcement.holds(**one));
        // Properties required by name must be enforced in full, because a registered backend is not tested from inside.
        let in_part = |one: &&Property| self.enforcement.gaps.iter().any(|gap| gap.property == **one);
        let Some(property) = missing.or_else(|| spec.require_by_name.iter().find(in_part)) else {
            return Ok(());
        };
        let gap = self.enforcement.gaps.iter().find(|gap| gap.property == *property);
        let why = gap.map_or("the backend does not enforce it", |gap| gap.why);
        let fix = format!(
            "choose another backend than `{}`: `stockade backends` lists what each enforces",
            added.name
        );
        Err(Refusal::new(What::Property(*property), SandboxRule::CannotEnforce(why), fix))
    }
}

/// The minimum that makes a backend a sandbox.
pub(crate) const ISOLATION: [Property; 2] = [Property::Files, Property::Processes];

/// The first Landlock ABI that confines signals and abstract sockets (Linux 6.12).
const SCOPED: u32 = 6;

/// The first Landlock ABI that allows renaming files between directories (Linux 5.19).
const USABLE: u32 = 2;

/// The auto-selected backends of this crate, the strongest first.
pub(crate) const AUTO_SELECTED: [SandboxBackend; 3] =
    [SandboxBackend::Native, SandboxBackend::Bwrap, SandboxBackend::Landlock];

/// Returns the offers of this crate's backends for a request, in order of preference.
pub(crate) fn offers(spec: &SandboxSpec, facts: &HostFacts) -> impl Iterator<Item = Result<Offer, Refusal>> {
    let named = [spec.backend];
    let wanted = if spec.backend == SandboxBackend::Auto { &AUTO_SELECTED[..] } else { &named[..] };
    let wanted: Vec<SandboxBackend> = wanted.to_vec();
    wanted.into_iter().map(move |backend| offer(backend, spec, facts))
}

/// Returns the offer of one of this crate's backends, according to the facts about this machine.
pub(crate) fn offer(
    backend: SandboxBackend,
    spec: &SandboxSpec,
    facts: &HostFacts,
) -> Result<Offer, Refusal> {
    let provider = match backend {
        SandboxBackend::Native if facts.kernel.namespaces => Some(Provider::Native),
        // The filter against new programs permits one exec, which bubblewrap would use up for itself.
        SandboxBackend::Bwrap if spec.spawn == Spawn::Free => {
            facts.bubblewrap.clone().map(|program| Provider::Bwrap { program })
        }
        // With Landlock, a command of root runs as the owner of the workspace, which the operator has to choose explicitly.
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

/// Returns the first offer that enforces what is required.
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
            Ok(offer) => match offer.enforces_required(spec, facts) {
                Ok(()) => return Ok(offer),
                Err(why) => lacking = lacking.or(Some(why)),
            },
            Err(why) => absent = absent.or(Some(why)),
        }
    }
    // An unknown name is a typo, which `on_unavailable` must not turn into a run without a sandbox.
    if let Some(slip) = absent.take_if(|why: &mut Refusal| why.rule == SandboxRule::UnknownBackend) {
        return Err(slip);
    }
    let is_named = spec.backend != SandboxBackend::Auto;
    if runs_without(spec) && !is_named {
        return unconfined(spec, facts);
    }
    let absent = absent.filter(|_| is_named);
    let refusal = lacking.or(absent).unwrap_or_else(|| unavailable(spec.backend, facts));
    Err(if runs_without(spec) { not_instead_of_a_named_one(refusal) } else { refusal })
}

/// Whether the operator permits this command to run without a sandbox if none is available.
fn runs_without(spec: &SandboxSpec) -> bool {
    spec.on_unavailable == OnUnavailable::Warn && asks_for_what_a_sandbox_has(spec).is_none()
}

/// Explains why a backend that was selected by name is not replaced by a run without a sandbox. An operator who names a backend
/// relies on what that one enforces, and a container engine that is stopped would turn the command into one of root.
fn not_instead_of_a_named_one(refusal: Refusal) -> Refusal {
    let fix = format!(
        "{}; `warn` runs a command without a sandbox only if the backend is `auto`, and not instead of one selected by name",
        refusal.fix
    );
    Refusal { fix, ..refusal }
}

/// Returns the offer to run without a sandbox. Properties that are not required by default stay required.
fn unconfined(spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal> {
    if let Some(property) = asks_for_what_a_sandbox_has(spec) {
        let why = "it needs a sandbox, and the command runs without one";
        let fix = "remove the requirement, or run the command in a sandbox";
        return Err(Refusal::new(What::Property(property), SandboxRule::CannotEnforce(why), fix));
    }
    let enforcement = promise(&Provider::Nothing, spec, facts);
    let usual = &Property::required_by_default() - &spec.require_by_name;
    let named: BTreeSet<Property> = &(&spec.require | &spec.require_by_name) - &usual;
    require(&named, &enforcement).map(|()| Offer { provider: Provider::Nothing, enforcement })
}

/// Returns the property that a request needs and that only a sandbox has.
fn asks_for_what_a_sandbox_has(spec: &SandboxSpec) -> Option<Property> {
    match (spec.spawn, &spec.network) {
        (Spawn::Threads, _) => Some(Property::NoSpawn),
        (_, Network::Proxy(_)) => Some(Property::Network),
        _ => None,
    }
}

/// Whether Landlock and a seccomp filter can confine a command.
fn has_landlock(facts: &HostFacts) -> bool {
    facts.kernel.landlock >= USABLE && facts.kernel.seccomp
}

fn unavailable(backend: SandboxBackend, facts: &HostFacts) -> Refusal {
    let (why, fix) = match backend {
        SandboxBackend::Auto if facts.user == 0 && has_landlock(facts) => (
            "user namespaces cannot be created here, bubblewrap is not for root, and Landlock is not auto-selected for root",
            "permit user namespaces (sysctl user.max_user_namespaces), start stockade as an ordinary user, or choose the landlock backend, which runs the command as the owner of the workspace",
        ),
        SandboxBackend::Auto => (
            "user namespaces cannot be created here, bubblewrap does not work, and the kernel has no Landlock",
            "permit them (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), or install bubblewrap where it may create \
             them (on Debian and Ubuntu `apt install bubblewrap`)",
        ),
        SandboxBackend::Native => (
            "user namespaces cannot be made here",
            "permit them: sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; or choose another backend",
        ),
        SandboxBackend::Bwrap if facts.user == 0 => {
            ("bubblewrap is not for root: its namespaces would belong to root", native_instead(facts))
        }
        SandboxBackend::Bwrap => (
            "bubblewrap is not installed, or does not work for this user",
            "install it (on Debian and Ubuntu `apt install bubblewrap`) and start stockade as an ordinary user, or choose another backend",
        ),
        SandboxBackend::Landlock => (
            "the kernel has no Landlock, or one that is too old",
            "use Linux 5.19 or later, or choose another backend",
        ),
        SandboxBackend::Docker | SandboxBackend::Podman => {
            ("the engine cannot create containers here", "choose another backend")
        }
        SandboxBackend::Added(_) => {
            let fix = "choose one that `stockade backends` lists";
            return Refusal::new(What::Backend(backend), SandboxRule::UnknownBackend, fix);
        }
    };
    Refusal::new(What::Property(Property::Files), SandboxRule::CannotEnforce(why), fix)
}

/// Returns the advice to use the native backend, which is the strongest one and confines root as well.
pub(crate) const fn native_instead(facts: &HostFacts) -> &'static str {
    match facts.kernel.namespaces {
        true => "choose the native backend: `--backend native`",
        false => {
            "permit user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), and choose \
             the native backend: `--backend native`"
        }
    }
}

/// Returns the refusal of a property with advice for the backend that lacks it. What `auto` would need is the advice already.
fn advised(lack: Refusal, provider: &Provider, spec: &SandboxSpec, facts: &HostFacts) -> Refusal {
    use Property::{Files, Ipc, Network as Net, Processes, ProtectedNames, SecondWall, SystemCalls};
    let What::Property(property) = lack.what else { return lack };
    let fix = match (provider, property) {
        (Provider::Native, SecondWall) => {
            "use a kernel with Landlock (Linux 5.13 or later, with `landlock` in `lsm=`)".into()
        }
        (Provider::Native | Provider::Nothing | Provider::Added(_), _) => return lack,
        _ if spec.backend == SandboxBackend::Auto => return lack,
        (Provider::Container(_), Net) => format!(
            "{}; or start `stockade broker serve`, and use its socket: `--network broker --broker SOCKET`",
            native_instead(facts)
        ),
        (Provider::Container(_), SystemCalls | Ipc) => {
            format!("enable the seccomp filter of the engine, or {}", native_instead(facts))
        }
        (Provider::Landlock, ProtectedNames) | (_, Files | Processes | SecondWall | Net) => {
            native_instead(facts).into()
        }
        _ => return lack,
    };
    Refusal { fix, ..lack }
}

/// Returns what a provider enforces on a machine.
fn promise(provider: &Provider, spec: &SandboxSpec, facts: &HostFacts) -> Enforcement {
    let mut promise = Enforcement::default();
    let is_container = matches!(provider, Provider::Container(_));
    if spec.spawn == Spawn::Threads && facts.kernel.seccomp && !is_container {
        promise.enforce(Property::NoSpawn, "a last seccomp filter, which permits threads");
    }
    match provider {
        Provider::Native | Provider::Bwrap { .. } => namespaces(provider, spec, facts, &mut promise),
        Provider::Landlock => landlock(spec, facts, &mut promise),
        Provider::Container(plan) => {
            contain::promise(plan, spec, &mut promise);
            // System calls in a container are not decided by a supervisor outside.
            let kernel = crate::host::Kernel { mediation: false, ..facts.kernel.clone() };
            names(spec, &HostFacts { kernel, ..facts.clone() }, &mut promise);
        }
        // A registered backend reports its enforcement itself.
        Provider::Added(_) => {}
        Provider::Nothing => {
            Property::required_by_default().into_iter().for_each(|property| {
                promise.gap(property, "the command runs without a sandbox, as chosen");
            });
            promise.gap(
                Property::ProtectedNames,
                "new ones are quarantined at the end, existing ones can be changed",
            );
        }
    }
    promise
}

fn namespaces(provider: &Provider, spec: &SandboxSpec, facts: &HostFacts, promise: &mut Enforcement) {
    promise.enforce(Property::Files, "mount namespace");
    promise.enforce(Property::Processes, "PID namespace, which ends with its first process");
    promise.enforce(Property::Ipc, "IPC namespace, and a keyring of its own");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any");
    match spec.network {
        Network::None => promise.enforce(Property::Network, "network namespace, loopback only"),
        Network::Broker { .. } => {
            promise.enforce(Property::Network, "network namespace, and one Unix socket");
        }
        Network::Proxy(_) if *provider == Provider::Native => {
            promise.enforce(Property::Network, "network namespace, and one listening proxy");
        }
        Network::Proxy(_) => promise.gap(Property::Network, "bubblewrap cannot hand over a listening proxy"),
        Network::Open => promise.enforce(Property::Network, "open, as asked for"),
    }
    if facts.kernel.seccomp {
        promise.enforce(Property::SystemCalls, "seccomp filter");
    }
    let is_walled = *provider == Provider::Native && facts.kernel.landlock > 0;
    match (provider, facts.kernel.landlock) {
        (Provider::Native, 1..) => promise.enforce(Property::SecondWall, "Landlock"),
        (Provider::Native, _) => {
            promise.gap(Property::SecondWall, "the kernel has no Landlock");
        }
        _ => promise.gap(Property::SecondWall, "bubblewrap does not use Landlock"),
    }
    // Where the supervisor decides connect(2), it denies both kinds of sockets.
    let is_decided = facts.kernel.mediation;
    if spec.network == Network::Open && !is_decided && !(is_walled && facts.kernel.landlock >= SCOPED) {
        promise.gap(
            Property::Network,
            "abstract sockets of this machine are reachable: Landlock is too old to deny them",
        );
    }
    if !is_decided {
        promise.gap(
            Property::Network,
            "a socket that another program creates in the workspace during the run is reachable",
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
                true => "existing ones are read-only, new ones are refused when they are created",
                false => "existing ones are read-only, new ones are quarantined at the end",
            };
            promise.enforce(property, how);
            if facts.searched == Searched::InPart {
                promise.gap(property, "the workspace could not be searched completely");
            }
        }
    }
}

fn landlock(spec: &SandboxSpec, facts: &HostFacts, promise: &mut Enforcement) {
    promise.enforce(
        Property::Files,
        "Landlock: no other file is opened, created, moved or deleted; a supervisor decides changes of modes and times",
    );
    promise.gap(Property::Files, "names and sizes of other files are visible");
    match spec.network {
        Network::None => promise.enforce(Property::Network, "no socket can be created"),
        Network::Open => promise.enforce(Property::Network, "open, as asked for; no sockets of this machine"),
        Network::Proxy(_) => promise.gap(Property::Network, "Landlock cannot hand over a listening proxy"),
        Network::Broker { .. } => {
            promise.gap(Property::Network, "Landlock cannot restrict a command to one Unix socket");
        }
    }
    if facts.kernel.landlock >= SCOPED {
        promise.enforce(
            Property::Processes,
            "Landlock: no signals to other processes and no tracing; a supervisor ends remaining processes",
        );
        promise.gap(Property::Processes, "the IDs of other processes are visible");
    } else {
        promise.gap(Property::Processes, "the kernel's Landlock is too old to confine signals");
    }
    promise.enforce(Property::Ipc, "queues and shared memory cannot be created; a keyring of its own");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any");
    promise.enforce(Property::SystemCalls, "seccomp filter");
    promise.gap(Property::SecondWall, "Landlock is the only layer here");
    match (spec.protection, spec.workspace_access) {
        (Protection::Names, MountAccess::ReadOnly) => {
            promise.enforce(Property::ProtectedNames, "the workspace cannot be changed");
        }
        _ => promise.gap(
            Property::ProtectedNames,
            "new ones are quarantined at the end; existing ones can be changed, and `.env` files read",
        ),
    }
}
