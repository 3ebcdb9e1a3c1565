//! Runs a plan on macOS: starts `sandbox-exec` in a process group, forwards its output, and ends the group.
//!
//! A process that leaves the group cannot be found again, because macOS has neither namespaces nor control groups. That is a
//! gap of every plan's enforcement. Such a process may keep the pipes open, so they are closed shortly after the end.

#![expect(clippy::disallowed_methods, reason = "starts a process and waits for it")]

use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::plan::{SANDBOX_EXEC, SeatbeltPlan};
use crate::outcome::{End, Outcome, Output, ResourceUsage};

/// The polling interval for the end of the command.
const PAUSE: Duration = Duration::from_millis(10);
/// How long pipes are read that a process keeps open after the end.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum number of queued pieces of output.
const PIECES: usize = 16;
const PIECE: usize = 64 << 10;

/// One of the output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatbeltStream {
    /// The standard output stream.
    Stdout,
    /// The standard error stream.
    Stderr,
}

/// The caller's side of a running command.
pub struct SeatbeltWatch<'w> {
    /// Standard input.
    pub stdin: Stdio,
    /// Receives its output, up to the output limit.
    pub print: &'w mut dyn FnMut(SeatbeltStream, &[u8]),
    /// Returns whether the command is to be ended.
    pub is_cancelled: &'w dyn Fn() -> bool,
}

impl std::fmt::Debug for SeatbeltWatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeatbeltWatch").field("stdin", &self.stdin).finish_non_exhaustive()
    }
}

/// Runs a plan and waits for its end.
///
/// # Errors
///
/// When nothing could be started: there is no `sandbox-exec` on this machine, or no process can be made.
pub fn run_seatbelt(plan: &SeatbeltPlan, watch: SeatbeltWatch<'_>) -> io::Result<Outcome> {
    run_by(Path::new(SANDBOX_EXEC), plan, watch)
}

fn run_by(launcher: &Path, plan: &SeatbeltPlan, watch: SeatbeltWatch<'_>) -> io::Result<Outcome> {
    let begun = Instant::now();
    let mut child = Command::new(launcher)
        .args(plan.sandbox_exec_arguments())
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&plan.cwd)
        .process_group(0)
        .stdin(watch.stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pieces = pieces(&mut child);
    let mut taken = Taken { print: watch.print, left: plan.limits.output.bound(), dropped: 0 };
    let ended =
        until_the_end(&mut child, plan.limits.wall_time.bound(), &pieces, &mut taken, watch.is_cancelled);
    // The group is ended even if waiting failed.
    end_group(&child);
    let (status, why) = match ended {
        Ok((status, why)) => (status, why),
        Err(error) => {
            child.wait().ok();
            return Err(error);
        }
    };
    let untaken = taken.rest(&pieces);
    let end = why.unwrap_or_else(|| end_of(status));
    let usage = ResourceUsage { wall_time: begun.elapsed(), ..ResourceUsage::default() };
    let output = Output { dropped: taken.dropped, untaken, ..Output::default() };
    Ok(Outcome { usage, output, ..Outcome::of_nothing(end, plan.enforcement.clone()) })
}

type Piece = (SeatbeltStream, Vec<u8>);

/// Reads both outputs, each in a thread that ends when its pipe is closed.
fn pieces(child: &mut Child) -> Receiver<Piece> {
    let (sender, receiver) = sync_channel(PIECES);
    if let Some(stdout) = child.stdout.take() {
        read(SeatbeltStream::Stdout, stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        read(SeatbeltStream::Stderr, stderr, sender);
    }
    receiver
}

fn read(stream: SeatbeltStream, mut from: impl Read + Send + 'static, to: SyncSender<Piece>) {
    std::thread::spawn(move || {
        let mut room = vec![0; PIECE];
        while let Ok(length @ 1..) = from.read(&mut room) {
            let piece = room.get(..length).unwrap_or_default().to_vec();
            if to.send((stream, piece)).is_err() {
                break;
            }
        }
    });
}

/// Receives output until the command has ended or must be ended. Returns its status, and the reason for ending it.
fn until_the_end(
    child: &mut Child,
    limit: Option<Duration>,
    pieces: &Receiver<Piece>,
    taken: &mut Taken<'_>,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<(ExitStatus, Option<End>)> {
    let begun = Instant::now();
    let mut why = None;
    loop {
        match pieces.recv_timeout(PAUSE) {
            Ok(piece) => taken.take(&piece),
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(PAUSE),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(status) = child.try_wait()? {
            return Ok((status, why));
        }
        if why.is_none() {
            why = match limit {
                _ if is_cancelled() => Some(End::Cancelled),
                Some(limit) if begun.elapsed() >= limit => Some(End::TimedOut),
                _ => continue,
            };
            end_group(child);
        }
    }
}

/// Kills the process group. Its ID is not reused while its first process is not reaped, or another process is in it.
fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    group.and_then(|group| kill_process_group(group, Signal::KILL).ok());
}

/// Decodes the exit status. `sandbox-exec` becomes the command; if it cannot, it prints an error and exits like a shell.
fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        (None, None) => End::Exited(-1),
    }
}

/// The received output, and the rest of its limit.
struct Taken<'w> {
    print: &'w mut dyn FnMut(SeatbeltStream, &[u8]),
    left: Option<u64>,
    dropped: u64,
}

impl Taken<'_> {
    fn take(&mut self, (stream, piece): &Piece) {
        let length = piece.len() as u64;
        let fits = self.left.map_or(length, |left| left.min(length));
        self.left = self.left.map(|left| left - fits);
        self.dropped += length - fits;
        let kept = usize::try_from(fits).ok().and_then(|fits| piece.get(..fits)).unwrap_or_default();
        if !kept.is_empty() {
            (self.print)(*stream, kept);
        }
    }

    /// Receives the rest of the pipes; returns 1 if a process keeps one open.
    fn rest(&mut self, pieces: &Receiver<Piece>) -> u64 {
        let until = Instant::now() + GRACE;
        loop {
            match pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.take(&piece),
                Err(RecvTimeoutError::Disconnected) => return 0,
                Err(RecvTimeoutError::Timeout) => return 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::enforcement::Enforcement;
    use crate::limits::{Limit, ResourceLimits};

    /// A replacement of `sandbox-exec` that checks its arguments and becomes the command.
    const STAND_IN: &str = "#!/bin/sh\n[ \"$1\" = -p ] && [ \"$2\" = '(version 1)' ] && [ \"$3\" = -- ] || exit 70\nshift 3\nexec \"$@\"\n";

    fn run(
        script: &str,
        limits: ResourceLimits,
        is_cancelled: &dyn Fn() -> bool,
    ) -> (Outcome, Vec<u8>, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let launcher = folder.path().join("launcher");
        std::fs::write(&launcher, STAND_IN).unwrap();
        std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o700)).unwrap();
        let plan = SeatbeltPlan {
            profile: "(version 1)".to_owned(),
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("A".into(), "b c".into()), ("PATH".into(), "/usr/bin:/bin".into())],
            cwd: "/".into(),
            limits,
            enforcement: Enforcement::default(),
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut print = |stream, piece: &[u8]| match stream {
            SeatbeltStream::Stdout => stdout.extend_from_slice(piece),
            SeatbeltStream::Stderr => stderr.extend_from_slice(piece),
        };
        let watch = SeatbeltWatch { stdin: Stdio::null(), print: &mut print, is_cancelled };
        let outcome = run_by(&launcher, &plan, watch).unwrap();
        (outcome, stdout, stderr)
    }

    fn within(seconds: u64) -> ResourceLimits {
        ResourceLimits { wall_time: Limit::AtMost(Duration::from_secs(seconds)), ..ResourceLimits::default() }
    }

    #[test]
    fn a_terminal_run_forwards_output_and_end() {
        let (outcome, stdout, stderr) =
            run("echo \"$A\" $(env | wc -l); pwd >&2; exit 3", within(60), &|| false);
        assert_eq!((outcome.end, outcome.exit_code()), (End::Exited(3), 3));
        let stdout = String::from_utf8(stdout).unwrap();
        assert!(stdout.starts_with("b c "), "{stdout}");
        assert_eq!(stderr, b"/\n");
        assert_eq!(run("kill -TERM $$", within(60), &|| false).0.end, End::Signalled(15));
    }

    #[test]
    fn a_timeout_ends_all_processes() {
        let mark = tempfile::tempdir().unwrap();
        let file = mark.path().join("late");
        let script = format!("(sleep 3; : > {}) & sleep 60", file.display());
        assert_eq!(run(&script, within(1), &|| false).0.end, End::TimedOut);
        let (outcome, ..) = run(&format!("(sleep 3; : > {}) &", file.display()), within(60), &|| false);
        assert_eq!(outcome.end, End::Exited(0));
        assert_eq!(run("sleep 60", within(60), &|| true).0.end, End::Cancelled);
        std::thread::sleep(Duration::from_secs(3));
        assert!(!file.exists(), "something went on");
    }

    #[test]
    fn output_is_bounded() {
        let limits = ResourceLimits { output: Limit::AtMost(1000), ..within(60) };
        let (outcome, stdout, _) = run("head -c 300000 /dev/zero", limits, &|| false);
        assert_eq!((stdout.len(), outcome.output.dropped), (1000, 299_000));
        assert!(outcome.output.truncated());
    }
}
