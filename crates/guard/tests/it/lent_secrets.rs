//! Secrets of a command: they are not read before it starts, and it does not see their sources.
#![expect(clippy::disallowed_methods, reason = "lays out workspaces and secrets")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use stockade_guard::audit::{AuditEvent, EventKind};
use stockade_guard::egress::{BrokerOptions, HostList, SecretBinding};
use stockade_guard::exec::SandboxSpec;
use stockade_guard::exec::run::{Stream, Streams};
use stockade_guard::{Egress, NotRun, PreparedRun, RunRecord};

const REAL: &str = "ghp_REALrealREALrealREALrealREALreal0001";

fn prepared(folder: &Path, secret: &str, change: impl FnOnce(&mut SandboxSpec)) -> PreparedRun {
    let mut spec = SandboxSpec::new(folder.join("work"), ["/bin/sh", "-c", "echo \"it is $T\""]);
    change(&mut spec);
    let egress = Egress {
        hosts: HostList::compile(&["a.example".to_owned()]).unwrap(),
        options: BrokerOptions::default(),
        secrets: vec![SecretBinding::read(secret).unwrap()],
    };
    PreparedRun::new(spec, Some(egress), RunRecord::default()).unwrap()
}

/// What it printed, or why it did not run; nothing where this machine has no sandbox.
fn ran(prepared: PreparedRun) -> Option<Result<String, String>> {
    let streams = Streams { stdout: Stream::Keep, stderr: Stream::Keep, ..Streams::default() };
    match prepared.run(AuditEvent::new(EventKind::SandboxStarted), streams) {
        Ok(report) => Some(Ok(String::from_utf8_lossy(&report.outcome.output.stdout).into_owned())),
        Err(NotRun::Sandbox { error, .. }) => {
            println!("skipped: no such sandbox on this machine: {error}");
            None
        }
        Err(error) => Some(Err(error.to_string())),
    }
}

fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("work/deep")).unwrap();
    folder
}

#[test]
fn no_secret_is_read_before_the_command_starts() {
    let folder = site();
    let mark = folder.path().join("mark");
    let secret = format!("T=cmd:tee {}@a.example", mark.display());
    let one = prepared(folder.path(), &secret, |_| ());
    one.plan().ok();
    drop(one);
    assert!(!mark.exists(), "a source was asked for a command that is only planned");
    let Some(ran) = ran(prepared(folder.path(), &secret, |_| ())) else { return };
    assert!(ran.unwrap_err().contains("is empty"));
    assert!(mark.exists(), "the source was never asked");
}

#[test]
fn a_command_does_not_see_the_file_of_its_secret() {
    let folder = site();
    let root = folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink(root.join("work"), root.join("link")).unwrap();
    fs::create_dir(root.join("other")).unwrap();
    for (file, is_seen) in [
        ("work/token", true),
        ("work/deep/token", true),
        ("link/token", true),
        ("other/token", true),
        ("token", false),
    ] {
        let path = root.join(file);
        fs::write(&path, REAL).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let secret = format!("T=file:{}@a.example", path.display());
        let other = |spec: &mut SandboxSpec| spec.read_only.push(root.join("other"));
        let Some(ran) = ran(prepared(&root, &secret, other)) else { return };
        match is_seen {
            true => {
                let why = ran.unwrap_err();
                assert!(
                    why.contains("visible to the command") && why.contains("cannot see"),
                    "{file}: {why}"
                );
            }
            false => {
                let printed = ran.unwrap();
                assert!(printed.starts_with("it is ghp_") && !printed.contains(REAL), "{file}: {printed}");
            }
        }
    }
}

#[test]
fn a_secret_in_other_letters_is_noticed_too() {
    let folder = site();
    let path = folder.path().join("token");
    fs::write(&path, REAL).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let secret = format!("T=file:{}@a.example", path.display());
    // `base64` and `xxd -p` of it.
    let encoded = "Z2hwX1JFQUxyZWFsUkVBTHJlYWxSRUFMcmVhbFJFQUxyZWFsMDAwMQ==";
    let hex: String = REAL.bytes().map(|byte| format!("{byte:02x}")).collect();
    for value in [REAL, encoded, &hex] {
        let set = |spec: &mut SandboxSpec| spec.environment.set.push(("OTHER".into(), value.into()));
        let Some(ran) = ran(prepared(folder.path(), &secret, set)) else { return };
        let why = ran.expect_err(value);
        assert!(why.contains("in the variable `OTHER`") && !why.contains(value), "{why}");
    }
}
