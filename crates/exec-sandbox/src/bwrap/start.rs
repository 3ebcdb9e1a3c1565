//! Starts bubblewrap for a plan, and limits its processes before the command starts.
//!
//! Bubblewrap gets an empty environment, so that its first process cannot leak it. Sandbox data is passed by descriptor and
//! not as arguments, which all users of the machine can read.

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

/// Paths of bubblewrap. The search path is not used, because it may contain a workspace.
const PROGRAMS: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Returns a bubblewrap that works. It is tested once per process, because a kernel may refuse what a version supports.
///
/// It is not used for root: the command would stay root for the kernel, and could write `/proc/sys`.
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

/// A bubblewrap whose command has not started.
pub(crate) struct Waiting {
    /// The process ID of bubblewrap.
    pub(crate) pid: i32,
    /// The first process in the sandbox.
    pub(crate) first: i32,
    /// Writing a byte to it starts the command.
    pub(crate) go: OwnedFd,
    /// A lock that keeps other bubblewraps from creating mount points in this workspace.
    pub(crate) lock: Option<OwnedFd>,
}

/// Starts bubblewrap up to the point where the command would start. Its own calls are observed as well.
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
    for (target, option, text) in &generated {
        words.extend(["--perms", "0644", option].map(OsString::from));
        words.extend([number(text), target.into()]);
    }
    // The root is a tmpfs, which is made read-only after all mounts.
    words.extend(["--remount-ro", "/"].map(OsString::from));
    let words: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    let words = in_memory(c"arguments", &words)?;
    let mut command = Command::new(program);
    command.env_clear().arg("--args").arg(number(&words)).arg("--").args(taking);
    command.arg(&plan.program).args(&plan.arguments);
    let keep = [&information as &dyn AsRawFd, &go_read, &code, &words].map(AsRawFd::as_raw_fd);
    let keep = keep.into_iter().chain(generated.iter().map(|(.., text)| text.as_raw_fd())).collect();
    let spawned = spawn::spawn(command, handed.streams, keep, observed)?;
    drop((information, go_read, code, words, generated));
    let mut text = String::new();
    File::from(information_read).take(1 << 16).read_to_string(&mut text)?;
    let first =
        child(&text).ok_or_else(|| io::Error::other("bubblewrap did not start; see its standard error"))?;
    bound(plan, first)?;
    if let Some(path) = meant.missed(first)? {
        return Err(refused(path, "the file was replaced while bubblewrap mounted it"));
    }
    Ok(Waiting { pid: spawned.handed_over(), first, go, lock })
}

/// Older versions of bubblewrap create mount points by path and follow symlinks (CVE-2026-87766). So no other command may
/// change the workspace meanwhile, and these paths must not contain symlinks.
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
            .map_err(|_| refused(path, "bubblewrap would follow a symlink, or the path is gone"))?;
    }
    if inner.is_empty() {
        return Ok(None);
    }
    let folder = open(&plan.workspace, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(folder)),
        Err(_) => {
            Err(refused(&plan.workspace, "another bubblewrap command runs there, and could create symlinks"))
        }
    }
}

/// Refuses a file as standard input: without Landlock, the command could reopen it for writing through `/proc`.
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

/// The program that creates the command's session with its terminal. Bubblewrap must not be in that session, or Ctrl-C would
/// end it.
const SETSID: &str = "/usr/bin/setsid";

/// Returns the prefix of the command if it has a terminal.
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
    let fix = "choose the native backend, which follows no symlinks";
    let refusal = Refusal::new(What::Write(path.to_path_buf()), SandboxRule::CannotEnforce(why), fix);
    io::Error::new(io::ErrorKind::PermissionDenied, refusal)
}

/// Returns the arguments that hide files of `/proc` about the whole machine, and limit shared memory.
fn processes(shared_memory: u64) -> Vec<OsString> {
    let path = |name: &&str| Path::new("/proc").join(name);
    let files = steps::HIDDEN_FILES.iter().map(path).filter(|path| path.is_file());
    let folders = steps::HIDDEN_FOLDERS.iter().map(path).filter(|path| path.is_dir());
    let files = files.flat_map(|path| ["--ro-bind".into(), "/dev/null".into(), path.into_os_string()]);
    let shared = ["--size".into(), shared_memory.to_string().into(), "--tmpfs".into(), "/dev/shm".into()];
    files.chain(shared).chain(folders.flat_map(|path| ["--tmpfs".into(), path.into_os_string()])).collect()
}

/// Sets limits from outside, which the processes of bubblewrap inherit.
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
    // Ignored: a set-user-ID bubblewrap creates a namespace that belongs to root.
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

/// Returns the generated files, with their paths and the options that mount them.
fn generated(plan: &Plan) -> io::Result<Vec<(&Path, &'static str, File)>> {
    let files = plan.mounts.iter().filter_map(|mount| match &mount.kind {
        MountKind::Generated { text } => Some((mount.target.as_path(), "--file", text)),
        MountKind::Replaced { text } => Some((mount.target.as_path(), "--ro-bind-data", text)),
        _ => None,
    });
    files.map(|(target, option, text)| Ok((target, option, in_memory(c"text", text.as_bytes())?))).collect()
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

/// Returns a pidfd.
pub(crate) fn handle(pid: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Whether the program exists in the sandbox: the exit code of bubblewrap does not distinguish a missing program.
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

/// Returns the path on this machine of a path in the sandbox; nothing if it is private to the sandbox.
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
    fn the_first_process_is_read_from_bubblewraps_status() {
        assert_eq!(child("{\n    \"child-pid\": 4711,\n    \"x\": 3\n}"), Some(4711));
        for odd in ["", "{}", "{\"child-pid\": }", "{\"child-pid\": -1}"] {
            assert_eq!(child(odd), None, "{odd}");
        }
    }
}
