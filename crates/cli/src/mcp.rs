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

pub(crate) mod bridge;
mod bytes;
pub(crate) mod conversation;
mod edit;
pub(crate) mod judge;
pub(crate) mod message;
mod methods;
pub(crate) mod pins;
pub(crate) mod serve;
mod spelling;
pub(crate) mod wrap;
mod written;
