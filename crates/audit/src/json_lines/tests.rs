//! What a search finds, and how much is read for it.

use super::*;
use crate::event::AuditEvent;
use crate::field;
use crate::kind::EventKind;
use proptest::prelude::*;
use std::fs;

fn draft(kind: EventKind, run: Option<&str>) -> Draft {
    let event =
        AuditEvent::new(kind).with(field::COMMAND, "make test").made_safe(&crate::Redactor::default());
    Draft { event, run: run.map(str::to_owned), writer: "w".to_owned() }
}

fn trail(folder: &tempfile::TempDir, drafts: Vec<Draft>) -> JsonLines {
    let mut trail = JsonLines::open(&folder.path().join("audit.jsonl")).unwrap();
    trail.write(drafts, Timestamp::from_micros(1), &mut |_| ()).unwrap();
    trail
}

/// How many bytes this thread has read, as the kernel counts them.
fn read_so_far() -> Option<u64> {
    let counted = fs::read_to_string("/proc/thread-self/io").ok()?;
    counted.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok())
}

#[test]
fn no_more_is_read_of_a_long_trail_than_of_a_short_one() {
    let read = [4_000, 16_000].map(|records| {
        let folder = tempfile::tempdir().unwrap();
        let mut drafts = vec![draft(EventKind::ToolAllowed, None); records];
        // What was cut off is among the newest; what is read to end it begins there.
        drafts.insert(records - 10, draft(EventKind::SandboxStarted, Some("lost")));
        drop(trail(&folder, drafts));
        let before = read_so_far()?;
        let mut opened = JsonLines::open(&folder.path().join("audit.jsonl")).unwrap();
        crate::look_back::look_back(&opened.path.clone(), &opened, crate::look_back::Seals::Missing).unwrap();
        assert_eq!(opened.recover(&|_| false, Timestamp::from_micros(2), &mut |_| ()).unwrap(), 1);
        opened
            .append(vec![draft(EventKind::ToolAllowed, None)], Timestamp::from_micros(3), &mut |_| ())
            .unwrap();
        Some(read_so_far()? - before)
    });
    match read {
        // Reading begins at some piece of the file, so that a piece more or less says nothing; the long one has megabytes more.
        [Some(short), Some(long)] => assert!(long < short + (256 << 10), "{short} and {long}"),
        _ => println!("skipped: the kernel does not count what is read"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_search_finds_what_reading_all_finds(events in prop::collection::vec(0..3_u8, 1..40), behind in 0..45_u64, is_forgotten: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut begun = 0_u32..;
        let drafts = events.iter().map(|event| match event {
            0 => draft(EventKind::SandboxStarted, Some(&format!("run {}", begun.next().unwrap_or(0)))),
            1 => draft(EventKind::SandboxError, Some(&format!("run {}", begun.start.saturating_sub(1)))),
            _ => draft(EventKind::ToolAllowed, None),
        });
        let drafts: Vec<_> = drafts.collect();
        let cut = drafts.len() / 2;
        let mut trail = trail(&folder, drafts[..cut].to_vec());
        let kept = fs::read(head_path(&trail.path)).unwrap();
        trail.write(drafts[cut..].to_vec(), Timestamp::from_micros(2), &mut |_| ()).unwrap();
        if is_forgotten {
            // As after a crash in between.
            fs::write(head_path(&trail.path), kept).unwrap();
        }
        prop_assert_eq!(trail.open_runs().unwrap(), trail.all_open_runs().unwrap());
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        trail.each_behind(behind, &mut |record| { found.push(record.id); ControlFlow::Continue(()) }).unwrap();
        trail.each(&mut |entry| {
            if let Entry::Record(record) = entry && record.id > behind { expected.push(record.id) }
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(found, expected);
    }
}
