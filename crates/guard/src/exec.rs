//! Runs a command of an agent in a sandbox.
//!
//! ```no_run
//! use stockade_guard::exec::run::Streams;
//! use stockade_guard::exec::{Property, SandboxSpec, run_spec};
//!
//! let spec = SandboxSpec::new("/srv/work", ["make", "test"]);
//! let outcome = run_spec(&spec, Streams::default())?;
//! assert!(outcome.enforcement.holds(Property::Files), "{:?}", outcome.enforcement.gaps);
//! # Ok::<(), stockade_guard::exec::RunError>(())
//! ```

#[cfg(feature = "config")]
mod openshell_policy;
#[cfg(feature = "config")]
mod policy_document;

#[cfg(feature = "config")]
pub use openshell_policy::{OpenShellError, OpenShellPolicy};
#[cfg(feature = "config")]
pub use policy_document::openshell_policy;
pub use stockade_exec_sandbox::*;
#[cfg(target_os = "linux")]
use stockade_exec_sandbox::{
    backends::{BackendRegistry, Selection, find_external, released_backends},
    run::{RunControl, Streams},
};

/// Looks at this machine, plans and runs: what a program does that wants no more than an outcome.
#[cfg(target_os = "linux")]
pub fn run_spec(spec: &SandboxSpec, streams: Streams) -> Result<Outcome, RunError> {
    backends().plan_and_run(spec, streams, &RunControl::default()).map(|(_, outcome)| outcome)
}

/// Returns the backends for commands of every entry point. A program with a backend of its own
/// registers it here.
#[cfg(target_os = "linux")]
pub fn backends() -> &'static BackendRegistry {
    static BACKENDS: std::sync::LazyLock<BackendRegistry> = std::sync::LazyLock::new(|| {
        let registry = BackendRegistry::builtin().finding(find_external);
        for backend in released_backends() {
            registry.register(backend, 0, Selection::ByNameOnly);
        }
        registry
    });
    &BACKENDS
}
