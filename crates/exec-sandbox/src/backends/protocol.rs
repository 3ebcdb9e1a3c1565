//! The messages of backends that are programs, and labels for what they make elsewhere.
//!
//! `EXTERNAL.md` documents the protocol. The programs of a release use the part of it that is trusted: a program that lies beside
//! `stockade` is asked about a whole [`SandboxRequest`], and its answers are believed.

pub use super::engine::{is_orphaned, owner_label};
pub use super::external::{
    BackendLine, EndCause, NamedGap, NamedMeans, NetworkRequest, RefusedRequest, SandboxRequest,
    WorkspaceSeen,
};
