//! Visited entries, their order, and the treatment of everything but regular files.
#![expect(clippy::disallowed_methods, reason = "makes the folders that it scans")]

use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use stockade_admission::scanner::Scanner;
use stockade_admission::{FileOptions, Source, scan_files};

use crate::support::{ATTACK, folder, scan, scan_sources};

#[test]
fn nothing_is_left_out() {
    let attack = ATTACK.as_bytes();
    let folder = folder(&[
        (".gitignore", b"hidden\nignored/\n"),
        (".git/hooks/post-checkout", attack),
        (".hidden/SKILL.md", attack),
        ("ignored/SKILL.md", attack),
        ("node_modules/a/README.md", attack),
        ("SKILL.md", attack),
        ("empty", b""),
    ]);
    assert_eq!(
        scan(folder.path(), &FileOptions::default()),
        [
            ".git/hooks/post-checkout: FOUND",
            ".gitignore: clean",
            ".hidden/SKILL.md: FOUND",
            "SKILL.md: FOUND",
            "empty: clean",
            "ignored/SKILL.md: FOUND",
            "node_modules/a/README.md: FOUND",
        ]
    );
}

#[test]
fn links_are_judged_and_not_followed() {
    let folder = folder(&[("SKILL.md", ATTACK.as_bytes()), ("a/b/text.md", b"fine")]);
    let link = |target: &str, name: &str| symlink(target, folder.path().join(name)).unwrap();
    link("SKILL.md", "inside");
    link("a/b", "inside-folder");
    link(".", "loop");
    link("../..", "a/b/up-to-the-folder");
    link("../../..", "a/b/up-and-out");
    link("nowhere", "dangling");
    link("/etc/passwd", "absolute");
    link("loop/../../x", "through-a-link");
    assert_eq!(
        scan(folder.path(), &FileOptions::default()),
        [
            "SKILL.md: FOUND",
            "a/b/text.md: clean",
            "a/b/up-and-out: linkOutside",
            "absolute: linkOutside",
            "through-a-link: linkOutside",
        ]
    );
}

#[test]
fn a_link_that_a_person_names_is_followed() {
    let folder = folder(&[("real/SKILL.md", ATTACK.as_bytes())]);
    symlink("real", folder.path().join("link")).unwrap();
    assert_eq!(scan(&folder.path().join("link"), &FileOptions::default()), ["SKILL.md: FOUND"]);
}

#[test]
fn pipes_and_sockets_are_not_opened() {
    let folder = folder(&[("SKILL.md", b"fine")]);
    let fifo = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    let options = FileOptions::default();
    assert_eq!(scan(folder.path(), &options), ["SKILL.md: clean", "pipe: special", "socket: special"]);

    let named = [Source::Path(fifo), Source::Path("/dev/null".into())];
    assert_eq!(scan_sources(&named, folder.path(), &options), ["pipe: special", "/dev/null: special"]);
}

#[test]
fn what_cannot_be_read_is_reported() {
    let folder = folder(&[("closed/SKILL.md", b"x"), ("secret.md", b"x"), ("SKILL.md", b"fine")]);
    let missing = Source::Path(folder.path().join("missing"));
    assert_eq!(scan_sources(&[missing], folder.path(), &FileOptions::default()), ["missing: unreadable"]);

    for name in ["closed", "secret.md"] {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let lines = scan(folder.path(), &FileOptions::default());
    fs::set_permissions(folder.path().join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    // Permissions do not stop root.
    let root = rustix::process::geteuid().is_root();
    let expected = match root {
        true => ["SKILL.md: clean", "closed/SKILL.md: clean", "secret.md: clean"],
        false => ["SKILL.md: clean", "closed: unreadable", "secret.md: unreadable"],
    };
    assert_eq!(lines, expected);
}

#[test]
fn a_large_file_is_scanned_as_far_as_allowed() {
    let padding = vec![b'x'; 1000];
    let late = [&padding, b"\n".as_slice(), ATTACK.as_bytes()].concat();
    let early = [ATTACK.as_bytes(), &padding].concat();
    let folder = folder(&[("early", &early), ("exact", &padding), ("late", &late)]);
    let options = FileOptions { max_file_bytes: 1000, ..FileOptions::default() };
    assert_eq!(
        scan(folder.path(), &options),
        ["early: FOUND, tooLarge", "exact: clean", "late: clean, tooLarge"]
    );
}

#[test]
fn the_history_of_git_may_be_large() {
    let pack = [b"PACK".as_slice(), &[0; 1000]].concat();
    let folder = folder(&[(".git/objects/pack/pack-1.pack", &pack), ("objects/pack/pack-1.pack", &pack)]);
    let options = FileOptions { max_file_bytes: 500, ..FileOptions::default() };
    assert_eq!(
        scan(folder.path(), &options),
        [".git/objects/pack/pack-1.pack: clean, gitPack", "objects/pack/pack-1.pack: clean, tooLarge"]
    );
}

#[test]
fn depth_and_number_are_bounded() {
    let folder = folder(&[("1/2/3/4/SKILL.md", b"x"), ("SKILL.md", b"x")]);
    let shallow = FileOptions { max_depth: 2, ..FileOptions::default() };
    assert_eq!(scan(folder.path(), &shallow), ["1/2/3: tooDeep", "SKILL.md: clean"]);
    let few = FileOptions { max_entries: 3, ..FileOptions::default() };
    assert_eq!(scan(folder.path(), &few), ["1/2: tooMany"]);
    let enough = FileOptions { max_entries: 6, max_depth: 4, ..FileOptions::default() };
    assert_eq!(scan(folder.path(), &enough), ["1/2/3/4/SKILL.md: clean", "SKILL.md: clean"]);
}

#[test]
fn a_path_longer_than_the_system_allows_is_walked() {
    // Each step is relative to the open parent, so that PATH_MAX does not matter.
    let folder = folder(&[]);
    let name = "d".repeat(200);
    let mut at = rustix::fs::openat(
        rustix::fs::CWD,
        folder.path(),
        rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..30 {
        rustix::fs::mkdirat(&at, &*name, rustix::fs::Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY;
        at = rustix::fs::openat(&at, &*name, flags, rustix::fs::Mode::empty()).unwrap();
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let file = rustix::fs::openat(&at, "SKILL.md", flags, rustix::fs::Mode::RUSR).unwrap();
    rustix::io::write(file, ATTACK.as_bytes()).unwrap();
    let lines = scan(folder.path(), &FileOptions::default());
    assert_eq!(lines.len(), 1);
    assert!(lines[0].ends_with("SKILL.md: FOUND"));
}

#[test]
fn the_order_does_not_depend_on_the_threads() {
    let folder = folder(&[]);
    for n in 0..500 {
        let sub = folder.path().join(format!("{}", n % 7));
        fs::create_dir_all(&sub).unwrap();
        fs::write(sub.join(format!("{n}.md")), ATTACK.repeat(n % 13)).unwrap();
    }
    let with = |threads| FileOptions { threads: NonZeroUsize::new(threads), ..FileOptions::default() };
    let alone = scan(folder.path(), &with(1));
    assert_eq!(alone.len(), 500);
    for threads in [2, 3, 8] {
        assert_eq!(scan(folder.path(), &with(threads)), alone);
    }
}

#[test]
fn a_scan_stops_when_told_to() {
    let folder = folder(&[("a", b""), ("b", b""), ("c", b"")]);
    let mut seen = Vec::new();
    scan_files(
        &[Source::Path(folder.path().into())],
        Scanner::builtin(),
        &FileOptions::default(),
        |file| file.path.to_path_buf(),
        |path| {
            seen.push(path);
            ControlFlow::Break(())
        },
    );
    assert_eq!(seen, [folder.path().join("a")]);
}

#[test]
fn sources_keep_their_order_and_may_repeat() {
    let folder = folder(&[("a", b""), ("b", b"")]);
    let path = |name: &str| Source::Path(folder.path().join(name));
    let lines = scan_sources(&[path("b"), path("a"), path("b")], folder.path(), &FileOptions::default());
    assert_eq!(lines, ["b: clean", "a: clean", "b: clean"]);
    assert_eq!(scan_sources(&[], Path::new(""), &FileOptions::default()), [""; 0]);
}
