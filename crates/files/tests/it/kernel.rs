//! Random trees of directories, files and links, and paths through them: a path resolves to what the kernel opens.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "makes the folders that it looks paths up in")]
#![expect(clippy::indexing_slicing, clippy::panic, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use stockade_files::{FoundTarget, LookupError, Resolver, RootFolder};

/// Pseudorandom numbers from a fixed seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// A path that may go anywhere: through links, up, through missing names, or through a file.
    fn path(&mut self, base: &str) -> String {
        let mut path = self.one(&["", "", "", "./", "../", base, "//"]).to_owned();
        for _ in 0..=self.below(5) {
            path.push_str(self.one(&["a", "b", "c", "d", "e", "..", "..", ".", "gone", "ws", "out"]));
            path.push_str(self.one(&["/", "/", "/", "//", "/./"]));
        }
        if self.below(3) > 0 {
            path.truncate(path.trim_end_matches(['/', '.']).len());
        }
        if path.is_empty() { ".".to_owned() } else { path }
    }
}

fn plant(dice: &mut Dice, base: &Path) {
    let named = format!("{}/", base.display());
    let mut folders = vec![base.join("ws"), base.join("out")];
    folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    for _ in 0..10 {
        let folder = folders[dice.below(folders.len())].clone();
        let path = folder.join(dice.one(&["a", "b", "c", "d", "e"]));
        if fs::symlink_metadata(&path).is_ok() {
            continue;
        }
        match dice.below(6) {
            0 | 1 => {
                fs::create_dir(&path).unwrap();
                folders.push(path);
            }
            2 => fs::write(&path, "x").unwrap(),
            _ => symlink(dice.path(&named), &path).unwrap(),
        }
    }
}

/// Returns what the kernel opens, without links.
fn opened(path: &Path, flags: OFlags) -> Result<PathBuf, Errno> {
    let file = openat(CWD, path, flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?;
    Ok(fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap())
}

/// Counts the comparisons of each kind, so that none is missing.
#[derive(Debug, Default)]
struct Seen {
    existing: usize,
    created: usize,
    missing: usize,
    refused: usize,
    tidied: usize,
}

fn compare(root: &RootFolder, path: &str, seen: &mut Seen) {
    let named = root.cwd().join(path);
    let found = root.find(&named).map(|found| (found.real, found.target != FoundTarget::Missing));
    match (opened(&named, OFlags::PATH), found) {
        (Ok(kernel), Ok((real, true))) => {
            assert_eq!(real, kernel, "{path}");
            seen.existing += 1;
        }
        // The kernel rejects a `..` behind a missing name; programs that normalise the path first accept it.
        (Err(Errno::NOENT), Ok((_, true))) => seen.tidied += 1,
        (Err(Errno::NOENT), Ok((real, false))) => match opened(&named, OFlags::CREATE | OFlags::WRONLY) {
            Ok(kernel) => {
                fs::remove_file(&kernel).unwrap();
                assert_eq!(real, kernel, "{path}");
                seen.created += 1;
            }
            Err(_) => seen.missing += 1,
        },
        (Err(Errno::LOOP), Err(LookupError::Loop)) | (Err(Errno::NOTDIR), Err(LookupError::NotAFolder)) => {
            seen.refused += 1;
        }
        // Behind a missing name, the kernel stops; this crate looks on, and refuses.
        (Err(Errno::NOENT), Err(_)) => seen.refused += 1,
        (kernel, found) => panic!("{path}: the kernel says {kernel:?}, the crate {found:?}"),
    }
}

fn trees(count: u64) {
    let mut seen = Seen::default();
    for seed in 0..count {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        plant(&mut dice, &base);
        let roots = [Resolver::Kernel, Resolver::Walk]
            .map(|resolver| RootFolder::open(&base.join("ws"), resolver).unwrap());
        for _ in 0..12 {
            let path = dice.path(&format!("{}/", base.display()));
            roots.iter().for_each(|root| compare(root, &path, &mut seen));
        }
    }
    let Seen { existing, created, missing, refused, tidied } = seen;
    assert!([existing, created, missing, refused, tidied].iter().all(|&times| times > 10), "{seen:?}");
}

#[test]
fn paths_lead_where_the_kernel_goes() {
    trees(100);
}

#[test]
#[ignore = "takes a minute; the test before it does the same with fewer trees"]
fn paths_of_ten_thousand_trees_lead_where_the_kernel_goes() {
    trees(10_000);
}
