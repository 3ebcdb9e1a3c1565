//! The first process of a sandbox without namespaces: it starts the command with Landlock, waits, and ends the remaining
//! processes. It must not allocate, lock or unwind, see the parent module.
//!
//! It is not in the Landlock domain itself, so the command can neither signal nor trace it. As a child subreaper it adopts
//! orphaned processes, and so can end all descendants. Then it deletes the private directory of the command.

use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};

use super::command;
use super::drop_inherited_memory::drop_inherited_memory;
use super::init::{Failure, ended, enforce_landlock, is_full, most_processes};
use super::launch::{Launch, PARENT_GONE, REPORT_SETUP, Stage};
use super::raw::{self, ALL_SIGNALS, CapabilityMask, Errno, KernelLimit, Result, Side};
use super::remove::ScratchDir;

/// A limit that prevents a process from forking.
const NO_NEW_PROCESSES: KernelLimit = KernelLimit { resource: libc::RLIMIT_NPROC as _, soft: 0, hard: 0 };

/// The delay before checking killed processes again.
const LOOK_AGAIN_MS: i64 = 2;

/// Runs the command to its end.
pub(super) fn run(launch: &Launch, parent: RawFd, go: RawFd, reports: RawFd) -> ! {
    raw::reset_signals(launch.ignored);
    raw::prctl(libc::PR_SET_PDEATHSIG, PARENT_GONE as _).ok();
    let scratch_dir = launch.scratch_dir;
    // The parent may have died before the prctl call, see `init::run`.
    if !raw::only_second_is_readable(parent, go) || raw::read_byte(go).is_none() {
        remove(scratch_dir);
        raw::exit(1);
    }
    if let Err((stage, step, errno)) = prepare(launch) {
        raw::write_words(reports, &[REPORT_SETUP, stage as i32, step as i32, errno, 0, 0, 0, 0]);
        raw::exit(1);
    }
    // set_ids cleared PR_SET_PDEATHSIG, and the parent may have died before it was set again.
    if raw::is_readable_within(parent, 0) {
        remove(scratch_dir);
        raw::exit(1);
    }
    // SAFETY: the child runs `command`, which keeps to the same rules.
    match unsafe { raw::fork() } {
        Ok(Side::Child) => command::run(launch, go, reports),
        Ok(Side::Parent { pid, .. }) => {
            let is_walled = launch.landlock.is_some();
            let most = most_processes(launch);
            // SAFETY: from here on there are numbers on the stack, and nothing else.
            unsafe { drop_inherited_memory() };
            // The processes to end have the same user. Only without a sandbox the command keeps all rights and may have
            // changed its user, so ending it needs capabilities.
            let kept = if is_walled { CapabilityMask::NONE } else { CapabilityMask::END_OTHERS };
            if raw::renounce_capabilities(kept).is_err() {
                end_all();
                remove(scratch_dir);
                raw::exit(1);
            }
            watch(pid, reports, scratch_dir, most)
        }
        Err(errno) => {
            raw::write_words(reports, &[REPORT_SETUP, Stage::Fork as i32, 0, errno, 0, 0, 0, 0]);
            raw::exit(1)
        }
    }
}

fn prepare(launch: &Launch) -> Result<(), Failure> {
    let at = |stage: Stage| move |errno| (stage, 0, errno);
    for &(start, length) in &launch.wipe {
        // SAFETY: these are the arguments and variables of the program that this is a copy of; nothing here reads them.
        unsafe { raw::wipe(start, length) };
    }
    raw::new_session().map_err(at(Stage::Identity))?;
    if let Some((user, group)) = launch.identity {
        raw::set_ids(user, group).map_err(at(Stage::Identity))?;
        // The kernel clears PR_SET_PDEATHSIG on a change of credentials.
        raw::prctl(libc::PR_SET_PDEATHSIG, PARENT_GONE as _).map_err(at(Stage::Identity))?;
    }
    raw::prctl(libc::PR_SET_DUMPABLE, 0).map_err(at(Stage::Identity))?;
    // Without a PID namespace, orphaned descendants would be adopted by the machine's init and survive the command.
    raw::prctl(libc::PR_SET_CHILD_SUBREAPER, 1).map_err(at(Stage::Identity))?;
    raw::new_keyring().map_err(at(Stage::Keyring))
}

/// Restricts this process, which is about to become the command.
pub(super) fn restrict(launch: &Launch) -> Result<(), (Stage, Errno)> {
    let at = |stage: Stage| move |errno| (stage, errno);
    if let Some(processors) = &launch.processors {
        raw::stay_on(0, processors).map_err(at(Stage::Limits))?;
    }
    let Some(landlock) = &launch.landlock else { return Ok(()) };
    // Without capabilities, the calls that lock them down would fail with EPERM.
    if raw::has_capabilities() {
        raw::drop_capabilities().map_err(at(Stage::Capabilities))?;
    }
    raw::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(at(Stage::Capabilities))?;
    // The limit on open files may be low already.
    enforce_landlock(landlock, 0).map_err(|(_, errno)| (Stage::Landlock, errno))?;
    raw::install_filter(&launch.filter).map_err(at(Stage::Filter))
}

fn watch(command: i32, reports: RawFd, scratch_dir: Option<ScratchDir>, most: Option<KernelLimit>) -> ! {
    let Ok(signals) = raw::signal_descriptor(ALL_SIGNALS) else { raw::exit(1) };
    loop {
        while let Ok(Some(child)) = raw::wait_any(false) {
            if child.pid == command {
                let is_full = is_full(child, most);
                end_all();
                remove(scratch_dir);
                raw::write_words(reports, &ended(child, is_full));
                raw::exit(0);
            }
        }
        match raw::read_signal(signals.as_fd().as_raw_fd()) {
            Ok(PARENT_GONE) => {
                end_all();
                remove(scratch_dir);
                raw::exit(1)
            }
            Ok(libc::SIGCHLD) | Err(libc::EINTR) => {}
            Ok(signal) => {
                raw::send_signal(-command, signal).ok();
            }
            Err(_) => raw::exit(1),
        }
    }
}

/// Deletes the private directory of the command, because its creator may be killed before doing so.
fn remove(scratch_dir: Option<ScratchDir>) {
    if let Some(scratch_dir) = scratch_dir {
        scratch_dir.remove();
    }
}

/// Kills all descendants. When a child dies, this process adopts its children, and kills those in the next round.
fn end_all() {
    loop {
        each_child(|pid| {
            // It may be forking right now, so the new child inherits a limit of 0, which ends the race.
            raw::set_limit_of(pid, &NO_NEW_PROCESSES).ok();
            raw::send_signal(pid, libc::SIGKILL).ok();
        });
        loop {
            match raw::wait_any(false) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        // Killed processes need a moment to die, and their children to be adopted.
        raw::wait_milliseconds(LOOK_AGAIN_MS);
    }
}

/// Calls `with` for each child, up to the size of a buffer on the stack: the callers repeat it.
fn each_child(mut with: impl FnMut(i32)) {
    let Ok(file) = raw::open_for_reading(c"/proc/thread-self/children") else { return };
    let mut text = [0u8; 4096];
    let Ok(length) = raw::read(file.as_raw_fd(), &mut text) else { return };
    let mut number = 0i32;
    for byte in text.iter().take(length) {
        match byte {
            b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0')),
            _ if number > 0 => {
                with(number);
                number = 0;
            }
            _ => {}
        }
    }
}
