//! Sandboxes on the machines of [E2B](https://e2b.dev), over its own API: made, used, and gone.
//!
//! A sandbox there is a virtual machine of its own. A key of an account makes it; commands and files go to a service inside, by a
//! token that belongs to this one sandbox. Nothing of this machine is seen there but what is written into it.
//!
//! The server ends a sandbox whose time is up, so that one whose client died costs no more than that. Requests that were
//! certainly not carried out are made again, a few times, and later each time; nothing else is.
//!
//! It is tried on a server of our own that the official SDKs for Python and JavaScript are tried on as well, and was not run
//! against E2B itself.

#[cfg(target_os = "linux")]
mod backend;
mod client;
mod error;
mod files;
mod http;
mod packages;
mod process;
mod settings;

#[cfg(target_os = "linux")]
pub use backend::E2bBackend;
pub use client::{E2bClient, E2bRequest, E2bSandbox};
pub use error::E2bError;
pub use files::{E2bEntry, E2bEntryKind};
pub use packages::Packages;
pub use process::{E2bCommand, E2bEnd, E2bStream};
pub use settings::{E2bKey, E2bSettings};
