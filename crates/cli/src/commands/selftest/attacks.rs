//! The attacks of `stockade selftest isolation`, as a table.

use std::time::Duration;

use stockade_guard::exec::{Property, ReviewMode};

/// An attack, and when it counts as stopped.
#[derive(Debug)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// The property that stops it. If a backend reports a gap in it, the attack may succeed.
    pub(super) property: Property,
    /// Script for `sh`. The environment has the variables of [`Ground`](super::ground::Ground).
    pub(super) script: &'static str,
    pub(super) stops: Stops,
}

/// How an attack is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// Not at all: it is an ordinary command that must work.
    Works,
    /// It runs to its end without success.
    InVain,
    /// It cannot start another process.
    NoSpawn,
    /// It is stopped at the time limit.
    Time,
    /// It is stopped at the memory limit.
    Memory,
    /// It is stopped at the limit on processes.
    Processes,
    /// Its output is cut.
    Output,
    /// The file stays below the limit on file sizes.
    FileSize(&'static str),
    /// These files of the workspace are as before when it has ended: missing, or unchanged.
    Unchanged(&'static [&'static str]),
    /// These files of the workspace are no symlinks when it has ended.
    NoLink(&'static [&'static str]),
    /// This file does not contain this text when it has ended.
    Lacks(&'static str, &'static str),
    /// The first, some time after its end.
    UnchangedAfter(Duration, &'static [&'static str]),
    /// These files are as before, or are listed in the result.
    Reported(&'static [&'static str]),
    /// These files are as before if its changes are reviewed in this way.
    Reviewed(ReviewMode, &'static [&'static str]),
}

const fn attack(name: &'static str, property: Property, stops: Stops, script: &'static str) -> Attack {
    Attack { name, property, script, stops }
}

use Property::{
    Files, Ipc, Memory, Network, NoSpawn, Privileges, ProcessCount, Processes, ProtectedNames, SystemCalls,
};
use ReviewMode::{Hold, Undoable};
use Stops::{InVain, NoLink, Reported, Reviewed, Unchanged};

/// Time for which a process that outlives its command waits, and time until the check.
const LATE: Duration = Duration::from_millis(1500);

#[rustfmt::skip]
pub(super) const ATTACKS: &[Attack] = &[
    attack("an ordinary command works", Files, Stops::Works, "echo x > made; while read -r line; do echo $line; done < made"),

    attack("files: reading beside the workspace", Files, InVain, "read -r line < $BAIT && echo REACHED; cat ../bait && echo REACHED"),
    attack("files: writing outside", Files, InVain, "for place in /usr /etc /; do (echo x > $place/x) && echo REACHED; done; echo x > $BAIT; rm -f $BAIT"),
    attack("files: reading by the root of another process", Files, InVain, "for process in /proc/[0-9]*; do cat $process/root$BAIT && echo REACHED; done"),
    attack("files: reading passwords of the system", Files, InVain, "read -r line < /etc/shadow && echo REACHED; read -r line < /etc/gshadow && echo REACHED"),
    attack("files: settings of the kernel", Files, InVain, "for file in kernel/core_pattern kernel/modprobe vm/drop_caches; do (: >> /proc/sys/$file) && echo REACHED; done; (: >> /proc/sysrq-trigger) && echo REACHED"),

    attack("network: connecting to another machine", Network, InVain,
        "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT\" && echo REACHED; while read -r line; do case $line in *lo:*|*\\|*) ;; *) echo REACHED ;; esac; done < /proc/net/dev"),
    attack("network: an abstract socket", Network, InVain,
        "command -v perl > /dev/null || echo MISSING perl; perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) and connect(S, pack(\"Sa*\", 1, \"\\0$ENV{ABSTRACT}\")) and print \"REACHED\\n\"'"),

    attack("processes: signalling another", Processes, InVain, "case $(cat /proc/$PEER/comm) in stockade*) kill -0 $PEER && echo REACHED ;; esac"),
    attack("processes: seeing the variables of others", Processes, InVain, "case $(cat /proc/$PEER/comm) in stockade*) cat /proc/$PEER/environ && echo REACHED ;; esac"),
    attack("processes: outliving the command", Processes, Stops::UnchangedAfter(LATE, &["late"]), "(sleep 1; echo ARMED > late) > /dev/null 2>&1 < /dev/null &"),
    attack("processes: starting another", NoSpawn, Stops::NoSpawn, "(echo REACHED); /bin/true && echo REACHED"),

    attack("rights: namespaces of its own", SystemCalls, InVain, "command -v unshare > /dev/null || echo MISSING unshare; for kind in -Ur -Urm -Urn -Urp; do unshare $kind true && echo REACHED; done"),
    attack("rights: mounting", Privileges, InVain, "mkdir -p mnt; mount -t tmpfs none mnt && echo REACHED; mount --bind /etc mnt && echo REACHED"),
    attack("rights: changing the root", Privileges, InVain, "chroot . /bin/sh -c true && echo REACHED; chroot / true && echo REACHED"),
    attack("rights: devices", Privileges, InVain, "mknod disk b 8 0 && echo REACHED; mknod memory c 1 1 && echo REACHED"),
    attack("rights: a set-user-ID program", Privileges, InVain, "echo x > s; chmod u+s s; [ -u s ] && echo REACHED"),
    attack("rights: other owners", Privileges, InVain, "echo x > owned; chown 0:0 owned && echo REACHED"),
    attack("rights: sockets of the kernel (AF_ALG, packets)", SystemCalls, InVain,
        "command -v perl > /dev/null || echo MISSING perl; perl -e 'for (38, 17) { socket(S, $_, $_ == 38 ? 5 : 3, 0) and print \"REACHED\\n\" }'"),

    attack("names: an editor's tasks", ProtectedNames, Unchanged(&[".vscode/tasks.json"]), "mkdir .vscode; echo ARMED > .vscode/tasks.json"),
    attack("names: in a new folder", ProtectedNames, Unchanged(&["new/a/.vscode/tasks.json", "new/.mcp.json"]), "mkdir -p new/a/.vscode; echo ARMED > new/a/.vscode/tasks.json; echo ARMED > new/.mcp.json"),
    attack("names: an agent's settings in a folder of the user", ProtectedNames, Unchanged(&["src/.claude/settings.json"]), "mkdir -p src/.claude; echo ARMED > src/.claude/settings.json"),
    attack("names: writing existing settings", ProtectedNames, Unchanged(&[".claude/settings.json"]), "echo ARMED > .claude/settings.json; echo ARMED >> .claude/settings.json; chmod 777 .claude/settings.json; truncate -s 0 .claude/settings.json"),
    attack("names: removing existing settings", ProtectedNames, Unchanged(&[".claude/settings.json"]), "rm -rf .claude"),
    attack("names: renaming over existing settings", ProtectedNames, Unchanged(&[".claude/settings.json"]), "echo ARMED > n; mv -f n .claude/settings.json; ln -f src/file .claude/settings.json"),
    attack("names: exchanging the folder", ProtectedNames, Unchanged(&[".claude/settings.json"]), "mv .claude old; mkdir .claude; echo ARMED > .claude/settings.json"),
    attack("names: the user's hard link", ProtectedNames, Unchanged(&[".claude/settings.json", "copies/settings"]), "echo ARMED > copies/settings"),
    attack("names: a link in place of a name", ProtectedNames, Unchanged(&[".envrc"]), "echo ARMED > src/env; ln -s src/env .envrc"),
    attack("names: moved out of a folder of packages", ProtectedNames, Unchanged(&["packages/one/.claude/settings.json"]), "mkdir -p node_modules/one/.claude; echo ARMED > node_modules/one/.claude/settings.json; mv node_modules/one packages/one"),
    attack("names: other spellings", ProtectedNames, Unchanged(&[".Vscode/tasks.json", ".GIT/hooks/pre-commit"]), "mkdir .Vscode; echo ARMED > .Vscode/tasks.json; mkdir -p .GIT/hooks; echo ARMED > .GIT/hooks/pre-commit"),
    attack("names: instructions to agents", ProtectedNames, Reported(&["CLAUDE.md", "src/AGENTS.md"]), "echo ARMED > CLAUDE.md; echo ARMED > src/AGENTS.md"),
    attack("names: settings of registries", ProtectedNames, Reported(&[".npmrc"]), "echo registry=http://evil.example > .npmrc"),

    attack("git: a new hook", ProtectedNames, Unchanged(&[".git/hooks/post-checkout"]), "echo ARMED > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"),
    attack("git: an existing hook", ProtectedNames, Unchanged(&[".git/hooks/pre-commit"]), "echo ARMED > .git/hooks/pre-commit; echo ARMED > n; mv -f n .git/hooks/pre-commit"),
    attack("git: a setting that runs a program", ProtectedNames, Unchanged(&[".git/config"]), "echo ARMED >> .git/config; printf '[core]\\n\\tfsmonitor = x\\n' > .git/config.lock; mv -f .git/config.lock .git/config"),
    attack("git: settings beside the settings", ProtectedNames, Unchanged(&[".git/config.worktree", ".git/info/attributes", ".git/objects/info/alternates", ".git/commondir"]),
        "for file in config.worktree info/attributes objects/info/alternates commondir; do mkdir -p .git/info .git/objects/info; echo ARMED > .git/$file; done"),
    attack("git: moving the repository away", ProtectedNames, Unchanged(&[".git/config"]), "mv .git g; mkdir .git; echo ARMED > .git/config"),
    attack("git: a repository made of parts", ProtectedNames, Stops::Lacks("made/config", "fsmonitor"), "mkdir -p made/objects made/refs; printf '[core]\\n\\tfsmonitor = x\\n' > made/config; echo ref: refs/heads/main > made/HEAD"),
    attack("git: a file that leads to another repository", ProtectedNames, Unchanged(&["docs/.git"]), "echo gitdir: ../fixture > docs/.git"),
    attack("git: what a review leaves out", ProtectedNames, Reported(&[".git/info/exclude"]), "echo 'src/*' > .git/info/exclude"),

    attack("environments: the script that activates one", ProtectedNames, Reported(&["env/bin/activate"]), "echo ARMED >> env/bin/activate"),
    attack("environments: code at every start of Python", ProtectedNames, Reported(&["env/lib/python3/site-packages/e.pth"]), "mkdir -p env/lib/python3/site-packages; echo 'import os' > env/lib/python3/site-packages/e.pth"),
    attack("environments: another interpreter", ProtectedNames, Reported(&["env/bin/python"]), "rm -f env/bin/python; echo ARMED > env/bin/python; chmod +x env/bin/python"),

    attack("links: the log that a commit appends to", ProtectedNames, NoLink(&[".git/logs/HEAD"]), "rm -f .git/logs/HEAD; ln -s $BAIT .git/logs/HEAD"),
    attack("links: the message that a commit writes", ProtectedNames, Unchanged(&[".git/COMMIT_EDITMSG", ".git/FETCH_HEAD"]), "ln -s $BAIT .git/COMMIT_EDITMSG; ln -s ../../bait .git/FETCH_HEAD"),
    attack("links: a folder of git", ProtectedNames, Unchanged(&[".git/logs/refs"]), "ln -s /home .git/logs/refs"),
    attack("links: out of the workspace", ProtectedNames, Reported(&["out"]), "ln -s $BAIT out"),
    attack("links: into a home", ProtectedNames, Reported(&["notes"]), "ln -s /home/user/.bashrc notes"),
    attack("links: in a new folder", ProtectedNames, Reported(&["n/m/out"]), "mkdir -p n/m; ln -s /etc/cron.d n/m/out"),
    attack("links: writing through one", Files, InVain, "ln -s $BAIT w; echo x > w; ln -s ../bait v; echo x > v; ln -s .. up; echo x > up/bait"),
    attack("links: writing settings through one", ProtectedNames, Unchanged(&[".claude/settings.json"]), "ln -s .claude/settings.json w; echo ARMED > w; ln -s .claude v; echo ARMED > v/settings.json"),
    attack("links: a hard link to a file outside", Files, InVain, "ln $BAIT hard && echo REACHED; ln /etc/passwd passwd && echo REACHED"),
    attack("links: a hard link to settings", ProtectedNames, Unchanged(&[".claude/settings.json"]), "ln .claude/settings.json hard; echo ARMED > hard"),

    attack("secrets: a file of variables", ProtectedNames, InVain, "cat .env conf/.env.production"),
    attack("secrets: by the user's hard link", ProtectedNames, InVain, "cat copies/secret"),
    attack("secrets: by another name", ProtectedNames, InVain, "mv .env e; cat e; mv conf c; cat c/.env.production; ln c/.env.production l; cat l"),
    attack("secrets: by a copy", ProtectedNames, InVain, "cp -r conf d; cat d/.env.production; cp -a . /tmp/w; cat /tmp/w/.env"),
    attack("secrets: by descriptors and roots", ProtectedNames, InVain, "cat /proc/self/cwd/.env; cat /proc/self/root$PWD/.env; (exec 3< .env; cat <&3)"),
    attack("secrets: an agent's socket", Processes, InVain, "[ -n \"$SSH_AUTH_SOCK\" ] && echo REACHED; [ -S \"$AGENT\" ] && echo REACHED"),

    attack("sockets: of another program in the workspace", Ipc, InVain,
        "command -v perl > /dev/null || echo MISSING perl; perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) and connect(S, sockaddr_un(\"listener\")) and print \"REACHED\\n\"'"),
    attack("sockets: of the system", Files, InVain, "for socket in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/containerd/containerd.sock; do [ -S $socket ] && echo REACHED; done"),

    attack("review: nothing is applied by itself", ProtectedNames, Reviewed(Hold, &["src/file", "made", "docs/text"]), "echo ARMED > src/file; echo ARMED > made; rm -rf docs"),
    attack("review: a hook is never applied", ProtectedNames, Reviewed(Undoable, &[".git/hooks/pre-commit", ".git/hooks/post-merge"]), "echo ARMED > .git/hooks/pre-commit; echo ARMED > .git/hooks/post-merge"),
    attack("review: an editor's tasks are never applied", ProtectedNames, Reviewed(Undoable, &["src/.vscode/tasks.json"]), "mkdir -p src/.vscode; echo ARMED > src/.vscode/tasks.json"),
    attack("review: a link that git follows is never applied", ProtectedNames, Reviewed(Undoable, &[".git/ORIG_HEAD"]), "ln -s $BAIT .git/ORIG_HEAD"),
    attack("review: an exchanged folder is never applied", ProtectedNames, Reviewed(Undoable, &[".claude/settings.json"]), "rm -rf .claude; mkdir .claude; echo ARMED > .claude/settings.json"),

    attack("time: running forever", Processes, Stops::Time, "while :; do :; done"),
    attack("memory: allocating without limit", Memory, Stops::Memory, "x=aaaaaaaa; while :; do x=$x$x; done"),
    attack("processes: starting many", ProcessCount, Stops::Processes, "n=0; while [ $n -lt 200 ]; do sleep 20 & n=$((n + 1)); done; echo REACHED; kill $(jobs -p)"),
    attack("output: printing without limit", Files, Stops::Output, "n=0; while [ $n -lt 40 ]; do head -c 100000 /dev/zero; n=$((n + 1)); done"),
    attack("files: one without end", Files, Stops::FileSize("big"), "head -c 64000000 /dev/zero > big"),
    attack("files: more open ones", Files, InVain, "ulimit -n 100000 && echo REACHED; [ $(ulimit -n) -gt 4096 ] && echo REACHED"),
];
