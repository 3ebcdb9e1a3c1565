//! What the first process does where there are no namespaces: it starts the command behind Landlock, waits, and ends
//! whatever is left. The same rules hold as for the first process of a sandbox with namespaces.
//!
//! It stays outside of the restrict itself, so the command can neither end nor trace it. It adopts every process that loses
//! its parent, and so sees all of them to their end. Then it removes the folder that the command had for itself.

use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};

use super::command;
use super::drop_inherited_memory::drop_inherited_memory;
use super::init::{Failure, ended, enforce_landlock, is_full, most_processes};
use super::launch::{Launch, PARENT_GONE, REPORT_SETUP, Stage};
use super::raw::{self, ALL_SIGNALS, CapabilityMask, Errno, KernelLimit, Result, Side};
use super::remove::ScratchDir;

/// Keeps a process from starting any more.
const NO_NEW_PROCESSES: KernelLimit = KernelLimit { resource: libc::RLIMIT_NPROC as _, soft: 0, hard: 0 };

/// How long to wait for processes that were ended, before looking again.
const LOOK_AGAIN_MS: i64 = 2;

/// Runs the command to its end.
pub(super) fn run(launch: &Launch, parent: RawFd, go: RawFd, reports: RawFd) -> ! {
    raw::reset_signals();
    raw::prctl(libc::PR_SET_PDEATHSIG, PARENT_GONE as _).ok();
    let scratch_dir = launch.scratch_dir;
    // It may have died before the line above, with or without the word to go on.
    if !raw::only_second_is_readable(parent, go) || raw::read_byte(go).is_none() {
        remove(scratch_dir);
        raw::exit(1);
    }
    if let Err((stage, step, errno)) = prepare(launch) {
        raw::write_words(reports, &[REPORT_SETUP, stage as i32, step as i32, errno, 0, 0, 0, 0]);
        raw::exit(1);
    }
    // The parent may have died while the signal was taken back.
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
            // What it ends is of the same user, but where there is no sandbox at all: there a command keeps all rights, and
            // may have become somebody else.
            let kept = if is_walled { CapabilityMask::NONE } else { CapabilityMask::END_OTHERS };
            if raw::drop_held_capabilities(kept).is_err() {
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
        // The change of identity takes the signal back that says that the parent is gone.
        raw::prctl(libc::PR_SET_PDEATHSIG, PARENT_GONE as _).map_err(at(Stage::Identity))?;
    }
    raw::prctl(libc::PR_SET_DUMPABLE, 0).map_err(at(Stage::Identity))?;
    raw::prctl(libc::PR_SET_CHILD_SUBREAPER, 1).map_err(at(Stage::Identity))?;
    raw::new_keyring().map_err(at(Stage::Keyring))
}

/// Builds the restrict around this process, which is about to become the command.
pub(super) fn restrict(launch: &Launch) -> Result<(), (Stage, Errno)> {
    let at = |stage: Stage| move |errno| (stage, errno);
    if let Some(processors) = &launch.processors {
        raw::stay_on(0, processors).map_err(at(Stage::Limits))?;
    }
    let Some(landlock) = &launch.landlock else { return Ok(()) };
    // Only who is root has capabilities, and may give them up in this way.
    if raw::has_capabilities() {
        raw::drop_capabilities().map_err(at(Stage::Capabilities))?;
    }
    raw::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(at(Stage::Capabilities))?;
    enforce_landlock(landlock).map_err(|(_, errno)| (Stage::Landlock, errno))?;
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

/// Removes the command's own folder: whoever made it may be gone before that comes to it.
fn remove(scratch_dir: Option<ScratchDir>) {
    if let Some(scratch_dir) = scratch_dir {
        scratch_dir.remove();
    }
}

/// Ends every process below this one. When one is gone, this one adopts its children, and ends those.
fn end_all() {
    loop {
        each_child(|pid| {
            // What it starts from now on cannot start anything.
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
        raw::wait_milliseconds(LOOK_AGAIN_MS);
    }
}

/// Calls for the number of each child. There is no memory to be had here, so it reads as much as fits.
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
