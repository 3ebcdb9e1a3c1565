//! As root with the home of another user: nothing of that user's is obeyed, and nothing is created where that user's links lead.
#![expect(clippy::disallowed_methods, reason = "lays out a home that is another user's")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
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

/// Files that are obeyed or kept, and a command that uses each.
const KEPT: &[(&str, &[&str])] = &[
    (".config/stockade/config.toml", GET),
    (".local/state/stockade/audit.db", EXEC),
    (".local/state/stockade/audit.db-wal", EXEC),
    (".local/state/stockade/trails", EXEC),
    (".local/state/stockade/limits.db", RESET),
    (".local/state/stockade/limits.db-wal", RESET),
    (".local/state/stockade/limits.db", &["limits", "status"]),
    (".local/state/stockade/answers.json", CHECK),
    (".local/state/stockade/questions.json", HOOK),
    (".local/state/stockade/refusals", HOOK),
    (".local/state/stockade/harnesses/claude.seen", HOOK),
    (".local/state/stockade/agreed-hosts.json", EXEC),
    (".local/state/stockade/approvals.json", HOOK),
    (".local/state/stockade/reviews", &["changes", "list"]),
    (".local/state/stockade/nap.json", HOOK),
];

const GET: &[&str] = &["config", "get", "agents.bot.maxSteps"];
const EXEC: &[&str] = &["exec", "--quiet", "--agent", "bot", "--", "true"];
const RESET: &[&str] = &["limits", "reset", "bot"];
const CHECK: &[&str] = &["check", "command", "--agent", "bot", "git push"];
const HOOK: &[&str] = &["hook", "--harness", "claude"];

/// What an attacker, or a mistake, may have put in the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    FileOfAnother,
    FileOpenToAll,
    LinkOfAnother,
    OwnLink,
    Pipe,
    InFolderOfAnother,
    InFolderOpenToAll,
}

const ALL: &[Instead] = &[
    Instead::FileOfAnother,
    Instead::FileOpenToAll,
    Instead::LinkOfAnother,
    Instead::OwnLink,
    Instead::Pipe,
    Instead::InFolderOfAnother,
    Instead::InFolderOpenToAll,
];

impl Instead {
    /// Lays it out, with the content of what would be there.
    fn lay(self, path: &Path, made: &Path) {
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        let before = fs::read(path).unwrap_or_default();
        fs::remove_file(path).ok();
        fs::remove_dir_all(path).ok();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        match self {
            Self::LinkOfAnother | Self::OwnLink => symlink(made, path).unwrap(),
            Self::Pipe => {
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
                    .unwrap();
            }
            _ => {
                fs::write(path, before).unwrap();
                mode(path, if self == Self::FileOpenToAll { 0o666 } else { 0o600 });
            }
        }
        match self {
            Self::FileOfAnother | Self::LinkOfAnother => lchown(path, OTHER, OTHER).unwrap(),
            Self::InFolderOfAnother => lchown(folder, OTHER, OTHER).unwrap(),
            Self::InFolderOpenToAll => mode(folder, 0o777),
            _ => {}
        }
    }
}

/// Nothing that is obeyed or kept is followed, waited for, or changed where it is not this user's own. What counts is that nothing is
/// created where a link leads, that every command returns, and that a file of another user keeps its content.
#[test]
fn everything_that_is_kept_is_this_users_own() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can make files of another user");
        return;
    }
    let call = br#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
    let (mut faults, mut tried) = (Vec::new(), 0);
    for (name, command) in KEPT {
        for instead in ALL {
            let home = Home::new();
            home.configure(
                "[agents.bot]\nmaxSteps = 7\n[agents.bot.skills.execSandbox]\nenabled = \"never\"\n",
            );
            let path = home.path().join(name);
            let made = home.path().join("made");
            instead.lay(&path, &made);
            let before = fs::symlink_metadata(&path).unwrap();
            let mut limited = vec!["20", STOCKADE];
            limited.extend(*command);
            let ran = home.run("timeout", &limited, call);
            tried += 1;
            let told = format!("{name}, {instead:?}: {:?} {}", ran.status.code(), said(&ran));
            // A file of another user may be removed from a directory of one's own, and is never written to.
            let is_foreign = !matches!(instead, Instead::OwnLink | Instead::Pipe) && before.is_file();
            let is_changed = fs::symlink_metadata(&path)
                .is_ok_and(|after| is_foreign && after.ino() == before.ino() && after.len() != before.len());
            if ran.status.code() == Some(124) || made.exists() || is_changed {
                faults.push(told);
            }
        }
    }
    assert!(tried >= 40 && faults.is_empty(), "{} of {tried}: {}", faults.len(), faults.join("\n"));
}
