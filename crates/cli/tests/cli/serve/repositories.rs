//! git where repositories name programs: a real git shows which of them it starts, and no entry point may allow what it starts.
#![expect(clippy::disallowed_methods, reason = "makes repositories, and runs git in them")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use stockade_guard::command::{CommandContext, Effect};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::policy::ToolCatalog;
use stockade_guard::{Guard, GuardOptions};

use super::Serving;
use crate::support::STOCKADE;

/// What must become of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Must {
    /// It is allowed, and git starts nothing of the repository.
    BeAllowed,
    /// It is not allowed; git was seen to start the program.
    Start,
    /// It is not allowed; git would start the program in a terminal, or where something else is installed.
    NotBeAllowed,
}
use Must::{BeAllowed, NotBeAllowed, Start};

/// How a repository is made, from a plain one in `work`, by a script in the folder above it; `$P` is the program.
type Shape = (&'static str, &'static [(&'static str, Must)]);

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    ("true", &[
        ("git status", BeAllowed), ("git log -p", BeAllowed), ("cd src && git log", BeAllowed), ("git -C src diff", BeAllowed),
        ("cd ../lib && git status", NotBeAllowed),
    ]),
    ("git -C work config core.fsmonitor $P", &[("git status", Start), ("git diff", Start), ("cd src && git status", Start)]),
    ("git -C work config core.fsmonitor false; git -C work config core.pager less", &[("git status", BeAllowed), ("git log", BeAllowed)]),
    ("git -C work config core.pager $P", &[("git log", NotBeAllowed)]),
    ("printf '[core]\\n fsmonitor = %s\\n' $P > work/inc; git -C work config include.path ../inc", &[("git status", Start)]),
    ("printf '[core] fsmonitor = \"%s\"' $P > work/.git/inc; git -C work config includeIf.gitdir:/**.path inc", &[("git status", Start)]),
    ("cd work; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $P", &[("git status", Start)]),
    ("cd work; git config filter.x.clean $P; echo '* filter=x' > .git/info/attributes; echo y > src/x",
        &[("git diff", Start), ("git rev-parse HEAD", BeAllowed)]),
    ("cd work; git config diff.x.textconv $P; echo '* diff=x' > .gitattributes", &[("git log -p", Start), ("git show", Start), ("git branch", BeAllowed)]),
    ("cd work; git config diff.external $P; echo y > src/x", &[("git diff", Start)]),
    ("cd work; cp $P .git/hooks/post-index-change; touch -d '2 days' src/x", &[("git status", Start)]),
    ("cd work; git config core.hooksPath h; mkdir h; cp $P h/post-index-change; touch -d '2 days' src/x", &[("git status", Start)]),
    ("cd work; git config core.hooksPath .husky/_; mkdir -p .husky/_; cp $P .husky/_/pre-commit; touch -d '2 days' src/x",
        &[("git status", BeAllowed), ("git commit --allow-empty -m x", Start)]),
    ("cp -r work/.git evil; git --git-dir evil config core.fsmonitor $P; git --git-dir evil config core.worktree $PWD/work; \
      rm -rf work/.git/config work/.git/objects work/.git/refs; echo ../../evil > work/.git/commondir", &[("git status", Start)]),
    ("mv work/.git store; git --git-dir store config core.fsmonitor $P; echo 'gitdir: ../store' > work/.git", &[("git status", Start)]),
    ("mv work/.git store; echo 'gitdir: ../store' > work/.git", &[("git status", BeAllowed)]),
    ("cd work; mv .git/* .; rm -r .git; git config -f config core.fsmonitor $P; git config -f config core.worktree .", &[("git status", Start)]),
    ("mkdir -p work/fix/b; cp -r work/.git/* work/fix/b; cd work; git config -f fix/b/config core.fsmonitor $P; git config -f fix/b/config core.worktree .",
        &[("git status", BeAllowed), ("cd fix/b && git status", Start), ("git -C fix/b status", Start), ("cd fix; git -C b diff", Start)]),
    ("cd work; ln -s ../lib/.git/x l; mkdir -p ../lib/.git/x; git -C ../lib config core.fsmonitor $P", &[("git -C l/../.. status", Start)]),
    ("cd work; git submodule --quiet add ../lib sub; git -C sub config core.fsmonitor $P", &[("git status", Start), ("git diff", Start)]),
    ("cd work; git submodule --quiet add ../lib sub; git commit -qm x", &[("git status", BeAllowed), ("cd sub && git log", BeAllowed)]),
    ("cd work; git clone -q ../lib in; git add in 2>/dev/null; git -C in config core.fsmonitor $P", &[("git status", Start)]),
    ("cd work; git config remote.o.promisor true; git config remote.o.url ../lib; git config remote.o.uploadpack $P",
        &[("git cat-file -p 1111111111111111111111111111111111111111", Start)]),
    ("cd work; git config remote.o.url ../lib; git config remote.o.uploadpack $P", &[("git status", BeAllowed), ("git log", BeAllowed)]),
    ("cd work; git config alias.st \"!$P\"", &[("git st", Start), ("git status", BeAllowed)]),
    ("cd work; git config merge.x.driver $P; echo '* merge=x' > .gitattributes; git add .; git commit -qm a; git checkout -qb o; echo 1 > src/x; \
      git commit -qam b; git checkout -q main; echo 2 > src/x; git commit -qam c; git -c merge.x.driver=false merge -q o || git commit -qam m; rm -f ../marker",
        &[("git log --remerge-diff", Start), ("git merge-tree main o", NotBeAllowed)]),
    ("git -C lib config core.fsmonitor $P; echo ../../../lib/.git/objects > work/.git/objects/info/alternates", &[("git status", BeAllowed)]),
    ("cd work; git config man.x.cmd $P; git config man.viewer x", &[("git help log", Start), ("git log --help", Start)]),
    ("cd work; git config filter.lfs.clean 'git-lfs clean -- %f'; git config filter.lfs.process 'git-lfs filter-process'; git config filter.lfs.required true",
        &[("git status", BeAllowed)]),
    ("echo '[core]' >> work/.git/config; echo 'fsmonitor = \"' >> work/.git/config", &[("git status", NotBeAllowed)]),
    ("rm work/.git/config; mkfifo work/.git/config", &[("git --version", BeAllowed), ("git log", NotBeAllowed)]),
];

/// A folder with a workspace, another repository and the program that leaves a mark.
struct Ground {
    base: PathBuf,
    home: PathBuf,
}

impl Ground {
    fn new(home: &Path, number: usize) -> Self {
        let home = fs::canonicalize(home).unwrap();
        let base = home.join(format!("ground-{number}"));
        fs::create_dir_all(&base).unwrap();
        let program = base.join("program");
        fs::write(&program, format!("#!/bin/sh\n: > {}\nexit 1\n", base.join("marker").display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let ground = Self { base, home };
        let plain = "for r in lib work; do git init -q $r; mkdir $r/src; echo x > $r/src/x; git -C $r add .; git -C $r commit -qm x; done";
        ground.run(plain, "");
        ground
    }

    fn workspace(&self) -> String {
        self.base.join("work").display().to_string()
    }

    /// Runs a script with the settings of a user who has hardly any.
    fn run(&self, script: &str, folder: &str) {
        let settings = self.home.join(".gitconfig");
        fs::write(
            settings,
            "[user]\nname = x\nemail = x@x.example\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n",
        )
        .unwrap();
        let mut shell = Command::new("/bin/bash");
        shell.args(["-c", script]).current_dir(self.base.join(folder)).env_clear();
        shell.env("HOME", &self.home).env("PATH", "/usr/bin:/bin").env("P", self.base.join("program"));
        drop(shell.stdin(std::process::Stdio::null()).output().unwrap());
    }

    /// Whether git starts the program.
    fn starts(&self, command: &str) -> bool {
        drop(fs::remove_file(self.base.join("marker")));
        self.run(&format!("timeout 10 {command}").replace("timeout 10 cd", "cd"), "work");
        self.base.join("marker").exists()
    }
}

/// What each entry point says.
fn answers(serving: &mut Serving, ground: &Ground, command: &str) -> Vec<(&'static str, String)> {
    let workspace = ground.workspace();
    let place = ["--cwd", &workspace, "--workspace", &workspace];
    let mut check = Command::new(STOCKADE);
    check.args(["check", "command", "--format", "json"]).args(place).args(["--", command]);
    check.env_clear().env("HOME", &ground.home).env("PATH", "/usr/bin:/bin").current_dir(&ground.home);
    let checked: Value = serde_json::from_slice(&check.output().unwrap().stdout).unwrap();
    let asked = json!({"command": command, "cwd": workspace, "workspace": workspace});
    let evaluated = serving.call("command.evaluate", &asked);
    let embedded = embedded(Path::new(&workspace), command);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    vec![
        ("check command", word(&checked["decision"])),
        ("command.evaluate", word(&evaluated["result"]["action"])),
        ("the crate", embedded.to_string()),
    ]
}

/// What a program decides that embeds the guard.
fn embedded(workspace: &Path, command: &str) -> Effect {
    let config = Config::load(&ConfigSources::default()).unwrap();
    let options = GuardOptions {
        agent: "main".to_owned(),
        workspace: workspace.to_owned(),
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    let guard = Guard::open(&config, options).unwrap();
    let place = CommandContext::new(Some(workspace.to_owned()), Some(workspace.to_owned()));
    guard.decide_command(command, &Default::default(), &place).effect
}

#[test]
fn git_is_allowed_if_the_repository_sets_no_program() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: there is no git to run");
        return;
    }
    let mut serving = Serving::start(&[]);
    let home = serving.home.path().to_owned();
    let mut wrong = Vec::new();
    for (number, (script, commands)) in SHAPES.iter().enumerate() {
        for (at, (command, must)) in commands.iter().enumerate() {
            let ground = Ground::new(&home, number * 10 + at);
            ground.run(&format!("set -e; {script}"), "");
            for (entry_point, answer) in answers(&mut serving, &ground, command) {
                if (answer == "allow") != (*must == BeAllowed) {
                    wrong.push(format!("{entry_point} says {answer:?} to `{command}` after `{script}`"));
                }
            }
            if !script.contains("mkfifo") && ground.starts(command) != (*must == Start) {
                wrong.push(format!("git does not do what is said here: `{command}` after `{script}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
