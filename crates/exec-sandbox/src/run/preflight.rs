//! Tests properties that the caller required by name, from inside a sandbox on this machine, before the command starts: a kernel
//! may accept every setting and enforce none. A passed test is remembered until the machine reboots or this program changes.

#![expect(clippy::disallowed_methods, reason = "makes bait, runs sandboxes, and remembers how that ended")]

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stockade_files::read_kernel_line;
use stockade_files::regular_file::read_regular;

use super::{RunError, Streams, run};
use crate::choices::SandboxBackend;
use crate::enforcement::Property;
use crate::limits::Limit;
use crate::outcome::End;
use crate::plan::{Identity, Plan, plan as planned};
use crate::processors::Processors;
use crate::provider::Provider;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{SandboxSpec, Spawn};

/// Time limit of a test.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a script prints when an attack succeeds, and at its end.
const REACHED: &str = "REACHED";
const TRIED: &str = "TRIED";

/// The content of the bait files.
const BAIT: &str = "bait\n";

/// An attack on one property.
struct Trial {
    property: Property,
    /// The script for `sh`. `$BAIT` is a file beside the workspace, `$SHARED` one in shared memory, `$PORT` a listening port of
    /// this machine, and `$PID` this program.
    script: &'static str,
    /// Whether the sandbox may end the script, as limits do.
    may_end: bool,
}

const fn trial(property: Property, script: &'static str) -> Trial {
    Trial { property, script, may_end: false }
}

const fn limit(property: Property, script: &'static str) -> Trial {
    Trial { property, script, may_end: true }
}

/// The attacks. Properties without one are set by a system call that fails where the kernel does not support them.
const TRIALS: &[Trial] = &[
    trial(Property::Files, "cat $BAIT && echo REACHED; echo x > $BAIT; chmod 777 $BAIT"),
    trial(Property::Network, "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT\" && echo REACHED"),
    // Signal 0 only checks for permission, so a failed test kills nothing.
    trial(Property::Processes, "kill -0 $PID && echo REACHED"),
    trial(Property::Ipc, "cat $SHARED && echo REACHED; echo x > $SHARED"),
    trial(
        Property::Privileges,
        "grep -q '^Cap[EPB][a-z]*:.*[1-9a-f]' /proc/self/status && echo REACHED; mount -t tmpfs none /tmp && echo REACHED",
    ),
    trial(Property::SystemCalls, "unshare -U true && echo REACHED; unshare -n true && echo REACHED"),
    trial(
        Property::ProtectedNames,
        "echo x > .envrc && echo REACHED; mv .envrc y && echo REACHED; rm .envrc && echo REACHED",
    ),
    limit(
        Property::Memory,
        "head -c 200000000 /dev/zero | tail -c 199999999 | wc -c | grep -q 199999999 && echo REACHED",
    ),
    limit(
        Property::TotalMemory,
        "head -c 200000000 /dev/zero | tail -c 199999999 | wc -c | grep -q 199999999 && echo REACHED",
    ),
    // Well above the limit of 20 that the test sets.
    limit(Property::ProcessCount, "for i in $(seq 60); do sleep 2 & done; echo REACHED"),
    // A subshell forks without executing a program, so it needs nothing that a search path could lack.
    limit(Property::NoSpawn, "(true) && echo REACHED"),
    trial(Property::Processors, "test $(nproc) = 1 || echo REACHED"),
];

/// Tests the properties that a plan requires by name, and refuses the plan if a test fails.
pub(super) fn check(plan: &Plan) -> Result<(), RunError> {
    // A registered backend cannot be tested from here. Planning refused properties that it enforces only in part.
    if matches!(plan.provider, Provider::Added(_)) {
        return Ok(());
    }
    let known = Known::of(plan);
    for trial in TRIALS.iter().filter(|trial| plan.require_by_name.contains(&trial.property)) {
        // A test starts a sandbox, which every command with `--require` would have to wait for.
        if known.as_ref().is_some_and(|known| known.has(trial.property)) {
            continue;
        }
        let holds = holds(trial, plan).map_err(RunError::setup("testing a required property"))?;
        if !holds {
            return Err(does_not_hold(trial.property).into());
        }
        if let Some(known) = &known {
            known.add(trial.property).ok();
        }
    }
    Ok(())
}

fn does_not_hold(property: Property) -> Refusal {
    let why = "a test on this machine showed that it is not enforced";
    let fix = "choose another backend, and report this as a vulnerability";
    Refusal::new(What::Property(property), SandboxRule::CannotEnforce(why), fix)
}

/// Tests one property in a sandbox of the same kind. A test that cannot run counts as failed.
fn holds(trial: &Trial, plan: &Plan) -> io::Result<bool> {
    // Not the workspace of the command: a failed test would have attacked the user's files.
    let ground = Ground::new()?;
    // Otherwise the attack would fail for lack of permission, and prove nothing about the sandbox.
    if let Identity::Owner { user, group } = plan.identity {
        ground.give_to(user, group)?;
    }
    // A real listening socket: connecting to a closed port fails in any network.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut spec =
        SandboxSpec::new(ground.workspace(), ["sh", "-c", &format!("{}\necho {TRIED}", trial.script)]);
    spec.backend = match &plan.provider {
        Provider::Native => SandboxBackend::Native,
        Provider::Bwrap { .. } => SandboxBackend::Bwrap,
        Provider::Landlock => SandboxBackend::Landlock,
        Provider::Container(container) => {
            spec.container = container.request.clone();
            container.engine.backend()
        }
        Provider::Added(_) | Provider::Nothing => return Ok(false),
    };
    // A required property would start this test again, without an end.
    spec.require.clear();
    spec.limits.wall_time = Limit::AtMost(PATIENCE);
    match trial.property {
        Property::Memory | Property::TotalMemory => spec.limits.memory = Limit::AtMost(64 << 20),
        Property::ProcessCount => spec.limits.processes = Limit::AtMost(20),
        Property::Processors => spec.limits.processors = Limit::AtMost(Processors::ONE),
        Property::NoSpawn => spec.spawn = Spawn::Threads,
        _ => {}
    }
    let set: [(&str, OsString); 4] = [
        ("BAIT", ground.bait().into()),
        ("SHARED", ground.shared.clone().into()),
        ("PORT", listener.local_addr()?.port().to_string().into()),
        ("PID", std::process::id().to_string().into()),
    ];
    spec.environment.set.extend(set.map(|(name, value)| (name.into(), value)));
    let plan = planned(&spec, &crate::probe::probe(&spec)).map_err(io::Error::other)?;
    let outcome = run(&plan, Streams::default()).map_err(io::Error::other)?;
    let said = String::from_utf8_lossy(&outcome.output.stdout);
    let is_tried = match outcome.end {
        End::Exited(_) => trial.may_end || said.contains(TRIED),
        // A script that was killed before its end has not tried every attack, except where being killed is the
        // protection.
        End::OutOfMemory | End::Signalled(_) => trial.may_end,
        _ => false,
    };
    Ok(is_tried && !said.contains(REACHED) && ground.is_whole())
}

/// The files that a script attacks: one beside its workspace, one in shared memory, and one with a protected name.
struct Ground {
    folder: PathBuf,
    shared: PathBuf,
}

impl Ground {
    fn new() -> io::Result<Self> {
        let name = format!("stockade-trial-{}-{}", std::process::id(), crate::moment::moment());
        let folder = fs::canonicalize(std::env::temp_dir())?.join(&name);
        let ground = Self { folder, shared: Path::new("/dev/shm").join(&name) };
        DirBuilder::new().mode(0o755).create(&ground.folder)?;
        DirBuilder::new().mode(0o755).create(ground.workspace())?;
        for file in [ground.bait(), ground.shared.clone(), ground.workspace().join(".envrc")] {
            let mut options = OpenOptions::new();
            // Writable for everybody, so that only the sandbox prevents a write. `create_new` refuses a name that
            // another user prepared in `/tmp`.
            options.write(true).create_new(true).mode(0o666).open(file)?.write_all(BAIT.as_bytes())?;
        }
        Ok(ground)
    }

    /// Changes the owner of the workspace to the user of the command.
    fn give_to(&self, user: u32, group: u32) -> io::Result<()> {
        let own = [self.workspace(), self.workspace().join(".envrc")];
        own.iter().try_for_each(|path| std::os::unix::fs::lchown(path, Some(user), Some(group)))
    }

    fn workspace(&self) -> PathBuf {
        self.folder.join("work")
    }

    fn bait(&self) -> PathBuf {
        self.folder.join("bait")
    }

    /// Whether all files are unchanged.
    fn is_whole(&self) -> bool {
        let is_whole = |path: PathBuf| fs::read(path).is_ok_and(|bytes| bytes == BAIT.as_bytes());
        let is_same = fs::metadata(self.bait()).is_ok_and(|data| data.mode() & 0o111 == 0);
        let files = [self.bait(), self.shared.clone(), self.workspace().join(".envrc")];
        is_same && files.into_iter().all(is_whole)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).ok();
        fs::remove_file(&self.shared).ok();
    }
}

/// The passed tests since the last boot, with this version of the program.
struct Known {
    file: PathBuf,
    /// The prefix of each row, before the name of a property.
    key: String,
}

impl Known {
    fn of(plan: &Plan) -> Option<Self> {
        // A new kernel may enforce less, and sysctls are reset at boot.
        let boot = read_kernel_line("/proc/sys/kernel/random/boot_id").ok()?;
        // The ctime changes with every update of the program, and cannot be set by a user.
        let program = fs::metadata("/proc/self/exe").ok()?;
        let folder = crate::state::folder(&plan.mounts)?;
        let (user, provider) = (rustix::process::geteuid().as_raw(), plan.provider.name());
        let key = format!(
            "{} {user} {provider} {}:{}:{}.{}",
            boot.trim(),
            program.dev(),
            program.ino(),
            program.ctime(),
            program.ctime_nsec()
        );
        Some(Self { file: folder.join("tried"), key })
    }

    fn row(&self, property: Property) -> String {
        format!("{} {}\n", self.key, property.name())
    }

    fn text(&self) -> String {
        let bytes = read_regular(&self.file, 1 << 16).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }

    fn has(&self, property: Property) -> bool {
        self.text().split_inclusive('\n').any(|row| row == self.row(property))
    }

    /// Records a passed test, and removes rows of earlier boots. If another process writes at the same time, one row may be lost,
    /// and its test is repeated.
    fn add(&self, property: Property) -> io::Result<()> {
        let boot = self.key.split(' ').next().unwrap_or_default();
        let text = self.text();
        let mut kept: String = text.split_inclusive('\n').filter(|row| row.starts_with(boot)).collect();
        kept.push_str(&self.row(property));
        let folder = self.file.parent().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Written aside and renamed, because a torn row could be read as a passed test.
        let new = self.file.with_extension(format!("{}-{}", crate::moment::moment(), std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let written =
            options.open(&new)?.write_all(kept.as_bytes()).and_then(|()| fs::rename(&new, &self.file));
        if written.is_err() {
            fs::remove_file(&new).ok();
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a sandbox, each attack succeeds: so a passed test is meaningful.
    #[test]
    fn every_preflight_attack_succeeds_without_a_sandbox() {
        const NEED_MORE: &[Property] =
            &[Property::Privileges, Property::SystemCalls, Property::Processors, Property::ProcessCount];
        for trial in TRIALS.iter().filter(|trial| !NEED_MORE.contains(&trial.property)) {
            let ground = Ground::new().unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let output = std::process::Command::new("sh")
                .args(["-c", trial.script])
                .current_dir(ground.workspace())
                .env("BAIT", ground.bait())
                .env("SHARED", &ground.shared)
                .env("PORT", listener.local_addr().unwrap().port().to_string())
                .env("PID", std::process::id().to_string())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains(REACHED), "{:?}: {said}", trial.property);
        }
    }
    /// A successful attack and an incomplete test both count as failed.
    #[test]
    fn only_failed_attacks_prove_enforcement() {
        let workspace = tempfile::tempdir().unwrap();
        let spec = SandboxSpec::new(workspace.path().canonicalize().unwrap(), ["true"]);
        let plan = planned(&spec, &crate::probe::probe(&spec)).unwrap();
        let rows = [("true", true), ("echo REACHED", false), ("kill -9 $$", false), ("exit 3", false)];
        for (script, expected) in rows {
            let attempt = trial(Property::Files, script);
            match holds(&attempt, &plan) {
                Ok(holds) => assert_eq!(holds, expected, "{script}"),
                Err(error) => println!("skipped: no sandbox can be made here: {error}"),
            }
        }
        assert!(holds(&limit(Property::NoSpawn, "kill -9 $$"), &plan).unwrap_or(true));
    }

    #[test]
    fn passed_preflight_tests_are_remembered_until_reboot() {
        let folder = tempfile::tempdir().unwrap();
        let known = |key: &str| Known { file: folder.path().join("state/tried"), key: key.to_owned() };
        known("old 0 native x").add(Property::Files).unwrap();
        assert!(known("old 0 native x").has(Property::Files) && !known("old 0 native x").has(Property::Ipc));
        for other in ["new 0 native x", "old 1 native x", "old 0 bwrap x", "old 0 native y"] {
            assert!(!known(other).has(Property::Files), "{other}");
        }
        known("new 0 native x").add(Property::Ipc).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("state/tried")).unwrap(), "new 0 native x ipc\n");
        assert_eq!(fs::metadata(folder.path().join("state/tried")).unwrap().mode() & 0o777, 0o600);
    }
}
