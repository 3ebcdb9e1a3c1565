//! What a person reviews a repository by, and what an environment runs: changes are reported, whatever the files are called. And
//! files that the user's own settings lead to.

#![expect(clippy::disallowed_methods, reason = "lays out workspaces, and looks at what is left in them")]

use std::fs;
use std::path::Path;
use std::process::Command;

use stockade_exec_sandbox::{Outcome, SandboxBackend};

use crate::live::{Live, NamesAre, each};

fn outside(folder: &Path, script: &str) {
    let named = "git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main -c core.fsync=none \"$@\"; }\n";
    let status =
        Command::new("sh").args(["-c", &format!("{named}{script}")]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

fn inside(live: &Live, backend: SandboxBackend, script: &str) -> Outcome {
    live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap()
}

fn changed(outcome: &Outcome) -> Vec<&str> {
    outcome.changed.iter().filter_map(|changed| changed.path.to_str()).collect()
}

/// The script of a command, and the path that must be reported; nothing if nothing may be.
#[rustfmt::skip]
const REPORTED: &[(&str, Option<&str>)] = &[
    ("git update-index --assume-unchanged f", Some(".git/index")),
    ("git update-index --skip-worktree f", Some(".git/index")),
    ("echo 'f*' >> .git/info/exclude", Some(".git/info/exclude")),
    ("git update-ref refs/replace/$(git rev-parse HEAD:f) $(echo evil | git hash-object -w --stdin)", Some(".git/refs/replace")),
    ("git update-ref refs/replace/$(git rev-parse HEAD:f) $(echo evil | git hash-object -w --stdin); git pack-refs --all --prune", Some(".git/refs/replace")),
    ("git rev-parse HEAD > .git/info/grafts", Some(".git/info/grafts")),
    ("git rev-parse HEAD > .git/shallow", Some(".git/shallow")),
    ("git remote set-url origin https://evil.example/r", Some(".git/config")),
    ("git remote add other https://evil.example/r", Some(".git/config")),
    ("git config user.name 'x; touch /tmp/ran'", Some(".git/config")),
    ("echo >> env/bin/activate", Some("env/bin/activate")),
    ("rm env/bin/python; echo > env/bin/python", Some("env/bin/python")),
    ("echo 'import os' > env/lib/python3/site-packages/e.pth", Some("env/lib/python3/site-packages/e.pth")),
    ("echo > .venv/lib/sitecustomize.py; mkdir -p .venv/lib/site-packages; echo > .venv/lib/site-packages/sitecustomize.py", Some(".venv/lib/site-packages/sitecustomize.py")),
    ("mkdir -p .conda/bin; echo > .conda/bin/python3.12", Some(".conda/bin/python3.12")),
    ("mkdir -p .tox/py/bin; echo > .tox/py/bin/activate.fish", Some(".tox/py/bin/activate.fish")),
    // Ordinary work.
    ("echo b > f; git commit -qam b; git branch x; git tag y; git checkout -q x; echo c > f; git stash -q; git gc -q", None),
    ("git init -q new; git -C new remote add origin https://example.org/r; echo x > new/.git/info/exclude", None),
    ("git clone -q . cloned", None),
    ("mkdir -p bin; echo > bin/run; echo > env/lib/python3/site-packages/six.py", None),
];

#[test]
fn what_a_review_relies_on_is_reported() {
    for (script, expected) in REPORTED {
        let Some(live) = Live::with_names(NamesAre::Decided) else { return };
        outside(
            &live.workspace(),
            "git init -q .; echo a > f; git add f; git commit -qm a; git remote add origin https://example.org/r; \
             mkdir -p env/bin env/lib/python3/site-packages .venv/lib; echo > env/bin/activate; ln -s /usr/bin/python3 env/bin/python",
        );
        let with =
            "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n";
        let outcome = inside(&live, SandboxBackend::Auto, &format!("{with}{script}"));
        let changed = changed(&outcome);
        match expected {
            Some(path) => assert!(changed.contains(path), "{script}: {changed:?} {:?}", outcome.output),
            None => assert!(changed.is_empty(), "{script}: {changed:?} {:?}", outcome.output),
        }
    }
}

/// Writes the present state of `f` into the index, beside the old content, as if git had compared both.
const FORGE: &str = r#"
import hashlib, os, struct, time
time.sleep(1.1)
index, f = bytearray(open('.git/index', 'rb').read()[:-20]), os.stat('f')
times = [int(f.st_ctime), f.st_ctime_ns % 10**9, int(f.st_mtime), f.st_mtime_ns % 10**9]
index[12:52] = struct.pack('>10I', *times, f.st_dev & 0xffffffff, f.st_ino & 0xffffffff, 0o100644, f.st_uid, f.st_gid, f.st_size)
open('.git/index.lock', 'wb').write(bytes(index) + hashlib.sha1(index).digest())
os.rename('.git/index.lock', '.git/index')
"#;

#[test]
fn a_change_that_the_index_denies_is_reported() {
    let Some(live) = Live::with_names(NamesAre::Decided) else { return };
    outside(&live.workspace(), "git init -q .; echo a > f; git add f; git commit -qm a");
    let script = format!("echo b > f; python3 -c \"{FORGE}\"; git status --porcelain");
    let outcome = inside(&live, SandboxBackend::Auto, &script);
    // Git shows no change at all.
    assert_eq!(outcome.output.stdout, b"", "{outcome:?}");
    assert_eq!(fs::read(live.workspace().join("f")).unwrap(), b"b\n");
    assert_eq!(changed(&outcome), ["f"]);
    // With the content of the index, nothing is hidden: with the line ends of another system as well.
    for content in ["a\\n", "a\\r\\n"] {
        let script = format!("printf '{content}' > f; python3 -c \"{FORGE}\"");
        assert_eq!(changed(&inside(&live, SandboxBackend::Auto, &script)), [""; 0], "{content}");
    }
}

#[test]
fn a_file_that_leads_to_an_armed_repository_is_quarantined() {
    for (settings, hook, is_kept) in [
        ("core.fsmonitor ./watch", false, false),
        ("core.bare false", true, false),
        ("core.bare false", false, true),
    ] {
        let Some(live) = Live::with_names(NamesAre::Decided) else { return };
        let root = live.workspace();
        outside(
            &root,
            &format!(
                "git init -q .; mkdir docs; git init -q --bare fixture; git -C fixture config {settings}"
            ),
        );
        fs::remove_dir_all(root.join("fixture/hooks")).unwrap();
        fs::create_dir(root.join("fixture/hooks")).unwrap();
        if hook {
            fs::write(root.join("fixture/hooks/post-checkout"), "#!/bin/sh\n").unwrap();
        }
        inside(&live, SandboxBackend::Auto, "echo gitdir: ../fixture > docs/.git");
        assert_eq!(root.join("docs/.git").exists(), is_kept, "{settings} {hook}");
    }
}

#[test]
fn a_worktree_can_be_removed_and_not_led_astray() {
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let Some(live) = Live::with_names(NamesAre::Decided) else { return };
        let root = live.workspace();
        outside(
            &root,
            "git init -q .; echo a > f; git add f; git commit -qm a; git worktree add -q tree; git worktree add -q other",
        );
        let outcome = inside(&live, backend, "git worktree remove tree && git worktree prune && echo done");
        let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
        assert!(
            said.ends_with("done\n") && !root.join("tree").exists(),
            "{backend:?}: {said} {:?}",
            outcome.output
        );
        assert!(!root.join(".git/worktrees/tree").exists());
        let link = fs::read_to_string(root.join("other/.git")).unwrap();
        let evil = "mkdir evil; for at in other/.git .git/worktrees/other/commondir .git/worktrees/other/gitdir; do \
                    echo \"gitdir: $PWD/evil\" > $at; echo ../../../evil > n; mv -f n $at; ln -sf $PWD/evil $at; truncate -s 0 $at; done";
        inside(&live, backend, evil);
        assert_eq!(fs::read_to_string(root.join("other/.git")).unwrap(), link, "{backend:?}");
        assert_eq!(fs::read_to_string(root.join(".git/worktrees/other/commondir")).unwrap(), "../..\n");
        inside(
            &live,
            backend,
            "rm other/.git; echo \"gitdir: $PWD/evil\" > other/.git; mkdir -p other/.git/hooks",
        );
        assert!(!root.join("other/.git").is_file(), "{backend:?}");
    }
}

#[test]
fn a_secret_that_is_saved_meanwhile_is_reported() {
    let Some(live) = Live::with_names(NamesAre::Decided) else { return };
    let root = live.workspace();
    fs::write(root.join(".env"), "K=old\n").unwrap();
    std::thread::scope(|scope| {
        let script = "touch begun; while ! [ -e over ]; do sleep 0.02; done";
        let command = scope.spawn(|| inside(&live, SandboxBackend::Auto, script));
        while !root.join("begun").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        fs::write(root.join("new"), "K=new\n").unwrap();
        fs::rename(root.join("new"), root.join(".env")).unwrap();
        fs::write(root.join("over"), "").unwrap();
        let outcome = command.join().unwrap();
        let exposed: Vec<_> = outcome.exposed.iter().map(|one| one.path.clone()).collect();
        assert_eq!(exposed, [Path::new(".env")]);
    });
}
