//! Commands that run one after the other through a server get sandboxes that were made beforehand, and see, may and leave
//! behind what they would in one made for them.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Serving, text};

/// Runs a script, and returns what it printed.
fn script(server: &mut Serving, extra: &Value, script: &str) -> String {
    let workspace = server.workspace();
    let mut params = json!({"command": script, "spec": {"workspace": workspace}});
    let more = extra.as_object().unwrap().clone();
    params.as_object_mut().unwrap().extend(more);
    let answer = server.call("exec", &params);
    text(&answer["result"]["stdoutBase64"])
}

/// When the root of the sandbox of a command was made, and when it was asked for, in seconds.
fn ages(server: &mut Serving, extra: &Value) -> (u64, u64) {
    // The kernel counts file times in ticks, so whole seconds are what can be told apart.
    std::thread::sleep(Duration::from_millis(1200));
    let asked = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    (script(server, extra, "stat -c %Z /").trim().parse().unwrap(), asked)
}

/// Whether the next command finds its sandbox made; one that takes its time to be made is waited for.
fn waits(server: &mut Serving, extra: &Value) -> bool {
    (0..5).any(|_| {
        let (made, asked) = ages(server, extra);
        made < asked
    })
}

fn can_sandbox(server: &mut Serving) -> bool {
    let workspace = server.workspace();
    let answer = server.call("exec", &json!({"argv": ["true"], "spec": {"workspace": workspace}}));
    let is_native = answer["result"]["backend"] == "native";
    if !is_native {
        println!("skipped: no native sandbox can be made here: {answer}");
    }
    is_native
}

#[test]
fn the_third_command_of_a_kind_uses_a_prepared_sandbox() {
    let mut server = Serving::start(&[]);
    if !can_sandbox(&mut server) {
        return;
    }
    let plain = json!({});
    assert!(waits(&mut server, &plain), "no sandbox was made beforehand");
    // It is used once: what one command leaves outside of the workspace, no other finds.
    assert_eq!(script(&mut server, &plain, "echo x > /tmp/x; echo kept > file"), "");
    for _ in 0..3 {
        assert_eq!(script(&mut server, &plain, "ls /tmp; cat file; echo x > /tmp/x"), "kept\n");
    }
}

#[test]
fn commands_of_an_agent_use_prepared_sandboxes_too() {
    let mut server = Serving::start(&[]);
    if !can_sandbox(&mut server) {
        return;
    }
    assert!(waits(&mut server, &json!({"agent": "bot"})), "no sandbox was made beforehand");
}

#[test]
fn a_prepared_sandbox_protects_files_created_since() {
    let mut server = Serving::start(&[]);
    if !can_sandbox(&mut server) {
        return;
    }
    let (plain, workspace) = (json!({}), server.workspace());
    let workspace = Path::new(&workspace);
    assert!(waits(&mut server, &plain));
    // Names that were not there when the sandbox was made.
    fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    fs::write(workspace.join(".git/config"), "plain").unwrap();
    fs::write(workspace.join(".env"), "SECRET=1").unwrap();
    let attack = "cat .env; echo evil > .git/config; echo evil > .git/hooks/x; true";
    for _ in 0..4 {
        assert!(!script(&mut server, &plain, attack).contains("SECRET"));
        assert_eq!(fs::read_to_string(workspace.join(".git/config")).unwrap(), "plain");
    }
    assert!(waits(&mut server, &plain));
    // Another file in the place of one that was hidden: the kernel takes the mount away that lay on it.
    let new = workspace.join("new");
    fs::write(&new, "SECRET=2").unwrap();
    fs::rename(&new, workspace.join(".env")).unwrap();
    assert!(!script(&mut server, &plain, attack).contains("SECRET"));
    // What appears under a protected name is quarantined, whichever process made the sandbox.
    assert!(waits(&mut server, &plain));
    let params = json!({"command": "mkdir -p sub/.vscode; echo evil > sub/.vscode/tasks.json", "spec": {"workspace": workspace}});
    let answer = server.call("exec", &params);
    assert!(answer["result"]["quarantine"].is_array(), "{answer}");
    assert!(!workspace.join("sub/.vscode/tasks.json").exists());
}
