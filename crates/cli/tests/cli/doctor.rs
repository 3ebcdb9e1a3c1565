//! `stockade doctor` on whatever machine the tests run on: what it says differs, and how it says it does not.
#![expect(clippy::disallowed_methods, reason = "looks whether anything was left behind")]

use serde_json::Value;

use crate::support::stockade;

#[test]
fn whatever_is_not_well_comes_with_what_mends_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = stockade(&["doctor", "--format", "json"], folder.path());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().filter_map(|check| check["what"].as_str()).collect();
    for wanted in
        ["kernel", "native sandbox", "bubblewrap", "Landlock", "control groups", "docker", "audit trail"]
    {
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
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "it left something behind");
}

/// Where a sandbox can be made, a command in it has said so itself.
#[test]
fn what_it_says_of_sandboxes_comes_from_inside() {
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
