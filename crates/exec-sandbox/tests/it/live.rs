//! Runs a script in a sandbox of this machine, in a workspace of its own.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "runs commands, and says why not")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{
    End, HomeView, Outcome, ResourceUsage, RunError, SandboxBackend, SandboxSpec, plan, probe, run,
};
use tempfile::TempDir;

/// A workspace under `/tmp`, whose files outside the workspace must stay out of sight.
pub(crate) struct Live {
    folder: TempDir,
    /// How names are protected, where that is not what this machine does best.
    names: NamesAre,
}

/// When it is said which names a command may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamesAre {
    /// When it makes them, where this machine can.
    Decided,
    /// When it is over, as on a machine that cannot.
    SweptUp,
}

impl Live {
    /// A machine where sandboxes can be made; elsewhere the test says so and is left out.
    pub(crate) fn new() -> Option<Self> {
        Self::below(&std::env::temp_dir())
    }

    /// The same, where names are protected in this way.
    pub(crate) fn with_names(names: NamesAre) -> Option<Self> {
        Self::new().map(|live| Self { names, ..live })
    }

    /// A workspace on any machine.
    pub(crate) fn bare() -> Self {
        let live = Self { folder: tempfile::tempdir().unwrap(), names: NamesAre::Decided };
        fs::create_dir(live.workspace()).unwrap();
        live
    }

    /// The same, with the workspace below this folder.
    pub(crate) fn below(folder: &Path) -> Option<Self> {
        let live = Self { folder: tempfile::tempdir_in(folder).unwrap(), names: NamesAre::Decided };
        fs::create_dir(live.workspace()).unwrap();
        match live.run(&["true"], |_| ()) {
            Ok(_) => Some(live),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    /// The folder around the workspace.
    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.outside().join("work")
    }

    pub(crate) fn run(
        &self,
        command: &[&str],
        change: impl FnOnce(&mut SandboxSpec),
    ) -> Result<Outcome, RunError> {
        let mut spec = SandboxSpec::new(self.workspace(), command);
        // The programs of the machine, whatever version managers the home of this user has.
        spec.home = HomeView::Private;
        change(&mut spec);
        let mut facts = probe(&spec);
        facts.kernel.mediation &= self.names == NamesAre::Decided;
        run(&plan(&spec, &facts)?, Streams::default())
    }

    /// Runs a script and returns what it printed, errors as well, in order.
    pub(crate) fn script(&self, script: &str) -> String {
        let script = format!("exec 2>&1\n{script}");
        let outcome = self.run(&["sh", "-c", &script], |_| ()).unwrap();
        assert!(matches!(outcome.end, End::Exited(_)), "{outcome:?}");
        String::from_utf8_lossy(&outcome.output.stdout).into_owned()
    }
}

/// All that can make a sandbox.
pub(crate) const BACKENDS: &[SandboxBackend] =
    &[SandboxBackend::Native, SandboxBackend::Bwrap, SandboxBackend::Landlock];

/// Returns the backends that work here. Bubblewrap is not for root, nor Landlock for directories of root; `users` runs the same
/// tests again as an ordinary user.
pub(crate) fn each() -> impl Iterator<Item = SandboxBackend> {
    let live = Live::bare();
    BACKENDS.iter().copied().filter(move |backend| {
        if *backend != SandboxBackend::Native && rustix::process::geteuid().is_root() {
            return false;
        }
        match live.run(&["true"], |spec| spec.backend = *backend) {
            Ok(outcome) => {
                assert_eq!(outcome.end, End::Exited(0), "{backend:?} {outcome:?}");
                true
            }
            Err(error) => {
                eprintln!("skipped: {backend:?}: {error}");
                false
            }
        }
    })
}

/// A script whose grandchild takes 0.3 seconds of a processor, and whose child has 50 million bytes of memory.
pub(crate) const SPENDER: &str = "python3 -c 'x = bytearray(50_000_000)'; \
     sh -c 'python3 -c \"import time\nwhile time.process_time() < 0.3: pass\"; true'; true";

/// Holds what is known about a command to what [`SPENDER`] did.
pub(crate) fn spent(usage: ResourceUsage, by: &str) {
    let (time, memory) = (usage.cpu_time.unwrap(), usage.peak_memory.unwrap());
    assert!(time >= Duration::from_millis(300) && time < Duration::from_secs(20), "{by} {usage:?}");
    assert!(memory > 50_000_000 && memory < 300_000_000, "{by} {usage:?}");
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
