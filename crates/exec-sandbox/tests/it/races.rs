//! Helpers outside of the sandbox, while an attacker replaces directories concurrently: files elsewhere are never changed, and no
//! file of the command is overlooked in the end.

#![expect(clippy::disallowed_methods, reason = "makes folders and replaces them")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stockade_exec_sandbox::End;
use stockade_exec_sandbox::quarantine::QuarantineStore;

use crate::live::{Live, NamesAre, read};

/// What lies where the links lead.
const CANARY: &str = "untouched\n";

/// A folder `app` of a workspace that is a link to another place now and then, by renames alone.
struct Swapped {
    live: Live,
    canary: PathBuf,
}

impl Swapped {
    fn new() -> Option<Self> {
        // Where names are decided, a command leaves nothing that could be looked for.
        let live = Live::with_names(NamesAre::SweptUp)?;
        let canary = live.outside().join("canary");
        for folder in [canary.join(".vscode"), live.workspace().join("app")] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [".envrc", ".vscode/tasks.json"] {
            fs::write(canary.join(file), CANARY).unwrap();
        }
        symlink(&canary, live.workspace().join("link")).unwrap();
        Some(Self { live, canary })
    }

    /// Replaces the folder as often as it can while something is done, and puts it back.
    fn while_swapping<T>(&self, work: impl FnOnce() -> T) -> T {
        let is_over = AtomicBool::new(false);
        let at = |name: &str| self.live.workspace().join(name);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let steps = [("app", "aside"), ("link", "app"), ("app", "link"), ("aside", "app")];
                    steps.iter().for_each(|(from, to)| drop(fs::rename(at(from), at(to))));
                }
            });
            let done = work();
            is_over.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Whether nothing elsewhere was taken, written or added.
    fn is_whole(&self) -> bool {
        let names = |folder: &Path| {
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            names.count()
        };
        let files = [".envrc", ".vscode/tasks.json"];
        files.iter().all(|file| read(&self.canary.join(file)) == CANARY)
            && (names(&self.canary), names(&self.canary.join(".vscode"))) == (2, 1)
    }
}

/// A command leaves something, and while it is looked for and given back the folder around it is replaced.
fn races(rounds: usize) {
    let Some(swapped) = Swapped::new() else { return };
    let leave = "cd app && echo evil > .envrc && mkdir -p .vscode && echo evil > .vscode/tasks.json; true";
    let mut given_back = 0;
    for round in 0..rounds {
        let outcome = swapped
            .while_swapping(|| swapped.live.run(&["sh", "-c", leave], |spec| spec.require.clear()).unwrap());
        assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
        assert!(swapped.is_whole(), "round {round}: {outcome:?}");
        // Files that were missed because they were moved at that moment are found when they are not moved.
        let later = swapped.live.run(&["true"], |_| ()).unwrap();
        let taken = outcome.quarantine.iter().chain(&later.quarantine);
        for id in taken.filter_map(|one| one.id.as_deref()) {
            let store = QuarantineStore::of_user().unwrap().unwrap();
            let restored = swapped.while_swapping(|| store.restore(id));
            assert!(swapped.is_whole(), "round {round}: {restored:?}");
            given_back += usize::from(restored.is_ok());
            if restored.is_err() {
                store.discard(id).unwrap();
            }
        }
        for left in [".envrc", ".vscode"] {
            let left = swapped.live.workspace().join("app").join(left);
            drop(fs::remove_dir_all(&left).or_else(|_| fs::remove_file(&left)));
        }
    }
    assert!(given_back > 0 || rounds == 0, "nothing was ever given back, so nothing was tried");
}

#[test]
fn nothing_elsewhere_is_touched_while_folders_are_replaced() {
    races(25);
}

#[test]
#[ignore = "takes some minutes; the test before it does the same with fewer rounds"]
fn nothing_elsewhere_is_touched_in_a_thousand_races() {
    races(1_000);
}
