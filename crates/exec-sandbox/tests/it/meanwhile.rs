//! What happens in a workspace while a command runs in it: what the user makes there is the user's, and the command puts
//! nothing where the user has something open.

#![expect(clippy::disallowed_methods, reason = "changes a workspace while a command runs there")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use stockade_exec_sandbox::{Outcome, SandboxBackend};

use crate::live::{Live, each, read};

/// Runs a script. The user does something before, and something once it has come to its end; then it goes on to live for a
/// moment.
fn beside(live: &Live, script: &str, first: impl FnOnce(&Path), then: impl FnOnce(&Path)) -> Outcome {
    beside_in(SandboxBackend::Auto, live, script, first, then)
}

fn beside_in(
    backend: SandboxBackend,
    live: &Live,
    script: &str,
    first: impl FnOnce(&Path),
    then: impl FnOnce(&Path),
) -> Outcome {
    let workspace = live.workspace();
    let script = format!(
        "exec 2>&1; : > begun; while ! [ -e go ]; do sleep 0.02; done\n({script})\n: > tried; while ! [ -e over ]; do sleep 0.02; done"
    );
    let wait_for = |name: &str| {
        let begun = Instant::now();
        while !workspace.join(name).exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{script}: not {name}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    std::thread::scope(|scope| {
        let command =
            scope.spawn(|| live.run(&["sh", "-c", &script], |spec| spec.backend = backend).unwrap());
        wait_for("begun");
        first(&workspace);
        fs::write(workspace.join("go"), "").unwrap();
        wait_for("tried");
        then(&workspace);
        fs::write(workspace.join("over"), "").unwrap();
        command.join().unwrap()
    })
}

#[test]
fn files_that_the_user_replaces_are_kept() {
    let Some(live) = Live::new() else { return };
    fs::write(live.workspace().join(".envrc"), "old").unwrap();
    let replace = |workspace: &Path| {
        // As editors save: another file takes its place.
        fs::write(workspace.join("new"), "edited").unwrap();
        fs::rename(workspace.join("new"), workspace.join(".envrc")).unwrap();
    };
    beside(&live, ":", replace, |_| ());
    assert_eq!(read(&live.workspace().join(".envrc")), "edited");
}

/// The command finds no way into it, and it is not taken for the command's.
#[test]
fn files_that_the_user_creates_are_kept_and_protected() {
    let rows = [
        "echo evil > .envrc; echo evil >> .vscode/tasks.json; echo evil > .vscode/launch.json",
        "ln .envrc x && echo evil > x; ln .vscode/tasks.json y && echo evil > y",
        "mv .envrc x; mv .vscode z; mkdir .vscode; echo evil > .vscode/tasks.json; cp -r z .vscode; mv x .envrc",
        "exec 3<> .vscode/tasks.json && echo evil >&3; : > .vscode/tasks.json; truncate -s 0 .envrc",
        "cd app; echo evil >> .git/config; ln .git/config z && echo evil > z; echo evil > .git/hooks/pre-commit; mv .git g; mkdir .git",
    ];
    let make = |workspace: &Path| {
        for folder in [".vscode", "app/.git/objects", "app/.git/refs", "app/.git/hooks"] {
            fs::create_dir_all(workspace.join(folder)).unwrap();
        }
        for file in [".vscode/tasks.json", ".envrc", "app/.git/HEAD", "app/.git/config"] {
            fs::write(workspace.join(file), "[user]\nname = me\n").unwrap();
        }
    };
    for row in rows {
        let Some(live) = Live::new() else { return };
        let workspace = live.workspace();
        let is_armed = || {
            [
                ".envrc",
                ".vscode/tasks.json",
                ".vscode/launch.json",
                "app/.git/config",
                "app/.git/hooks/pre-commit",
            ]
            .iter()
            .any(|file| fs::read_to_string(workspace.join(file)).is_ok_and(|text| text.contains("evil")))
        };
        let outcome = beside(&live, row, make, |_| assert!(!is_armed(), "{row}"));
        assert!(!is_armed() && outcome.quarantine.is_empty(), "{row}: {outcome:?}");
        if !row.starts_with("mv") {
            assert!(read(&workspace.join(".envrc")).contains("me"), "{row}");
            let changed: Vec<&Path> = outcome.changed.iter().map(|one| one.path.as_path()).collect();
            assert!(changed.contains(&Path::new(".envrc")), "{row}: {changed:?}");
        }
    }
}

/// Where a folder of the user's lay, another one is not the command's own.
#[test]
fn protected_names_cannot_appear_in_replaced_user_directories() {
    let exchange = "python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"d\", -100, b\"app\", 2)'";
    let rename = "python3 -c 'import os; os.rename(\"d\", \"app\")'";
    let rows = [
        "mv app old; mkdir app app/.vscode; echo evil > app/.vscode/tasks.json; echo evil > app/.envrc",
        "rm -rf app; mkdir app; mkdir app/src app/.vscode; echo evil > app/.vscode/tasks.json; echo evil > app/src/.envrc",
        "rm -r app; mkdir -p d/.vscode; echo evil > d/.vscode/tasks.json; mv d app",
        "rm -r app; mkdir -p d/src/.vscode; echo evil > d/src/.vscode/tasks.json; mv d app",
        "rm -r app; mkdir d; mv d app; mkdir app/.vscode; echo evil > app/.vscode/tasks.json",
        "rm -r app; mkdir -p d/src; mv d app; echo evil > app/src/.envrc",
        "python3 -c 'import os; os.remove(\"app/a\"); os.rmdir(\"app/src\"); os.rmdir(\"app\"); os.mkdir(\"app\")'; echo evil > app/.envrc",
        &format!("mkdir -p d/.vscode; echo evil > d/.vscode/tasks.json; {exchange}"),
        &format!("mkdir -p d/src; {exchange}; echo evil > app/src/.envrc"),
        &format!("rm -r app/*; mkdir -p d/.vscode; echo evil > d/.vscode/tasks.json; {rename}"),
        &format!("rm -r app/*; mkdir -p d; {rename}; echo evil > app/.envrc"),
    ];
    for row in rows {
        let Some(live) = Live::new() else { return };
        let workspace = live.workspace();
        fs::create_dir_all(workspace.join("app/src")).unwrap();
        fs::write(workspace.join("app/a"), "").unwrap();
        let is_armed = |workspace: &Path| {
            let names =
                ["app/.vscode/tasks.json", "app/src/.vscode/tasks.json", "app/.envrc", "app/src/.envrc"];
            names.iter().any(|name| workspace.join(name).exists())
        };
        let row =
            format!("{row}; mkdir -p app; echo fine > app/plain; rm -rf dist; mkdir dist; mv dist app/");
        beside(&live, &row, |_| (), |workspace| assert!(!is_armed(workspace), "{row}"));
        assert!(!is_armed(&workspace) && workspace.join("app/plain").exists(), "{row}");
        assert!(workspace.join("app/dist").exists(), "{row}");
    }
}

/// Where changes come by into a workspace on another file system, a command finds no way to them, whether they came before it or
/// after, and makes nothing of such a name.
#[test]
fn directories_of_pending_changes_are_not_accessible() {
    let rows = [
        "echo evil > .stockade-changes-0/1; echo evil >> .stockade-changes-0/2; : > .Stockade-Changes-0/3",
        "exec 3<> .stockade-changes-0/1 && echo evil >&3; truncate -s 1 .stockade-changes-0/1; chmod 777 .stockade-changes-0/1",
        "mv .stockade-changes-0/1 x && echo evil > x; mv .stockade-changes-0 y && echo evil > y/1",
        "ln .stockade-changes-0/1 z && echo evil > z; cp /bin/true .stockade-changes-0/2",
        "mkdir .stockade-changes-1; echo evil > .stockade-changes-2; mkdir q; echo evil > q/2; mv q .stockade-changes-3; mkdir -p w/.stockade-changes-4",
    ];
    let make = |workspace: &Path| {
        let folder = workspace.join(".stockade-changes-0");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("1"), "judged").unwrap();
    };
    for row in rows {
        for (backend, is_before) in each().flat_map(|backend| [(backend, true), (backend, false)]) {
            let Some(live) = Live::new() else { return };
            let workspace = live.workspace();
            if is_before {
                make(&workspace);
            }
            beside_in(
                backend,
                &live,
                row,
                |workspace| {
                    if !is_before {
                        make(workspace);
                    }
                },
                |_| (),
            );
            let folder = workspace.join(".stockade-changes-0");
            let names: Vec<_> =
                fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, ["1"], "{backend:?} {row}");
            assert_eq!(read(&folder.join("1")), "judged", "{backend:?} {row}");
            assert_eq!(
                fs::metadata(folder.join("1")).unwrap().permissions().mode() & 0o777,
                0o644,
                "{backend:?} {row}"
            );
            for path in [
                ".stockade-changes-1",
                ".stockade-changes-2",
                ".stockade-changes-3",
                "w/.stockade-changes-4",
                "x",
                "y",
                "z",
            ] {
                assert!(fs::symlink_metadata(workspace.join(path)).is_err(), "{backend:?} {row}: {path}");
            }
        }
    }
}
