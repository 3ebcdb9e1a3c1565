//! The Model Context Protocol: a proxy in front of a server that nobody has to trust, and a server of our own.
//!
//! ```text
//!  client ──► message ──► conversation ──► server, in the sandbox
//!         ◄── written ◄──      │       ◄──
//!                            judge: the questions of the hook, the looks at results of the hook, pins
//! ```
//!
//! `message`, `spelling`, `written`, `methods` and `conversation` are values in and values out. What is sent on is written anew
//! from what was understood, so that both ends read what was judged and nothing else.
//!
//! [`wrap::run`] runs a server in the sandbox and passes the messages that the agent may send and see. [`serve::serve`] is a server
//! with the tools of Stockade. [`bridge::run`] reaches a server behind an address. [`pins::Pins`] keeps the definitions of tools.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod bridge;
mod bytes;
mod conversation;
mod edit;
pub mod judge;
mod message;
mod methods;
pub mod pins;
pub mod serve;
mod spelling;
pub mod wrap;
mod written;

pub use conversation::{ClientFeature, Terms};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
