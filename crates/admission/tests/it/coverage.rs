//! Unexamined content is never accepted: random directories, under random limits, read by the scan and by admission.
#![expect(clippy::disallowed_methods, reason = "makes the folders that it scans")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use stockade_admission::scanner::Scanner;
use stockade_admission::{
    Admission, AdmitOptions, Coverage, FileOptions, SkillSource, Source, admit, scan_files,
};
use tempfile::TempDir;

use crate::support::ATTACK;

const SKILL: &str = "---\nname: greet\ndescription: Greets a person.\n---\nSay hello.\n";

/// An entry of the random directory.
#[derive(Debug, Clone, Copy)]
enum Thing {
    /// A text of this many lines, with an attack in the last one.
    Text(usize),
    Picture,
    PictureAndMore,
    Packed,
    TextAndPacked,
    PosingAsUtf16,
    Zip,
    Program,
    LinkOut,
    Pipe,
    Closed,
}

use Thing::{
    Closed, LinkOut, Packed, Picture, PictureAndMore, Pipe, PosingAsUtf16, Program, Text, TextAndPacked, Zip,
};

const PICTURE: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// Bytes that do not occur in text.
fn packed() -> Vec<u8> {
    (0..400_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

impl Thing {
    fn bytes(self) -> Vec<u8> {
        let packed = packed();
        match self {
            Text(lines) => ("Say hello.\n".repeat(lines) + ATTACK).into_bytes(),
            Picture => PICTURE.to_vec(),
            PictureAndMore => [PICTURE, &packed].concat(),
            Packed => packed,
            TextAndPacked => ["Say hello.\n".repeat(500).into_bytes(), packed].concat(),
            PosingAsUtf16 => [&b"\xff\xfe"[..], &packed].concat(),
            Zip => [&b"PK\x03\x04\x14\0"[..], &packed].concat(),
            Program => [&b"\x7fELF\x02\x01\x01\0"[..], &packed].concat(),
            LinkOut | Pipe | Closed => Vec::new(),
        }
    }

    /// Creates it, unless the path exists.
    fn place(self, at: &Path) -> bool {
        let made = at.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok());
        if !made || at.symlink_metadata().is_ok() {
            return false;
        }
        match self {
            LinkOut => symlink("/etc/hostname", at).is_ok(),
            Pipe => rustix::fs::mkfifoat(rustix::fs::CWD, at, rustix::fs::Mode::RUSR).is_ok(),
            Closed => fs::write(at, ATTACK)
                .and_then(|()| fs::set_permissions(at, fs::Permissions::from_mode(0o000)))
                .is_ok(),
            _ => fs::write(at, self.bytes()).is_ok(),
        }
    }
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        6 => (0..60_usize).prop_map(Text),
        2 => Just(Picture),
        1 => prop::sample::select(vec![
            PictureAndMore, Packed, TextAndPacked, PosingAsUtf16, Zip, Program, LinkOut, Pipe, Closed,
        ]),
    ]
}

/// Up to four directories deep, of few names, so that files collide.
fn place() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", ".git", "c.png"]), 1..5)
        .prop_map(|names| names.iter().collect())
}

fn limits() -> impl Strategy<Value = FileOptions> {
    let generous = (Just(1 << 20), Just(1000), Just(100));
    let narrow = (50..8000_usize, 1..30_usize, 0..5_usize);
    prop_oneof![generous, narrow].prop_map(|(max_file_bytes, max_entries, max_depth)| FileOptions {
        max_file_bytes,
        max_entries,
        max_depth,
        ..FileOptions::default()
    })
}

fn lay_out(things: Vec<(PathBuf, Thing)>) -> (TempDir, BTreeMap<PathBuf, Thing>) {
    let folder = tempfile::tempdir().unwrap();
    let placed = things.into_iter().filter(|(at, thing)| thing.place(&folder.path().join(at))).collect();
    (folder, placed)
}

/// Result of a scan: findings, and gaps.
#[derive(Debug, Default)]
struct Ledger {
    found: Vec<PathBuf>,
    listed: Vec<PathBuf>,
    unseen: Vec<(PathBuf, &'static str)>,
}

impl Ledger {
    fn of(folder: &Path, options: &FileOptions) -> Self {
        let mut ledger = Self::default();
        scan_files(
            &[Source::Path(folder.into())],
            Scanner::builtin(),
            options,
            |file| {
                let path = file.path.strip_prefix(folder).unwrap().to_owned();
                let gap = file.gap.as_ref().map(|gap| (gap.coverage(), gap.name()));
                (path, !file.report.clean(), gap)
            },
            |(path, found, gap)| {
                match gap {
                    Some((Coverage::Listed, _)) => ledger.listed.push(path.clone()),
                    Some((_, name)) => ledger.unseen.push((path.clone(), name)),
                    None => {}
                }
                if found {
                    ledger.found.push(path);
                }
                ControlFlow::Continue(())
            },
        );
        ledger
    }

    /// Whether the file is reported as unexamined: by its name, by that of a parent directory, or because the walk
    /// ended.
    fn tells(&self, path: &Path) -> bool {
        self.unseen.iter().any(|(told, why)| path.starts_with(told) || *why == "tooMany")
    }

    /// Whether the file was examined as far as possible, or is reported as unexamined.
    fn accounts_for(&self, path: &Path, thing: Thing) -> bool {
        let seen = match thing {
            Text(_) | Closed => self.found.iter().any(|found| found == path),
            Picture => self.listed.iter().any(|listed| listed == path),
            _ => false,
        };
        seen || self.tells(path)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn each_file_is_looked_at_or_told_of(
        things in prop::collection::vec((place(), thing()), 1..12),
        options in limits(),
    ) {
        let (folder, placed) = lay_out(things);
        let ledger = Ledger::of(folder.path(), &options);
        for (path, thing) in &placed {
            prop_assert!(ledger.accounts_for(path, *thing), "{path:?}, {thing:?}: {ledger:?} of {placed:?}");
        }
    }

    /// Admission flags every skill with a gap, and rejects it in strict mode.
    #[test]
    fn no_skill_with_unexamined_content_is_accepted(
        things in prop::collection::vec((place(), thing()), 0..8),
        files in limits(),
    ) {
        let things = things.into_iter().filter(|(_, thing)| !matches!(thing, Text(_) | Closed)).collect();
        let (folder, placed) = lay_out(things);
        fs::write(folder.path().join("SKILL.md"), SKILL).unwrap();
        let ledger = Ledger::of(folder.path(), &files);
        let hidden = placed.values().any(|thing| !matches!(thing, Picture)) || !ledger.unseen.is_empty();
        for strict in [false, true] {
            let options = AdmitOptions { strict, files, ..AdmitOptions::default() };
            let admission = admit(&SkillSource::Path(folder.path()), Scanner::builtin(), &options);
            let is_in = match &admission {
                Ok(Admission::Accepted(_)) => true,
                Ok(Admission::Flagged(_)) => strict,
                _ => false,
            };
            prop_assert!(!(hidden && is_in), "strict {strict}: {admission:?} of {placed:?}");
        }
        if !hidden {
            let options = AdmitOptions { files, ..AdmitOptions::default() };
            let admission = admit(&SkillSource::Path(folder.path()), Scanner::builtin(), &options).unwrap();
            prop_assert_eq!(admission.name(), "accepted");
        }
    }
}
