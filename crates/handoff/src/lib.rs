//! Sockets handed out of a sandbox, and helper processes and threads that start without privileges.
//!
//! A sandbox with a network of its own has one way out: sockets that its first process binds and hands to a proxy outside.
//! [`ListenerHandoff`] is the end in the plan of the sandbox, [`HandedListeners`] the end of the proxy, and [`EgressSockets`]
//! lists what is bound. [`trust`] has the certificate files and variables by which programs inside trust that proxy.
//!
//! Helpers run with as few rights as they need: [`helper_command`] starts a program without any capability, and
//! [`keep_capabilities`] reduces those of a thread.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use stockade_handoff::{EgressSockets, HandedListeners};
//!
//! let sockets = EgressSockets { answers_names: true, ..EgressSockets::default() };
//! let (sandbox, proxy) = HandedListeners::with(sockets)?;
//! assert!(sandbox.sockets().answers_names);
//!
//! // No sandbox was started, so the proxy gets no socket.
//! drop(sandbox);
//! assert!(proxy.next()?.is_none());
//! # }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! It decides nothing: which hosts are allowed is up to the proxy, and what a command may see up to the sandbox.

#![forbid(unsafe_code)]

#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod helper;
mod listeners;
pub mod trust;

#[cfg(target_os = "linux")]
pub use capabilities::{Capability, held_capabilities, keep_capabilities, keep_capabilities_without_exec};
#[cfg(target_os = "linux")]
pub use helper::{HelperCommand, find_program, helper_command, helper_variables};
pub use listeners::{EgressSockets, ListenerHandoff, PROXY_ADDRESS, PROXY_PORT};
#[cfg(target_os = "linux")]
pub use listeners::{HandedListeners, receive_descriptor};
pub use trust::RunTrust;
