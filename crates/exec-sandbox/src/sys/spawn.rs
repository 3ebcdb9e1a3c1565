//! Starts an external program with few descriptors, which ends with this program.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::launch::Observed;
use super::raw::{self, CapabilityMask};

/// A started program in a process group of its own. On drop the whole group is killed, unless ownership was transferred: after a
/// failed set-up, children could otherwise wait forever.
pub(crate) struct Spawned {
    pid: i32,
}

impl Spawned {
    /// Transfers ownership to the caller, who must reap the process with the returned ID.
    pub(crate) fn handed_over(self) -> i32 {
        let pid = self.pid;
        std::mem::forget(self);
        pid
    }
}

impl Spawned {
    /// Returns its process ID.
    pub(crate) const fn number(&self) -> i32 {
        self.pid
    }
}

/// Whether a started program keeps the capabilities of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// It keeps none of them.
    None,
    /// It keeps all: a container engine needs them to create containers.
    Same,
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // It was not reaped yet, so neither ID can have been reused.
        raw::send_signal(-self.pid, libc::SIGKILL).ok();
        raw::wait_for(self.pid).ok();
    }
}

/// Runs a program, kills the rest of its process group, and returns whether it succeeded.
pub(crate) fn succeeds_and_leaves_nothing(command: &mut Command) -> bool {
    let Ok(child) = without_capabilities(command).process_group(0).spawn() else { return false };
    let pid = Pid::from_child(&child);
    let spawned = Spawned { pid: pid.as_raw_nonzero().get() };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
    drop(spawned);
    ended.is_ok_and(|ended| ended.is_some_and(|status| status.exit_status() == Some(0)))
}

/// Starts a program with these standard streams and descriptors, and no others. An observer must run on another thread, because
/// the exec of the program is an observed call.
pub(crate) fn spawn(
    command: Command,
    streams: [RawFd; 3],
    keep: Vec<RawFd>,
    observed: Option<Observed>,
) -> io::Result<Spawned> {
    spawn_with(command, streams, keep, observed, Rights::None)
}

/// As [`spawn`], with these rights.
pub(crate) fn spawn_with(
    mut command: Command,
    streams: [RawFd; 3],
    keep: Vec<RawFd>,
    observed: Option<Observed>,
    rights: Rights,
) -> io::Result<Spawned> {
    let (parent, ignored) = (raw::own_number(), raw::ignored_signals());
    let prepare = move || {
        let error = io::Error::from_raw_os_error;
        for (number, stream) in streams.into_iter().enumerate() {
            raw::duplicate(stream, number as RawFd).map_err(error)?;
        }
        raw::close_on_exec(3).map_err(error)?;
        keep.iter().try_for_each(|descriptor| raw::duplicate(*descriptor, *descriptor)).map_err(error)?;
        raw::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as _).map_err(error)?;
        // The parent may have died before the prctl call.
        if !raw::is_child_of(parent) {
            return Err(error(libc::ESRCH));
        }
        // Ignored signals are inherited across exec, such as SIGINT of a background job in a script.
        raw::reset_signals(ignored);
        raw::set_signal_mask(0).map_err(error)?;
        // A non-root user may have ambient capabilities, which programs inherit.
        if rights == Rights::None {
            raw::drop_held_capabilities(CapabilityMask::NONE).map_err(error)?;
        }
        if let Some(observed) = &observed {
            raw::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(error)?;
            observed.begin().map_err(error)?;
        }
        Ok(())
    };
    // SAFETY: what runs between fork and exec makes system calls and nothing else: no allocation, no lock.
    unsafe { command.process_group(0).pre_exec(prepare) };
    let child = command.spawn()?;
    Ok(Spawned { pid: Pid::from_child(&child).as_raw_nonzero().get() })
}

/// Makes a program start without capabilities.
pub(crate) fn without_capabilities(command: &mut Command) -> &mut Command {
    let prepare = || raw::drop_held_capabilities(CapabilityMask::NONE).map_err(io::Error::from_raw_os_error);
    // SAFETY: as above.
    unsafe { command.pre_exec(prepare) }
}
