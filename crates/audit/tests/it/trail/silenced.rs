//! Attacks on the files of a trail that keep the next action off the record.

use super::{denied, keep, new_trails, open};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use stockade_audit::{AuditError, AuditEvent, AuditTrail, Displaced, EventKind, FaultKind};

/// Does something to the files of a trail.
type Tamper = fn(&Path);

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

const DISPLACED: &[(&str, Tamper, Displaced)] = &[
    ("it is removed", |path| fs::remove_file(path).unwrap(), Displaced::Gone),
    ("it is renamed", |path| fs::rename(path, beside(path, ".1")).unwrap(), Displaced::Gone),
    (
        "it is rotated",
        |path| {
            fs::rename(path, beside(path, ".1")).unwrap();
            fs::write(path, "").unwrap();
        },
        Displaced::Replaced,
    ),
    (
        "it is replaced by its own copy",
        |path| {
            fs::copy(path, beside(path, ".copy")).unwrap();
            fs::rename(beside(path, ".copy"), path).unwrap();
        },
        Displaced::Replaced,
    ),
    (
        "it is replaced by a link to itself",
        |path| {
            fs::rename(path, beside(path, ".1")).unwrap();
            std::os::unix::fs::symlink(beside(path, ".1"), path).unwrap();
        },
        Displaced::Replaced,
    ),
    ("it gets a second name", |path| fs::hard_link(path, beside(path, ".2")).unwrap(), Displaced::Linked),
];

#[test]
fn a_trail_that_is_taken_away_is_noticed_before_the_next_action() {
    for (what, tamper, expected) in DISPLACED {
        for (_folder, path) in new_trails() {
            let trail = open(&path);
            keep(&trail, denied("one"));
            let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
            tamper(&path);
            let is_noticed = |result: Result<(), AuditError>| match result {
                Err(AuditError::Displaced { how, .. }) => assert_eq!(how, *expected, "{what}"),
                other => panic!("{what}: {other:?}"),
            };
            is_noticed(trail.record(denied("two")).map(drop));
            is_noticed(trail.start(AuditEvent::new(EventKind::SandboxStarted)).map(drop));
            is_noticed(run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop));
        }
    }
}

/// A journal holds the newest records: without it they are gone with the process.
#[cfg(feature = "sqlite")]
#[test]
fn a_journal_that_is_taken_away_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let trail = open(&path);
    keep(&trail, denied("one"));
    fs::remove_file(beside(&path, "-wal")).unwrap();
    assert!(matches!(trail.record(denied("two")), Err(AuditError::Displaced { how: Displaced::Gone, .. })));
}

/// Rotation at any moment: whatever was acknowledged is in one of the files.
#[test]
fn no_record_is_lost_to_a_rotation() {
    for (_folder, path) in new_trails() {
        let mut acknowledged = 0;
        for round in 0..20 {
            let trail = open(&path);
            let moved = beside(&path, &format!(".{round}"));
            let at = path.clone();
            let rotating = std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_micros(300 * round));
                for ending in ["", "-wal", "-shm", ".head"] {
                    fs::rename(beside(&at, ending), beside(&moved, ending)).ok();
                }
            });
            while trail.record(denied("x")).is_ok() {
                acknowledged += 1;
            }
            rotating.join().unwrap();
        }
        let kept: u64 = (0..20)
            .map(|round| {
                let moved = beside(&path, &format!(".{round}"));
                let extended =
                    moved.with_extension(format!("{round}.{}", path.extension().unwrap().display()));
                for ending in ["", "-wal", "-shm", ".head"] {
                    fs::rename(beside(&moved, ending), beside(&extended, ending)).ok();
                }
                AuditTrail::open_to_read(&extended).map_or(0, |trail| trail.verify(None).unwrap().records)
            })
            .sum();
        assert!(kept >= acknowledged, "{kept} of {acknowledged}: {}", path.display());
    }
}

#[test]
fn bytes_behind_the_end_show() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        (0..3).for_each(|_| keep(&trail, denied("x")));
        drop(trail);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[0xaa; 1000]).unwrap();
        let verified = AuditTrail::open_to_read(&path).unwrap().verify(None).unwrap();
        let named = |fault: &stockade_audit::Fault| matches!(fault.kind, FaultKind::Unsound(_));
        assert!(verified.faults.iter().any(named), "{}: {verified:?}", path.display());
    }
}

/// Every page of a small trail, damaged by itself.
#[cfg(feature = "sqlite")]
#[test]
fn a_damaged_page_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let trail = open(&path);
    (0..80).for_each(|number| keep(&trail, denied(&format!("command {number}"))));
    drop(trail);
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 8, "{pages}");
    // The pages of what is under way, of runs, agents, skills and clocks that were set back hold nothing just now.
    let is_used = |page: &usize| whole[page * 4096 + 2000..page * 4096 + 4096].iter().any(|byte| *byte != 0);
    assert_eq!((0..pages).filter(is_used).count(), pages - 5);
    for page in (0..pages).filter(is_used) {
        let mut damaged = whole.clone();
        damaged[page * 4096 + 2000..page * 4096 + 4096].fill(0xff);
        fs::write(&path, damaged).unwrap();
        let verified = AuditTrail::open_to_read(&path).and_then(|trail| trail.verify(None));
        assert!(!verified.is_ok_and(|verified| verified.intact()), "page {page}");
    }
}

/// An auditor gets a copy on a read-only disk.
#[test]
fn a_copy_on_a_read_only_disk_is_read() {
    for (folder, path) in new_trails() {
        let trail = open(&path);
        (0..3).for_each(|_| keep(&trail, denied("x")));
        drop(trail);
        let script =
            "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" || exit 77\nshift\nexec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(folder.path());
        command.arg(std::env::current_exe().unwrap());
        command.args(["--exact", "trail::silenced::in_a_disk_that_is_read", "--nocapture"]);
        let Ok(output) = command.env("STOCKADE_TEST_AUDIT_READ", &path).output() else {
            println!("skipped: a disk that is only read: there is no `unshare` (util-linux)");
            return;
        };
        let (said, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.code() == Some(77) || why.contains("unshare failed") {
            println!("skipped: a read-only disk: this machine allows no user namespaces");
            return;
        }
        assert!(output.status.success() && said.contains("3 records, intact: true"), "{said}{why}");
    }
}

/// Not a test of its own: what is done where the disk can only be read.
#[test]
fn in_a_disk_that_is_read() {
    let Some(path) = std::env::var_os("STOCKADE_TEST_AUDIT_READ").map(PathBuf::from) else { return };
    assert!(fs::write(path.with_file_name("new"), "").is_err(), "the disk can be written to");
    let trail = AuditTrail::open_to_read(&path).unwrap();
    let verified = trail.verify(None).unwrap();
    println!("{} records, intact: {}", verified.records, verified.intact());
    assert_eq!(trail.query(&Default::default()).unwrap().len(), 3);
}
