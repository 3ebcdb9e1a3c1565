//! What is known of a trail apart from it: the register, the checkpoints, anchors and receipts.

use super::{denied, keep};
use std::fs;
use std::path::{Path, PathBuf};

use stockade_audit::{
    Anchor, AuditError, AuditEvent, AuditOptions, AuditTrail, Disagreement, EventKind, FaultKind, Receipt,
    Recorded, Reference, Registered, Unproven, Unrecorded,
};
use tempfile::TempDir;

pub(super) struct Site {
    folder: TempDir,
    pub(super) path: PathBuf,
}

impl Site {
    pub(super) fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join(name);
        Self { folder, path }
    }

    fn register(&self) -> PathBuf {
        self.folder.path().join("register")
    }

    pub(super) fn open(&self) -> Result<AuditTrail, AuditError> {
        let register = Some(self.register());
        AuditTrail::open(&self.path, AuditOptions { register, ..AuditOptions::default() })
    }

    pub(super) fn read(&self) -> Result<AuditTrail, AuditError> {
        AuditTrail::open_to_read_beside(&self.path, Some(&self.register()))
    }

    /// Ten records, a run among them.
    pub(super) fn filled(name: &str) -> Self {
        let site = Self::new(name);
        fill(&site.open().unwrap(), 8);
        site
    }

    pub(super) fn is_intact(&self) -> bool {
        self.read().and_then(|trail| trail.verify(None)).is_ok_and(|verified| verified.intact())
    }
}

pub(super) fn fill(trail: &AuditTrail, records: usize) {
    (0..records).for_each(|number| keep(trail, denied(&format!("command {number}"))));
    let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
    run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
}

pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

pub(super) const KINDS: &[&str] =
    if cfg!(feature = "sqlite") { &["audit.db", "audit.jsonl"] } else { &["audit.jsonl"] };

/// What was kept elsewhere names the first record that is another one, be it checkpoints or an earlier copy.
#[test]
fn what_was_kept_elsewhere_names_the_first_that_differs() {
    for kind in KINDS {
        let (site, other) = (Site::filled(kind), Site::new(kind));
        let copy = beside(&site.path, ".copy").with_file_name(format!("copy-{kind}"));
        fs::copy(&site.path, &copy).unwrap();
        let checkpoints = Reference::read(&beside(&site.path, ".checkpoints")).unwrap();
        let copied = Reference::read(&copy).unwrap();
        fill(&site.open().unwrap(), 3);
        let trail = site.read().unwrap();
        for reference in [&checkpoints, &copied] {
            let verified = trail.verify_against(reference).unwrap();
            assert!(verified.intact() && verified.records == 15, "{verified:?}");
        }
        fill(&other.open().unwrap(), 30);
        for reference in [&checkpoints, &copied] {
            let faults = other.read().unwrap().verify_against(reference).unwrap().faults;
            assert!(matches!(faults[..], [ref fault] if fault.id == 1), "{faults:?}");
        }
        assert!(Reference::read(&site.path.with_file_name("nowhere")).is_err());
    }
}

#[test]
fn an_anchor_is_told_of_every_checkpoint() {
    for kind in KINDS {
        let site = Site::new(kind);
        let anchor = site.folder.path().join("anchor");
        let options = || AuditOptions {
            register: Some(site.register()),
            anchors: vec![Anchor::read(anchor.to_str().unwrap())],
            ..AuditOptions::default()
        };
        assert!(AuditTrail::open(&site.path, options()).is_err(), "the witness does not exist");
        fs::write(&anchor, "").unwrap();
        let trail = AuditTrail::open(&site.path, options()).unwrap();
        fill(&trail, 70);
        let checkpoints = fs::read_to_string(beside(&site.path, ".checkpoints")).unwrap();
        // The first was made before there was an anchor to tell.
        let told = fs::read_to_string(&anchor).unwrap();
        assert!(checkpoints.ends_with(&told) && told.matches("\n\u{2014} ").count() >= 2, "{told}");
        let saved = fs::read(&anchor).unwrap();
        fs::remove_file(&anchor).unwrap();
        let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        assert!(run.end(AuditEvent::new(EventKind::SandboxCompleted)).is_err());
        // The end is on record, but the anchor was not told of it: nothing else begins before it is.
        let start = || AuditTrail::open(&site.path, options()).unwrap().record(denied("next"));
        assert!(start().is_err() && trail.record(denied("next")).is_err(), "{kind}");
        let warn = AuditOptions { unrecorded: Unrecorded::Warn, ..options() };
        let lost = AuditTrail::open(&site.path, warn).unwrap().record(denied("next")).unwrap();
        assert!(matches!(lost, Recorded::Lost(_)), "{kind}");
        fs::write(&anchor, &saved).unwrap();
        drop(start().unwrap());
        let told = fs::read_to_string(&anchor).unwrap();
        let checkpoints = fs::read_to_string(beside(&site.path, ".checkpoints")).unwrap();
        assert!(checkpoints.ends_with(&told) && told.len() > saved.len(), "{told}");
    }
}

/// Where all that a user has is rolled back to a copy, only the anchor knows better.
#[test]
fn an_anchor_is_asked_by_each_opening_and_by_verify() {
    for kind in KINDS {
        let site = Site::filled(kind);
        let anchor = site.folder.path().join("anchor");
        fs::write(&anchor, "").unwrap();
        let options = || AuditOptions {
            register: Some(site.register()),
            anchors: vec![Anchor::File(anchor.clone())],
            ..AuditOptions::default()
        };
        fill(&AuditTrail::open(&site.path, options()).unwrap(), 3);
        let copy = site.folder.path().join("copy");
        let state = || [site.path.clone(), beside(&site.path, ".head"), beside(&site.path, ".checkpoints")];
        let registers = || fs::read_dir(site.register()).unwrap().map(|entry| entry.unwrap().path());
        fs::create_dir(&copy).unwrap();
        let all: Vec<PathBuf> = state().into_iter().chain(registers()).filter(|path| path.exists()).collect();
        let saved: Vec<Vec<u8>> = all.iter().map(|path| fs::read(path).unwrap()).collect();
        let verify = || AuditTrail::open_to_read_with(&site.path, options()).unwrap().verify(None).unwrap();
        fill(&AuditTrail::open(&site.path, options()).unwrap(), 3);
        assert!(verify().intact(), "{:?}", verify());
        all.iter().zip(&saved).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        let faults = verify().faults;
        assert!(
            matches!(faults[..], [ref fault] if fault.kind == FaultKind::NotTheReferred { size: 20 }),
            "{faults:?}"
        );
        assert!(site.is_intact(), "without the anchor, it cannot be known");
        let opened = AuditTrail::open(&site.path, options());
        assert!(
            matches!(opened, Err(AuditError::Disagrees { why: Disagreement::Anchor { size: 20 }, .. })),
            "{opened:?}"
        );
        // Goes on without the anchor, and is found with it: record 16 is another one.
        fill(&site.open().unwrap(), 9);
        let faults = verify().faults;
        assert!(matches!(faults[..], [ref fault] if fault.id == 16), "{faults:?}");
        assert!(AuditTrail::open(&site.path, options()).is_err());
        fs::remove_file(&anchor).unwrap();
        assert!(!verify().intact());
    }
}

#[test]
fn a_receipt_is_checked_with_only_the_key() {
    for kind in KINDS {
        let site = Site::filled(kind);
        let trail = site.read().unwrap();
        for id in 1..=10 {
            let receipt = trail.receipt(id).unwrap().unwrap();
            let text = serde_json::to_string(&receipt).unwrap();
            let read = Receipt::read(&text).unwrap();
            assert_eq!(read.check(&receipt.key).unwrap().size, 10);
            let of = |change: &dyn Fn(&str) -> String| {
                Receipt::read(&change(&text)).and_then(|read| read.check(&receipt.key))
            };
            assert_eq!(of(&|text| text.replacen("command ", "kommand ", 1)).is_err(), id <= 8);
            assert_eq!(
                of(&|text| text.replacen("\"severity\":\"", "\"severity\":\"x", 1)),
                Err(Unproven::Edited)
            );
            assert!(of(&|text| text.replacen("\\nhead ", "\\nhead 0", 1)).is_err());
            assert!(of(&|text| text.replacen(&format!("\"id\":{id},"), "\"id\":11,", 1)).is_err());
        }
        let other = Site::filled(kind).read().unwrap().receipt(1).unwrap().unwrap();
        let receipt = trail.receipt(1).unwrap().unwrap();
        assert_eq!(receipt.check(&other.key), Err(Unproven::NotSigned));
        assert_eq!(receipt.check("key"), Err(Unproven::NoKey));
        assert!(trail.receipt(0).unwrap().is_err() && trail.receipt(11).unwrap().is_err());
    }
}

/// An attacker who breaks in now has the current key, and cannot sign earlier checkpoints.
#[test]
fn what_is_in_the_register_signs_nothing_that_was() {
    for kind in KINDS {
        let site = Site::filled(kind);
        let told = fs::read_to_string(beside(&site.path, ".checkpoints")).unwrap();
        let register = fs::read_dir(site.register()).unwrap().next().unwrap().unwrap().path();
        let stolen = String::from_utf8_lossy(&fs::read(register).unwrap()).into_owned();
        let seals: Vec<String> = site
            .read()
            .unwrap()
            .query(&Default::default())
            .unwrap()
            .into_iter()
            .filter_map(|record| record.seal)
            .collect();
        assert_eq!(seals.len(), 10);
        // One place only is left at the end of a run, and in it the key of what comes next.
        assert_eq!(stolen.matches("\"signing\"").count(), 1);
        assert!(told.lines().filter(|line| line.starts_with("next ")).count() == 2);
        assert!(seals.iter().all(|seal| !stolen.contains(seal.as_str())));
    }
}

/// Between the record and the register, a process may be killed: the next takes in what there is.
#[test]
fn a_register_that_is_behind_catches_up_and_foreign_records_are_refused() {
    for kind in KINDS {
        let site = Site::filled(kind);
        let register = fs::read_dir(site.register()).unwrap().next().unwrap().unwrap().path();
        let before = fs::read(&register).unwrap();
        // Up to the end of a run, with its checkpoint.
        fill(&site.open().unwrap(), 3);
        fs::write(&register, &before).unwrap();
        assert!(site.is_intact(), "{kind}");
        let trail = site.open().unwrap();
        keep(&trail, denied("next"));
        drop(trail);
        let verified = site.read().unwrap().verify(None).unwrap();
        assert!(verified.intact() && verified.registered == Registered::Known(16), "{verified:?}");
        // Without a register, or with another one, the trail cannot be continued.
        let without = AuditTrail::open(&site.path, AuditOptions::default());
        assert!(matches!(without, Err(AuditError::Disagrees { .. })), "{without:?}");
        let another = Some(site.folder.path().join("another"));
        let another =
            AuditTrail::open(&site.path, AuditOptions { register: another, ..AuditOptions::default() });
        assert!(matches!(another, Err(AuditError::Disagrees { .. })), "{another:?}");
    }
}

/// A process that has the trail open continues with the new one, and the rotated trail stays whole.
#[test]
fn a_trail_is_set_aside_and_the_next_one_says_so() {
    for kind in KINDS {
        let site = Site::filled(kind);
        let options = || AuditOptions { register: Some(site.register()), ..AuditOptions::default() };
        let aside = site.path.with_file_name(format!("aside-{kind}"));
        let writer = site.open().unwrap();
        let run = writer.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        assert!(AuditTrail::rotate(&site.path, options(), &aside).is_err(), "a run is in progress");
        run.end(AuditEvent::new(EventKind::SandboxCompleted)).map(drop).unwrap();
        let rotated = AuditTrail::rotate(&site.path, options(), &aside).unwrap();
        assert_eq!((rotated.before.id, &rotated.wrong), (12, &None));
        keep(&writer, denied("goes on"));
        drop(writer);
        let set_aside = AuditTrail::open_to_read(&aside).unwrap().verify(None).unwrap();
        assert!(set_aside.intact() && set_aside.records == 12 && set_aside.checkpoints == 3, "{set_aside:?}");
        assert!(AuditTrail::rotate(&site.path, options(), &aside).is_err(), "the name is taken");
        // One that is gone is owned up to.
        fs::remove_file(&site.path).unwrap();
        let error = site.open().unwrap_err();
        assert!(matches!(error, AuditError::Disagrees { .. }), "{error}");
        let rotated = AuditTrail::rotate(&site.path, options(), &beside(&site.path, ".2")).unwrap();
        assert!(rotated.before.id == 2 && rotated.wrong.is_some(), "{rotated:?}");
        let first = site.open().unwrap().query(&Default::default()).unwrap().remove(0);
        assert_eq!((first.event.as_str(), first.severity.as_str()), ("trail_begun", "high"));
        assert!(site.is_intact());
    }
}

/// A trail that no register knows could have been written anew as a whole; one that is moved stays known.
#[test]
fn an_unknown_trail_is_set_aside_and_a_moved_one_stays_known() {
    for kind in KINDS {
        let mut site = Site::new(kind);
        let trail = AuditTrail::open(&site.path, AuditOptions::default()).unwrap();
        fill(&trail, 3);
        drop(trail);
        let verified = site.read().unwrap().verify(None).unwrap();
        assert!(verified.registered == Registered::Unknown && !verified.intact(), "{verified:?}");
        let copy = Reference::read(&site.path).unwrap();
        assert!(site.read().unwrap().verify_against(&copy).unwrap().intact());
        assert!(matches!(site.open(), Err(AuditError::Disagrees { .. })));
        let options = AuditOptions { register: Some(site.register()), ..AuditOptions::default() };
        let aside = site.path.with_file_name(format!("aside-{kind}"));
        let rotated = AuditTrail::rotate(&site.path, options, &aside).unwrap();
        assert!(rotated.wrong.is_some());
        fill(&site.open().unwrap(), 3);
        assert_eq!(site.read().unwrap().verify(None).unwrap().registered, Registered::Known(6));
        let moved = site.path.with_file_name(format!("moved-{kind}"));
        for ending in ["", "-wal", "-shm", ".head", ".checkpoints"] {
            fs::rename(beside(&site.path, ending), beside(&moved, ending)).ok();
        }
        site.path = moved;
        let verified = site.read().unwrap().verify(None).unwrap();
        assert!(verified.intact() && verified.registered == Registered::Known(6), "{verified:?}");
        fill(&site.open().unwrap(), 3);
        let verified = site.read().unwrap().verify(None).unwrap();
        assert!(verified.intact() && verified.registered == Registered::Known(11), "{verified:?}");
    }
}
