//! Crashes, full disks and many writers.
//!
//! Other processes are this test program again, told by a variable to do one thing.

use super::{KINDS, denied, events, keep, new_trails, open};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stockade_audit::{
    AuditError, AuditEvent, AuditOptions, AuditQuery, AuditTrail, EventKind, Recorded, Unrecorded,
};

const TASK: &str = "STOCKADE_TEST_AUDIT_TASK";
const TRAIL: &str = "STOCKADE_TEST_AUDIT_TRAIL";

/// Not a test of its own: what the other processes do.
#[test]
fn in_another_process() {
    let (Ok(task), Some(path)) = (std::env::var(TASK), std::env::var_os(TRAIL)) else { return };
    let path = PathBuf::from(path);
    match task.as_str() {
        "run for ever" => run_for_ever(&path),
        "write fifty" => write_fifty(&path),
        "fill the disk" => fill_the_disk(&path),
        other => panic!("no such task: {other}"),
    }
}

/// Starts and ends runs until it is killed, and says each that was acknowledged.
fn run_for_ever(path: &Path) {
    let trail = open(path);
    loop {
        let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        println!("started {}", run.name().unwrap());
        let name = run.name().unwrap().to_owned();
        run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
        println!("ended {name}");
    }
}

fn write_fifty(path: &Path) {
    let trail = open(path);
    for number in 0..25 {
        keep(&trail, denied(&number.to_string()));
        let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
    }
}

fn itself(task: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "trail::faults::in_another_process", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(TRAIL, path);
    command
}

/// Kills a process that keeps writing after a while, and returns what it was told is on record: names, and whether ended.
fn kill_after(mut child: Child, lines: usize) -> HashMap<String, bool> {
    let mut seen = HashMap::new();
    let output = BufReader::new(child.stdout.take().unwrap());
    for line in output.lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("started", name)) => drop(seen.insert(name.to_owned(), false)),
            Some(("ended", name)) => drop(seen.insert(name.to_owned(), true)),
            _ => {}
        }
        if seen.len() == lines {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    seen
}

#[test]
fn a_killed_writer_loses_nothing_and_its_run_is_ended_once() {
    for (_folder, path) in new_trails() {
        let mut seen: HashMap<String, bool> = HashMap::new();
        for round in 1..8 {
            let child = itself("run for ever", &path).stdout(Stdio::piped()).spawn().unwrap();
            seen.extend(kill_after(child, round));
        }
        let trail = open(&path);
        let verified = trail.verify(None).unwrap();
        assert!(verified.intact() && verified.open_runs == 0, "{verified:?}");
        assert!(seen.len() >= 28);
        for (name, ended) in seen {
            let of_run = AuditQuery { run: Some(name), ..AuditQuery::default() };
            let found: Vec<_> =
                trail.query(&of_run).unwrap().into_iter().map(|record| record.event).collect();
            let [end, start] = &found[..] else { panic!("{found:?}") };
            assert_eq!(start, "sandbox_started");
            assert!(end == "sandbox_completed" || (!ended && end == "sandbox_error"), "{found:?}");
        }
    }
}

#[test]
fn what_another_process_still_runs_is_not_ended() {
    for (_folder, path) in new_trails() {
        let first = open(&path);
        let run = first.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        let second = open(&path);
        assert_eq!(second.verify(None).unwrap().open_runs, 1);
        run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
        assert_eq!(events(&second), ["sandbox_started", "sandbox_completed"]);
    }
}

#[test]
fn eight_processes_write_one_trail() {
    for (_folder, path) in new_trails() {
        let writers: Vec<Child> =
            (0..8).map(|_| itself("write fifty", &path).stdout(Stdio::null()).spawn().unwrap()).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        let verified = open(&path).verify(None).unwrap();
        assert!(verified.intact(), "{verified:?}");
        assert_eq!((verified.records, verified.open_runs), (8 * 75, 0));
    }
}

/// A process that keeps a trail locked blocks what would be recorded, and is named; no writer waits for ever.
#[test]
fn a_trail_that_is_kept_locked_is_an_error_and_goes_on_afterwards() {
    let trails = new_trails();
    std::thread::scope(|scope| {
        for (_folder, path) in &trails {
            scope.spawn(|| {
                let trail = open(path);
                let lock = Lock::of(path);
                let error = trail.record(denied("one")).map(drop).unwrap_err().to_string();
                assert!(error.contains("waiting for the lock: "), "{error}");
                drop(lock);
                keep(&trail, denied("two"));
                let verified = trail.verify(None).unwrap();
                assert!(verified.intact() && verified.records == 1, "{verified:?}");
            });
        }
    });
}

/// A process that keeps a trail locked.
enum Lock {
    Lines(#[expect(dead_code, reason = "locked while it is open")] fs::File),
    #[cfg(feature = "sqlite")]
    Database(rusqlite::Connection),
}

impl Lock {
    fn of(path: &Path) -> Self {
        #[cfg(feature = "sqlite")]
        if path.extension().is_some_and(|ending| ending == "db") {
            let database = rusqlite::Connection::open(path).unwrap();
            database.execute_batch("BEGIN IMMEDIATE").unwrap();
            return Self::Database(database);
        }
        let file = fs::File::open(path).unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        Self::Lines(file)
    }
}

#[cfg(feature = "sqlite")]
impl Drop for Lock {
    fn drop(&mut self) {
        if let Self::Database(database) = self {
            database.execute_batch("ROLLBACK").unwrap();
        }
    }
}

#[test]
fn a_line_that_was_never_finished_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let trail = open(&path);
    keep(&trail, denied("one"));
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"id\":2,\"times")).unwrap();
    keep(&trail, denied("two"));
    let verified = trail.verify(None).unwrap();
    assert!(verified.intact() && verified.records == 2, "{verified:?}");
}

#[test]
fn an_action_that_cannot_be_recorded_is_refused_unless_chosen_otherwise() {
    for (folder, path) in new_trails() {
        let blocked = folder.path().join("no such folder").join(path.file_name().unwrap());
        assert!(matches!(
            AuditTrail::open(&blocked, AuditOptions::default()),
            Err(AuditError::Unusable { .. })
        ));
        // A trail whose last record is no record any more cannot be continued.
        keep(&open(&path), denied("x"));
        let options = AuditOptions { unrecorded: Unrecorded::Warn, ..AuditOptions::default() };
        let (strict, lenient) = (open(&path), AuditTrail::open(&path, options).unwrap());
        spoil(&path);
        assert!(strict.record(denied("y")).is_err());
        assert!(matches!(lenient.record(denied("y")).unwrap(), Recorded::Lost(_)));
        assert!(strict.start(AuditEvent::new(EventKind::SandboxStarted)).is_err());
        let run = lenient.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        assert_eq!(run.name(), None);
        assert!(matches!(run.end(AuditEvent::new(EventKind::SandboxCompleted)).unwrap(), Recorded::Lost(_)));
    }
}

fn spoil(path: &Path) {
    match path.extension().is_some_and(|ending| ending == "jsonl") {
        true => fs::write(path, "{}\n").unwrap(),
        false => spoil_database(path),
    }
}

#[cfg(feature = "sqlite")]
fn spoil_database(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    let spoil = "DROP TRIGGER audit_events_stay; UPDATE audit_events SET timestamp = 'never'";
    database.execute_batch(spoil).unwrap();
}

#[cfg(not(feature = "sqlite"))]
fn spoil_database(path: &Path) {
    panic!("{} cannot be a database", path.display());
}

/// A damaged trail is not continued, and not mistaken for an empty one.
#[test]
fn a_file_that_is_no_trail_is_refused() {
    let stories =
        ["once upon a time\n".repeat(200), "once upon a time\n".repeat(200) + "there", "once".to_owned()];
    for (kind, story) in KINDS.iter().flat_map(|kind| stories.iter().map(move |story| (kind, story))) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(kind);
        fs::write(&path, story).unwrap();
        let opened = AuditTrail::open(&path, AuditOptions::default());
        let refused = opened.and_then(|trail| trail.record(denied("x")));
        assert!(refused.is_err(), "{kind}");
        assert_eq!(&fs::read_to_string(&path).unwrap(), story, "{kind}");
    }
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        // A small disk of our own: in a namespace, so that anybody may make one and it is gone with the process.
        let script = "mount -t tmpfs -o size=512k none \"$1\" || exit 77\nshift\nexec \"$@\"";
        let inner = itself("fill the disk", &folder.path().join(kind));
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(folder.path());
        command.arg(inner.get_program()).args(inner.get_args());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let Ok(output) = command.output() else {
            println!("skipped: a full disk: there is no `unshare` (util-linux)");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        if output.status.code() == Some(77)
            || String::from_utf8_lossy(&output.stderr).contains("unshare failed")
        {
            println!("skipped: a full disk: this machine allows no user namespaces");
            return;
        }
        assert!(output.status.success(), "{kind}: {text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("the disk was full"), "{kind}: {text}");
    }
}

/// Writes until nothing more fits, makes room, and writes on.
fn fill_the_disk(path: &Path) {
    let trail = open(path);
    let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
    let ballast = path.with_file_name("ballast");
    fs::write(&ballast, vec![b'x'; 100 << 10]).unwrap();
    let mut kept = 1;
    let deadline = Instant::now() + Duration::from_secs(60);
    // A short record may find room where a long one does not.
    for length in [1900, 1] {
        while let Ok(Recorded::Kept(_)) = trail.record(denied(&"x".repeat(length))) {
            kept += 1;
            assert!(Instant::now() < deadline, "the disk never filled up");
        }
    }
    println!("the disk was full after {kept}");
    assert!(trail.start(AuditEvent::new(EventKind::SandboxStarted)).is_err());
    fs::remove_file(ballast).unwrap();
    run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
    let verified = open(path).verify(None).unwrap();
    assert!(verified.intact(), "{verified:?}");
    assert_eq!((verified.records, verified.open_runs), (kept + 1, 0));
}
