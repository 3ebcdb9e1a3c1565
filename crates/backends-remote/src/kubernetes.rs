//! Commands on the machines of a cluster, as Jobs of [Kubernetes](https://kubernetes.io), for those who outgrow one machine.
//!
//! ```text
//!  spec + settings ──► objects ──► made, held back ──► its Secret, its NetworkPolicy ──► let go ──► watched, read ──► removed,
//!                      (pure)      (a Job that waits)                                                            seen to be gone
//! ```
//!
//! [`RunObjects::plan`] makes of a [`SandboxSpec`](stockade_exec_sandbox::SandboxSpec) what the cluster gets, as values that can be printed and
//! compared: a pod that has no rights, cannot change its own system, ends in time and knows no account of the cluster; its variables
//! in a Secret; and a NetworkPolicy that lets nothing in or out.
//!
//! [`ClusterClient`] asks the server for it, by HTTP and TLS, one request at a time. Every object has a name that follows from the
//! name of the run, so that a request may be made again whatever became of it, and a run is never made twice. A Job is made so that
//! it does not begin, and is let go when all else is there: a Job that is found held back has run nothing.
//!
//! [`Fleet`] runs many commands, so many at a time, with a [`FleetJournal`] on disk: when the client dies, the next one goes on
//! where it was, and runs nothing twice.
//!
//! Kubernetes itself promises less than once: a node that is cut off may go on with what the cluster has given up.

mod asked;
#[cfg(target_os = "linux")]
mod backend;
mod client;
mod error;
mod fleet;
mod journal;
mod kubeconfig;
mod logs;
mod name;
mod objects;
mod options;
mod pod;
mod pods;
mod promise;
mod run;
mod settings;
mod upload;
mod watch;

#[cfg(target_os = "linux")]
pub use backend::KubernetesBackend;
pub use client::ClusterClient;
pub use error::KubernetesError;
pub use fleet::{Fleet, FleetReport, FleetRun};
pub use journal::{FleetJournal, FleetStep};
pub use kubeconfig::{ClusterAccess, ClusterLogin};
pub use name::RunName;
pub use objects::{ClusterHost, RunObjects};
pub use run::{ClusterEnd, ClusterRun};
pub use settings::{ClusterSettings, ClusterWorkspace, NetworkPolicies, Workload};
pub use upload::{Upload, UploadError};
