//! Reading of repositories, compared with git itself.
#![expect(clippy::disallowed_methods, reason = "makes repositories, and asks git")]
#![expect(clippy::print_stdout, reason = "prints what is skipped")]
#![expect(clippy::panic, reason = "a helper of tests fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use stockade_git::{FoundGit, GitRepository, find_git, git_settings};

/// Runs git without the settings of the user who runs the tests.
fn git(folder: &Path, words: &[&str]) -> Option<Vec<u8>> {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=x", "-c", "user.email=x@x.example"]);
    git.args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]).args(words);
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Whether git is available for comparison.
fn has_git() -> bool {
    let found = git(Path::new("/"), &["--version"]).is_some();
    if !found {
        println!("skipped: there is no git to compare with");
    }
    found
}

fn made(folder: &Path, words: &[&str]) {
    assert!(git(folder, words).is_some(), "git {words:?}");
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Appends to the settings of a repository.
fn append(path: &Path, text: &str) {
    let before = fs::read_to_string(path).unwrap_or_default();
    write(path, &format!("{before}{text}"));
}

fn found(folder: &Path) -> GitRepository {
    match find_git(folder) {
        FoundGit::Repository(repository) => repository,
        other => panic!("{other:?}"),
    }
}

fn keys(folder: &Path) -> Vec<String> {
    found(folder).settings.into_iter().map(|setting| setting.key).collect()
}

fn is_doubtful(folder: &Path) -> bool {
    matches!(find_git(folder), FoundGit::Doubtful(_))
}

/// Fragments of which settings files are composed.
const PIECES: &[&str] = &[
    "[core]",
    "[Core \"X y\"]",
    "[a.B]",
    "[a \"\\\"b\\\\\"]",
    "[a\t\"c\"]",
    "[]",
    "[a \"b]",
    "\n",
    "\r\n",
    "\n\n",
    " ",
    "\t",
    "fsmonitor",
    "Name-1",
    "x",
    "=",
    " = ",
    "value",
    "\"",
    "\"q # r\"",
    "\\\n",
    "\\t",
    "\\\\",
    "\\x",
    "# c\n",
    "; c\n",
    ";",
    "1",
    "_",
    "\r",
    "\u{b}",
];

#[test]
fn settings_are_read_as_git_reads_them() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let (mut read, mut seed) = (0, 7_u64);
    for _ in 0..600 {
        let mut text = String::from("[s]\n");
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap()
        };
        for _ in 0..next() % 9 {
            text.push_str(PIECES[next() % PIECES.len()]);
        }
        write(&file, &text);
        let listed = git(folder.path(), &["config", "--file", "config", "--list", "--null", "--no-includes"]);
        let ours = git_settings(text.as_bytes());
        let Some(listed) = listed else {
            assert!(ours.is_err(), "git refuses {text:?}, and it was read as {ours:?}");
            continue;
        };
        let ours = ours.unwrap_or_else(|error| panic!("git reads {text:?}: {error}"));
        let shown: String = ours
            .iter()
            .map(|one| match &one.value {
                Some(value) => format!("{}\n{value}\0", one.key),
                None => format!("{}\0", one.key),
            })
            .collect();
        assert_eq!(shown.as_bytes(), listed, "{text:?}");
        read += usize::from(!ours.is_empty());
    }
    assert!(read > 20, "only {read} of them say anything");
}

#[test]
fn a_repository_is_found_from_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    assert_eq!(find_git(&top), FoundGit::Nothing);
    assert_eq!(find_git(&top.join("missing")), FoundGit::NoFolder);
    for name in ["HEAD", "objects/x", "refs/x", "config", "hooks/pre-commit", "hooks/pre-push.sample"] {
        write(&top.join(".git").join(name), "");
    }
    write(&top.join("src/a/x"), "");
    let repository = found(&top.join("src/a"));
    assert_eq!((repository.top, repository.common), (top.clone(), top.join(".git")));
    assert_eq!(repository.hooks, ["pre-commit"]);
    // Directories that git takes for a bare repository, and half of one.
    for name in ["HEAD", "objects/x", "refs/x"] {
        write(&top.join("fix/b").join(name), "");
    }
    write(&top.join("half/.git/HEAD"), "");
    write(&top.join("shared/HEAD"), "");
    write(&top.join("shared/commondir"), "../.git\n");
    write(&top.join("file/.git"), "elsewhere");
    std::os::unix::fs::symlink("../fix/b", top.join("src/link")).unwrap();
    for place in ["fix/b", "fix/b/refs", "half", "shared", "file", "src/link"] {
        assert!(is_doubtful(&top.join(place)), "{place}");
    }
    assert!(is_doubtful(&top.join(".git")));
    assert!(!is_doubtful(&top.join("fix")));
}

#[test]
fn settings_come_from_wherever_git_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    let own = top.join(".git");
    for name in ["HEAD", "objects/x", "refs/x"] {
        write(&own.join(name), "");
    }
    write(&own.join("config"), "[a]b=1\n[include]path=../more\n[includeIf \"gitdir:/nowhere/\"]path=one\n");
    write(&own.join("config.worktree"), "[c]d=1\n");
    write(&own.join("one"), "[e]f=1\n");
    assert_eq!(keys(&top), ["a.b", "include.path", "e.f", "includeif.gitdir:/nowhere/.path", "c.d"]);
    write(&top.join("more"), "[core]fsmonitor=x\n");
    assert!(keys(&top).contains(&"core.fsmonitor".to_owned()));
    write(&top.join(".husky/_/pre-commit"), "");
    append(&own.join("config"), "[core]hooksPath=.husky/_\n");
    assert_eq!(found(&top).hooks, ["pre-commit"]);
    // Settings whose target is unknown, cyclic, or not a file.
    let whole = fs::read_to_string(own.join("config")).unwrap();
    for odd in [
        "[include]path=~other/x",
        "[include]path",
        "[include]path=config",
        "[include]path=refs",
        "[a",
        "[core]hooksPath=%(prefix)/x",
    ] {
        write(&own.join("config"), &format!("{whole}{odd}\n"));
        assert!(is_doubtful(&top), "{odd}");
    }
    write(&own.join("config"), &"#".repeat((1 << 20) + 1));
    assert!(is_doubtful(&top));
}

/// Worktrees and submodules as git makes them, and an unlisted one.
#[test]
fn what_git_keeps_in_a_repository_belongs_to_it() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(folder.path()).unwrap();
    let (lib, top) = (base.join("lib"), base.join("top"));
    for repository in [&lib, &top] {
        fs::create_dir(repository).unwrap();
        made(repository, &["init", "-q"]);
        write(&repository.join("x"), "x");
        made(repository, &["add", "x"]);
        made(repository, &["commit", "-qm", "x"]);
    }
    made(&top, &["submodule", "--quiet", "add", "../lib", "sub"]);
    made(&top, &["worktree", "add", "-q", "../tree"]);
    let own = found(&top).common;
    assert!(found(&top.join("sub")).common.starts_with(&own));
    assert_eq!(found(&base.join("tree")).common, own);
    assert_ne!(found(&lib).common, own);
    assert!(!keys(&top).contains(&"core.worktree".to_owned()), "where a submodule is, is no news");
    // git enters submodules and obeys their settings.
    append(&own.join("modules/sub/config"), "[core]fsmonitor=x\n");
    assert!(keys(&top).contains(&"core.fsmonitor".to_owned()));
    made(&lib, &["config", "core.worktree", "/tmp"]);
    assert!(keys(&lib).contains(&"core.worktree".to_owned()));
    // A submodule that is only in the index, in each index format.
    made(&top, &["clone", "-q", "../lib", "more"]);
    made(&top, &["-c", "advice.addEmbeddedRepo=false", "add", "more"]);
    append(&top.join("more/.git/config"), "[core]pager=x\n");
    for version in ["2", "3", "4"] {
        made(&top, &["update-index", "--index-version", version]);
        assert!(keys(&top).contains(&"core.pager".to_owned()), "version {version}");
    }
    made(&top, &["update-index", "--split-index"]);
    assert!(is_doubtful(&top));
}
