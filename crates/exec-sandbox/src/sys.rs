//! System calls, the only unsafe code of the repository.
//!
//! [`raw`] has one function per system call; [`launch`] prepares everything that the first process of a sandbox needs; [`init`]
//! is that process, and [`command`] the one that becomes the command. Between fork and exec, a process is a copy of one thread
//! of a program that may have many threads, and another thread may have held a lock of the allocator. So it must not allocate,
//! lock or unwind: everything is prepared before, and errors are numbers.
#![expect(unsafe_code, reason = "system calls")]

pub(crate) mod argv_mailbox;
mod command;
mod drop_inherited_memory;
pub(crate) mod footprint;
mod init;
mod landlock_init;
pub(crate) mod launch;
pub(crate) mod launcher;
pub(crate) mod mask;
pub(crate) mod overlay;
mod proxy_listener;
pub(crate) mod raw;
pub(crate) mod remove;
pub(crate) mod spawn;
pub(crate) mod tty_restorer;
