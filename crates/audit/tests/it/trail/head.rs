//! Attacks on the head file beside lines of JSON, which has their end and the open runs: it is only a cache that
//! saves reading, and cannot make a process read, write or wait for anything.

use std::fs;
use std::path::Path;

use stockade_audit::{AuditEvent, AuditTrail, EventKind};
use tempfile::TempDir;

use super::anchored::{Site, beside};
use super::{denied, events, keep, open};

/// Makes a `.head` file that lists these runs as open behind the last record.
fn remember(path: &Path, open: &str) {
    let lines = fs::read_to_string(path).unwrap();
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    let said = format!("{:020} {}\n{open}\n", last["id"].as_u64().unwrap(), last["hash"].as_str().unwrap());
    fs::write(beside(path, ".head"), format!("{said}{}\n", digest(&said))).unwrap();
}

fn digest(text: &str) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn open_run(run: &str, agent: &str) -> String {
    format!("{{\"run\":\"{run}\",\"writer\":\"gone\",\"agent\":\"{agent}\",\"skill\":null}}")
}

/// A run that the records do not know, or have an end of, gets none: otherwise an attacker who can write one file could have this
/// program write a sealed record of their choice.
#[test]
fn no_end_is_written_for_a_run_that_is_only_remembered() {
    for made_up in [1, 2, 9, 10] {
        let site = Site::filled("audit.jsonl");
        let before = fs::read_to_string(&site.path).unwrap();
        remember(&site.path, &format!("{{\"{made_up}\":{}}}", open_run("forged", "forged reason")));
        keep(&site.open().unwrap(), denied("next"));
        let after = fs::read_to_string(&site.path).unwrap();
        assert_eq!(after.lines().count(), before.lines().count() + 1, "{made_up}: {after}");
        assert!(site.is_intact() && !after.contains("forged reason"), "{made_up}: {after}");
        let head = fs::read_to_string(beside(&site.path, ".head")).unwrap();
        assert!(!head.contains("forged"), "{head}");
    }
}

/// A run that was cut off gets its end with what its start says, whatever is remembered of it besides.
#[test]
fn a_run_that_was_cut_off_is_ended_as_its_start_says() {
    let site = Site::filled("audit.jsonl");
    let started = AuditEvent { agent: Some("builder".into()), ..AuditEvent::new(EventKind::SandboxStarted) };
    let trail = site.open().unwrap();
    let run = trail.start(started).unwrap();
    let name = run.name().unwrap().to_owned();
    // As after `kill -9`: the end of the run is unknown.
    std::mem::forget(run);
    let writers = beside(&site.path, ".writers");
    fs::remove_dir_all(&writers).unwrap();
    remember(&site.path, &format!("{{\"11\":{},\"12\":{}}}", open_run(&name, "another"), open_run("x", "y")));
    let opened = site.open().unwrap();
    assert_eq!(events(&opened).iter().filter(|event| *event == "sandbox_error").count(), 1);
    let lines = fs::read_to_string(&site.path).unwrap();
    let last = lines.lines().last().unwrap();
    assert!(last.contains(&name) && last.contains("\"agent\":\"builder\""), "{last}");
    assert!(site.is_intact());
}

/// A trail, and what is done to the file beside it.
fn replaced(by: impl Fn(&Path)) -> (TempDir, AuditTrail) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    keep(&open(&path), denied("one"));
    let head = beside(&path, ".head");
    fs::remove_file(&head).unwrap();
    by(&head);
    let trail = AuditTrail::open_to_read(&path).unwrap();
    (folder, trail)
}

/// The reader of an endless file would fill the memory, and that of a pipe wait for ever.
#[test]
fn a_link_to_an_endless_file_and_a_pipe_are_not_read() {
    let (_folder, trail) = replaced(|head| std::os::unix::fs::symlink("/dev/zero", head).unwrap());
    assert!(trail.verify(None).unwrap().intact());
    let (_folder, trail) = replaced(|head| {
        let made = std::process::Command::new("mkfifo").arg(head).status().unwrap();
        assert!(made.success());
    });
    assert!(trail.verify(None).unwrap().intact());
}

/// A trail is not read as empty when other lines follow it.
#[test]
fn empty_lines_behind_the_last_record_are_no_end_of_a_trail() {
    for lines in [1, 600 << 10] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let trail = open(&path);
        keep(&trail, denied("one"));
        let text = fs::read_to_string(&path).unwrap() + &"\n".repeat(lines);
        fs::write(&path, &text).unwrap();
        assert!(trail.record(denied("two")).is_err());
        assert!(AuditTrail::open(&path, stockade_audit::AuditOptions::default()).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
