//! The rules that speak where nobody else does: one row each.
//!
//! They are about what programs do when they are used as they are meant to be. What is dangerous whatever a rule says
//! is a hazard, and no rule here or elsewhere outweighs it.

use super::effect::Effect::{self, Allow, Ask, Sandbox};
use super::rule::{CommandPattern, CommandRule, Example, Guards};

/// Rows whose programs do nothing by themselves when they run another one: then only that one counts.
const TRANSPARENT: &[&str] = &["wrapper", "environment"];

/// Returns whether the rule of this name steps aside for what its program runs.
pub(crate) fn steps_aside(id: &str) -> bool {
    TRANSPARENT.contains(&id)
}

/// Returns the built-in rules.
pub(crate) fn rules() -> impl Iterator<Item = CommandRule> {
    ROWS.iter().map(Row::rule)
}

/// A built-in rule. `words` has a space between words and a bar between alternatives.
struct Row {
    id: &'static str,
    effect: Effect,
    words: &'static str,
    reason: &'static str,
    guards: &'static [Guard],
    matches: &'static [&'static str],
    clean: &'static [&'static str],
}

enum Guard {
    Require(&'static [&'static str]),
    Deny(&'static [&'static str]),
    Operands(usize),
}
use Guard::{Deny, Operands, Require};

impl Row {
    fn rule(&self) -> CommandRule {
        let words = self.words.split(' ').map(|word| word.split('|').map(str::to_owned).collect()).collect();
        let mut rule = CommandRule::new(self.id, CommandPattern::Prefix(words), self.effect);
        rule.reason = self.reason.to_owned();
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
        rule.guards = self.guards.iter().fold(Guards::default(), |guards, guard| match guard {
            Require(list) => Guards { require: owned(list), ..guards },
            Deny(list) => Guards { deny: owned(list), ..guards },
            Operands(most) => Guards { operands: Some(*most), ..guards },
        });
        let examples = |list: &[&str]| list.iter().map(|text| Example::Text((*text).to_owned())).collect();
        rule.matches = examples(self.matches);
        rule.not_matches = examples(self.clean);
        rule
    }
}

macro_rules! rows {
    ($($id:literal $effect:ident $words:literal: $reason:literal, [$($guard:expr),*], $matches:expr, $clean:expr;)*) => {
        &[$(Row {
            id: $id, effect: $effect, words: $words, reason: $reason, guards: &[$($guard),*], matches: &$matches,
            clean: &$clean,
        }),*]
    };
}

/// Options of git that run a program, or write a file.
const GIT: Guard = Deny(&[
    "--output",
    "--ext-diff",
    "--textconv",
    "--no-index",
    "--filters",
    "--open-files-in-pager",
    "-O",
    "--exec",
    "--upload-pack",
]);

/// Options that make a package manager work elsewhere, or with another shell.
const ELSEWHERE: Guard = Deny(&[
    "--prefix",
    "--script-shell",
    "--config",
    "--userconfig",
    "--globalconfig",
    "--dir",
    "--cwd",
    "--manifest-path",
    "-C",
    "--target-dir",
    "-exec",
    "-toolexec",
    "-vettool",
    "-o",
]);

#[rustfmt::skip]
static ROWS: &[Row] = rows! {
    // Reading.
    "read" Allow "ls|cat|head|tail|grep|egrep|fgrep|cut|paste|diff|cmp|comm|wc|nl|tac|rev|fold|column|od|hexdump|strings|\
        stat|du|df|free|uptime|basename|dirname|realpath|readlink|sha1sum|sha256sum|sha512sum|md5sum|cksum|b2sum":
        "only reads", [],
        ["ls -la", "cat a b", "/bin/cat a", "ls -- $x"], ["./ls", "cat $x", "ls -$x", "lsof"];
    "read-sort" Allow "sort": "only reads", [Deny(&["-o", "--output", "--compress-program", "-T", "--temporary-directory"])],
        ["sort -k2 a"], ["sort -uo a a", "sort --outp=a", "sort $'-o' x"];
    "read-uniq" Allow "uniq|xxd": "only reads", [Operands(1)], ["uniq a", "uniq -c"], ["uniq in out"];
    "read-tree" Allow "tree": "only reads", [Deny(&["-o", "-R"])], ["tree -L 2"], ["tree -o f"];
    "read-file" Allow "file": "only reads", [Deny(&["-C", "--compile"])], ["file a"], ["file -C -m a"];
    "read-find" Allow "find": "only reads",
        [Deny(&["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fls", "-fprint", "-fprint0", "-fprintf"])],
        ["find . -name '*.rs' -type f"], ["find . -delete", "find . \\-exec x {} +", "find . -{delete,print}", "find . -fls f"];
    "read-ripgrep" Allow "rg": "only reads", [Deny(&["--pre", "--hostname-bin", "-z", "--search-zip"])],
        ["rg -n x src"], ["rg --pre ./x y", "rg --hostname-bin=x y"];
    "read-ag" Allow "ag|ack": "only reads", [Deny(&["--pager", "--output"])], ["ag x src"], ["ag --pager=x y"];
    "read-jq" Allow "jq": "only reads",
        [Deny(&["*env*", "*ENV*", "*input_filename*", "*import*", "*include*", "*debug*", "-f", "--from-file", "-L", "--library-path"])],
        ["jq .a f.json", "jq -r '.[] | .b' f"], ["jq -n env", "jq -n '$ENV.X'", "jq -f x"];
    "read-jq-env" Ask "jq": "prints the environment, which may hold secrets", [Require(&["*env*"])], ["jq -n env"], ["jq .a"];
    "read-jq-variable" Ask "jq": "prints the environment, which may hold secrets", [Require(&["*$ENV*"])], ["jq -n '$ENV.X'"], ["jq .a"];
    // The machine.
    "machine" Allow "pwd|whoami|uname|id|groups|arch|nproc|tty|which|whereis|type|hash|sleep|seq|true|false|:|cal|locale":
        "tells about the machine", [Deny(&["-p"])], ["pwd", "which git", "sleep 1", ":"], ["hash -p /tmp/x ls"];
    "machine-date" Allow "date": "tells the time", [Deny(&["-s", "--set"])], ["date +%F"], ["date -s 2020-01-01"];
    "machine-set-date" Ask "date": "sets the clock", [], ["date -s 2020-01-01"], ["cal"];
    "machine-hostname" Allow "hostname": "tells the name of the machine", [Operands(0), Deny(&["-F", "--file", "-b"])],
        ["hostname", "hostname -f"], ["hostname x"];
    "machine-set-hostname" Ask "hostname": "names the machine", [], ["hostname x"], ["host x"];
    // The shell.
    "shell" Allow "cd|echo|printf|test|[|exit|return|break|continue|shift|wait|umask|local|unset|getopts|read":
        "a word of the shell", [], ["cd src", "echo a $x", "printf '%s' \"$x\"", "[ -f a ]"], ["printf $x", "eval x", "source x"];
    "shell-set" Allow "set ?*|-*|+*": "options and arguments of the shell", [], ["set -euo pipefail", "set +x", "set -- a"], ["set"];
    "shell-export" Allow "export|readonly|declare|typeset *=*": "sets variables", [], ["export A=1", "export A=\"$x\""], ["export", "export -p"];
    "shell-declare" Allow "declare|typeset|local|readonly|export -* *": "sets variables", [Deny(&["-p", "-m"])],
        ["declare -A m", "local -i n=1", "typeset -x A=1"], ["declare -p A", "declare -x", "typeset -xp A"];
    "shell-find" Allow "command -v|-V": "tells what a name stands for", [], ["command -v git"], ["command git"];
    "wrapper" Sandbox "timeout|gtimeout|nice|ionice|nohup|setsid|stdbuf|time|command|builtin|exec|xargs|chrt|taskset|noglob|nocorrect":
        "runs another program", [], ["timeout 5 ls", "nohup ls"], ["sudo ls"];
    "environment" Ask "env|printenv|set|export|declare|typeset": "prints the environment, which may hold secrets", [],
        ["env", "printenv X", "set"], ["environment"];
    // Git.
    "git-read" Allow "git status|log|diff|show|rev-parse|describe|ls-files|ls-tree|cat-file|blame|shortlog|rev-list|\
        name-rev|merge-base|show-ref|for-each-ref|count-objects|check-ignore|whatchanged|grep|version|help":
        "only reads the repository", [GIT],
        ["git status --short", "git log --oneline -5", "git diff HEAD~1"],
        ["git push", "git log --outp=x", "git -c core.pager=x log", "git diff --ext-diff", "git show --textconv HEAD:f", "git log $x"];
    "git-list" Allow "git branch|remote|tag": "only lists", [Operands(0), GIT], ["git remote -v", "git branch -a"], ["git branch x", "git tag v1"];
    "git-list-list" Allow "git stash|worktree list": "only lists", [Operands(0), GIT], ["git stash list"], ["git stash list x"];
    "git-change" Ask "git add|commit|push|fetch|pull|clone|merge|rebase|checkout|switch|restore|reset|clean|config|\
        worktree|submodule|remote|branch|tag|stash|cherry-pick|revert|am|apply|mv|rm|init|gc|prune|filter-branch|update-ref|\
        update-index|replace|notes|bisect|reflog|send-email|daemon|instaweb|difftool|mergetool|archive|bundle|subtree|lfs":
        "changes the repository or talks to another one", [],
        ["git commit -m 'rm -rf /'", "git push", "git branch -D x"], ["git status", "git log push"];
    // Files.
    "files" Sandbox "rm|rmdir|mkdir|cp|mv|touch|truncate|chmod|ln|install|tee|split|csplit|shred|dd|patch|unzip|tar|zip|gzip|gunzip|\
        bzip2|xz|zstd|rename|mktemp|mkfifo": "changes files", [],
        ["rm -rf build", "mkdir -p a"], ["ls"];
    // The system.
    "system" Ask "chown|chgrp|systemctl|service|kill|killall|pkill|mount|umount|crontab|at|batch|gpg|openssl|ssh-keygen|\
        ssh-add|ssh-agent|nmap|tcpdump|strace|ltrace|gdb|lldb|launchctl|iptables|nft|ufw|useradd|usermod|userdel|groupadd|passwd|\
        chpasswd|visudo|sysctl|insmod|modprobe|rmmod|reboot|shutdown|halt|poweroff|init|telinit|journalctl|loginctl|hostnamectl|\
        timedatectl|swapon|swapoff|fdisk|parted|mkfs*|losetup|cryptsetup|setcap|chattr|docker|podman|nerdctl|kubectl|helm|\
        terraform|aws|gcloud|az|gh|op|security|defaults|osascript": "reaches beyond the workspace", [],
        ["chown me a", "docker ps"], ["ls"];
    "another-user" Ask "sudo|su|doas|pkexec|runuser|gosu|chroot|unshare|nsenter": "runs with other rights", [], ["sudo ls"], ["ls"];
    // The network.
    "network" Ask "curl|wget|ssh|scp|rsync|ftp|sftp|nc|ncat|netcat|telnet|socat|ping|ping6|traceroute|tracepath|dig|host|\
        nslookup|whois|http|https|xh|aria2c|mosh|rclone|lftp|tftp|mail|sendmail|mutt": "talks to other machines", [],
        ["curl https://x.example"], ["ls"];
    // Projects.
    "project-routine" Sandbox
        "npm|yarn|pnpm|bun|cargo|go test|build|lint|typecheck|check|verify|format|fmt|clippy|vet|t|tst|doc|bench":
        "a routine of the project", [ELSEWHERE],
        ["cargo test", "npm test"], ["npm publish", "npm test --prefix /tmp/e", "cargo test --config x"];
    "project-script" Sandbox "npm|yarn|pnpm|bun run test*|build*|lint*|typecheck*|check*|verify*|format*|fmt*|start*|dev*":
        "a script of the project", [ELSEWHERE], ["npm run build:web"], ["npm run deploy", "npm run build --script-shell=x"];
    "packages" Ask "npm|npx|yarn|pnpm|pnpx|bun|bunx|pip|pip3|pipx|uv|uvx|poetry|cargo|go|bundle|gem|composer|apt|apt-get|\
        aptitude|dpkg|rpm|brew|yum|dnf|pacman|snap|flatpak|apk|zypper|port|nix|nix-env|conda|mamba|deno|corepack|rustup|nvm|mise|asdf":
        "installs, publishes or runs packages", [], ["npm install", "npx test evil", "cargo install x"], ["ls"];
    "develop" Sandbox "vitest|jest|mocha|pytest|tox|nox|mypy|ruff|black|flake8|pylint|tsc|eslint|prettier|biome|rustc|rustfmt|gcc|\
        g++|cc|c++|clang|clang++|javac|ld|ar|make|gmake|cmake|ninja|meson|gradle|gradlew|mvn|ant|bazel|just|task|rake":
        "builds or tests", [], ["make -j4", "pytest -q"], ["ls"];
    "interpreter" Sandbox "python|python2|python3|ruby|perl|node|nodejs|php|lua|awk|gawk|mawk|nawk|sed|java|julia|Rscript|tclsh|osh":
        "runs code", [], ["python3 x.py", "node -e 1"], ["ls"];
    "shells" Sandbox "bash|sh|zsh|fish|dash|ksh|eval|source|.|busybox|toybox": "runs a shell", [], ["bash -c ls", ". ./x"], ["ls"];
    "interactive" Sandbox "less|more|most|man|info|nano|vi|vim|nvim|emacs|ed|ex|pico|code|cursor|subl|tmux|screen|watch|top|htop":
        "waits for a person, and can run commands", [], ["less README.md", "vim -c x"], ["ls"];
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::rules::check;

    #[test]
    fn every_row_matches_its_examples_and_no_others() {
        let mut ids: Vec<String> = Vec::new();
        let mut wrong: Vec<String> = Vec::new();
        for rule in rules() {
            if let Err(problem) = check::builtin(&rule) {
                wrong.push(format!("{}: {problem}", rule.id));
            }
            assert!(!rule.matches.is_empty() && !rule.not_matches.is_empty(), "{} has no examples", rule.id);
            ids.push(rule.id);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "an id is there twice");
    }
}
