//! Runs a command of an agent in a sandbox.
//!
//! ```no_run
//! use stockade_guard::exec::{Property, SandboxSpec, Streams, run_spec};
//!
//! let spec = SandboxSpec::new("/srv/work", ["make", "test"]);
//! let outcome = run_spec(&spec, Streams::default())?;
//! assert!(outcome.enforcement.holds(Property::Files), "{:?}", outcome.enforcement.gaps);
//! # Ok::<(), stockade_guard::exec::RunError>(())
//! ```

#[cfg(feature = "config")]
mod openshell;

#[cfg(feature = "config")]
pub use openshell::openshell_policy;
#[cfg(feature = "config")]
pub use stockade_exec_sandbox::openshell::{OpenShellError, OpenShellPolicy};
pub use stockade_exec_sandbox::{
    AddedBackend, BackendName, Caches, Changed, Confinement, ContainerPlan, ContainerPurpose,
    ContainerRequest, Denial, DroppedGroup, EXIT_CODES, End, Enforcement, EnforcementGap, Engine,
    EngineFacts, EngineLack, Entry, Environment, Explain, HomeState, HomeView, HostFacts, Kernel, LeftBy,
    Limit, ListenerHandoff, Mount, MountAccess, MountKind, Network, Offer, OnUnavailable, Outcome, Output,
    PROXY_ADDRESS, Plan, Priority, Property, Protection, Provider, Quarantined, Refusal, ResourceLimits,
    ResourceUsage, SANDBOX_EXEC, SandboxBackend, SandboxMode, SandboxRule, SandboxSpec, SeatbeltPlan, Sees,
    Spawn, What, backend_option, bwrap_arguments, mount_table, plan, seatbelt_plan,
};
#[cfg(target_os = "linux")]
pub use stockade_exec_sandbox::{
    AddedCommand, Backend, BackendFinder, BackendRegistry, BackendRun, Cancellation, HandedListeners,
    HeldKind, Input, ListedBackend, MAX_AGE, MAX_BYTES, MAX_GROUPS, Probed, QuarantineEntry, QuarantineError,
    QuarantineStore, RunControl, RunError, SandboxPool, Selection, Signals, Stream, Streams, Terminal,
    TerminalSize, engine_runtimes, external_backends, external_program, find_external, find_program,
    helper_command, plan_and_run, probe, run, run_added, run_controlled, run_prepared,
};
#[cfg(unix)]
pub use stockade_exec_sandbox::{SeatbeltStream, SeatbeltWatch, run_seatbelt};

#[cfg(target_os = "linux")]
pub use stockade_exec_sandbox::{
    ChangeKind, ChangeSelection, ChangeState, Conflict, Content, DroppedLayer, FileChange, LayerState,
    MAX_LAYER_AGE, MAX_LAYER_BYTES, MAX_LAYERS, Merged, ResumedLayer, ReviewError, ReviewLayer, ReviewStore,
    ReviewView,
};
pub use stockade_exec_sandbox::{ReviewMode, ReviewPolicy, Reviewed};

/// Looks at this machine, plans and runs: what a program does that wants no more than an outcome.
#[cfg(target_os = "linux")]
pub fn run_spec(spec: &SandboxSpec, streams: Streams) -> Result<Outcome, RunError> {
    backends().plan_and_run(spec, streams, &RunControl::default()).map(|(_, outcome)| outcome)
}

/// What makes sandboxes for this program, whichever door a command comes through. A program that brings a backend of its own
/// adds it here.
#[cfg(target_os = "linux")]
pub fn backends() -> &'static BackendRegistry {
    static BACKENDS: std::sync::LazyLock<BackendRegistry> = std::sync::LazyLock::new(|| {
        let registry = BackendRegistry::builtin().finding(find_external);
        #[cfg(feature = "e2b")]
        registry.register(Box::new(stockade_exec_sandbox::e2b::E2bBackend), 0, Selection::ByNameOnly);
        registry
    });
    &BACKENDS
}
