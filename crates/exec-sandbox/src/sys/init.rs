//! The first process (PID 1) of a sandbox: it creates the new root, drops all rights, starts the command, and waits.
//!
//! It must not allocate, lock or panic, see the parent module.

use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd, RawFd};

use super::drop_inherited_memory::drop_inherited_memory;
use super::launch::{
    Landlock, Launch, Missing, REPORT_END, REPORT_SETUP, Reach, Report, Stage, Step, Way, copy_mount,
};
use super::raw::{self, ALL_SIGNALS, EndedChild, Errno, KernelLimit, MountAttributes, Result, Side};
use super::{command, proxy_listener};

/// The autogroup priority, as a `nice` value.
const WEIGHT: &[u8] = b"19";

/// The delay before the next attempt to set it.
const TRY_AGAIN_MS: i64 = 40;

/// Number of descriptors of a ruleset that are closed with all others before the command starts, and not one by one.
const HELD_OF_RULESET: usize = 16;

/// A failed step: the stage, the number of the step, and the error.
pub(super) type Failure = (Stage, usize, Errno);

/// Runs the sandbox to its end.
pub(super) fn run(
    launch: &Launch,
    bind_sources: &mut [RawFd],
    parent: RawFd,
    go: RawFd,
    reports: RawFd,
) -> ! {
    raw::reset_signals(launch.ignored);
    // The kernel kills this process when its parent thread ends, and with PID 1 the whole PID namespace.
    raw::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as _).ok();
    // The parent may have died before the prctl call, so its pidfd is checked, too. The go pipe alone is not sufficient: this
    // process has both ends of it.
    if !raw::only_second_is_readable(parent, go) || raw::read_byte(go).is_none() {
        raw::exit(1);
    }
    if let Err((stage, step, errno)) = prepare(launch, bind_sources) {
        raw::write_words(reports, &[REPORT_SETUP, stage as i32, step as i32, errno, 0, 0, 0, 0]);
        raw::exit(1);
    }
    // set_ids cleared PR_SET_PDEATHSIG, and the parent may have died before it was set again.
    if raw::is_readable_within(parent, 0) {
        raw::exit(1);
    }
    // SAFETY: the child runs `command`, which keeps to the same rules.
    match unsafe { raw::fork() } {
        Ok(Side::Child) => command::run(launch, go, reports),
        Ok(Side::Parent { pid, .. }) => {
            let (is_waiting, is_idle) = (launch.argv_mailbox.is_some(), launch.is_idle);
            let most = most_processes(launch);
            // SAFETY: only numbers on the stack are used from here on.
            unsafe { drop_inherited_memory() };
            if is_waiting {
                raw::close_all_but(go, reports);
                if raw::read_byte(go).is_none() {
                    raw::exit(1);
                }
            }
            watch(pid, reports, is_idle, most)
        }
        Err(errno) => {
            raw::write_words(reports, &[REPORT_SETUP, Stage::Fork as i32, 0, errno, 0, 0, 0, 0]);
            raw::exit(1)
        }
    }
}

fn prepare(launch: &Launch, bind_sources: &mut [RawFd]) -> Result<(), Failure> {
    let at = |stage: Stage| move |errno| (stage, 0, errno);
    for &(start, length) in &launch.wipe {
        // SAFETY: these are the parent's arguments and environment, which may contain secrets; nothing here reads them.
        unsafe { raw::wipe(start, length) };
    }
    // A new session has no controlling terminal, so no process inside can push input into the caller's (TIOCSTI).
    raw::new_session().map_err(at(Stage::Identity))?;
    // Needs root and the machine's /proc, so it comes before the changes of identity and root.
    let has_memory_files = !launch.filter_with_memory_files.is_empty() && raw::memory_files_never_run();
    if let Some(watchers) = &launch.watchers {
        raw::bound_watchers(watchers).ok();
    }
    if let Some((user, group)) = launch.identity {
        raw::set_ids(user, group).map_err(at(Stage::Identity))?;
        // The kernel clears PR_SET_PDEATHSIG on a change of credentials.
        raw::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as _).map_err(at(Stage::Identity))?;
    }
    // No process inside may trace this one, whose memory is a copy of its parent's. Setting it after set_ids, because a change of
    // credentials resets the flag.
    raw::prctl(libc::PR_SET_DUMPABLE, 0).map_err(at(Stage::Identity))?;
    // The inherited session keyring may contain keys of the caller.
    raw::new_keyring().map_err(at(Stage::Keyring))?;
    raw::set_hostname(b"stockade").map_err(at(Stage::Host))?;
    if launch.loopback {
        raw::loopback_up().map_err(at(Stage::Loopback))?;
    }
    if let Some(handoff) = &launch.listener_to {
        proxy_listener::hand_out(handoff).map_err(at(Stage::Listener))?;
    }
    make_root(launch, bind_sources)?;
    // Only now, because the mounts above need the capabilities of the user namespace.
    raw::drop_capabilities().map_err(at(Stage::Capabilities))?;
    // Landlock and seccomp require it of a process without capabilities.
    raw::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(at(Stage::Capabilities))?;
    if let Some(landlock) = &launch.landlock {
        enforce_landlock(landlock, HELD_OF_RULESET)
            .map_err(|(step, errno)| (Stage::Landlock, step, errno))?;
    }
    // The seccomp filter denies changing the affinity back.
    if let Some(processors) = &launch.processors {
        raw::stay_on(0, processors).map_err(at(Stage::Limits))?;
    }
    // Last, because the filter denies calls that the steps above make.
    let filter = if has_memory_files { &launch.filter_with_memory_files } else { &launch.filter };
    if !filter.is_empty() {
        raw::install_filter(filter).map_err(at(Stage::Filter))?;
    }
    Ok(())
}

/// Creates the new root and enters it. All bind sources are cloned before the first mount, which could cover one of them.
fn make_root(launch: &Launch, bind_sources: &mut [RawFd]) -> Result<(), Failure> {
    for (number, (bind_source, place)) in launch.bind_sources.iter().zip(bind_sources.iter_mut()).enumerate()
    {
        *place = match &bind_source.ready {
            Some(ready) => ready.as_raw_fd(),
            None => copy_mount(bind_source).map_err(|errno| (Stage::Sources, number, errno))?.into_raw_fd(),
        };
    }
    let masks = launch.steps.iter().any(|step| matches!(step, Step::MaskFile(_)));
    let root = empty_root(masks).map_err(|errno| (Stage::Root, 0, errno))?;
    for (number, step) in launch.steps.iter().enumerate() {
        carry_out(root.as_raw_fd(), step, bind_sources).map_err(|errno| (Stage::Rootfs, number, errno))?;
    }
    enter(&root, masks).map_err(|errno| (Stage::Pivot, 0, errno))
}

/// Mounts an empty tmpfs over a directory that every machine has, enters it, and creates the files that hide others.
fn empty_root(masks: bool) -> Result<OwnedFd> {
    let attributes = MountAttributes::NOSUID | MountAttributes::NODEV;
    raw::mount_new(c"tmpfs", c"/usr", attributes, c"size=1m,mode=0755")?;
    let root = raw::open_path(libc::AT_FDCWD, c"/usr", libc::O_PATH | libc::O_DIRECTORY, false)?;
    raw::enter(root.as_raw_fd())?;
    raw::make_file(root.as_raw_fd(), c".nothing")?;
    raw::make_folder(root.as_raw_fd(), c".nothing.d", 0o555)?;
    if masks {
        raw::make_mask(root.as_raw_fd(), c".masked")?;
    }
    Ok(root)
}

fn enter(root: &OwnedFd, masks: bool) -> Result {
    // Mounted over the hidden files, they remain without a name.
    raw::unlink(root.as_raw_fd(), c".nothing", 0)?;
    raw::unlink(root.as_raw_fd(), c".nothing.d", libc::AT_REMOVEDIR)?;
    if masks {
        raw::unlink(root.as_raw_fd(), c".masked", 0)?;
    }
    raw::become_root_here()?;
    let read_only = MountAttributes { set: MountAttributes::READ_ONLY, ..MountAttributes::default() };
    raw::mount_setattr(root.as_raw_fd(), &read_only, false)?;
    raw::change_folder(c"/")
}

fn carry_out(root: RawFd, step: &Step, bind_sources: &[RawFd]) -> Result {
    match step {
        Step::Folder(path) => exists_already(raw::make_folder(root, path, 0o755)),
        Step::File(path) => exists_already(raw::make_file(root, path)),
        Step::Link { path, to } => raw::make_link(root, path, to),
        Step::Text { path, text } => raw::make_text(root, path, text),
        Step::Filesystem { kind, path, attributes, options, way } => match way {
            Way::OfSteps => raw::mount_new(kind, path, *attributes, options),
            Way::Foreign => {
                // Mounted at `.`, so that no name of a foreign path is looked up twice.
                raw::enter(target(root, path)?.as_raw_fd())?;
                raw::mount_new(kind, c".", *attributes, options)?;
                raw::enter(root)
            }
        },
        Step::Bind { source, path, missing: Missing::IsAnError } => raw::bind_mount(source, path),
        Step::Bind { source, path, missing: Missing::IsFine } => {
            missing_is_fine(raw::bind_mount(source, path))
        }
        Step::Restrict { path, attributes, reach } => {
            raw::mount_setattr_at(root, path, attributes, *reach == Reach::All)
        }
        Step::Mount { bind_source, path, way } => {
            attach(*bind_sources.get(*bind_source).ok_or(libc::EINVAL)?, root, path, *way)
        }
        Step::Overlay { lower, layer, path } => {
            let lower = bind_sources.get(*lower).ok_or(libc::EINVAL)?;
            overlay(root, *lower, *bind_sources.get(*layer).ok_or(libc::EINVAL)?, path)
        }
        Step::Rebind { path, attributes } => {
            let there = target(root, path)?;
            // Attributes are per mount, so the path becomes a mount of its own.
            let copy = raw::open_tree(there.as_raw_fd(), c"")?;
            raw::mount_setattr(copy.as_raw_fd(), attributes, true)?;
            raw::move_mount(copy.as_raw_fd(), there.as_raw_fd())
        }
        Step::Replace { path, text } => {
            raw::make_text(root, c".text", text)?;
            let covered = missing_is_fine(hide(root, path, c".text"));
            // Mounted over the file, it remains without a name.
            raw::unlink(root, c".text", 0)?;
            covered
        }
        Step::MaskFile(path) => missing_is_fine(hide(root, path, c".masked")),
        Step::HideFolder(path) => missing_is_fine(hide(root, path, c".nothing.d")),
    }
}

/// Attaches a detached mount to a mount point.
fn attach(mount: RawFd, root: RawFd, path: &std::ffi::CStr, way: Way) -> Result {
    match way {
        Way::OfSteps => raw::move_mount_to(mount, root, path),
        Way::Foreign => raw::move_mount(mount, target(root, path)?.as_raw_fd()),
    }
}

/// Opens a mount point. The path must not contain symlinks or leave the new root: earlier mounts contain directories that an
/// attacker may have prepared with symlinks (CVE-2026-87766).
fn target(root: RawFd, path: &std::ffi::CStr) -> Result<OwnedFd> {
    raw::open_path(root, path, libc::O_PATH | libc::O_NOFOLLOW, true)
}

fn place(root: RawFd, path: &std::ffi::CStr, mount: &OwnedFd) -> Result {
    raw::move_mount(mount.as_raw_fd(), target(root, path)?.as_raw_fd())
}

/// Mounts an overlay. Overlayfs takes its layers as paths, and fsconfig(2) limits the length of an option to 256 bytes, so the
/// layers are mounted at short paths in the new root first. They are unmounted afterwards, because a command that reached them
/// could bypass the overlay.
fn overlay(root: RawFd, lower: RawFd, layer: RawFd, path: &std::ffi::CStr) -> Result {
    let places = [(c".lower", c"/usr/.lower", lower), (c".layer", c"/usr/.layer", layer)];
    for (name, _, source) in places {
        raw::make_folder(root, name, 0o700)?;
        raw::move_mount(source, target(root, name)?.as_raw_fd())?;
    }
    let options = [
        (c"lowerdir", c"/usr/.lower"),
        (c"upperdir", c"/usr/.layer/upper"),
        (c"workdir", c"/usr/.layer/work"),
        super::overlay::USERS,
    ];
    let view = raw::new_filesystem(c"overlay", &options, MountAttributes::NOSUID | MountAttributes::NODEV)?;
    place(root, path, &view)?;
    for (name, whole, _) in places {
        raw::unmount(whole)?;
        raw::unlink(root, name, libc::AT_REMOVEDIR)?;
    }
    Ok(())
}

/// Mounts a file or directory of the new root over a path, so that it cannot be changed.
fn hide(root: RawFd, path: &std::ffi::CStr, by: &std::ffi::CStr) -> Result {
    let by = raw::open_tree(root, by)?;
    let closed = MountAttributes {
        set: MountAttributes::READ_ONLY
            | MountAttributes::NOSUID
            | MountAttributes::NODEV
            | MountAttributes::NOEXEC,
        ..MountAttributes::default()
    };
    raw::mount_setattr(by.as_raw_fd(), &closed, false)?;
    attach(by.as_raw_fd(), root, path, Way::Foreign)
}

fn exists_already(result: Result) -> Result {
    if result == Err(libc::EEXIST) { Ok(()) } else { result }
}

fn missing_is_fine(result: Result) -> Result {
    if result == Err(libc::ENOENT) { Ok(()) } else { result }
}

/// Enforces a ruleset. It may have thousands of rules, and the first `held` descriptors stay open.
pub(super) fn enforce_landlock(landlock: &Landlock, held: usize) -> Result<(), (usize, Errno)> {
    let ruleset = raw::landlock_ruleset(landlock.handled, landlock.scopes, landlock.version)
        .map_err(|errno| (0, errno))?;
    for (number, (path, allowed)) in landlock.rules.iter().enumerate() {
        let failed = |errno| (number + 1, errno);
        let place = raw::open_path(libc::AT_FDCWD, path, libc::O_PATH, false).map_err(failed)?;
        raw::landlock_allow(ruleset.as_fd(), place.as_raw_fd(), *allowed).map_err(failed)?;
        if number < held {
            std::mem::forget(place);
        }
    }
    if let Some((terminal, allowed)) = landlock.terminal {
        raw::landlock_allow(ruleset.as_fd(), terminal, allowed).map_err(|errno| (0, errno))?;
    }
    raw::landlock_restrict(ruleset.as_fd()).map_err(|errno| (0, errno))
}

/// Waits for the command, forwards signals to it, and reaps orphaned processes. If this process is killed, the kernel kills all
/// others of the PID namespace.
fn watch(command: i32, reports: RawFd, mut too_heavy: bool, most: Option<KernelLimit>) -> ! {
    let Ok(signals) = raw::signal_descriptor(ALL_SIGNALS) else { raw::exit(1) };
    // With a copy of the command's pipes here, their readers would not see the end of the output.
    raw::close_all_but(signals.as_raw_fd(), reports);
    loop {
        bury(command, reports, most);
        while too_heavy && !raw::is_readable_within(signals.as_raw_fd(), TRY_AGAIN_MS) {
            too_heavy = !weigh_less();
        }
        match raw::read_signal(signals.as_raw_fd()) {
            Ok(libc::SIGCHLD) | Err(libc::EINTR) => {}
            Ok(signal) => {
                // The command leads a process group of its own, which gets the signal like the foreground group of a terminal.
                raw::send_signal(-command, signal).ok();
            }
            Err(_) => raw::exit(1),
        }
    }
}

/// Lowers the autogroup priority of the command's session. Returns true if that succeeded or is impossible. The caller retries on
/// EAGAIN, because the kernel accepts changes from all unprivileged users together only ten times a second, and on EACCES, which
/// it returns before the command has started.
fn weigh_less() -> bool {
    // The command is the second process of the namespace, so its ID is 2.
    let written =
        raw::open_for_writing(c"/proc/2/autogroup").and_then(|file| raw::write(file.as_raw_fd(), WEIGHT));
    !matches!(written, Err(libc::EAGAIN | libc::EACCES))
}

fn bury(command: i32, reports: RawFd, most: Option<KernelLimit>) {
    while let Ok(Some(child)) = raw::wait_any(false) {
        if child.pid == command {
            let is_full = is_full(child, most);
            end_all();
            raw::write_words(reports, &ended(child, is_full));
            raw::exit(0);
        }
    }
}

/// Kills all other processes of this namespace. The kernel would do so when PID 1 exits, but then the report would come too
/// early.
fn end_all() {
    raw::send_signal(-1, libc::SIGKILL).ok();
    // A dying process passes its children to this one before it can be reaped, so the loop ends when no process is left.
    while raw::wait_any(true).is_ok() {}
}

/// Returns the limit on processes, if there is one.
pub(super) fn most_processes(launch: &Launch) -> Option<KernelLimit> {
    launch.limits.iter().find(|limit| limit.resource == libc::RLIMIT_NPROC as std::ffi::c_uint).copied()
}

/// Whether a command failed at the limit on processes. The kernel does not report refused forks, so this process tries one. The
/// limit is lowered by one for that, because the command itself no longer counts.
pub(super) fn is_full(command: EndedChild, most: Option<KernelLimit>) -> bool {
    let Some(most) = most.filter(|_| command.status != 0) else { return false };
    if raw::set_limit(&KernelLimit { soft: most.soft.saturating_sub(1), ..most }).is_err() {
        return false;
    }
    // SAFETY: the child ends at once.
    match unsafe { raw::fork() } {
        Ok(Side::Child) => raw::exit(0),
        Ok(Side::Parent { .. }) => false,
        Err(errno) => errno == libc::EAGAIN,
    }
}

/// Returns the report that the command and all its descendants have ended.
pub(super) fn ended(command: EndedChild, is_full: bool) -> Report {
    let [seconds, millionths, memory, written] = raw::used_by_children();
    let (own, is_full) = (command.cpu_seconds, i32::from(is_full));
    [REPORT_END, command.status, seconds, millionths, memory, written, own, is_full]
}
