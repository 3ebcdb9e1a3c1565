//! What is left where something fails half way: a launcher that is killed, a program without descriptors.

#![expect(clippy::disallowed_methods, reason = "starts itself, and looks at all processes")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{SandboxBackend, SandboxSpec, plan_and_run};

use crate::live::{Live, each};

/// Not a test of its own: runs a script in a workspace, as a program that may be killed, and says how that went.
#[test]
fn launcher() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_LAUNCHER") else { return };
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let script = variable("STOCKADE_TEST_SCRIPT");
    let mut spec = SandboxSpec::new(&workspace, ["sh", "-c", &script]);
    spec.backend = match variable("STOCKADE_TEST_BACKEND").as_str() {
        "Bwrap" => SandboxBackend::Bwrap,
        "Landlock" => SandboxBackend::Landlock,
        "Native" => SandboxBackend::Native,
        _ => SandboxBackend::Auto,
    };
    let said = match plan_and_run(&spec, Streams::default()) {
        Ok((plan, outcome)) => format!("{} {:?} {:?}", plan.provider.name(), outcome.end, outcome.quarantine),
        Err(error) => format!("error: {error}"),
    };
    fs::write(Path::new(&workspace).join("said"), said).unwrap();
}

/// Starts this program as a launcher, with a state of its own.
fn launch(live: &Live, backend: &str, script: &str, prefix: &[&str]) -> Child {
    let program = std::env::current_exe().unwrap();
    let words: Vec<OsString> = prefix.iter().map(OsString::from).chain([program.into_os_string()]).collect();
    Command::new(&words[0])
        .args(&words[1..])
        .args(["--exact", "faults::launcher"])
        .env("STOCKADE_TEST_LAUNCHER", live.workspace())
        .env("STOCKADE_TEST_SCRIPT", script)
        .env("STOCKADE_TEST_BACKEND", backend)
        .env("XDG_STATE_HOME", live.outside().join("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(30), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn after_a_kill_with_something_planted_the_next_command_runs() {
    for backend in each() {
        let (live, name) = (Live::bare(), format!("{backend:?}"));
        // What lies there before is mounted over, and must not stand in the way of the next one either.
        fs::create_dir(live.workspace().join(".idea")).unwrap();
        for round in 0..3 {
            let plant = "mkdir -p .vscode; echo x > .vscode/tasks.json; echo x > ready; sleep 60";
            let mut killed = launch(&live, &name, plant, &[]);
            wait_for(&live.workspace().join("ready"));
            killed.kill().unwrap();
            killed.wait().unwrap();
            let start = Instant::now();
            // Where there are no namespaces, what ends the command may still be at it.
            while live.workspace().join(".vscode").exists() {
                assert!(launch(&live, &name, "rm -f ready", &[]).wait().unwrap().success());
                let said = fs::read_to_string(live.workspace().join("said")).unwrap();
                let expected = format!("{} Exited(0) ", name.to_lowercase());
                assert!(said.starts_with(&expected), "{name} {round}: {said}");
                assert!(start.elapsed() < Duration::from_secs(20), "{name} {round}: {said}");
            }
        }
    }
}

/// Orphaned processes of bubblewrap on this machine.
fn orphans_of_bubblewrap() -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_orphan = |path: &Path| {
        let stat = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let (name, rest) = stat.split_once(") ").unwrap_or_default();
        name.ends_with("(bwrap") && rest.split(' ').nth(1) == Some("1")
    };
    processes.filter(|path| is_orphan(path)).map(|path| path.display().to_string()).collect()
}

#[test]
fn without_descriptors_nothing_is_left() {
    let live = Live::bare();
    let before = orphans_of_bubblewrap();
    for most in [6, 8, 10, 11, 12, 13, 14, 16, 20] {
        for backend in ["Auto", "Bwrap"] {
            let bounded = ["sh", "-c", "ulimit -n $0 && exec \"$@\"", &most.to_string()].map(str::to_owned);
            let bounded: Vec<&str> = bounded.iter().map(String::as_str).collect();
            // Whether it works with so few is not the question.
            launch(&live, backend, "true", &bounded).wait().unwrap();
        }
    }
    // Those of other tests that run beside this are gone soon.
    let start = Instant::now();
    loop {
        let left: Vec<String> =
            orphans_of_bubblewrap().into_iter().filter(|path| !before.contains(path)).collect();
        if left.is_empty() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{left:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
