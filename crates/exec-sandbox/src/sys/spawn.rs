//! Starts a program with few descriptors, which dies with this one.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::launch::Observed;
use super::raw::{self, CapabilityMask};

/// A program that was started, in a group of its own. It is ended with all of that group, unless somebody takes it over: what
/// fails half way may leave children that wait for ever for a word from it.
pub(crate) struct Spawned {
    pid: i32,
}

impl Spawned {
    /// Its number, for whoever waits for it from now on.
    pub(crate) fn handed_over(self) -> i32 {
        let pid = self.pid;
        std::mem::forget(self);
        pid
    }
}

impl Spawned {
    /// Its number, while it is looked after here.
    pub(crate) const fn number(&self) -> i32 {
        self.pid
    }
}

/// Which rights of this program one keeps that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// It keeps none of them.
    None,
    /// It keeps all of them: it makes containers by itself, as this program makes sandboxes.
    Same,
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // It is not waited for yet, so both numbers are still its own.
        raw::send_signal(-self.pid, libc::SIGKILL).ok();
        raw::wait_for(self.pid).ok();
    }
}

/// Whether a program ends well. Whatever it leaves in its group is ended with it.
pub(crate) fn succeeds_and_leaves_nothing(command: &mut Command) -> bool {
    let Ok(child) = without_capabilities(command).process_group(0).spawn() else { return false };
    let pid = Pid::from_child(&child);
    let spawned = Spawned { pid: pid.as_raw_nonzero().get() };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
    drop(spawned);
    ended.is_ok_and(|ended| ended.is_some_and(|status| status.exit_status() == Some(0)))
}

/// Starts a program that gets these as its standard streams, keeps these descriptors, and none beside. Where somebody looks
/// on, that must be another thread: the program cannot start before it was seen.
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
    let parent = raw::own_number();
    let prepare = move || {
        let error = io::Error::from_raw_os_error;
        for (number, stream) in streams.into_iter().enumerate() {
            raw::duplicate(stream, number as RawFd).map_err(error)?;
        }
        raw::close_on_exec(3).map_err(error)?;
        keep.iter().try_for_each(|descriptor| raw::duplicate(*descriptor, *descriptor)).map_err(error)?;
        raw::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as _).map_err(error)?;
        // It may have died before the line above.
        if !raw::is_child_of(parent) {
            return Err(error(libc::ESRCH));
        }
        // What is ignored here, as SIGINT behind `&` in a script, would be ignored by the program, too.
        raw::reset_signals();
        raw::set_signal_mask(0).map_err(error)?;
        // A user may have capabilities without being root, and a program inherits what is ambient.
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

/// Has a program that is started by itself begin without capabilities.
pub(crate) fn without_capabilities(command: &mut Command) -> &mut Command {
    let prepare = || raw::drop_held_capabilities(CapabilityMask::NONE).map_err(io::Error::from_raw_os_error);
    // SAFETY: as above.
    unsafe { command.pre_exec(prepare) }
}
