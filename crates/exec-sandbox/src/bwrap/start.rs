//! Starts bubblewrap for a plan, and bounds what it starts before that begins.
//!
//! Bubblewrap gets no variables, so that its first process has none to tell; what concerns the sandbox is handed over by
//! descriptor and not as arguments, which everybody on the machine can read.

#![expect(clippy::disallowed_methods, reason = "looks for bubblewrap, tries it, and looks at mount points")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::fs::{
    FlockOperation, MemfdFlags, Mode, OFlags, ResolveFlags, flock, memfd_create, open, openat2,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::mounted::Meant;
use super::options;
use crate::limits::Priority;
use crate::mounts::MountKind;
use crate::native::{Handed, OwnTerminal, by_others, closed, limits, steps};
use crate::plan::Plan;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::seccomp::{Architecture, Instruction, filter_but};
use crate::spec::MountAccess;
use crate::sys::launch::{Observed, bound_watchers_of};
use crate::sys::{raw, spawn};

/// Where bubblewrap is installed. A search path could lead into a workspace.
const PROGRAMS: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Returns a bubblewrap that works. It was tried, once: what a version promises, a kernel may refuse.
///
/// For root there is none: started by root, its command stays root to the kernel, and `/proc/sys` obeys it.
pub(crate) fn find() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let works = |program: &PathBuf| {
        let mut command = Command::new(program);
        command.args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--", "/bin/true"]);
        let streams = command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        spawn::succeeds_and_leaves_nothing(streams)
    };
    let find = || PROGRAMS.iter().map(PathBuf::from).find(|path| path.is_file() && works(path));
    if rustix::process::geteuid().is_root() { None } else { FOUND.get_or_init(find).clone() }
}

/// A bubblewrap whose command has not begun.
pub(crate) struct Waiting {
    /// Bubblewrap itself.
    pub(crate) pid: i32,
    /// The first process in the sandbox.
    pub(crate) first: i32,
    /// A byte on it lets the command begin.
    pub(crate) go: OwnedFd,
    /// As long as it is held, no other bubblewrap makes mount points in this workspace.
    pub(crate) lock: Option<OwnedFd>,
}

/// Starts bubblewrap up to the point where the command would begin. Whoever looks on sees what bubblewrap asks for as well.
pub(crate) fn start(
    plan: &Plan,
    program: &Path,
    handed: &Handed,
    observed: Option<Observed>,
) -> io::Result<Waiting> {
    let lock = mount_points(plan)?;
    not_a_file(handed.streams)?;
    let taking = taking_its_terminal(plan, handed)?;
    let meant = Meant::of(plan)?;
    let (information_read, information) = pipe()?;
    let (go_read, go) = pipe()?;
    let code =
        Architecture::current().map(|it| filter_but(it, &closed(plan), by_others(plan))).unwrap_or_default();
    let code: Vec<u8> = code.into_iter().flat_map(Instruction::bytes).collect();
    let code = in_memory(c"filter", &code)?;
    let mut words = options(plan);
    let number = |file: &dyn AsRawFd| OsString::from(file.as_raw_fd().to_string());
    words.extend(["--info-fd".into(), number(&information), "--block-fd".into(), number(&go_read)]);
    words.extend(["--seccomp".into(), number(&code), "--cap-drop".into(), "ALL".into()]);
    words.extend(["--hostname", "stockade"].map(OsString::from));
    words.extend(processes(plan.limits.beside_temporary()));
    for (name, value) in &plan.environment {
        words.extend(["--setenv".into(), name.clone(), value.clone()]);
    }
    let generated = generated(plan)?;
    for (target, text) in &generated {
        words.extend(["--perms", "0644", "--file"].map(OsString::from));
        words.extend([number(text), target.into()]);
    }
    // What is not mounted cannot be written, and the root is the last thing that is.
    words.extend(["--remount-ro", "/"].map(OsString::from));
    let words: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    let words = in_memory(c"arguments", &words)?;
    let mut command = Command::new(program);
    command.env_clear().arg("--args").arg(number(&words)).arg("--").args(taking);
    command.arg(&plan.program).args(&plan.arguments);
    let keep = [&information as &dyn AsRawFd, &go_read, &code, &words].map(AsRawFd::as_raw_fd);
    let keep = keep.into_iter().chain(generated.iter().map(|(_, text)| text.as_raw_fd())).collect();
    let spawned = spawn::spawn(command, handed.streams, keep, observed)?;
    drop((information, go_read, code, words, generated));
    let mut text = String::new();
    File::from(information_read).take(1 << 16).read_to_string(&mut text)?;
    let first = child(&text)
        .ok_or_else(|| io::Error::other("bubblewrap did not start; it said why on standard error"))?;
    bound(plan, first)?;
    if let Some(path) = meant.missed(first)? {
        return Err(refused(path, "what lies there was replaced while bubblewrap mounted it"));
    }
    Ok(Waiting { pid: spawned.handed_over(), first, go, lock })
}

/// Older versions of bubblewrap make mount points by their paths and follow links (CVE-2026-87766). So nothing else may
/// change the workspace meanwhile, and no part of such a path may be a link.
fn mount_points(plan: &Plan) -> io::Result<Option<OwnedFd>> {
    let writable = plan.mounts.iter().filter_map(|mount| match &mount.kind {
        MountKind::Bind { access: MountAccess::ReadWrite, .. } => Some(mount.target.as_path()),
        _ => None,
    });
    let writable: Vec<&Path> = writable.collect();
    let inner = plan.mounts.iter().map(|mount| mount.target.as_path());
    let inner: Vec<&Path> =
        inner.filter(|path| writable.iter().any(|open| path.starts_with(open) && path != open)).collect();
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for path in &inner {
        openat2(rustix::fs::CWD, *path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
            .map_err(|_| refused(path, "bubblewrap would follow a link, or a path that is gone"))?;
    }
    if inner.is_empty() {
        return Ok(None);
    }
    let folder = open(&plan.workspace, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(folder)),
        Err(_) => {
            Err(refused(&plan.workspace, "another command with bubblewrap runs there, and could lay links"))
        }
    }
}

/// A file that is standard input could be opened again through `/proc`, to write it: there is no Landlock ruleset here against that.
fn not_a_file(streams: [RawFd; 3]) -> io::Result<()> {
    let is_file = |number: &RawFd| {
        Path::new("/proc/self/fd").join(number.to_string()).metadata().is_ok_and(|it| it.is_file())
    };
    if !streams.iter().any(is_file) {
        return Ok(());
    }
    let why = "a file as a standard stream could be opened again with other rights";
    let fix = "use a pipe, such as `cat FILE | stockade exec …`, or choose the native backend";
    let refusal = Refusal::new(What::Command, SandboxRule::CannotEnforce(why), fix);
    Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal))
}

/// Makes a session of its own for the command, with its terminal. Bubblewrap itself must not be in it: Ctrl-C would end it.
const SETSID: &str = "/usr/bin/setsid";

/// What stands before the command where it has a terminal.
fn taking_its_terminal(plan: &Plan, handed: &Handed) -> io::Result<Vec<OsString>> {
    if handed.terminal == OwnTerminal::None {
        return Ok(Vec::new());
    }
    let program = Path::new(SETSID);
    if host_path(plan, program).is_some_and(|path| path.is_file()) {
        return Ok([SETSID, "-c", "--"].map(OsString::from).into());
    }
    let why = "with bubblewrap, a terminal of its own needs /usr/bin/setsid";
    let fix = "install util-linux, or choose the native backend";
    let refusal = Refusal::new(What::Command, SandboxRule::CannotEnforce(why), fix);
    Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal))
}

fn refused(path: &Path, why: &'static str) -> io::Error {
    let fix = "choose the native backend, which follows no links";
    let refusal = Refusal::new(What::Write(path.to_path_buf()), SandboxRule::CannotEnforce(why), fix);
    io::Error::new(io::ErrorKind::PermissionDenied, refusal)
}

/// What of `/proc` concerns the whole machine is covered, as far as the machine has it; and shared memory is bounded.
fn processes(shared_memory: u64) -> Vec<OsString> {
    let path = |name: &&str| Path::new("/proc").join(name);
    let files = steps::HIDDEN_FILES.iter().map(path).filter(|path| path.is_file());
    let folders = steps::HIDDEN_FOLDERS.iter().map(path).filter(|path| path.is_dir());
    let files = files.flat_map(|path| ["--ro-bind".into(), "/dev/null".into(), path.into_os_string()]);
    let shared = ["--size".into(), shared_memory.to_string().into(), "--tmpfs".into(), "/dev/shm".into()];
    files.chain(shared).chain(folders.flat_map(|path| ["--tmpfs".into(), path.into_os_string()])).collect()
}

/// Sets limits from outside: what bubblewrap starts inherits them.
fn bound(plan: &Plan, first: i32) -> io::Result<()> {
    let error = io::Error::from_raw_os_error;
    for limit in limits::limits(&plan.limits, false) {
        raw::set_limit_of(first, &limit).map_err(error)?;
    }
    if let Some(processors) = limits::processors(&plan.limits)? {
        raw::stay_on(first, &processors).map_err(error)?;
    }
    if plan.limits.priority != Priority::Normal {
        raw::lower_priority(first, plan.limits.priority.nice()).map_err(error)?;
    }
    // A bubblewrap that belongs to root has made a namespace that is not this user's to bound.
    if let Some(most) = limits::watchers() {
        bound_watchers_of(first, &most).ok();
    }
    Ok(())
}

fn child(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("\"child-pid\":")?;
    let rest = rest.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The files that are made for the command, and where.
fn generated(plan: &Plan) -> io::Result<Vec<(&Path, File)>> {
    let files = plan.mounts.iter().filter_map(|mount| match &mount.kind {
        MountKind::Generated { text } => Some((mount.target.as_path(), text)),
        _ => None,
    });
    files.map(|(target, text)| Ok((target, in_memory(c"text", text.as_bytes())?))).collect()
}

fn in_memory(name: &std::ffi::CStr, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(
        memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| memfd_create(name, MemfdFlags::CLOEXEC))?,
    );
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// Returns something that can be waited for until a process is gone.
pub(crate) fn handle(pid: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Whether a program of this name is there: bubblewrap itself says that in no way that a program could tell from others.
pub(crate) fn sees(plan: &Plan) -> bool {
    let program = Path::new(&plan.program);
    if plan.program.as_bytes().contains(&b'/') {
        return host_path(plan, &plan.cwd.join(program)).is_none_or(|path| path.symlink_metadata().is_ok());
    }
    let path = plan.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    std::env::split_paths(path.unwrap_or(OsStr::new("")))
        .filter_map(|folder| host_path(plan, &folder.join(program)))
        .any(|path| path.symlink_metadata().is_ok())
}

/// Where on this machine lies what the command sees at a path; nothing for what is the sandbox's own.
fn host_path(plan: &Plan, path: &Path) -> Option<PathBuf> {
    let mount = plan.mounts.iter().rev().find(|mount| path.starts_with(&mount.target))?;
    let below = path.strip_prefix(&mount.target).ok()?;
    match &mount.kind {
        MountKind::Bind { source, .. } => Some(source.join(below)),
        MountKind::Link { .. } => Some(path.to_path_buf()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_is_read_from_what_bubblewrap_says() {
        assert_eq!(child("{\n    \"child-pid\": 4711,\n    \"x\": 3\n}"), Some(4711));
        for odd in ["", "{}", "{\"child-pid\": }", "{\"child-pid\": -1}"] {
            assert_eq!(child(odd), None, "{odd}");
        }
    }
}
