//! The server of Stockade: every layer for a program in any language, by JSON-RPC 2.0 with one message a line.
//!
//! ```text
//!            lines ──► reader ──► small and quick: answered at once ──► connection_queue ──► writer ──► lines
//!                        │                                                    ▲
//!                        └──► long or slow: a pool of workers ───────────────┘
//! ```
//!
//! [`Server::new`] sets a server up. [`converse`] answers one client over any reader and writer, [`listen`] all clients of a socket
//! that only programs of this user reach, and [`schema()`] describes every method as JSON Schema.
//!
//! `requests` and `wire` read and write JSON-RPC, `connection_queue` bounds the requests in flight, `pool` runs them, `connection`
//! joins these, `socket` accepts connections, and `methods` has one file for each group of methods and the table of all.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only the method `exec` needs it, which other systems lack")
)]

mod bounds;
mod catch_panic;
mod connection;
mod connection_queue;
mod fault;
#[cfg(target_os = "linux")]
mod graphs;
mod guarded;
mod in_flight;
mod listeners;
mod locks;
mod methods;
mod operator_rules;
mod pool;
mod requests;
mod scanner;
mod schema;
mod server;
mod sessions;
mod shutdown;
mod socket;
#[cfg(test)]
mod tests;
mod wire;

pub use bounds::MAX_REQUEST;
pub use connection::converse;
pub use schema::document as schema;
pub use server::{Audit, Evaluations, ServeOptions, Server};
pub use shutdown::end_by_signal;
pub use socket::{SocketError, listen};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
