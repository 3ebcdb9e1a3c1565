//! Files that other programs save while a command runs.

#![expect(clippy::disallowed_methods, reason = "saves files as an editor does, while a command runs")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use stockade_exec_sandbox::{Outcome, SandboxBackend, SandboxSpec};

use crate::live::{Live, NamesAre, each};

/// Waits until a file exists.
fn wait_for(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "{path:?} is not created");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Saves a file by a rename, as editors do.
pub(crate) fn save(path: &Path, text: &str) {
    let new = path.with_file_name("editor~");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

/// Runs a script, and `meanwhile` when it has created `begun`; then `over` is created.
pub(crate) fn while_it_runs(
    live: &Live,
    script: &str,
    change: impl FnOnce(&mut SandboxSpec) + Send,
    meanwhile: impl FnOnce(&Path),
) -> Outcome {
    let root = live.workspace();
    let script = format!("{script}\n");
    std::thread::scope(|scope| {
        let command = scope.spawn(|| live.run(&["sh", "-c", &script], change).unwrap());
        wait_for(&root.join("begun"));
        meanwhile(&root);
        // What is saved is hidden within milliseconds.
        std::thread::sleep(Duration::from_millis(300));
        fs::write(root.join("over"), "").unwrap();
        command.join().unwrap()
    })
}

pub(crate) const WAIT: &str = "touch begun; while ! [ -e over ]; do sleep 0.02; done;";

pub(crate) fn printed(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.output.stdout).into_owned()
}

fn exposed(outcome: &Outcome) -> Vec<&Path> {
    outcome.exposed.iter().map(|one| one.path.as_path()).collect()
}

#[test]
fn a_secret_that_is_saved_meanwhile_is_hidden_again() {
    for backend in each().filter(|it| *it != SandboxBackend::Landlock) {
        let Some(live) = Live::with_names(NamesAre::Decided) else { return };
        let root = live.workspace();
        fs::create_dir_all(root.join("deep/er")).unwrap();
        fs::write(root.join(".env"), "K=old\n").unwrap();
        fs::write(root.join("deep/er/.env"), "K=old\n").unwrap();
        let script = format!("{WAIT} cat .env ./.env deep/er/.env .env.new prod.env; cat staging.env");
        let outcome = while_it_runs(
            &live,
            &script,
            |spec| spec.backend = backend,
            |root| {
                // Twice, since each save removes what hides the file.
                save(&root.join(".env"), "K=SECRET1\n");
                std::thread::sleep(Duration::from_millis(100));
                save(&root.join(".env"), "K=SECRET2\n");
                save(&root.join("deep/er/.env"), "K=SECRET3\n");
                fs::write(root.join(".env.new"), "K=SECRET4\n").unwrap();
                save(&root.join("prod.env"), "PASSWORD=SECRET5-kR8vTq2LzXw9\n");
                save(&root.join("staging.env"), "PORT=8080\n");
            },
        );
        assert_eq!(printed(&outcome), "PORT=8080\n", "{backend:?} {outcome:?}");
        // For a moment it could be read, so it is reported as well.
        assert!(exposed(&outcome).contains(&Path::new(".env")), "{backend:?}");
    }
}

/// A flood of events does not hide the one that matters.
#[test]
fn a_flood_of_names_shows_no_secret() {
    let Some(live) = Live::with_names(NamesAre::Decided) else { return };
    fs::write(live.workspace().join(".env"), "K=old\n").unwrap();
    let flood = "(i=0; while ! [ -e over ]; do i=$((i+1)); : > x$((i%50)); done) & ";
    let outcome = while_it_runs(
        &live,
        &format!("{flood}{WAIT} cat .env"),
        |_| {},
        |root| {
            for _ in 0..20 {
                save(&root.join(".env"), "K=SECRET\n");
            }
        },
    );
    assert_eq!(printed(&outcome), "");
}

#[test]
fn what_the_command_saves_itself_stays_visible() {
    let Some(live) = Live::with_names(NamesAre::Decided) else { return };
    let script = "echo K=1 > .env; echo K=2 > x; mv x .env.two; ln .env.two .env.three; mkdir -p a; echo K=4 > a/.env; mv a/.env .env.four; \
        touch begun; while ! [ -e over ]; do sleep 0.02; done; echo K=5 >> .env; cat .env .env.two .env.three .env.four";
    let outcome = while_it_runs(&live, script, |_| {}, |_| {});
    assert_eq!(printed(&outcome), "K=1\nK=5\nK=2\nK=2\nK=4\n", "{outcome:?}");
}

#[test]
fn what_the_operator_shows_stays_visible() {
    let Some(live) = Live::with_names(NamesAre::Decided) else { return };
    let file = live.workspace().join(".env");
    fs::write(&file, "K=old\n").unwrap();
    let show = |spec: &mut SandboxSpec| spec.read_only.push(file.clone());
    let outcome = while_it_runs(&live, &format!("{WAIT} cat .env"), show, |root| {
        save(&root.join(".env"), "K=new\n");
    });
    assert_eq!(printed(&outcome), "K=new\n", "{outcome:?}");
}

/// Mediation refuses to write a protected name. What protects a new one is mounted on it, so that it cannot be removed either.
#[test]
fn a_protected_name_that_is_created_meanwhile_stays() {
    for backend in each().filter(|it| *it != SandboxBackend::Landlock) {
        let Some(live) = Live::with_names(NamesAre::Decided) else { return };
        let root = live.workspace();
        fs::create_dir_all(root.join("app")).unwrap();
        fs::write(root.join("app/.mcp.json"), "old").unwrap();
        let script = format!(
            "{WAIT} for f in .claude/settings.json app/.mcp.json .envrc; do echo evil > $f; rm -f $f; echo evil > $f; done; \
             mv .claude c2; mv app/.mcp.json x; rm -rf .claude; true"
        );
        let change = |spec: &mut SandboxSpec| spec.backend = backend;
        let outcome = while_it_runs(&live, &script, change, |root| {
            fs::create_dir(root.join(".claude")).unwrap();
            fs::write(root.join(".claude/settings.json"), "user").unwrap();
            save(&root.join("app/.mcp.json"), "user");
            fs::write(root.join(".envrc"), "user").unwrap();
        });
        for path in [".claude/settings.json", "app/.mcp.json", ".envrc"] {
            let text = fs::read_to_string(root.join(path)).unwrap_or_default();
            assert_eq!(text, "user", "{backend:?} {path}: {outcome:?}");
        }
    }
}
