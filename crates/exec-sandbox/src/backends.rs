//! Sandbox backends outside of this crate: container engines, and backends that an embedding program registers.

pub(crate) mod added;
pub(crate) mod args;
#[cfg(target_os = "linux")]
pub(crate) mod backend;
#[cfg(target_os = "linux")]
mod builtin;
pub(crate) mod contain;
#[cfg(target_os = "linux")]
pub(crate) mod engine;
#[cfg(all(feature = "external", target_os = "linux"))]
pub(crate) mod external;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(all(feature = "external", target_os = "linux"))]
pub mod protocol;
#[cfg(target_os = "linux")]
pub(crate) mod registry;

pub use crate::container_request::{
    ContainerPlan, ContainerPurpose, ContainerRequest, Engine, EngineFacts, EngineLack,
};
pub use args::ENGINE_PROXIES;
#[cfg(target_os = "linux")]
pub use backend::{Backend, BackendRun, Probed};
#[cfg(all(feature = "external", target_os = "linux"))]
pub use external::{external_backends, external_program, find_external, released_backends};
#[cfg(target_os = "linux")]
pub use registry::{BackendFinder, BackendRegistry, ListedBackend, Selection, engine_runtimes};
