//! Links that a command leaves: none by which version control would write to another file, and none out of the workspace that is
//! not told of.

#![expect(clippy::disallowed_methods, reason = "makes repositories, and looks for links in them")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use stockade_exec_sandbox::{End, Outcome, Property, SandboxBackend};

use crate::live::{Live, NamesAre, each};

static TEMPLATE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let script = "git init -q . && echo a > f && git add f && git commit -qm first && \
         git init -q --bare up.git && git push -q up.git HEAD";
    git(folder.path(), script);
    folder
});

/// A workspace that is a repository of the user's, and a file outside of it.
struct Case {
    live: Live,
    bait: PathBuf,
}

impl Case {
    fn new(names: NamesAre) -> Option<Self> {
        let live = Live::with_names(names)?;
        let bait = live.outside().join("bait");
        fs::create_dir(&bait).unwrap();
        fs::write(bait.join("file"), "precious\n").unwrap();
        let copy = ["-a", TEMPLATE.path().join(".").to_str().unwrap(), live.workspace().to_str().unwrap()]
            .map(str::to_owned);
        assert!(Command::new("cp").args(copy).status().unwrap().success());
        Some(Self { live, bait })
    }

    fn run(&self, script: &str, backend: SandboxBackend) -> Outcome {
        let script = script.replace("BAIT", self.bait.to_str().unwrap());
        self.live.run(&["sh", "-c", &script], |spec| spec.backend = backend).unwrap()
    }

    /// What the user does next: none of it changes another file.
    fn next(&self, what: &str) {
        git(
            &self.live.workspace(),
            "echo b >> f; git add f; git commit -qm next; git fetch -q up.git 2>&1; true",
        );
        let found = fs::read_dir(&self.bait).unwrap().count();
        assert_eq!(fs::read_to_string(self.bait.join("file")).unwrap(), "precious\n", "{what}");
        assert_eq!(found, 1, "{what}");
        let is_of_a_repository = |path: &&PathBuf| {
            let below = path.strip_prefix(self.live.workspace()).unwrap();
            below.iter().any(|name| [".git", "up.git", ".hg", ".jj"].iter().any(|it| name == *it))
        };
        let strays = links(&self.live.workspace());
        let strays: Vec<_> = strays.iter().filter(is_of_a_repository).collect();
        assert!(strays.is_empty(), "{what}: {strays:?}");
    }
}

fn git(folder: &Path, script: &str) {
    let named = "git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main -c core.fsync=none \"$@\"; }\n";
    let status =
        Command::new("sh").args(["-c", &format!("{named}{script}")]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

/// Every link below a folder.
fn links(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            found.push(entry.path());
        } else if kind.is_dir() {
            found.extend(links(&entry.path()));
        }
    }
    found
}

/// Ways by which a link comes to lie where git, or another system, writes.
const STRAYS: &[&str] = &[
    "rm .git/logs/HEAD; ln -s BAIT/file .git/logs/HEAD",
    "ln -sf BAIT/file .git/COMMIT_EDITMSG",
    "ln -s BAIT/file .git/FETCH_HEAD",
    "ln -s BAIT/new .git/ORIG_HEAD",
    "mv .git/logs .git/l2; ln -s BAIT .git/logs",
    "rm -r .git/logs/refs; ln -s BAIT .git/logs/refs",
    "mv .git/refs/heads .git/h; ln -s BAIT .git/refs/heads; mv .git/h/main .git/refs/main",
    "ln -s BAIT/file l; mv l .git/FETCH_HEAD",
    "ln -s BAIT/file l; mv -f l .git/COMMIT_EDITMSG",
    "ln -s BAIT/file l; ln -fP l .git/COMMIT_EDITMSG; rm l",
    "mkdir d; ln -s BAIT/file d/HEAD; rm -r .git/logs; mv d .git/logs",
    "mkdir -p d/e; ln -s BAIT d/e/refs; rm -r .git/logs; mv d/e .git/logs",
    "ln -sf config .git/COMMIT_EDITMSG",
    "ln -s ../../notes .git/logs/x; ln -sf hooks/pre-commit .git/COMMIT_EDITMSG",
    "rm .git/logs/refs/heads/main; ln -s ../../../../f .git/logs/refs/heads/main",
    "python3 -c \"import os; os.symlink('BAIT/file', 'l'); os.close(os.open('.git/FETCH_HEAD', 65)); \
     import ctypes; ctypes.CDLL(None).renameat2(-100, b'l', -100, b'.git/FETCH_HEAD', 2)\"; rm -f l",
    "python3 -c \"import os; d = os.open('.git', os.O_PATH); os.symlink('BAIT/file', 'FETCH_HEAD', dir_fd=d)\"",
    "ln -s BAIT/file l; python3 -c \"import os, ctypes; f = os.open('l', os.O_PATH | os.O_NOFOLLOW); \
     ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % f, -100, b'.git/FETCH_HEAD', 0x400)\"; rm l",
    "ln -s BAIT/file up.git/FETCH_HEAD",
    "mkdir up.git/logs; ln -s BAIT/file up.git/logs/HEAD",
    "mkdir b; ln -s BAIT/file b/FETCH_HEAD; mkdir b/objects b/refs; echo ref: refs/heads/main > b/HEAD; rm -f b/FETCH_HEAD.x",
    "mkdir -p b/logs; ln -s BAIT/file b/logs/HEAD; mkdir b/objects b/refs; echo ref: refs/heads/main > b/HEAD",
    "mkdir b; ln -s BAIT/file b/FETCH_HEAD; mv b .hg",
    "mkdir -p new/.git/logs; ln -s BAIT/file new/.git/logs/HEAD",
    "git clone -q up.git c 2>&1; ln -s BAIT/file c/.git/FETCH_HEAD",
    "mkdir .hg; ln -s BAIT/file .hg/last-message.txt",
    "mkdir -p .jj/repo; ln -s BAIT/file .jj/repo/x",
];

#[test]
fn version_control_writes_through_no_link_that_a_command_leaves() {
    for names in [NamesAre::Decided, NamesAre::SweptUp] {
        for backend in each() {
            for script in STRAYS {
                let Some(case) = Case::new(names) else { return };
                let outcome = case.run(script, backend);
                let what = format!("{names:?} {backend:?} {script}");
                // A mount refuses some by itself where names are only swept up.
                let is_said = !outcome.denials.is_empty() || !outcome.quarantine.is_empty();
                assert!(is_said || names == NamesAre::SweptUp, "{what}: {outcome:?}");
                assert!(outcome.quarantine.iter().all(|one| one.moved_to.is_some()), "{what}: {outcome:?}");
                // What is left of it by design is no repository.
                fs::remove_dir_all(case.live.workspace().join("b")).ok();
                case.next(&what);
            }
        }
    }
}

/// What a linked worktree belongs to lies outside of the workspace, and git writes there as well.
#[test]
fn the_repository_of_a_linked_worktree_gets_no_such_link() {
    for names in [NamesAre::Decided, NamesAre::SweptUp] {
        for backend in each() {
            let Some(case) = Case::new(names) else { return };
            let (main, tree) = (case.live.outside().join("main"), case.live.workspace());
            fs::rename(&tree, &main).unwrap();
            git(&main, &format!("git worktree add -q {}", tree.to_str().unwrap()));
            let git_dir = main.join(".git");
            let script = "git commit -q --allow-empty -m second; for d in GIT GIT/worktrees/work; do rm -f $d/logs/HEAD; ln -s BAIT/file $d/logs/HEAD; done; \
                 ln -s BAIT/file GIT/worktrees/work/FETCH_HEAD; ln -s BAIT/file GIT/refs/heads/x";
            let outcome = case.run(&script.replace("GIT", git_dir.to_str().unwrap()), backend);
            let what = format!("{names:?} {backend:?} {outcome:?}");
            assert!(!outcome.denials.is_empty() || outcome.exit_code() == 123, "{what}");
            if names == NamesAre::Decided && backend != SandboxBackend::Landlock {
                assert!(links(&git_dir).is_empty(), "{what}");
            }
        }
    }
}

/// What git and others make, and links of work trees that lie within a bare repository.
#[test]
fn links_that_version_control_makes_are_left_alone() {
    let script = "set -e; git -c core.preferSymlinkRefs=true checkout -qb other 2>/dev/null; \
         mkdir -p .hg/store; ln -s host.example:4711 .hg/wlock; ln -s host/f0:4711 .hg/store/lock; rm .hg/wlock .hg/store/lock; \
         mkdir -p plain/a up.git/tree; ln -s ../a plain/a/self; ln -s ../.git/annex/objects/x plain/annexed; \
         echo gitdir: x > up.git/tree/.git; mkdir -p up.git/tree/node_modules/.bin up.git/tree/node_modules/x; \
         ln -s ../x/bin.js up.git/tree/node_modules/.bin/x; mv up.git/tree up.git/other; rm -r up.git/other";
    for names in [NamesAre::Decided, NamesAre::SweptUp] {
        for backend in each() {
            let Some(case) = Case::new(names) else { return };
            let outcome = case.run(script, backend);
            let said = String::from_utf8_lossy(&outcome.output.stderr).into_owned();
            assert_eq!(outcome.end, End::Exited(0), "{names:?} {backend:?} {said}");
            assert_eq!((outcome.quarantine.len(), outcome.exit_code()), (0, 0), "{backend:?} {outcome:?}");
            assert!(outcome.changed.is_empty(), "{names:?} {backend:?} {:?}", outcome.changed);
            let head = case.live.workspace().join(".git/HEAD");
            assert_eq!(fs::read_link(head).unwrap(), Path::new("refs/heads/other"));
        }
    }
}

/// A link of the user's stays, also where the command could not have made it, and is not told of.
#[test]
fn existing_symlinks_stay_and_are_not_reported() {
    for backend in each() {
        let Some(case) = Case::new(NamesAre::Decided) else { return };
        let workspace = case.live.workspace();
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(to, workspace.join(from)).unwrap();
        link(case.bait.to_str().unwrap(), ".git/worktrees");
        link("/usr/share", "share");
        link("/root/.bashrc", "bashrc");
        let outcome = case.run("echo x > g; mkdir -p d; git add g; git commit -qm second; true", backend);
        assert_eq!((outcome.exit_code(), &outcome.changed[..]), (0, &[][..]), "{backend:?} {outcome:?}");
        assert!(workspace.join(".git/worktrees").is_symlink() && workspace.join("share").is_symlink());
    }
}

#[test]
fn new_symlinks_out_of_the_workspace_are_reported() {
    let home = std::env::home_dir().unwrap();
    let home = home.to_str().unwrap();
    // What is made, the name that is told of if any is, and whether it does harm.
    let rows: &[(&str, Option<(&str, bool)>)] = &[
        ("ln -s HOME/.bashrc notes.txt", Some(("notes.txt", true))),
        ("ln -s HOME/.ssh/authorized_keys d/CHANGELOG.md", Some(("d/CHANGELOG.md", true))),
        ("ln -s HOME all", Some(("all", true))),
        ("ln -s BAIT/file n; ", Some(("n", false))),
        ("ln -s ../../bait/file d/n", Some(("d/n", false))),
        ("ln -s d/../../bait/file n", Some(("n", false))),
        ("ln -s out/file n", Some(("n", false))),
        ("ln -s /etc/hosts n", Some(("n", false))),
        ("mkdir -p node_modules/x; ln -s HOME/.npmrc node_modules/x/y", Some(("node_modules/x/y", true))),
        ("ln -s .envrc n", Some(("n", true))),
        ("ln -s ../.vscode/tasks.json d/n", Some(("d/n", true))),
        ("ln -s .git/hooks/pre-commit n", Some(("n", true))),
        (
            "mkdir -p v/bin; ln -s $(readlink -f $(command -v python3)) v/bin/python3",
            Some(("v/bin/python3", false)),
        ),
        ("ln -s f n; ln -s ../f d/n; ln -s missing m; ln -s d/none/x o", None),
        ("ln -s HOME/.bashrc n; rm n", None),
        ("rm out; ln -s BAIT out", None),
    ];
    for backend in each() {
        for (script, expected) in rows {
            let Some(case) = Case::new(NamesAre::Decided) else { return };
            let workspace = case.live.workspace();
            fs::create_dir(workspace.join("d")).unwrap();
            std::os::unix::fs::symlink(&case.bait, workspace.join("out")).unwrap();
            let outcome = case.run(&script.replace("HOME", home), backend);
            let told: Vec<_> =
                outcome.changed.iter().map(|one| (one.path.to_str().unwrap(), one.is_harmful)).collect();
            // The folders of the tests may lie in the home themselves.
            let leads_home =
                !script.contains("/etc") && !script.contains("bin") && case.bait.starts_with(home);
            let expected = expected.map(|(name, is_harmful)| (name, is_harmful || leads_home));
            assert_eq!(told, expected.into_iter().collect::<Vec<_>>(), "{backend:?} {script} {outcome:?}");
            let code = if expected.is_some_and(|(_, is_harmful)| is_harmful) { 123 } else { 0 };
            assert_eq!(outcome.exit_code(), code, "{backend:?} {script} {outcome:?}");
        }
    }
}

/// However many are told of that do no harm, the one that does decides the code.
#[test]
fn no_flood_of_links_hides_one_that_does_harm() {
    let Some(case) = Case::new(NamesAre::Decided) else { return };
    let script = "mkdir a; python3 -c \"import os
for i in range(1500): os.symlink('/etc/x%d' % i, 'a/%d' % i)\"; ln -s /root/.bashrc z";
    let outcome = case.run(script, SandboxBackend::Auto);
    assert_eq!(outcome.exit_code(), 123);
    let gaps = outcome.enforcement.gaps.iter();
    assert!(gaps.clone().any(|gap| gap.property == Property::ProtectedNames), "{outcome:?}");
    assert!(outcome.changed.len() <= 1_001 && outcome.changed.iter().any(|one| one.path == Path::new("z")));
}

/// The folder that a link comes to lie in may be moved between the look at its path and the call.
#[test]
fn a_folder_that_moves_meanwhile_brings_no_link_into_a_repository() {
    let script = "
import os, threading
os.mkdir('x')
left = [2000]
def move():
    while left[0] > 0:
        for one, other in (('x', '.git/x'), ('.git/x', 'x')):
            try:
                os.rename(one, other)
            except OSError:
                pass
thread = threading.Thread(target=move)
thread.start()
while left[0] > 0:
    left[0] -= 1
    for at in ('x', '.git/x'):
        try:
            folder = os.open(at, os.O_PATH)
        except OSError:
            continue
        try:
            os.symlink('/etc/passwd', 'l', dir_fd=folder)
            if os.path.lexists('.git/x/l'):
                print('IN')
        except OSError:
            pass
        for inner in ('x/l', '.git/x/l'):
            try:
                os.unlink(inner)
            except OSError:
                pass
        os.close(folder)
thread.join()
print('done')
";
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let Some(case) = Case::new(NamesAre::Decided) else { return };
        let outcome = case.live.run(&["python3", "-c", script], |spec| spec.backend = backend).unwrap();
        assert_eq!(String::from_utf8_lossy(&outcome.output.stdout), "done\n", "{backend:?} {outcome:?}");
        assert!(outcome.quarantine.is_empty(), "{outcome:?}");
    }
}
