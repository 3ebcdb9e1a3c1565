//! The Model Context Protocol: a filtering proxy for untrusted servers, and Stockade as a server.
//!
//! ```text
//!  client ──► message ──► conversation ──► server, in the sandbox
//!         ◄── written ◄──      │       ◄──
//!                            judge: the questions of the hook, the looks at results of the hook, pins
//! ```
//!
//! `message`, `spelling`, `written`, `methods` and `conversation` are values in and values out. Forwarded messages are
//! serialized from the parsed form, so that both ends read exactly what was checked.
//!
//! [`wrap::run`] runs a server in the sandbox and forwards the messages that are allowed for the agent. [`serve::serve`] is a
//! server with the tools of Stockade. [`bridge::run`] connects to a remote server. [`pins::Pins`] stores tool definitions.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod bridge;
mod bytes;
mod confusable_names;
mod conversation;
mod edit;
pub mod judge;
mod message;
mod methods;
pub mod pins;
pub mod serve;
pub mod wrap;
mod written;

pub use conversation::{ClientFeature, Terms};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
