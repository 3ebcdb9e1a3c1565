//! Seccomp filters of a sandbox as data: options in, instructions of classic BPF out.
//!
//! [`filter()`] denies the calls that no command in a sandbox needs, [`no_spawn`] every new program, and [`observe`] passes calls to a
//! supervisor, which reads their arguments by [`asked_by`], [`name_call`] and [`mode_change`]. It installs no filter and makes no
//! system call: a filter can be built, printed and tested on any machine.
//!
//! ```
//! use stockade_seccomp::{Architecture, Closed, filter};
//!
//! let without_sockets = filter(Architecture::X86_64, &[Closed::Sockets]);
//! assert!(without_sockets.len() > filter(Architecture::X86_64, &[]).len());
//! ```

#![forbid(unsafe_code)]

mod architecture;
mod asking;
mod filter;
mod instruction;
mod modes;
mod names;
mod table;

pub use architecture::Architecture;
pub use asking::{Asks, PathArguments, PathUse};
pub use filter::{
    CarriedOut, Closed, Notified, Opened, asked_by, filter, filter_but, no_spawn, no_spawn_alone, observe,
};
pub use instruction::Instruction;
pub use modes::{ChangedFile, ModeChange, NewValue, mode_change};
pub use names::{NameCall, SocketAddress, name_call};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
