//! Asks an engine by its client, and waits no longer than is patient.

#![expect(clippy::disallowed_methods, reason = "starts the client of an engine, and reads what it says")]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use stockade_handoff::helper_variables;

use crate::container_request::Engine;
use crate::sys::raw;
use crate::sys::spawn::{Rights, spawn_with, without_capabilities};

/// How much of what a client says is read.
const MAX_SAID: u64 = 1 << 20;

/// The client of an engine.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    engine: Engine,
    program: PathBuf,
}

/// What a client said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) is_well: bool,
    pub(crate) said: String,
    pub(crate) complaint: String,
}

impl Answer {
    /// What it said, unless it ended badly.
    pub(crate) fn well(self) -> io::Result<String> {
        if self.is_well { Ok(self.said) } else { Err(io::Error::other(self.complaint.trim().to_owned())) }
    }
}

impl Client {
    pub(crate) fn new(engine: Engine, program: &Path) -> Self {
        Self { engine, program: program.to_path_buf() }
    }

    pub(crate) const fn engine(&self) -> Engine {
        self.engine
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The words that stop and remove a container at once.
    pub(crate) fn removal(&self, name: &str) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["rm", "--force", "--volumes"].map(OsString::from).into();
        if self.engine == Engine::Podman {
            // Without it, Podman waits ten seconds for the command to end by itself.
            words.push("--time=0".into());
        }
        words.push(name.into());
        words
    }

    /// A program that finds the same engine, outlives this one, reads nothing and is not heard.
    pub(crate) fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(helper_variables());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        if self.rights() == Rights::None {
            without_capabilities(&mut command);
        }
        command
    }

    /// Docker's client asks a daemon and needs no right of its own; that of Podman is who makes the container.
    const fn rights(&self) -> Rights {
        match self.engine {
            Engine::Docker => Rights::None,
            Engine::Podman => Rights::Same,
        }
    }

    /// Starts the client with these streams, and returns its number.
    pub(crate) fn start(&self, words: &[OsString], streams: [RawFd; 3]) -> io::Result<i32> {
        let mut command = self.command_of(&self.program);
        command.args(words);
        Ok(spawn_with(command, streams, Vec::new(), None, self.rights())?.handed_over())
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&self, words: &[OsString], keep: &[RawFd], patience: Duration) -> io::Result<Answer> {
        let mut command = self.command_of(&self.program);
        command.args(words);
        let (said, complaint) = (in_memory()?, in_memory()?);
        let nothing = File::open("/dev/null")?;
        let streams = [nothing.as_raw_fd(), said.as_raw_fd(), complaint.as_raw_fd()];
        let spawned = spawn_with(command, streams, keep.to_vec(), None, self.rights())?;
        let handle = crate::bwrap::start::handle(spawned.number())?;
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        let mut wait = [PollFd::new(&handle, PollFlags::IN)];
        let is_over = rustix::io::retry_on_intr(|| poll(&mut wait, Some(&patience)))? > 0;
        if !is_over {
            let name = self.engine.name();
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{name} does not answer")));
        }
        let used = raw::wait_for(spawned.handed_over()).map_err(io::Error::from_raw_os_error)?;
        Ok(Answer {
            is_well: libc::WIFEXITED(used.status) && libc::WEXITSTATUS(used.status) == 0,
            said: text(said)?,
            complaint: text(complaint)?,
        })
    }
}

fn in_memory() -> io::Result<File> {
    Ok(File::from(memfd_create(c"said", MemfdFlags::CLOEXEC)?))
}

fn text(mut file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MAX_SAID).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status; env";

    #[test]
    fn an_engine_client_gets_no_capabilities_and_few_variables() {
        let client = Client::new(Engine::Docker, Path::new("/bin/sh"));
        let words = ["-c", ASKED].map(OsString::from);
        let asked = client.ask(&words, &[], Duration::from_secs(20)).unwrap().well().unwrap();
        let mut reaper = client.command_of(Path::new("/bin/sh"));
        let reaper = reaper.args(["-c", ASKED]).stdout(Stdio::piped()).output().unwrap();
        for said in [asked, String::from_utf8(reaper.stdout).unwrap()] {
            assert_eq!(said.matches(":\t0000000000000000").count(), 4, "{said}");
            // Cargo sets many variables of its own, so there is something to keep back.
            assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !said.contains("CARGO"), "{said}");
        }
    }

    #[test]
    fn a_silent_engine_client_times_out() {
        let client = Client::new(Engine::Docker, Path::new("/bin/sh"));
        let words = |script: &str| ["-c", script].map(OsString::from);
        let error = client.ask(&words("sleep 600"), &[], Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let bad = client.ask(&words("echo why >&2; exit 1"), &[], Duration::from_secs(20)).unwrap();
        assert_eq!(bad.well().unwrap_err().to_string(), "why");
    }
}
