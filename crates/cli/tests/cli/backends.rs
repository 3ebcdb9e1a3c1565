//! `stockade backends`: names that are slips, and the example of a backend of one's own, at the entry points.
#![expect(
    clippy::disallowed_methods,
    reason = "runs the program, and copies the example to where it may lie"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// A folder that no other user may write, with the example in it and a workspace beside it.
struct Ground(tempfile::TempDir);

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let example =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/backends/stockade-backend-bubble");
        let program = folder.path().join("stockade-backend-bubble");
        fs::copy(example, &program).unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(folder.path().join("work"), Some(65534), Some(65534)).unwrap();
        }
        Self(folder)
    }

    fn said(&self, words: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(env!("CARGO_BIN_EXE_stockade"))
            .args(words)
            .current_dir(self.0.path().join("work"))
            .env("PATH", format!("{}:{path}", self.0.path().display()))
            .env("HOME", self.0.path())
            .env_remove("XDG_RUNTIME_DIR")
            .output()
            .unwrap()
    }
}

fn is_there() -> bool {
    let tried = Command::new("bwrap").args(["--unshare-all", "--ro-bind", "/", "/", "true"]).output();
    let works = tried.is_ok_and(|tried| tried.status.success())
        && Command::new("python3").arg("--version").output().is_ok();
    if !works || !cfg!(target_arch = "x86_64") {
        println!("skipped: the example of a backend needs bubblewrap, Python and x86-64");
    }
    works && cfg!(target_arch = "x86_64")
}

#[test]
fn a_misspelled_backend_is_an_error_and_nothing_runs() {
    let ground = Ground::new();
    let output =
        ground.said(&["exec", "--backend", "nativ", "--on-unavailable", "warn", "--", "touch", "ran"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(126), "{said}");
    assert!(said.contains("did you mean `native`?") && said.contains("podman"), "{said}");
    assert!(!ground.0.path().join("work/ran").exists());
    let output = ground.said(&["exec", "--backend", "a/b", "--", "true"]);
    assert_eq!(output.status.code(), Some(125));
}

/// `warn` runs a command without a sandbox where none is available, and not instead of a backend that was selected by name.
#[test]
fn a_named_backend_is_never_replaced_by_no_sandbox() {
    let ground = Ground::new();
    // Without an engine and without bubblewrap.
    let empty = ground.0.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for backend in ["docker", "podman", "bwrap"] {
        let output = Command::new(env!("CARGO_BIN_EXE_stockade"))
            .args(["exec", "--backend", backend, "--on-unavailable", "warn", "--", "touch", "ran"])
            .current_dir(ground.0.path().join("work"))
            .env_clear()
            .env("HOME", ground.0.path())
            .env("PATH", &empty)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(125 | 126)), "{backend}: {said}");
        assert!(!said.contains("WITHOUT A SANDBOX"), "{backend}: {said}");
        assert!(!ground.0.path().join("work/ran").exists(), "{backend}: {said}");
    }
}

#[test]
fn every_backend_is_listed_with_its_versions() {
    let ground = Ground::new();
    let output = ground.said(&["backends", "--format", "json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = listed["backends"].as_array().unwrap();
    let row = |name: &str| {
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {listed}"))
    };
    for name in ["native", "bwrap", "landlock", "docker", "podman"] {
        let components = row(name)["components"].as_array().unwrap();
        let kernel = components.iter().find(|one| one["name"] == "linux").unwrap();
        assert!(kernel["version"].is_string(), "{kernel}");
    }
    for name in ["kubernetes", "e2b", "openshell"] {
        assert!(row(name)["why"].is_string() || row(name)["works"] == true, "{name}");
    }
    // A program on the search path is asked for its version, and its name is shown as it is known.
    let program = ground.0.path().join("openshell");
    fs::write(&program, "#!/bin/sh\necho openshell 0.4.2\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = ground.said(&["backends"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("versions: openshell 0.4.2") && said.contains("--as openshell"), "{said}");
}

#[test]
fn attacks_of_the_selftest_are_stopped_natively() {
    let ground = Ground::new();
    let words = ["selftest", "isolation", "--backend", "native", "--format", "json"];
    let output = ground.said(&words);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = report["results"].as_array().unwrap();
    if results.is_empty() {
        println!("skipped: {report}");
        return;
    }
    let failed: Vec<&Value> = results.iter().filter(|row| row["result"] == "succeeded").collect();
    assert!(report["allStopped"] == true && output.status.code() == Some(0), "{failed:#?}");
    let stopped = results.iter().filter(|row| row["stopped"] == true).count();
    assert!(stopped >= 60, "{stopped} of {}", results.len());
    assert!(!ground.0.path().join(".local/state/stockade/quarantine").exists(), "it has a state of its own");
}

/// Whether this machine makes native sandboxes.
fn works(ground: &Ground) -> bool {
    let works = ground.said(&["exec", "--backend", "native", "--", "true"]).status.success();
    if !works {
        println!("skipped: no native sandbox here");
    }
    works
}

#[test]
fn a_failed_command_is_told_what_was_withheld() {
    let ground = Ground::new();
    if !works(&ground) {
        return;
    }
    fs::write(ground.0.path().join("work/.env"), "KEY=value\n").unwrap();
    let said = |words: &[&str], script: &str| {
        let begin = ["exec", "--backend", "native", "--no-rules"];
        let output = ground.said(&[&begin, words, &["--", "sh", "-c", script]].concat());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (script, expected) in [
        (
            "cat .env",
            "hidden from the command, because of secrets: .env; to show one: stockade exec --ro .env -- '…'; its names alone: \
             stockade exec --env-names .env -- '…'",
        ),
        ("docker ps; exit 1", "docker needs the socket of its daemon"),
        ("unshare -Ur true", "unshare needs namespaces"),
        ("/usr/bin/unshare -Ur true", "unshare needs namespaces"),
        ("ssh x true; false", "ssh has no network in the sandbox; add --allow-host HOST"),
        ("kill -ABRT $$", "AddressSanitizer needs --memory 32T"),
        ("sh -c 'kill -ABRT $$'; exit $?", "AddressSanitizer needs --memory 32T"),
        ("$UNKNOWN; false", "the sandbox withholds networks, sockets of other programs and namespaces"),
    ] {
        let said = said(&[], script);
        assert!(said.contains(expected), "{script}: {said}");
    }
    // What was requested is not withheld, and what worked needs no hint.
    let shown = said(&["--ro", ".env"], "cat .env; false");
    assert!(!shown.contains("hidden from"), "{shown}");
    let names = said(&["--env-names", ".env"], "cat .env >&2; false");
    assert!(
        names.contains("KEY=\n") && !names.contains("=value") && !names.contains("hidden from"),
        "{names}"
    );
    assert!(said(&["--backend-option", "a=b"], "true").contains("no effect with --backend native"));
    assert!(said(&["--env-names", "/etc/hosts"], "true").contains("/etc/hosts is not in the workspace"));
    assert!(!said(&["--memory", "32T"], "kill -ABRT $$").contains("AddressSanitizer"));
    assert!(!said(&["--network", "open"], "ssh; false").contains("has no network"));
    assert!(!said(&[], "unshare -Ur true; true").contains("needs namespaces"));
    let explained = said(&["--explain"], "cat .env");
    assert!(explained.contains("hidden from") && !explained.contains("was refused"), "{explained}");
}

#[test]
fn a_flood_of_names_is_told_in_few_lines() {
    let ground = Ground::new();
    if !works(&ground) {
        return;
    }
    let script = "for i in $(seq 3000); do mkdir -p n/$i/.vscode; echo x > n/$i/.vscode/tasks.json; echo x > n/$i/CLAUDE.md; done";
    let output = ground.said(&["exec", "--backend", "native", "--no-rules", "--", "sh", "-c", script]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(123), "{said}");
    assert!(said.lines().count() <= 20, "{} lines: {said}", said.lines().count());
    assert!(said.contains("2994 more files would run programs"), "{said}");
    assert!(!ground.0.path().join("work/n/2999/.vscode").exists());
}

#[test]
fn the_example_backend_passes_the_conformance_test() {
    if !is_there() {
        return;
    }
    let ground = Ground::new();
    let output = ground.said(&["backends", "test", "bubble", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["ok"]), (Some(0), &true.into()), "{report}");
    assert_eq!(report["checks"].as_array().unwrap().len(), 9);
    // It is listed, with its own word marked as that.
    let output = ground.said(&["backends", "--format", "json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = listed["backends"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "bubble").unwrap();
    assert_eq!((&row["works"], &row["byNameOnly"]), (&true.into(), &true.into()), "{row}");
    assert!(row["holds"].as_array().unwrap().iter().all(|held| held["by"] == "a claim of the backend"));
    // And the test of backends finds fault with one that has one.
    let broken = ground.0.path().join("stockade-backend-broken");
    let example = fs::read_to_string(ground.0.path().join("stockade-backend-bubble")).unwrap();
    fs::write(&broken, example.replace("cause=\"exited\", code=code", "cause=\"exited\", code=0")).unwrap();
    fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = ground.said(&["backends", "test", "broken", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["ok"]), (Some(1), &false.into()), "{report}");
    assert_eq!(report["checks"][1]["ok"], false, "{report}");
}
