//! Git commands that destroy work, send data or run programs.

use super::Floor::{Ask, Deny, Sandbox};
use super::command::Command;
use super::shape::Shape;
use crate::repository::RepositoryFacts;

mod settings;
mod subcommands;

use settings::{is_running_key, sets_program};
pub(super) use subcommands::{OPTIONS_WITH_VALUE, uses};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // The commits of others are lost on the server, and only their clones still have them.
        id: "git-force-push",
        floor: Ask,
        programs: &["git"],
        fires: |command| {
            command.is_sub(&["push"])
                && (command.has("-f --force --force-with-lease --mirror -d --delete --prune --all")
                    // git-push(1): a `+` before a refspec forces it, and nothing before its `:` deletes.
                    || command
                        .known()
                        .any(|word| word.starts_with('+') || (word.starts_with(':') && word.len() > 1)))
        },
        reason: "replaces or deletes branches of the remote repository",
        fix: "push to a new branch",
        matches: &[
            "git push --force",
            "git push -f origin main",
            "git push origin +main",
            "git push origin :main",
            "git -C x push --for",
            "git push --mirror r",
            "git push -uf o m",
        ],
        clean: &[
            "git push",
            "git push origin main",
            "git fetch --force",
            "git commit -m 'push --force'",
            "git push -u origin x",
        ],
    },
    Shape {
        // Uncommitted changes are in no commit and no reflog, so nothing can restore them.
        id: "git-discard",
        floor: Ask,
        programs: &["git"],
        fires: discards,
        reason: "discards work that is saved nowhere else",
        fix: "use `git stash`, which keeps the work",
        matches: &[
            "git reset --hard",
            "git reset --har HEAD~1",
            "git clean -fdx",
            "git clean -f -d",
            "git checkout -- .",
            "git checkout -f x",
            "git restore .",
            "git stash drop",
            "git stash clear",
            "git branch -D x",
            "git update-ref -d refs/heads/x",
            "git reflog expire --all",
            "git switch --discard x",
        ],
        clean: &[
            "git reset HEAD~1",
            "git clean -n",
            "git checkout main",
            "git restore --staged x",
            "git stash",
            "git branch -d x",
            "git clean -nfd",
        ],
    },
    Shape {
        // Old commits stay until garbage collection, but every reference to them changes.
        id: "git-rewrite",
        floor: Ask,
        programs: &["git"],
        fires: |command| {
            command.is_sub(&["filter-branch", "filter-repo", "replace", "fast-import"])
                || command.is_sub(&["gc"]) && command.has("--prune")
        },
        reason: "rewrites the history of a repository",
        fix: "work on a copy of the repository",
        matches: &[
            "git filter-branch --tree-filter x HEAD",
            "git filter-repo --path x",
            "git gc --prune=now",
        ],
        clean: &["git log", "git gc", "git rebase main"],
    },
    Shape {
        // Many of git's options are command lines. Abbreviations count, because git accepts them.
        id: "git-runs",
        floor: Ask,
        programs: &["git"],
        fires: runs,
        reason: "makes git run another program",
        fix: "remove the option, or run the program separately",
        matches: &[
            "git -c core.pager=x log",
            "git -c alias.x='!id' x",
            "git clone --upload-pack=x u",
            "git fetch --upload-pa x u",
            "git rebase --exec id HEAD~1",
            "git rebase -x id HEAD",
            "git submodule foreach id",
            "git bisect run id",
            "git grep -Ovi x",
            "git difftool -x id",
            "git clone 'ext::sh -c id'",
            "git clone 'EXT::sh -c id'",
            "git -c core.sshCommand=x fetch",
            "git -p log",
            "git --exec-path=/tmp x",
            "git archive --exec=x --remote=y",
            "git diff --ext-diff",
            "git --config-env=core.pager=X log",
            "git -ccore.fsmonitor=x status",
            "git grep --open-files-in-pager=sh x",
            "git ls-remote --upload-pack x y",
        ],
        clean: &[
            "git log -p",
            "git -c user.name=x commit",
            "git -c core.pager=cat log",
            "git status",
            "git -C x log",
            "git commit -m '--exec'",
            "git --no-pager log",
            "git -c color.ui=false diff",
            "git clone https://x",
        ],
    },
    Shape {
        // The program runs at a later git command, which then looks harmless.
        id: "git-settings",
        floor: Ask,
        programs: &["git"],
        fires: |command| {
            command.is_sub(&["config"])
                && command.operands().skip(1).filter_map(|word| word.known()).any(is_running_key)
                && command.operands().count() > 2
        },
        reason: "makes git run a program from then on",
        fix: "ask the user to change git settings",
        matches: &[
            "git config core.hooksPath /tmp/x",
            "git config --global alias.x '!id'",
            "git config core.fsmonitor id",
            "git config set core.pager x",
            "git config --global credential.helper store",
        ],
        clean: &["git config user.name x", "git config --get core.pager", "git config -l"],
    },
    Shape {
        // Credential helpers answer any caller that knows the protocol.
        id: "git-secrets",
        floor: Deny,
        programs: &["git"],
        fires: |command| {
            command.is_sub(&[
                "credential",
                "credential-store",
                "credential-cache",
                "credential-osxkeychain",
                "credential-manager",
            ]) && command.says(&["fill", "get"])
        },
        reason: "prints a stored password",
        fix: "let git use the password itself",
        matches: &["git credential fill", "git credential-store get", "echo url=x | git credential fill"],
        clean: &["git credential reject", "git fetch", "git log --grep 'credential fill'"],
    },
    Shape {
        // The settings of another repository decide what git runs (CVE-2022-24765).
        id: "git-anywhere",
        floor: Sandbox,
        programs: &["git"],
        fires: |command| {
            command.has("--git-dir --work-tree") || command.is_sub(&["worktree"]) && command.says(&["add"])
        },
        reason: "uses a repository elsewhere, whose settings may run programs",
        fix: "run it in that directory",
        matches: &["git --git-dir=/tmp/x log", "git --work-tree /tmp status", "git worktree add ../x"],
        clean: &["git log", "git -C sub log", "git worktree list"],
    },
];

fn discards(command: &Command<'_, '_>) -> bool {
    let sub = command.operand(0).unwrap_or_default();
    match sub {
        "reset" => command.has("--hard --merge --keep"),
        // git-clean(1) removes nothing without `-f`, unless `clean.requireForce` is false.
        "clean" => command.has("-f --force") && !command.has("-n --dry-run"),
        "checkout" => command.has("-f --force") || command.says(&["--"]) || names_all(command),
        "switch" => command.has("-f --force --discard-changes"),
        // git-restore(1): with only `--staged`, the index changes and the files do not.
        "restore" => !command.has("-S --staged") || command.has("-W --worktree"),
        "stash" => matches!(command.operand(1), Some("drop" | "clear")),
        // `-d` refuses to delete unmerged branches; `-D` does not.
        "branch" => command.has("-D") || (command.has("-d --delete") && command.has("-f --force")),
        "tag" => command.has("-d --delete -f --force"),
        // Its standard input is unknown, and may delete references.
        "update-ref" => command.has("-d --delete --stdin"),
        "reflog" => matches!(command.operand(1), Some("expire" | "delete")),
        "rm" => command.has("-r") && names_all(command),
        _ => false,
    }
}

/// Whether it applies to everything in its directory (`.`), which is not the value of an option.
fn names_all(command: &Command<'_, '_>) -> bool {
    command.operands().filter_map(|word| word.known()).any(|word| matches!(word, "." | "*"))
}

fn runs(command: &Command<'_, '_>) -> bool {
    let sub = command.operand(0).unwrap_or_default();
    let set = command.values("-c --config-env").any(|value| match value.known() {
        Some(text) => sets_program(text),
        None => true,
    });
    let option = match sub {
        "rebase" => command.has("-x --exec"),
        "archive" => command.has("--exec"),
        "bisect" => command.operand(1) == Some("run"),
        "submodule" => command.operand(1) == Some("foreach"),
        "difftool" | "mergetool" => command.has("-x --extcmd -t --tool"),
        "grep" => command.has("-O --open-files-in-pager"),
        "diff" | "show" | "log" | "format-patch" => command.has("--ext-diff --textconv"),
        "daemon" | "instaweb" | "shell" | "upload-pack" | "receive-pack" | "hook" | "credential-helper"
        | "send-email" => true,
        "clone" => command.has("--upload-pack -u -c --config --template"),
        "fetch" | "pull" | "ls-remote" | "push" | "fetch-pack" | "send-pack" => {
            command.has("--upload-pack --receive-pack --exec")
        }
        "init" => command.has("--template"),
        _ => false,
    };
    let words = || command.run.argv.iter().skip(1).map_while(|word| word.known());
    let before = words().take_while(|word| word.starts_with('-'));
    let paged = before
        .into_iter()
        .any(|word| matches!(word, "-p" | "--paginate") || word.starts_with("--exec-path="));
    // gitremote-helpers(7): the text before `::` is the name of a program, and file systems may ignore its case.
    let runs = |word: &str| {
        word.split_once("::").is_some_and(|(helper, _)| {
            helper.eq_ignore_ascii_case("ext") || helper.eq_ignore_ascii_case("fd")
        })
    };
    let remote = command.known().any(runs);
    set || option || paged || remote
}

/// Returns the setting or hook of a repository that would start a program if a git command ran there.
pub(super) fn started_by<'f>(facts: &'f RepositoryFacts, command: &Command<'_, '_>) -> Option<&'f str> {
    let uses = uses(command);
    let hook = || facts.hooks.iter().find(|hook| uses.runs_hook(hook)).map(String::as_str);
    settings::obeyed(&facts.settings, &uses).or_else(hook)
}
