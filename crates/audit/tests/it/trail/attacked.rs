//! Attacks on a trail by an attacker who knows its format, and has every program that writes such files: each is found
//! by `verify` with nothing but the register, and stops the next action.
//!
//! The changes are made with Python and its `sqlite3`, as an attacker would make them.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use stockade_audit::{AuditEvent, AuditTrail, EventKind, FaultKind, Reference};

use super::anchored::{Site, beside, fill};
use super::denied;

/// What the attacks share: how digests are made, and how all that comes behind a change is written anew.
const PRELUDE: &str = r#"
import hashlib, json, os, shutil, sqlite3, sys
path, copy = sys.argv[1], sys.argv[2]
registers = os.path.join(os.path.dirname(path), "register")
NAMES = ["id", "timestamp", "event", "severity", "run", "agent", "skill", "decision", "rule", "backend", "exit_code",
         "duration_ms", "data", "writer", "prev", "hash", "seal"]
JSON = {"exit_code": "exitCode", "duration_ms": "durationMs"}

def digest(row):
    said = {JSON.get(name, name): value for name, value in zip(NAMES, row) if value is not None or name in ("data",)}
    said["data"] = json.loads(said["data"])
    for name in ("hash", "seal"): said.pop(name, None)
    return hashlib.sha256(json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()

def db():
    base = sqlite3.connect(path)
    return base

def disarm(base):
    for name in ("audit_events_stay", "audit_events_last"): base.execute(f"drop trigger if exists {name}")

def rearm(base):
    base.executescript("""CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events
  BEGIN SELECT RAISE (ABORT, 'records of the audit trail are never changed'); END;
CREATE TRIGGER audit_events_last BEFORE DELETE ON audit_events
  BEGIN SELECT RAISE (ABORT, 'records of the audit trail are never removed'); END;""")

def rows(base):
    return [list(row) for row in base.execute("select * from audit_events order by id")]

def write(base, all):
    base.execute("delete from audit_events")
    prev = "0" * 64
    for number, row in enumerate(all, 1):
        row[0], row[14] = number, prev
        row[15] = prev = digest(row)
        base.execute("insert into audit_events values (" + ",".join("?" * 17) + ")", row)
    base.execute("update sqlite_sequence set seq = ? where name = 'audit_events'", (len(all),))

def rechain(change):
    base = db(); disarm(base); all = rows(base); change(all); write(base, all); base.commit(); rearm(base); base.commit()

def lines(): return open(path).read().splitlines()
def keep():
    last = json.loads(lines()[-1])
    said = f"{last['id']:020} {last['hash']}\n{{}}\n"
    open(path + ".head", "w").write(said + hashlib.sha256(said.encode()).hexdigest() + "\n")
def put(all): open(path, "w").write("".join(line + "\n" for line in all))
"#;

/// What is done, to which kind of trail, by which lines of Python. The digests that they make are those of the program:
/// the whole chain that an attacker writes anew is sound.
const ATTACKS: &[(&str, &str, &str)] = &[
    (
        "a record is edited",
        "audit.db",
        "base = db(); disarm(base); base.execute(\"update audit_events set data = replace(data, 'command 2', 'ls')\"); rearm(base); base.commit()",
    ),
    (
        "a record is edited, with a new digest",
        "audit.db",
        "base = db(); disarm(base); row = rows(base)[0]; row[12] = row[12].replace('command 0', 'ls'); row[15] = digest(row)\n\
         base.execute('update audit_events set data = ?, hash = ? where id = 1', (row[12], row[15])); rearm(base); base.commit()",
    ),
    (
        "a record in the middle is removed",
        "audit.db",
        "base = db(); disarm(base); base.execute('delete from audit_events where id = 4'); rearm(base); base.commit()",
    ),
    (
        "two records change places",
        "audit.db",
        "base = db(); disarm(base)\n\
         for id, to in ((3, 99), (5, 3), (99, 5)): base.execute('update audit_events set id = ? where id = ?', (to, id))\n\
         base.execute(\"update sqlite_sequence set seq = 10\"); rearm(base); base.commit()",
    ),
    (
        "the end is cut off",
        "audit.db",
        "base = db(); disarm(base); base.execute('delete from audit_events where id > 6'); rearm(base); base.commit()",
    ),
    ("lines are cut off", "audit.jsonl", "put(lines()[:6])"),
    (
        "a trigger that edits is planted",
        "audit.db",
        "base = db(); base.execute(\"create trigger y after insert on audit_events begin select 1; end\"); base.commit()",
    ),
    (
        "the end is cut off, and the counter is set back",
        "audit.db",
        "base = db(); disarm(base); base.execute('delete from audit_events where id > 6')\n\
         base.execute('update sqlite_sequence set seq = 6'); rearm(base); base.commit()",
    ),
    (
        "the end is cut off in the middle of a run, and the counter is set back",
        "audit.db",
        "base = db(); disarm(base); base.execute('delete from audit_events where id > 9')\n\
         base.execute(\"insert or ignore into audit_open_runs select run, id from audit_events where id = 9\")\n\
         base.execute('update sqlite_sequence set seq = 9'); rearm(base); base.commit()",
    ),
    (
        "all is removed",
        "audit.db",
        "[os.remove(path + end) for end in ('', '-wal', '-shm', '.checkpoints') if os.path.exists(path + end)]",
    ),
    (
        "the table is emptied",
        "audit.db",
        "base = db(); disarm(base); base.execute('delete from audit_events'); base.execute('delete from sqlite_sequence'); rearm(base); base.commit()",
    ),
    (
        "the whole chain is written anew without one run",
        "audit.db",
        "rechain(lambda all: all.__delitem__(slice(8, 10)))",
    ),
    (
        "the whole chain is written anew with as many records",
        "audit.db",
        "rechain(lambda all: all[0].__setitem__(12, all[0][12].replace('command 0', 'ls')))",
    ),
    ("an older copy is put back", "audit.db", "shutil.copy(copy, path)"),
    ("another trail is put in its place", "audit.db", "shutil.copy(copy.replace('older', 'other'), path)"),
    (
        "the table is replaced by a view that leaves one out",
        "audit.db",
        "base = db(); base.executescript('alter table audit_events rename to kept; create view audit_events as select * from kept where id <> 3')",
    ),
    (
        "an answer of a person is forged at the end",
        "audit.db",
        "base = db(); last = rows(base)[-1]; row = [last[0] + 1, last[1].replace('Z', '9Z')[:27].replace('9Z', 'Z'), 'approval_answered', 'info', None, None, None, 'allow', None, None, None, None, '{}', last[13], last[15], '', None]\n\
         row[1] = '2999-01-01T00:00:00.000000Z'; row[15] = digest(row)\n\
         base.execute('insert into audit_events values (' + ','.join('?' * 17) + ')', row); base.commit()",
    ),
    (
        "a trigger that ignores is planted",
        "audit.db",
        "base = db(); base.execute('create trigger y before insert on audit_events begin select raise(ignore); end'); base.commit()",
    ),
    (
        "a trigger that removes is planted",
        "audit.db",
        "base = db(); base.execute('create trigger y after insert on audit_events begin delete from audit_events where id = new.id; end'); base.commit()",
    ),
    (
        "lines are cut off, and what is kept of the end is removed",
        "audit.jsonl",
        "put(lines()[:6]); os.remove(path + '.head')",
    ),
    (
        "lines are cut off, and what is kept of the end is made anew for what is left",
        "audit.jsonl",
        "put(lines()[:6]); keep()",
    ),
    (
        "an older copy of lines is put back, with what is kept of its end",
        "audit.jsonl",
        "shutil.copy(copy, path); keep()",
    ),
    (
        "another trail of lines is put in its place, with what is kept of its end",
        "audit.jsonl",
        "shutil.copy(copy.replace('older', 'other'), path); keep()",
    ),
    (
        "a line is edited with a new digest, and what is kept of the end is made anew",
        "audit.jsonl",
        "all = lines(); all[-1] = all[-1].replace('sandbox', 'command'); put(all); keep()",
    ),
    ("something stands behind the last line", "audit.jsonl", "open(path, 'a').write('garbage')"),
    (
        "the declaration of the table is changed in the catalogue",
        "audit.db",
        "base = db(); base.execute('pragma writable_schema = on'); base.execute(\"update sqlite_master set sql = replace(sql, 'AUTOINCREMENT', '') where name = 'audit_events'\"); base.commit()",
    ),
    (
        "the table is replaced by a copy without its rules",
        "audit.db",
        "base = db(); base.executescript('alter table audit_events rename to kept; create table audit_events as select * from kept; drop table kept')",
    ),
    (
        "an edit stands in the log alone, of a writer that was killed",
        "audit.db",
        "base = db(); disarm(base); base.execute(\"update audit_events set data = replace(data, 'command 2', 'ls')\"); rearm(base); base.commit(); os._exit(0)",
    ),
    (
        "the file is a link to a copy with an edit",
        "audit.db",
        "os.rename(path, path + '.x'); os.symlink(path + '.x', path); base = sqlite3.connect(path + '.x'); disarm(base); base.execute(\"update audit_events set skill = 'x' where id = 2\"); rearm(base); base.commit()",
    ),
    (
        "another trail is put in its place by a hard link",
        "audit.db",
        "os.remove(path); os.link(copy.replace('older', 'other'), path)",
    ),
    (
        "an index over an expression is planted",
        "audit.db",
        "base = db(); base.execute('create index y on audit_events (upper(event))'); base.commit()",
    ),
    (
        "a virtual table is planted",
        "audit.db",
        "base = db(); base.execute('create virtual table y using fts5 (x)'); base.commit()",
    ),
    (
        "the counter is set forward",
        "audit.db",
        "base = db(); base.execute('update sqlite_sequence set seq = 1000'); base.commit()",
    ),
    (
        "a column is added",
        "audit.db",
        "base = db(); base.execute(\"alter table audit_events add column note text default 'x'\"); base.commit()",
    ),
    (
        "a key stands twice in a line",
        "audit.jsonl",
        "all = lines(); all[2] = all[2].replace('{', '{\"decision\":\"allow\",', 1); put(all)",
    ),
    ("a line stands twice", "audit.jsonl", "all = lines(); put(all + [all[-1]]); keep()"),
    (
        "holes stand behind the last line",
        "audit.jsonl",
        "os.truncate(path, os.path.getsize(path) + (1 << 20))",
    ),
    (
        "the file of lines is a link to a copy that was cut off",
        "audit.jsonl",
        "open(path + '.x', 'w').write(''.join(line + '\\\\n' for line in lines()[:6])); os.remove(path); os.symlink(path + '.x', path)",
    ),
    (
        "the checkpoints are cut off",
        "audit.db",
        "text = open(path + '.checkpoints').read(); open(path + '.checkpoints', 'w').write(text[:text.index('\\n\\n', text.index('\\n\\n') + 2) + 2][:0])",
    ),
    (
        "a key of the details stands twice in a row",
        "audit.db",
        "base = db(); disarm(base)\n\
         for (id, data) in base.execute('select id, data from audit_events').fetchall():\n\
         \x20 if 'command 2' in data: base.execute('update audit_events set data = ? where id = ?', ('{\"command\":\"ls\",' + data[1:], id))\n\
         rearm(base); base.commit()",
    ),
    (
        "details are written with a space",
        "audit.db",
        "base = db(); disarm(base); base.execute(\"update audit_events set data = replace(data, ':', ': ') where id = 2\"); rearm(base); base.commit()",
    ),
    (
        "the seals of some records are stripped",
        "audit.db",
        "base = db(); disarm(base); base.execute('update audit_events set seal = null where id < 6'); rearm(base); base.commit()",
    ),
    (
        "the seals of all records are stripped",
        "audit.db",
        "base = db(); disarm(base); base.execute('update audit_events set seal = null'); rearm(base); base.commit()",
    ),
    (
        "a seal is replaced by another",
        "audit.db",
        "base = db(); disarm(base); base.execute('update audit_events set seal = hash where id = 4'); rearm(base); base.commit()",
    ),
    (
        "the seals of lines are stripped",
        "audit.jsonl",
        "import re; put([re.sub(',\"seal\":\"[0-9a-f]*\"', '', line) for line in lines()])",
    ),
    (
        "the register is removed",
        "audit.db",
        "[os.remove(registers + '/' + name) for name in os.listdir(registers)]",
    ),
    (
        "the register is removed, of a trail of lines",
        "audit.jsonl",
        "[os.remove(registers + '/' + name) for name in os.listdir(registers)]",
    ),
    (
        "the register is removed, with the checkpoints",
        "audit.db",
        "shutil.rmtree(registers); os.remove(path + '.checkpoints')",
    ),
    (
        "the register is emptied",
        "audit.db",
        "[open(registers + '/' + name, 'w').close() for name in os.listdir(registers)]",
    ),
    (
        "all is written anew without seals, and the register and the checkpoints are removed",
        "audit.db",
        "rechain(lambda all: [row.__setitem__(16, None) for row in all] + [all[0].__setitem__(12, all[0][12].replace('command 0', 'ls'))])\n\
         shutil.rmtree(registers); os.remove(path + '.checkpoints')",
    ),
    (
        "lines are written anew without seals, and the register and the checkpoints are removed",
        "audit.jsonl",
        "import re; put([re.sub(',\"seal\":\"[0-9a-f]*\"', '', line) for line in lines()])\n\
         shutil.rmtree(registers); os.remove(path + '.checkpoints')",
    ),
    ("other users may write to it", "audit.db", "os.chmod(path, 0o666)"),
    ("a group may write to the lines", "audit.jsonl", "os.chmod(path, 0o660)"),
    (
        "a checkpoint is removed in the middle",
        "audit.db",
        "text = open(path + '.checkpoints').read(); at = text.index('\\n\\n') + 2; at = text.index('\\n', at) + 1\n\
         to = text.index('\\n\\n', at) + 2; to = text.index('\\n', to) + 1; open(path + '.checkpoints', 'w').write(text[:at] + text[to:])",
    ),
    (
        "a checkpoint is copied behind the last",
        "audit.db",
        "text = open(path + '.checkpoints').read(); open(path + '.checkpoints', 'a').write(text[text.rindex('stockade/', 0, text.rindex('\\u2014')):])",
    ),
    (
        "garbage stands behind the checkpoints",
        "audit.db",
        "open(path + '.checkpoints', 'a').write('garbage')",
    ),
    (
        "the checkpoints are those of another trail",
        "audit.db",
        "shutil.copy(copy.replace('older', 'other') + '.checkpoints', path + '.checkpoints')",
    ),
];

/// Opening a trail does not read all seals.
const FOUND_BY_VERIFY_ALONE: &[&str] = &["a seal is replaced by another"];

/// Runs the attack in a process of its own. Returns whether there is Python.
fn attack(path: &Path, copy: &Path, script: &str) -> bool {
    let mut command = Command::new("python3");
    command.arg("-").arg(path).arg(copy).stdin(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut python) = command.spawn() else { return false };
    python.stdin.take().unwrap().write_all(format!("{PRELUDE}\n{script}\n").as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn every_attack_is_found_without_a_request() {
    let mut missed = Vec::new();
    for (what, name, script) in ATTACKS {
        let site = Site::new(name);
        let trail = site.open().unwrap();
        fill(&trail, 2);
        drop(trail);
        let (older, other) = (beside(&site.path, ".older"), beside(&site.path, ".other"));
        fs::copy(&site.path, &older).unwrap();
        fill(&site.open().unwrap(), 4);
        let elsewhere = Site::filled(name);
        fs::copy(&elsewhere.path, &other).unwrap();
        fs::copy(beside(&elsewhere.path, ".checkpoints"), beside(&other, ".checkpoints")).unwrap();
        assert!(site.is_intact(), "{what}");
        if !attack(&site.path, &older, script) {
            println!("skipped: attacks by others' tools: there is no python3");
            return;
        }
        if site.is_intact() {
            missed.push(format!("{what}: {:?}", site.read().and_then(|trail| trail.verify(None))));
        }
        let goes_on = site.open().and_then(|trail| trail.record(denied("next")).map(drop)).is_ok();
        if goes_on && !FOUND_BY_VERIFY_ALONE.contains(what) {
            missed.push(format!("{what}: the next action goes on"));
        }
    }
    println!("{} of {} attacks", ATTACKS.len() - missed.len(), ATTACKS.len());
    assert!(missed.is_empty(), "{missed:#?}");
}

/// The records tell which runs have no end. The list beside them may be edited.
#[test]
fn an_edited_list_of_open_runs_is_found_and_made_anew() {
    let edits = [
        ("a run is taken out", "base.execute('delete from audit_open_runs')"),
        (
            "a run that has ended is added",
            "base.execute(\"insert into audit_open_runs select run, min(id) from audit_events where run is not null group by run having count(*) > 1\")",
        ),
        (
            "one is replaced by another",
            "base.execute('delete from audit_open_runs'); base.execute(\"insert into audit_open_runs select run, min(id) from audit_events where run is not null group by run having count(*) > 1\")",
        ),
    ];
    for (what, edit) in edits {
        let site = Site::filled("audit.db");
        let trail = site.open().unwrap();
        let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        // As if the process had been killed.
        std::mem::forget(run);
        std::mem::forget(trail);
        assert!(site.is_intact(), "{what}");
        if !attack(&site.path, &site.path, &format!("base = db(); {edit}; base.commit()")) {
            println!("skipped: attacks by others' tools: there is no python3");
            return;
        }
        assert!(!site.is_intact(), "{what}");
        fs::remove_dir_all(beside(&site.path, ".writers")).unwrap();
        drop(site.open().unwrap());
        let verified = site.read().unwrap().verify(None).unwrap();
        assert!(
            verified.intact() && verified.open_runs == 0 && verified.records == 12,
            "{what}: {verified:?}"
        );
    }
}

/// Seals by a key that is in no file would prove nothing.
#[test]
fn a_register_that_is_removed_while_a_trail_is_open_stops_it() {
    let site = Site::filled("audit.db");
    let trail = site.open().unwrap();
    for name in fs::read_dir(site.path.with_file_name("register")).unwrap() {
        fs::remove_file(name.unwrap().path()).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(trail.record(denied("next")).is_err());
}

/// The attacks above would show nothing if the chain that they write were not sound.
#[test]
fn a_chain_that_was_written_anew_is_sound_but_for_the_register() {
    let site = Site::filled("audit.db");
    let rewrite = ATTACKS.iter().find(|(what, ..)| what.contains("as many records")).unwrap().2;
    let rewrite = rewrite.replace("all[0]", "all[2]").replace("command 0", "command 2");
    if !attack(&site.path, &site.path, &rewrite) {
        println!("skipped: attacks by others' tools: there is no python3");
        return;
    }
    let saved = beside(&site.path, ".checkpoints");
    let reference = Reference::read(&saved).unwrap();
    fs::rename(&saved, beside(&site.path, ".saved")).unwrap();
    let trail = AuditTrail::open_to_read(&site.path).unwrap();
    assert!(trail.verify(None).unwrap().intact(), "{:?}", trail.verify(None));
    let found = trail.verify_against(&reference).unwrap();
    let first: Vec<_> = found.faults.iter().map(|fault| (fault.id, fault.kind.clone())).collect();
    assert_eq!(first, [(3, FaultKind::NotTheReferred { size: 10 })]);
}
