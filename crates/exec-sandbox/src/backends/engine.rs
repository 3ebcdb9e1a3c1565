//! A command in a container: made, begun, ended, and seen to be gone.
//!
//! ```text
//!  leftovers ──► reaper ──► create ──► start --attach ──► inspect ──► remove ──► seen to be gone
//! ```
//!
//! The engine starts the container and not this program, so that nothing of the kernel's ends it when this program is killed. So
//! there is a reaper: a shell that waits for this program to end, and removes the container unless it was told that it is gone.
//! What even that left is found by its label before the next container is made.

#![expect(clippy::disallowed_methods, reason = "has an engine make, begin and end containers")]

mod ask;
mod leftovers;
pub(crate) mod probe;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, ResolveFlags, flock, open, openat2};

use super::args::{self, Handed};
use crate::container_request::ContainerPlan;
use crate::mounts::{MountKind, MountPoint};
use crate::native::Handed as Streams;
use crate::outcome::End;
use crate::plan::Plan;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{MountAccess, Spawn};
use crate::sys::raw;
pub(crate) use ask::Client;
#[cfg(feature = "external")]
pub(crate) use leftovers::is_orphaned;
pub(crate) use leftovers::{owner_label, remove_leftovers};

/// How long it may take until a container is made, or gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the reaper and this program may take to see that a container is gone.
const UNTIL_GONE: Duration = Duration::from_secs(10);

/// A container that has begun.
pub(crate) struct Contained {
    client: Client,
    name: String,
    reaper: Option<Reaper>,
    /// The launcher lies there until the container is gone.
    _launcher: Option<Launcher>,
    /// As long as it is held, no other container or bubblewrap takes paths of this workspace by their names.
    _lock: Option<OwnedFd>,
}

/// What begins with a container.
pub(crate) struct Begun {
    pub(crate) contained: Contained,
    /// The client that hands on what the command prints, and ends when it ends.
    pub(crate) pid: i32,
}

/// Makes a container and begins the command in it.
pub(crate) fn begin(plan: &Plan, container: &ContainerPlan, streams: &Streams) -> io::Result<Begun> {
    let client = Client::new(container.engine, &container.facts.client);
    remove_leftovers(&client);
    let lock = paths_are_plain(plan)?;
    let launcher = (plan.spawn == Spawn::Threads).then(Launcher::write).transpose()?;
    let name = format!("stockade-{}", unguessed()?);
    let owner = owner_label()?;
    let mut contained = Contained {
        reaper: Some(Reaper::start(&client, &name)?),
        client,
        name: name.clone(),
        _launcher: None,
        _lock: lock,
    };
    let variables = in_memory(&args::variables(plan))?;
    let place = format!("/dev/fd/{}", variables.as_raw_fd());
    let handed = Handed {
        name: &name,
        owner: &owner,
        variables: Path::new(&place),
        launcher: launcher.as_ref().map(|launcher| launcher.0.as_path()),
    };
    let words = args::create(plan, container, &handed);
    contained._launcher = launcher;
    let made = contained.client.ask(&words, &[variables.as_raw_fd()], PATIENCE);
    let made = made.and_then(ask::Answer::well);
    let begun = made.and_then(|_| {
        let words = ["start", "--attach", "--interactive", &name].map(OsString::from);
        contained.client.start(&words, streams.streams)
    });
    match begun {
        Ok(pid) => Ok(Begun { contained, pid }),
        Err(error) => {
            contained.remove().ok();
            Err(error)
        }
    }
}

impl Contained {
    /// Has the command get a signal.
    pub(crate) fn signal(&self, signal: i32) {
        let words = ["kill", "--signal", &signal.to_string(), &self.name].map(OsString::from);
        self.client.ask(&words, &[], UNTIL_GONE).ok();
    }

    /// How the command ended by itself, as the engine says.
    pub(crate) fn report(&self, has_cpu_bound: bool) -> io::Result<Exit> {
        const FORMAT: &str = "{{.State.Status}}\t{{.State.ExitCode}}\t{{.State.OOMKilled}}\t{{.State.StartedAt}}\t{{.State.Error}}";
        let words = ["container", "inspect", "--format", FORMAT, &self.name].map(OsString::from);
        let answer = self.client.ask(&words, &[], UNTIL_GONE)?.well()?;
        end(&answer, has_cpu_bound)
    }

    /// Removes the container with everything in it, and returns when it is gone.
    pub(crate) fn remove(&mut self) -> io::Result<()> {
        let Some(reaper) = self.reaper.take() else { return Ok(()) };
        let asked = self.client.ask(&self.client.removal(&self.name), &[], PATIENCE);
        let gone = asked.and_then(|_| self.is_gone());
        match gone {
            Ok(true) => {
                reaper.dismiss();
                Ok(())
            }
            // The reaper goes on trying.
            Ok(false) => Err(io::Error::other("the container still exists after it was removed")),
            Err(error) => Err(error),
        }
    }

    /// Whether the engine knows of no such container any more.
    fn is_gone(&self) -> io::Result<bool> {
        let filter = format!("name={}", self.name);
        let words = ["ps", "--all", "--quiet", "--filter", &filter].map(OsString::from);
        let until = Instant::now() + UNTIL_GONE;
        loop {
            if self.client.ask(&words, &[], UNTIL_GONE)?.well()?.trim().is_empty() {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        self.remove().ok();
    }
}

/// What an engine says of a container that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// How its command ended.
    Ended(End),
    /// Its command never began, for this reason.
    NeverBegan(String),
}

fn end(said: &str, has_cpu_bound: bool) -> io::Result<Exit> {
    let mut fields = said.trim_end_matches('\n').splitn(5, '\t');
    let mut next = || fields.next().unwrap_or_default();
    let (_, code, oom, began, error) = (next(), next(), next(), next(), next());
    let code = code
        .parse::<i32>()
        .map_err(|_| io::Error::other(format!("unexpected output of the engine: `{}`", said.trim())))?;
    // A moment of nothing: the command never began.
    let never = began.starts_with("0001-");
    Ok(Exit::Ended(match code {
        127 if never => End::NotFound,
        126 if never => End::NotExecutable,
        _ if never => return Ok(Exit::NeverBegan(error.trim().to_owned())),
        137 if oom == "true" => End::OutOfMemory,
        152 if has_cpu_bound => End::OutOfCpuTime,
        code => End::Exited(code),
    }))
}

/// Removes a container when this program is gone, however that ends.
struct Reaper {
    shell: Child,
}

/// Tries a few times: a container may appear late that was asked for before.
const REAP: &str = r#"trap "" HUP INT QUIT TERM
read -r word
[ "$word" = gone ] && exit
for second in 1 2 3; do "$@"; sleep 1; done"#;

impl Reaper {
    fn start(client: &Client, name: &str) -> io::Result<Self> {
        let mut command = client.command_of(Path::new("/bin/sh"));
        command.args(["-c", REAP, "stockade-reaper"]).arg(client.program()).args(client.removal(name));
        let shell = command.stdin(Stdio::piped()).spawn()?;
        Ok(Self { shell })
    }

    fn dismiss(mut self) {
        if let Some(mut stdin) = self.shell.stdin.take() {
            stdin.write_all(b"gone\n").ok();
        }
        self.shell.wait().ok();
    }
}

/// An engine follows the paths of what it mounts by their names. So nothing else that does so may run in this workspace, and no
/// part of a path may be a link.
fn paths_are_plain(plan: &Plan) -> io::Result<Option<OwnedFd>> {
    let sources = plan.mounts.iter().filter_map(|mount| match &mount.kind {
        MountKind::Bind { source, point, .. } => Some((source, *point)),
        _ => None,
    });
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for (path, point) in sources {
        let folder = if point == MountPoint::Folder { OFlags::DIRECTORY } else { OFlags::empty() };
        openat2(rustix::fs::CWD, path, OFlags::PATH | OFlags::CLOEXEC | folder, Mode::empty(), resolve)
            .map_err(|_| {
                refused(path, "the path contains a symlink, which the engine would follow, or was deleted")
            })?;
    }
    let is_inner = |path: &Path| path != plan.workspace && path.starts_with(&plan.workspace);
    let is_writable = plan.workspace_access() == MountAccess::ReadWrite;
    if !is_writable || !plan.mounts.iter().any(|mount| is_inner(&mount.target)) {
        return Ok(None);
    }
    let folder = open(&plan.workspace, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(folder)),
        Err(_) => Err(refused(
            &plan.workspace,
            "another command that resolves paths by name runs there, and could create symlinks",
        )),
    }
}

fn refused(path: &Path, why: &'static str) -> io::Error {
    let fix = "use `--backend native`, which follows no symlinks";
    let refusal = Refusal::new(What::Write(path.to_path_buf()), SandboxRule::CannotEnforce(why), fix);
    io::Error::new(io::ErrorKind::PermissionDenied, refusal)
}

/// The launcher, where the engine finds it. There is no secret in it, and it is gone with the container.
struct Launcher(PathBuf);

impl Launcher {
    fn write() -> io::Result<Self> {
        let missing = || io::Error::new(io::ErrorKind::Unsupported, "no launcher for this architecture");
        let code = super::launcher::program().ok_or_else(missing)?;
        let path = std::env::temp_dir().canonicalize()?.join(format!("stockade-launcher-{}", unguessed()?));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o555).open(&path)?;
        let launcher = Self(path);
        file.write_all(&code)?;
        file.set_permissions(Permissions::from_mode(0o555))?;
        Ok(launcher)
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let file = rustix::fs::memfd_create(c"variables", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

/// Returns a random word, so that other processes cannot guess the name that contains it.
fn unguessed() -> io::Result<String> {
    let mut bytes = [0; 12];
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    Ok(stockade_text::to_hex(&bytes))
}

/// Ends a client that hands on the output of a container that is gone.
pub(crate) fn end_client(pid: i32) -> Result<raw::Used, i32> {
    raw::send_signal(pid, libc::SIGKILL).ok();
    raw::wait_for(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_container_is_read_from_engine_output() {
        let rows = [
            ("exited\t0\tfalse\t2026-11-25T09:16:54Z\t\n", false, Some(Exit::Ended(End::Exited(0)))),
            ("exited\t137\ttrue\t2026-11-25T09:16:54Z\t", false, Some(Exit::Ended(End::OutOfMemory))),
            ("exited\t137\tfalse\t2026-11-25T09:16:54Z\t", false, Some(Exit::Ended(End::Exited(137)))),
            // A program of its own was ended, and the command went on.
            ("exited\t1\ttrue\t2026-11-25T09:16:54Z\t", false, Some(Exit::Ended(End::Exited(1)))),
            ("exited\t152\tfalse\t2026-11-25T09:16:54Z\t", true, Some(Exit::Ended(End::OutOfCpuTime))),
            ("exited\t152\tfalse\t2026-11-25T09:16:54Z\t", false, Some(Exit::Ended(End::Exited(152)))),
            (
                "created\t127\tfalse\t0001-01-01T00:00:00Z\tno such file",
                false,
                Some(Exit::Ended(End::NotFound)),
            ),
            (
                "created\t126\tfalse\t0001-01-01 00:00:00 +0000 UTC\tdenied",
                false,
                Some(Exit::Ended(End::NotExecutable)),
            ),
            ("exited\t127\tfalse\t2026-11-25T09:16:54Z\t", false, Some(Exit::Ended(End::Exited(127)))),
            (
                "created\t128\tfalse\t0001-01-01T00:00:00Z\tno runtime\n",
                false,
                Some(Exit::NeverBegan("no runtime".to_owned())),
            ),
            ("", false, None),
        ];
        for (said, bound, wanted) in rows {
            assert_eq!(end(said, bound).ok(), wanted, "{said:?}");
        }
    }
}
