//! Plans for macOS, where `sandbox-exec` applies a profile that the kernel enforces at every call.
//!
//! There are no mounts: other files exist, and access to them is denied. A [`SeatbeltPlan`] can be created on any system,
//! from the same [`SandboxSpec`] as every other plan, and runs on macOS only. The profile language is not documented by
//! Apple, and `sandbox-exec` is marked as deprecated since 2016, but the system itself, browsers and other agents still use
//! it.
//!
//! The rules of a profile are rows of `table`; `text` writes paths as profile text; `rules` orders them. The last matching rule
//! decides, so a rule for a path follows the rules for the folders around it.

mod plan;
mod profile;
mod rules;
mod table;
mod text;

#[cfg(unix)]
mod run;

use std::collections::BTreeSet;
use std::path::Path;

use crate::enforcement::{Enforcement, Property};
use crate::env::environment;
use crate::host::HostFacts;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::requirement::require;
use crate::spec::{MountAccess, Network, Protection, SandboxSpec, Spawn};

pub use plan::{SANDBOX_EXEC, SeatbeltPlan};
#[cfg(unix)]
pub use run::{SeatbeltStream, SeatbeltWatch, run_seatbelt};

/// Plans `spec` on a Mac like `facts`, or returns why it is refused.
pub fn seatbelt_plan(spec: &SandboxSpec, facts: &HostFacts) -> Result<SeatbeltPlan, Refusal> {
    let (program, arguments) = crate::plan::command(&spec.command)?;
    crate::mounts::can_be_shown(spec, facts, None)?;
    let view = rules::View::of(spec, facts)?;
    let cwd = spec.cwd.clone().unwrap_or_else(|| spec.workspace.clone());
    if !view.shows(rules::real(&cwd, facts).as_path()) {
        let fix = "choose the workspace or a directory below it";
        return Err(Refusal::new(What::Cwd(cwd), SandboxRule::VisibleCwd, fix));
    }
    let enforcement = promise(spec);
    let required: BTreeSet<Property> = &required(spec) | &spec.require_by_name;
    require(&required, &enforcement)?;
    Ok(SeatbeltPlan {
        profile: profile::profile(&view, spec, Path::new(&program))?,
        environment: environment(&spec.environment, &spec.network, facts, &spec.workspace, &cwd)?,
        program,
        arguments,
        cwd,
        limits: spec.limits.clone(),
        enforcement,
    })
}

/// Returns the required properties. macOS has no system call filters, so one is only required by name.
fn required(spec: &SandboxSpec) -> BTreeSet<Property> {
    let mut required = spec.require.clone();
    if required == Property::required_by_default() {
        required.remove(&Property::SystemCalls);
    }
    required
}

/// Returns what a profile enforces.
fn promise(spec: &SandboxSpec) -> Enforcement {
    let mut promise = Enforcement::default();
    promise.enforce(Property::Files, "a profile: only named paths are readable or writable");
    promise.gap(
        Property::Files,
        "the existence of files is visible; temporary directories of the machine are shared",
    );
    promise.enforce(Property::Processes, "a profile: signals and process information are confined");
    promise.gap(Property::Processes, "a process that leaves the command's process group is not ended");
    promise.enforce(Property::Ipc, "a profile: no shared memory, and few system services");
    promise.enforce(Property::Privileges, "a profile cannot be left, and no program in it gains privileges");
    promise.gap(Property::SystemCalls, "macOS filters operations and not system calls");
    promise.gap(Property::SecondWall, "macOS has no Landlock");
    match spec.network {
        Network::None => {
            promise.enforce(Property::Network, "a profile: no connections, not even to the loopback");
        }
        Network::Broker { .. } => promise.enforce(Property::Network, "a profile: one socket"),
        Network::Proxy(_) => {
            promise.gap(Property::Network, "macOS has no network namespaces in which a proxy could listen");
        }
        Network::Open => promise.enforce(Property::Network, "open, as asked for; no sockets of this machine"),
    }
    names(spec, &mut promise);
    if spec.spawn == Spawn::Threads {
        let is_named_in_full = spec.command.first().is_some_and(|program| Path::new(program).is_absolute());
        match is_named_in_full {
            true => promise.enforce(Property::NoSpawn, "a profile: no fork, and no program but this one"),
            false => promise.gap(Property::NoSpawn, "the program must be an absolute path"),
        }
    }
    for property in [Property::Memory, Property::TotalMemory, Property::ProcessCount, Property::Disk] {
        promise.gap(property, "macOS has no limits for a group of processes");
    }
    promise
}

fn names(spec: &SandboxSpec, promise: &mut Enforcement) {
    let property = Property::ProtectedNames;
    match (spec.protection, spec.workspace_access) {
        (Protection::Off, _) => promise.gap(property, "switched off"),
        (_, MountAccess::ReadOnly) => promise.enforce(property, "the workspace cannot be changed"),
        (Protection::Names, MountAccess::ReadWrite) => {
            promise.enforce(property, "a profile: such names are neither created nor changed, at any depth");
            promise.gap(
                property,
                "a directory with another name may become a new repository; nothing is checked afterwards",
            );
        }
    }
}
