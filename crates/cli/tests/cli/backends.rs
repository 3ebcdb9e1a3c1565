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
