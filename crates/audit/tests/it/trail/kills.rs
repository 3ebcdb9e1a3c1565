//! A process that is killed before any one of its system calls: what it leaves is never taken for an attack, and whatever comes
//! next goes on.
//!
//! `strace` kills this test program again, told by a variable to do one thing, before the first, the second … call of a kind.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stockade_audit::{AuditError, AuditEvent, AuditOptions, AuditTrail, EventKind};

use super::anchored::{KINDS, Site, beside, fill};
use super::{denied, events, keep};

const TASK: &str = "STOCKADE_TEST_KILLED_TASK";
const FOLDER: &str = "STOCKADE_TEST_KILLED_FOLDER";

/// The calls that change what is on the disk.
const CALLS: &[&str] = &["pwrite64", "write", "ftruncate", "rename", "unlink", "fdatasync"];

/// What is done, in a trail that has records already or is new.
const TASKS: &[(&str, bool)] = &[("record", false), ("record", true), ("rotate", true)];

/// Not a test of its own: what is killed.
#[test]
fn in_a_killed_process() {
    let (Ok(task), Some(path)) = (std::env::var(TASK), std::env::var_os(FOLDER)) else { return };
    let path = PathBuf::from(path);
    let options = AuditOptions { register: Some(register(&path)), ..AuditOptions::default() };
    match task.as_str() {
        "record" => {
            let trail = AuditTrail::open(&path, options).unwrap();
            // More than are between two checkpoints.
            let decisions = (0..65).map(|number| denied(&number.to_string())).collect();
            let run = trail.start_behind(decisions, AuditEvent::new(EventKind::SandboxStarted)).unwrap();
            run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
        }
        "rotate" => drop(AuditTrail::rotate(&path, options, &archive(&path)).unwrap()),
        other => panic!("no such task: {other}"),
    }
}

fn register(path: &Path) -> PathBuf {
    path.with_file_name("register")
}

fn archive(path: &Path) -> PathBuf {
    path.with_file_name(format!("archive-{}", path.file_name().unwrap().to_str().unwrap()))
}

/// Does the task in another process, which is killed before this call. Returns whether it came that far.
fn is_killed(task: &str, path: &Path, call: &str, number: usize) -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    strace.args(["-e", &format!("inject={call}:signal=KILL:when={number}")]);
    strace.arg(std::env::current_exe().unwrap());
    strace.args(["--exact", "trail::kills::in_a_killed_process", "--test-threads=1"]);
    strace.env(TASK, task).env(FOLDER, path).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = strace.status().unwrap();
    assert!(ended.success() || ended.signal() == Some(9), "{task}, {call} {number}: {ended:?}");
    !ended.success()
}

/// What must hold after a kill.
fn is_no_attack(site: &Site, has_records: bool, what: &str) {
    let path = &site.path;
    // `verify` reports what the next opening would take in.
    match site.read().and_then(|trail| trail.verify(None)) {
        Ok(verified) => assert!(verified.intact(), "{what}: {verified:?}"),
        Err(AuditError::Rotating { .. }) => {}
        // Nothing was written yet, which is no tampering either.
        Err(AuditError::Unusable { .. }) if !has_records => {}
        Err(error) => panic!("{what}: {error}"),
    }
    let trail = site.open().unwrap_or_else(|error| panic!("{what}: {error}"));
    keep(&trail, denied("next"));
    let verified = site.read().unwrap().verify(None).unwrap();
    assert!(verified.intact() && verified.open_runs == 0, "{what}: {verified:?}");
    let archive = archive(path);
    if fs::symlink_metadata(&archive).is_ok() {
        let archived = AuditTrail::open_to_read_beside(&archive, Some(&register(path))).unwrap();
        let verified = archived.verify(None).unwrap();
        assert!(verified.intact() && verified.records == 10, "{what}: {verified:?}");
        assert_eq!(events(&trail), ["trail_begun", "command_denied"], "{what}");
        let first = trail.query(&stockade_audit::AuditQuery::default()).unwrap().pop().unwrap();
        let aside = stockade_audit::Detail::Text(archive.to_string_lossy().into_owned());
        assert_eq!(first.data.get("setAside"), Some(&aside), "{what}");
    } else {
        assert_ne!(events(&trail).first().map(String::as_str), Some("trail_begun"), "{what}");
    }
}

#[test]
fn a_kill_before_any_call_is_no_attack_and_loses_nothing() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("skipped: kills at every call: there is no strace");
        return;
    }
    let kills: usize = std::thread::scope(|scope| {
        let all = KINDS.iter().flat_map(|kind| TASKS.iter().map(move |(task, has)| (*kind, *task, *has)));
        let all: Vec<_> =
            all.map(|(kind, task, has)| scope.spawn(move || kill_at_all(kind, task, has))).collect();
        all.into_iter().map(|kills| kills.join().unwrap()).sum()
    });
    println!("{kills} kills");
    assert!(kills > 50 * KINDS.len(), "{kills}");
}

/// Does a task again and again, and kills it before every call. Returns how often.
fn kill_at_all(kind: &str, task: &str, has_records: bool) -> usize {
    let kill_before = |call: &str, number: usize| {
        let site = Site::new(kind);
        if has_records {
            fill(&site.open().unwrap(), 8);
        }
        let is_killed = is_killed(task, &site.path, call, number);
        is_no_attack(&site, has_records, &format!("{kind}, {task}, {call} {number}"));
        is_killed
    };
    CALLS.iter().map(|call| (1..400).take_while(|number| kill_before(call, *number)).count()).sum()
}

/// A write of several pages may end between two of them.
#[test]
fn half_a_checkpoint_is_taken_back() {
    for kind in KINDS {
        let site = Site::filled(kind);
        let checkpoints = beside(&site.path, ".checkpoints");
        let whole = fs::read(&checkpoints).unwrap();
        let begun = whole.len() - whole.windows(2).rev().position(|two| two == b"\n\n").unwrap();
        let more = [&whole[..], &whole[..begun.min(300)]].concat();
        for length in [whole.len() + 1, whole.len() + 20, more.len()] {
            fs::write(&checkpoints, &more[..length]).unwrap();
            assert!(site.is_intact(), "{kind} {length}");
        }
        keep(&site.open().unwrap(), denied("next"));
        assert_eq!(fs::read(&checkpoints).unwrap()[..whole.len()], whole[..]);
        assert!(site.is_intact(), "{kind}");
        // Something else is no beginning of a checkpoint.
        fs::write(&checkpoints, [&whole[..], b"garbage"].concat()).unwrap();
        assert!(!site.is_intact() && site.open().is_err(), "{kind}");
    }
}
