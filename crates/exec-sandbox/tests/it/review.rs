//! What is applied of a view is what the same command does without one, and what is undone is what was there: for scripts that
//! come from a fixed seed, and for some that were wrong once.

#![expect(clippy::disallowed_methods, reason = "fills workspaces, and compares what is in them")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use stockade_exec_sandbox::review::{ChangeSelection, ReviewStore};
use stockade_exec_sandbox::{ReviewMode, SandboxBackend};

use crate::live::{Live, each};

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len())]
    }

    fn path(&mut self) -> String {
        const NAMES: &[&str] = &["a", "b", "src", "dist", "x.js", "y z"];
        let depth = 1 + self.roll(3);
        let parts: Vec<&str> = (0..depth).map(|_| self.one_of(NAMES)).collect();
        parts.join("/")
    }
}

/// The operations of a line. `P`, `Q` and `R` are paths, `N` is a number.
const LINES: &[&str] = &[
    "mkdir -p 'P'",
    "mkdir -p \"$(dirname 'P')\"; echo N > 'P'",
    "echo N >> 'P'",
    "rm -rf 'P'",
    "rm -f 'P'",
    "rmdir 'P'",
    "rm -rf 'P'; mkdir -p 'P'; echo N > 'P/new'",
    "rm -rf 'P'; mkdir -p 'P/a/b'",
    "rm -rf 'P'; echo N > 'P'",
    "rm -f 'P'; mkdir -p 'P/Q'; echo N > 'P/Q/f'",
    "mv -T 'P' 'Q'",
    "mv 'P' 'Q'",
    "rm -rf 'P'; mv -T 'Q' 'P'",
    "mv -T 'P' tmp; mv -T 'Q' 'P'; mv -T tmp 'Q'",
    "ln -sfn 'Q' 'P'",
    "rm -rf 'P'; ln -s nowhere 'P'",
    "rm -rf 'P'; ln -s a 'P'; rm -f 'P'; mkdir -p 'P'; echo N > 'P/f'",
    "cp -a 'P' 'Q'",
    "ln 'P' 'Q'",
    "chmod 755 'P'",
    "chmod 700 'P'",
    "[ -d 'P' ] && chmod 755 'P' && echo N > 'P/in' && chmod 555 'P'",
    "[ -d 'P' ] && chmod 555 'P'",
    "truncate -s N 'P'",
];

fn script(dice: &mut Dice, lines: usize) -> String {
    let mut script = String::new();
    for _ in 0..lines {
        let (p, q, number) = (dice.path(), dice.path(), dice.roll(5_000).to_string());
        let line = LINES[dice.roll(LINES.len())];
        script.push_str(&line.replace('P', &p).replace('Q', &q).replace('N', &number));
        script.push('\n');
    }
    script + ":\n"
}

/// What lies in a folder: modes, and contents or where links lead.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    see(folder, Path::new(""), &mut found);
    found
}

fn see(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder.join(below)).unwrap().flatten() {
        let path = below.join(entry.file_name());
        let data = entry.metadata().unwrap();
        let mode = if data.is_symlink() { 0 } else { data.permissions().mode() };
        let content = if data.is_symlink() {
            fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else if data.is_file() {
            fs::read(entry.path()).unwrap()
        } else {
            see(folder, &path, found);
            Vec::new()
        };
        found.insert(path, (mode, content));
    }
}

/// The same scripts in two workspaces: in a view of one, which is applied and undone, and in the other itself.
fn is_the_same(backend: SandboxBackend, setup: &str, script: &str) {
    let (viewed, plain) = (Live::bare(), Live::bare());
    let run = |live: &Live, script: &str, review| {
        let outcome = live.run(&["sh", "-c", script], |spec| (spec.backend, spec.review) = (backend, review));
        outcome.unwrap()
    };
    for live in [&viewed, &plain] {
        let laid = Command::new("sh").args(["-c", setup]).current_dir(live.workspace()).output().unwrap();
        assert!(laid.status.success());
    }
    let (workspace, what) = (viewed.workspace(), format!("{backend:?}\n{setup}# then\n{script}"));
    let before = tree(&workspace);
    assert_eq!(before, tree(&plain.workspace()), "{what}");
    let outcome = run(&viewed, script, ReviewMode::Hold);
    run(&plain, script, ReviewMode::Off);
    assert_eq!(before, tree(&workspace), "it waits: {what}");
    let wanted = tree(&plain.workspace());
    let reviewed = outcome.review.unwrap();
    assert!(reviewed.failed.is_none() && reviewed.refused.is_empty(), "{what}\n{reviewed:?}");
    if reviewed.changed == 0 {
        assert_eq!(before, wanted, "{what}");
        return;
    }
    let store = ReviewStore::of_user().unwrap().unwrap();
    let layer = store.layer(&reviewed.id).unwrap();
    // A sandbox that another test begins right now holds a copy of the lock for a moment.
    let begun = Instant::now();
    while !layer.is_over() && begun.elapsed().as_secs() < 10 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let merged =
        store.apply(&layer, &ChangeSelection::All).map_err(|error| format!("{error}: {what}")).unwrap();
    assert!(merged.conflicts.is_empty() && merged.refused.is_empty(), "{merged:?} {what}");
    assert_eq!(tree(&workspace), wanted, "applied: {what}");
    let undone =
        store.undo(&layer, &ChangeSelection::All).map_err(|error| format!("{error}: {what}")).unwrap();
    assert!(undone.conflicts.is_empty(), "{undone:?} {what}");
    assert_eq!(tree(&workspace), before, "undone: {what}");
    store.discard(&layer, &ChangeSelection::All).unwrap();
}

fn views() -> impl Iterator<Item = SandboxBackend> {
    each().filter(|backend| *backend != SandboxBackend::Landlock)
}

#[test]
fn an_applied_review_equals_a_run_without_review() {
    const SCRIPTS: u64 = 30;
    for backend in views() {
        for seed in 0..SCRIPTS {
            let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let (setup, then) = (script(&mut dice, 12), script(&mut dice, 10));
            is_the_same(backend, &setup, &then);
        }
    }
}

/// What was wrong once: of a folder that was removed and made again, what lay in it was left; a link that became a folder, or a
/// folder that became a link, stopped it on the way; a folder that was opened, written to and closed again could not be applied.
#[test]
fn folders_that_are_made_again_replaced_and_closed_are_applied() {
    let setup = "mkdir -p dist/deep/er src ro; echo old > dist/old.js; echo x > dist/deep/er/x; echo y > src/y; ln -s src l; \
                 ln -s nowhere n; echo f > f; echo z > ro/z; chmod 555 ro\n";
    for then in [
        "rm -rf dist; mkdir dist; echo new > dist/new.js",
        "rm -rf dist; mkdir -p dist/deep; echo new > dist/deep/n",
        "mkdir tmp; echo new > tmp/n; rm -rf dist; mv tmp dist",
        "rm -rf dist; ln -s src dist",
        "rm -rf dist; echo file > dist",
        "rm l; mkdir -p l/a; echo b > l/a/b",
        "rm n; mkdir n; echo b > n/b; rm -rf src; ln -s n src",
        "rm f; mkdir f; echo g > f/g; rm -rf dist; ln -s f dist",
        "chmod 755 ro; echo new > ro/new; rm ro/z; chmod 555 ro",
        "chmod 755 ro; rm -rf ro; mkdir ro; echo new > ro/new; chmod 555 ro",
        "mv dist d2; mkdir dist; mv d2 dist/inner",
        "rm -rf dist; mkdir dist; chmod 500 dist",
        "rm -rf dist src ro l n f; true",
    ] {
        for backend in views() {
            is_the_same(backend, setup, then);
        }
    }
}
