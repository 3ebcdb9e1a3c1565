//! As root with the home of another user: nothing of that user's is obeyed, and nothing is created where that user's links lead.
#![expect(clippy::disallowed_methods, reason = "lays out a home that is another user's")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::Path;
use std::process::Output;

use crate::hook::Home;
use crate::support::STOCKADE;

const OTHER: Option<u32> = Some(65534);

fn give(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        give(&entry.path());
    }
    lchown(path, OTHER, OTHER).unwrap();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn files_of_another_user_are_neither_used_nor_written() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can make files of another user");
        return;
    }
    let exec = ["exec", "--quiet", "--agent", "bot", "--", "true"];
    let home = Home::new();
    home.configure("[agents.bot.skills.execSandbox]\nenabled = \"never\"\n");
    give(home.path());
    let ran = home.run(STOCKADE, &exec, b"");
    assert!(!ran.status.success() && said(&ran).contains("belongs to user 65534"), "{}", said(&ran));
    assert!(said(&ran).contains("sudo -H"), "{}", said(&ran));
    let got = home.run(STOCKADE, &["config", "get", "agents.bot.maxSteps"], b"");
    assert!(!got.status.success(), "{}", said(&got));

    for name in ["audit.db", "audit.db-wal", "limits.db", "trails", "harnesses/claude.seen"] {
        let home = Home::new();
        let state = home.path().join(".local/state/stockade");
        let made = home.path().join("made");
        let link = state.join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&made, &link).unwrap();
        give(&state);
        let ran = home.run(STOCKADE, &exec, b"");
        assert!(!ran.status.success(), "{name}: {}", said(&ran));
        let call = br#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        home.run(STOCKADE, &["hook", "--harness", "claude"], call);
        assert!(!made.exists(), "{name}: something was created where the link leads");
    }
}

#[test]
fn files_that_others_can_write_are_not_used() {
    let home = Home::new();
    home.configure("[agents.bot]\nmaxSteps = 7\n");
    let folder = home.path().join(".config/stockade");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let got = home.run(STOCKADE, &["config", "get", "agents.bot.maxSteps"], b"");
    assert!(!got.status.success() && said(&got).contains("can be written by other users"), "{}", said(&got));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let got = home.run(STOCKADE, &["config", "get", "agents.bot.maxSteps"], b"");
    assert_eq!(String::from_utf8_lossy(&got.stdout), "7\n", "{}", said(&got));
}

/// A bind mount of the workspace is another name for what the command may write.
#[test]
fn a_trail_in_a_mount_of_the_workspace_is_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can mount");
        return;
    }
    let home = Home::new();
    let folder = home.path();
    for name in ["work/deep", "bind", "apart"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let exec = |trail: &str| {
        let script = format!(
            "mount --bind work/deep bind && exec '{STOCKADE}' exec --quiet --workspace work --audit={trail} -- true"
        );
        home.run("unshare", &["--mount", "sh", "-c", &format!("cd '{}' && {script}", folder.display())], b"")
    };
    if !exec("apart/audit.db").status.success() {
        println!("skipped: no mounts here: {}", said(&exec("apart/audit.db")));
        return;
    }
    for trail in ["bind/audit.db", "bind/audit.jsonl"] {
        let ran = exec(trail);
        assert!(
            !ran.status.success() && said(&ran).contains("writable for the command"),
            "{trail}: {}",
            said(&ran)
        );
    }
}
