//! Sandboxes on other machines: commands at [E2B](https://e2b.dev) and in clusters of [Kubernetes](https://kubernetes.io).
//!
//! Each backend is a program, `stockade-backend-e2b` and `stockade-backend-kubernetes`, which `stockade` starts when a request names
//! the backend. They speak the protocol of external backends, so that `stockade` itself has no client for servers, and only the
//! program of a backend gets the key of its service. As a library, the crate has the clients that the programs use.
//!
//! ```no_run
//! # #[cfg(feature = "e2b")] {
//! use stockade_backends_remote::e2b::{E2bClient, E2bCommand, E2bKey, E2bRequest, E2bSettings};
//!
//! let client = E2bClient::new(E2bSettings::new(E2bKey::new("e2b_0123")?))?;
//! let sandbox = client.create(&E2bRequest::default())?;
//! let end = sandbox.run(&E2bCommand::of(["true".to_owned()]), &mut |_, _| {})?;
//! assert_eq!(end.code, Some(0));
//! sandbox.delete()?;
//! # }
//! # #[cfg(feature = "e2b")]
//! # Ok::<(), stockade_backends_remote::e2b::E2bError>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "elsewhere there are clients, and no backends that use them")
)]

#[cfg(feature = "e2b")]
pub mod e2b;
#[cfg(feature = "kube")]
pub mod kubernetes;
#[cfg(target_os = "linux")]
mod program;
#[cfg(any(feature = "e2b", feature = "kube"))]
mod remote;

#[cfg(target_os = "linux")]
pub use program::backend_program;
