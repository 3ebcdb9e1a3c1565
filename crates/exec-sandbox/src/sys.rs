//! System calls. This is the only place for unsafe code in the whole repository.
//!
//! [`raw`] has one call a function; [`launch`] is what is prepared before the first process of a sandbox is made; [`init`]
//! is what that process does, and [`command`] what the one that becomes the command does. Between its birth and the start of
//! the command, a process is a copy of one thread of a program that may have many: it may not allocate, lock or unwind, so
//! everything is ready before, and errors are numbers.
#![expect(unsafe_code, reason = "system calls")]

pub(crate) mod argv_mailbox;
mod command;
mod drop_inherited_memory;
pub(crate) mod footprint;
mod init;
mod landlock_init;
pub(crate) mod launch;
pub(crate) mod launcher;
pub(crate) mod overlay;
mod proxy_listener;
pub(crate) mod raw;
pub(crate) mod remove;
pub(crate) mod spawn;
pub(crate) mod tty_restorer;
