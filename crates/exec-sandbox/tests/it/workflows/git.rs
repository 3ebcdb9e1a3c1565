//! Git, the tool that is used most, and whose work is lost most easily.

use super::{Given, Workflow, all_work};

/// A repository with one commit.
macro_rules! repository {
    ($($more:literal),*) => {
        concat!("git init -q -b main .; echo text > README; ", $($more, "; ",)* "git add -A; git commit -qm first")
    };
}

/// The repository is whole, and git has nothing to say.
const CLEAN: &str = "git fsck --strict; test -z \"$(git status --porcelain)\"";

#[test]
fn git_works_and_nothing_is_lost() {
    all_work(ROWS);
}

#[rustfmt::skip]
pub(super) const ROWS: &[Workflow] = &[
    Workflow {
        name: "commit",
        needs: &["git"],
        before: repository!(),
        inside: "echo more >> README; git commit -qam second; test -z \"$(git status --porcelain)\"",
        after: "test \"$(git rev-list --count HEAD)\" = 2; git fsck --strict; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "commit beside a tracked .env.development",
        needs: &["git"],
        before: repository!("echo API=http://localhost > .env.development"),
        inside: "test -z \"$(git status --porcelain)\"; grep -q API .env.development; echo more >> README; git commit -qam second",
        after: "git show HEAD:.env.development | grep -q API; test \"$(git show --name-only --format= HEAD)\" = README; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "change a tracked .env.test and commit it",
        needs: &["git"],
        before: repository!("mkdir app", "echo A=1 > app/.env.test"),
        inside: "echo B=2 >> app/.env.test; git commit -qam second",
        after: "test \"$(git show HEAD:app/.env.test | wc -l)\" = 2; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "switch between branches with another .env.test each",
        needs: &["git"],
        before: "git init -q -b main .; echo A=1 > .env.test; git add -A; git commit -qm first; git checkout -q -b other; echo B=2 > .env.test; git commit -qam second; git checkout -q main",
        inside: "git checkout -q other; grep -q B .env.test; git checkout -q main; git merge -q other",
        after: "grep -q B .env.test; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "add everything beside a secret that is not ignored",
        needs: &["git"],
        before: repository!("echo x > .gitignore"),
        inside: "echo TOKEN > .env.new; rm .env.new; touch new; git add -A; git commit -qm second; git stash -qu 2> /dev/null || true",
        after: "test -e new; git fsck --strict",
        ..Workflow::NEW
    },
    Workflow {
        name: "an untracked .env that is not ignored is not committed empty",
        needs: &["git"],
        before: "git init -q -b main .; echo text > README; git add -A; git commit -qm first; echo TOKEN=1 > .env",
        inside: "touch new; ! git add -A; git add new; git commit -qam second; echo .env > .gitignore; touch more; git add -A; git commit -qm third; ! cat .env; ! git clean -fdqx; ! rm .env; ! sh -c 'echo x >> .env'",
        after: "test \"$(cat .env)\" = TOKEN=1; test -z \"$(git log --all --format= --name-only -- .env)\"; test \"$(git show --name-only --format= HEAD~1)\" = new; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "a changed tracked .env is not committed empty",
        needs: &["git"],
        before: "git init -q -b main .; echo A=1 > .env; echo text > README; git add -A; git commit -qm first; echo TOKEN=1 > .env",
        inside: "echo more >> README; ! git commit -qam second; ! git add -A; git reset -q; git commit -qm second README; ! git checkout -q -- .env",
        after: "test \"$(cat .env)\" = TOKEN=1; test \"$(git show HEAD:.env)\" = A=1; test \"$(git status --porcelain)\" = \" M .env\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "a changed tracked .env that is named is seen and committed",
        needs: &["git"],
        before: "git init -q -b main .; echo A=1 > .env; git add -A; git commit -qm first; echo A=2 > .env",
        inside: "test \"$(git status --porcelain)\" = ' M .env'; git commit -qam second",
        after: "test \"$(git show HEAD:.env)\" = A=2; test -z \"$(git status --porcelain)\"",
        given: Given::Read("work/.env"),
        ..Workflow::NEW
    },
    Workflow {
        name: "branch, commit, merge",
        needs: &["git"],
        before: repository!(),
        inside: "git checkout -q -b other; echo a > a; git add a; git commit -qm a; git checkout -q main; git merge -q --no-ff -m merge other; git branch -q -d other",
        after: "test -e a; test \"$(git rev-list --count HEAD)\" = 3; git fsck --strict",
        ..Workflow::NEW
    },
    Workflow {
        name: "rebase",
        needs: &["git"],
        before: repository!(),
        inside: "git checkout -q -b other; echo a > a; git add a; git commit -qm a; git checkout -q main; echo b > b; git add b; git commit -qm b; git rebase -q main other",
        after: "test -e a; test -e b; git fsck --strict; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "stash and pop",
        needs: &["git"],
        before: repository!(),
        inside: "echo more >> README; git stash -q; git stash pop -q",
        after: "test \"$(git status --porcelain)\" = ' M README'",
        ..Workflow::NEW
    },
    Workflow {
        name: "cherry-pick, revert and amend",
        needs: &["git"],
        before: repository!(),
        inside: "git checkout -q -b other; echo a > a; git add a; git commit -qm a; git checkout -q main; git cherry-pick other > /dev/null; git revert --no-edit HEAD > /dev/null; git commit -q --amend -m undone",
        after: "test ! -e a; git log --format=%s | grep -q undone; git fsck --strict",
        ..Workflow::NEW
    },
    Workflow {
        name: "tag, describe, log, blame, grep, archive",
        needs: &["git"],
        before: repository!(),
        inside: "git tag -a -m one v1; git describe | grep -q v1; git log -p | grep -q text; git blame README > /dev/null; git grep -q text; git archive -o a.tar HEAD",
        after: "git tag | grep -q v1; tar tf a.tar | grep -q README",
        ..Workflow::NEW
    },
    Workflow {
        name: "gc, repack and fsck",
        needs: &["git"],
        before: repository!(),
        inside: "for n in 1 2 3; do echo $n > f; git add f; git commit -qm $n; done; git gc -q; git fsck --strict",
        after: "test \"$(git rev-list --count HEAD)\" = 4; git fsck --strict",
        ..Workflow::NEW
    },
    Workflow {
        name: "bisect",
        needs: &["git"],
        before: "git init -q -b main .; for n in 1 2 3 4 5; do echo $n > f; git add f; git commit -qm $n; done",
        inside: "git bisect start HEAD HEAD~4; git bisect run sh -c 'test $(cat f) -lt 4' > /tmp/said; grep -q 'first bad' /tmp/said; git bisect reset",
        after: "git fsck --strict; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "patches by mail",
        needs: &["git"],
        before: repository!(),
        inside: "echo a > a; git add a; git commit -qm a; git format-patch -q -1 -o p; git reset -q --hard HEAD~1; git am -q p/*.patch",
        after: "test -e a; test \"$(git rev-list --count HEAD)\" = 2",
        ..Workflow::NEW
    },
    Workflow {
        name: "push to a repository beside it",
        needs: &["git"],
        before: "git init -q -b main .; git init -q --bare r; git remote add origin ./r; echo r > .gitignore; git add -A; git commit -qm first",
        inside: "echo a > a; git add a; git commit -qm a; git push -q origin main; git fetch -q origin",
        after: "test \"$(git -C r rev-list --count main)\" = 2",
        ..Workflow::NEW
    },
    Workflow {
        name: "a new repository",
        needs: &["git"],
        inside: "git init -q -b main new; cd new; echo a > a; git add a; git commit -qm a",
        after: "cd new; git fsck --strict; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "clone of a repository beside it",
        needs: &["git"],
        before: "git init -q -b main r; cd r; echo a > a; git add a; git commit -qm a",
        inside: "git clone -q r copy; cd copy; echo b > b; git add b; git commit -qm b",
        after: "git -C copy fsck --strict; test \"$(git -C copy rev-list --count HEAD)\" = 2",
        ..Workflow::NEW
    },
    Workflow {
        name: "a worktree within the workspace",
        needs: &["git"],
        before: repository!(),
        inside: "git worktree add -q -b other tree; cd tree; echo a > a; git add a; git commit -qm a",
        after: "git -C tree status > /dev/null; test \"$(git rev-list --count other)\" = 2; git fsck --strict",
        ..Workflow::NEW
    },
    Workflow {
        name: "a workspace that is a linked worktree",
        needs: &["git"],
        before: "mkdir ../main; cd ../main; git init -q -b main .; echo text > README; git add -A; git commit -qm first; git worktree add -q -b other ../work",
        inside: "test -z \"$(git status --porcelain)\"; echo a > a; git add a; git commit -qm a; echo b >> a; git stash -q; git stash pop -q; git commit -qam b; git checkout -q -b third; git tag t; git rebase -q main; \
                 for f in config hooks/pre-commit config.worktree info/attributes packed-refs objects/info/alternates worktrees/work/commondir worktrees/work/gitdir; do \
                 ! sh -c \"echo evil >> ../main/.git/$f\" 2> /dev/null; done; ! mv ../main/.git/objects ../main/.git/o 2> /dev/null; test ! -e ../main/README",
        after: "cd ../main; git fsck --strict; test \"$(git rev-list --count other)\" = 3; test -z \"$(git -C ../work status --porcelain)\"; \
                ! grep -rq evil .git; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "a submodule that is there",
        needs: &["git"],
        before: "git init -q -b main ../lib; (cd ../lib; echo a > a; git add a; git commit -qm a); git init -q -b main .; git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm first",
        inside: "git submodule --quiet status; cd lib; echo b > b; git add b; git commit -qm b; cd ..; git commit -qam second",
        after: "git -C lib fsck --strict; test \"$(git rev-list --count HEAD)\" = 2; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "a branch whose .env.test changes while another file conflicts",
        needs: &["git"],
        before: "git init -q -b main .; echo A=1 > .env.test; echo x > f; git add -A; git commit -qm 1; git checkout -q -b other; echo B=2 > .env.test; echo y > f; git commit -qam 2; git checkout -q main; echo z > f; git commit -qam 3",
        inside: "! git merge -q other > /dev/null; echo yz > f; git add f; git commit -qm merged",
        after: "test \"$(git show HEAD:.env.test)\" = B=2; test -z \"$(git status --porcelain)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "a repository of a group",
        needs: &["git"],
        inside: "git init -q -b main --shared .; echo x > f; git add f; git commit -qm first; mkdir g; chmod g+s g; mkdir g/in; git init -q --bare --shared bare",
        after: "git fsck --strict; test \"$(git config core.sharedrepository)\" = 1; test -g .git/objects; test -g g/in; test -g bare/refs; git status --porcelain | grep -q bare",
        ..Workflow::NEW
    },
    Workflow {
        name: "a repository that is copied and unpacked",
        needs: &["git", "tar"],
        before: "git init -q -b main lib; cd lib; git config user.email me@x; git remote add up https://example.org/x; echo x > f; git add f; git commit -qm first",
        inside: "cp -r lib copied; cp -a lib same; python3 -c 'import shutil; shutil.copytree(\"lib\", \"walked\")'; tar cf t lib; mkdir unpacked; tar xf t -C unpacked; \
                 mkdir last; cp -r lib/.git/objects lib/.git/refs lib/.git/HEAD last; cp lib/.git/config last; git -C copied commit -q --allow-empty -m second",
        after: "for d in copied/.git same/.git walked/.git unpacked/lib/.git last; do cmp lib/.git/config $d/config; git -C $d fsck --strict; done; git -C copied status",
        ..Workflow::NEW
    },
];

#[test]
fn every_row_leaves_a_repository_that_is_whole() {
    let ends =
        |row: &&Workflow| ["fsck", "status", "rev-list", "git show"].iter().any(|it| row.after.contains(it));
    let others = ROWS.iter().filter(|row| !ends(row)).count();
    assert!(others < ROWS.len() / 4, "most rows look at what is left, such as: {CLEAN}");
}
