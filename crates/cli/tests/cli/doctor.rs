//! `stockade doctor` on whatever machine the tests run on: what it says differs, and how it says it does not.
#![expect(
    clippy::disallowed_methods,
    reason = "looks whether anything was left behind, and runs what is advised"
)]

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{STOCKADE, stockade};

#[test]
fn every_problem_includes_a_fix() {
    let folder = tempfile::tempdir().unwrap();
    let output = stockade(&["doctor", "--format", "json"], folder.path());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().filter_map(|check| check["what"].as_str()).collect();
    for wanted in [
        "kernel",
        "native sandbox",
        "bubblewrap",
        "Landlock",
        "control groups",
        "docker",
        "audit trail",
        "hooks",
    ] {
        assert!(names.contains(&wanted), "{wanted} is not among {names:?}");
    }
    for check in checks {
        assert!(!check["found"].as_str().unwrap().is_empty(), "{check}");
        assert_eq!(check["fix"].is_string(), check["status"] != "ok", "{check}");
    }
    // Without HOME there is no place for the audit trail.
    let audit = checks.iter().find(|check| check["what"] == "audit trail").unwrap();
    assert_eq!((&audit["status"], &report["status"]), (&"fail".into(), &"fail".into()));
    assert_eq!(output.status.code(), Some(1));
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "it left something behind");
}

/// Where a sandbox can be made, a command in it has said so itself.
#[test]
fn doctor_reports_what_was_tested_inside_a_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let output = stockade(&["doctor", "--format", "json"], folder.path());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let status = |what: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["what"] == what).map(|check| check["status"].clone())
    };
    if status("native sandbox") != Some("ok".into()) {
        println!("skipped: no native sandbox can be made here: {report}");
        assert_eq!(status("seccomp"), None);
        return;
    }
    assert_eq!(status("seccomp"), Some("ok".into()));
    assert_eq!(status("capabilities"), Some("ok".into()));
}

/// A program called docker is asked without any privilege of the caller. One in the current directory is not asked at all.
#[test]
fn a_probed_docker_client_gets_no_capabilities() {
    let folder = tempfile::tempdir().unwrap();
    // Written by another process: a program that starts beside this would inherit a file that is open for writing, ETXTBSY.
    let write = "printf '#!/bin/sh\ncat /proc/self/status > $HOME/status\n' > docker; chmod +x docker";
    let wrote = Command::new("sh").args(["-c", write]).current_dir(folder.path()).status().unwrap();
    assert!(wrote.success());
    let asked = |path: &str| {
        let mut doctor = Command::new(STOCKADE);
        doctor.arg("doctor").current_dir(folder.path()).env_clear();
        doctor.env("HOME", folder.path()).env("PATH", path).output().unwrap();
        fs::read_to_string(folder.path().join("status")).ok()
    };
    assert_eq!(asked(".::/usr/bin:/bin"), None);
    let status = asked(&format!("{}:/usr/bin:/bin", folder.path().display())).unwrap();
    for line in ["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(status.contains(line), "{line}: {status}");
    }
}

/// What it says of its own rights is what the kernel says of a process that is started like it.
#[test]
fn doctor_lists_its_own_capabilities() {
    let folder = tempfile::tempdir().unwrap();
    let output = stockade(&["doctor", "--format", "json"], folder.path());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let found = checks.find(|check| check["what"] == "own capabilities").unwrap()["found"].as_str().unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let permitted = status.lines().find_map(|line| line.strip_prefix("CapPrm:")).unwrap();
    let count = u64::from_str_radix(permitted.trim(), 16).unwrap().count_ones() as usize;
    assert_eq!(found.matches("CAP_").count(), count, "{found}");
    assert_eq!(found == "this program has none", count == 0, "{found}");
}
