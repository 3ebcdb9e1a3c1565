//! Commands that change the machine: power, kernel, firewall, users and privileges.

use super::Floor::{Ask, Deny};
use super::dry_runs::only_tries;
use super::shape::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // T1529. An agent's work ends with the machine, and so do other users' programs.
        id: "switch-off",
        floor: Deny,
        programs: &[
            "shutdown",
            "reboot",
            "halt",
            "poweroff",
            "init",
            "telinit",
            "systemctl",
            "loginctl",
            "kexec",
        ],
        fires: |command| match command.name {
            _ if only_tries(command) => false,
            // Run levels: `init` without one, such as `git init`, is another program's subcommand.
            "init" | "telinit" => command.says(&["0", "1", "6", "s", "S"]),
            "systemctl" | "loginctl" => command.is_sub(&[
                "poweroff",
                "reboot",
                "halt",
                "kexec",
                "rescue",
                "emergency",
                "suspend",
                "hibernate",
                "isolate",
            ]),
            _ => !command.has("--help --version"),
        },
        reason: "shuts the machine down, or restarts it",
        fix: "ask the user to do it",
        matches: &["shutdown now", "sudo reboot", "systemctl reboot", "init 0", "systemctl --force poweroff"],
        clean: &[
            "echo shutdown",
            "npm run shutdown-hook",
            "systemctl status sshd",
            "git init",
            "reboot --help",
        ],
    },
    Shape {
        // PID -1 is every process that the user may signal (kill(2)), and PID 1 ends the machine or the container.
        id: "kill-everything",
        floor: Deny,
        programs: &["kill", "killall5", "pkill", "killall", "skill"],
        fires: |command| match command.name {
            "killall5" => true,
            "kill" => {
                command.known().skip(1).any(|word| matches!(word, "-1" | "1"))
                    || command.known().next().is_some_and(|word| word == "-1") && command.words().count() == 1
            }
            _ => command.has("-u --user -U --euid --uid") && command.operands().next().is_none(),
        },
        reason: "kills every process, or the init process",
        fix: "name the processes to kill",
        matches: &["kill -9 -1", "kill -1 -1", "kill -KILL -- -1", "kill -9 1", "pkill -9 -u root"],
        clean: &["kill 4711", "kill -9 4711", "kill -1 4711", "pkill -u me node"],
    },
    Shape {
        // A module or a BPF program runs in the kernel, beyond every sandbox.
        id: "kernel",
        floor: Deny,
        programs: &[
            "insmod",
            "modprobe",
            "rmmod",
            "kmod",
            "depmod",
            "kextload",
            "kextunload",
            "sysctl",
            "dmsetup",
            "bpftool",
        ],
        fires: |command| match command.name {
            "sysctl" => {
                // sysctl(8) writes with `key=value` even without `-w`.
                command.has("-w --write -p --load --system") || command.known().any(|word| word.contains('='))
            }
            "modprobe" => !command.has("-n --dry-run --show -D --show-depends -c --showconfig"),
            "kmod" => command.is_sub(&["load", "unload", "insert", "remove"]),
            "bpftool" | "dmsetup" => {
                command.is_sub(&["load", "loadall", "attach", "create", "remove", "remove_all", "wipe_table"])
                    || command.says(&["load", "attach"])
            }
            _ => command.words().next().is_some(),
        },
        reason: "changes the running kernel",
        fix: "ask the user to do it",
        matches: &[
            "insmod x.ko",
            "sudo modprobe evil",
            "sysctl -w kernel.randomize_va_space=0",
            "sysctl kernel.x=1",
            "sysctl --writ a=b",
        ],
        clean: &["sysctl -a", "sysctl kernel.hostname", "lsmod", "modprobe -n x", "modinfo x"],
    },
    Shape {
        // T1562.004. Asked and not denied, because administrators let agents maintain rules.
        id: "firewall",
        floor: Ask,
        programs: &[
            "iptables",
            "ip6tables",
            "nft",
            "ufw",
            "firewall-cmd",
            "pfctl",
            "setenforce",
            "apparmor_parser",
            "aa-teardown",
            "aa-complain",
            "aa-disable",
        ],
        fires: |command| match command.name {
            "iptables" | "ip6tables" => {
                !command.has("-L --list -S --list-rules -V --version -h --help -C --check")
                    || command.has("-F --flush -A -D -I -P -X --append --delete --insert --policy")
            }
            "nft" => !command.is_sub(&["list", "describe"]),
            "ufw" => !command.is_sub(&["status", "show", "version"]),
            "firewall-cmd" => !command.has("--list-all --state --get-zones --list-ports --get-active-zones"),
            _ => command.words().next().is_some(),
        },
        reason: "changes or disables a firewall or access control",
        fix: "ask the user to do it",
        matches: &[
            "iptables -F",
            "sudo iptables --flush",
            "ufw disable",
            "nft flush ruleset",
            "setenforce 0",
        ],
        clean: &["iptables -L -n", "iptables --version", "ufw status", "nft list ruleset"],
    },
    Shape {
        // Everything that follows runs with rights that the rules for this user do not describe.
        id: "other-user",
        floor: Ask,
        programs: &[
            "sudo",
            "su",
            "doas",
            "pkexec",
            "runuser",
            "gosu",
            "su-exec",
            "runas",
            "machinectl",
            "sg",
            "newgrp",
            "setpriv",
        ],
        fires: |command| match command.name {
            "sudo" => !command.has(
                "-l --list -V --version -h --help -k -K --reset-timestamp --remove-timestamp -v --validate",
            ) || command.operands().next().is_some(),
            "machinectl" => command.is_sub(&["shell", "login"]),
            "doas" => command.words().next().is_some() && !command.has("-L"),
            _ => true,
        },
        reason: "runs with the privileges of another user",
        fix: "run it without sudo, as the current user",
        matches: &[
            "sudo ls",
            "sudo -u root id",
            "su - root",
            "doas ls",
            "pkexec ls",
            "bash -c 'sudo -n ls'",
            "su",
        ],
        clean: &["sudo -l", "sudo --version", "echo sudo ls", "ls sudo", "doas -L"],
    },
    Shape {
        // T1548.001: a set-user-ID copy of a shell keeps root's rights for every later command.
        id: "grant-rights",
        floor: Deny,
        programs: &["chmod", "setcap", "install", "mkdir"],
        fires: |command| match command.name {
            "setcap" => !command.has("-r -v -h"),
            "chmod" => command.operand(0).is_some_and(sets_user),
            _ => command.texts("-m --mode").any(sets_user),
        },
        reason: "lets a program run with privileges that its caller does not have",
        fix: "run the program as the user that needs it",
        matches: &[
            "chmod u+s x",
            "chmod 4755 x",
            "chmod +s x",
            "chmod g+xs x",
            "setcap cap_net_raw+ep x",
            "install -m 4755 a b",
            "chmod 06755 x",
        ],
        clean: &[
            "chmod 755 x",
            "chmod u-s x",
            "chmod 0755 x",
            "getcap x",
            "chmod +x s",
            "install -m 755 a b",
        ],
    },
    Shape {
        // T1136, a new account outlives the agent's session.
        id: "users",
        floor: Ask,
        programs: &[
            "useradd",
            "adduser",
            "userdel",
            "deluser",
            "usermod",
            "groupadd",
            "groupmod",
            "gpasswd",
            "passwd",
            "chpasswd",
            "chsh",
            "visudo",
            "vipw",
            "vigr",
            "dscl",
            "dseditgroup",
            "sysadminctl",
            "newusers",
            "faillock",
            "pw",
            "chage",
            "chfn",
            "groupdel",
            "addgroup",
            "delgroup",
            "chgpasswd",
            "smbpasswd",
            "pdbedit",
            "pwpolicy",
            "dsenableroot",
            "pam-auth-update",
            "authselect",
            "realm",
        ],
        fires: |command| match command.name {
            "passwd" => !command.has("-S --status"),
            "chage" => !command.has("-l --list"),
            "pw" => !command.is_sub(&["usershow", "groupshow", "usernext", "groupnext"]),
            "pdbedit" => !command.has("-L --list"),
            "authselect" | "realm" => !command.is_sub(&["current", "list", "show", "check", "discover"]),
            "pwpolicy" => !command.known().any(|word| word.trim_start_matches('-').starts_with("get")),
            "dscl" => !command.says(&["-read", "-list", "-readall", "-search"]),
            _ => !command.has("--help --version"),
        },
        reason: "changes users, groups or passwords",
        fix: "ask the user to do it",
        matches: &[
            "useradd x",
            "usermod -aG sudo me",
            "passwd root",
            "echo a:b | chpasswd",
            "visudo",
            "pw useradd x",
            "chage -E 1 x",
        ],
        clean: &["id", "groups", "getent passwd", "passwd -S", "chage -l me", "pwpolicy getaccountpolicies"],
    },
    Shape {
        // A mount can hide files, or show those of another machine, under paths that rules allow.
        id: "mount",
        floor: Ask,
        programs: &[
            "mount",
            "umount",
            "losetup",
            "swapoff",
            "swapon",
            "pivot_root",
            "fusermount",
            "diskutil",
            "hdiutil",
            "cryptsetup",
            "zfs",
            "btrfs",
        ],
        fires: |command| match command.name {
            "mount" => command.operands().next().is_some() || command.has("-a --all"),
            "losetup" | "swapon" => command.operands().next().is_some(),
            "diskutil" | "hdiutil" => !command.is_sub(&["list", "info"]),
            "zfs" | "btrfs" | "cryptsetup" if only_tries(command) => false,
            "zfs" | "btrfs" => command.is_sub(&["destroy", "rollback", "subvolume", "device", "replace"]),
            _ => true,
        },
        reason: "mounts, unmounts or removes a file system",
        fix: "ask the user to mount it",
        matches: &["mount --bind / x", "sudo mount /dev/sda1 /mnt", "umount -a", "zfs destroy -r tank"],
        clean: &["mount", "losetup", "diskutil list", "df -h", "zfs list"],
    },
    Shape {
        // In another root, `/etc/passwd` and every other path of a rule is another file.
        id: "other-namespace",
        floor: Ask,
        programs: &["nsenter", "unshare", "chroot", "setns", "ip", "lxc-attach", "capsh"],
        fires: |command| {
            command.name != "ip" || command.is_sub(&["netns"]) && command.says(&["exec", "e", "ex", "exe"])
        },
        reason: "runs in another root or namespace, where other rules apply",
        fix: "run it without that wrapper",
        matches: &["nsenter -t 1 -m sh", "chroot /x ls", "ip netns exec a sh", "unshare -r id"],
        clean: &["ip addr", "ip netns list", "lsns"],
    },
    Shape {
        // T1055 and T1003: the memory of another process contains its secrets, and can be changed to run code with
        // its rights.
        id: "attach",
        floor: Ask,
        programs: &[
            "gdb", "lldb", "strace", "ltrace", "gcore", "ptrace", "reptyr", "rr", "dtrace", "bpftrace",
            "perf",
        ],
        fires: |command| match command.name {
            "gdb" | "lldb" | "strace" | "ltrace" => {
                command.says(&["-p", "--pid", "-attach", "--attach"])
                    || command.known().any(|word| {
                        word.starts_with("--pid=")
                            || word.starts_with("-p")
                                && word.len() > 2
                                && word.bytes().skip(2).all(|byte| byte.is_ascii_digit())
                    })
            }
            "perf" | "rr" => command.has("-p --pid"),
            _ => command.words().next().is_some(),
        },
        reason: "reads or changes the memory of a running process",
        fix: "start the program under the debugger instead",
        matches: &["gdb -p 1", "strace -p 4711", "gcore 1", "lldb --pid=5"],
        clean: &["gdb ./a.out", "strace ls", "perf stat ls"],
    },
];

/// Whether a mode sets the set-user-ID or set-group-ID bit.
fn sets_user(mode: &str) -> bool {
    let is_octal = mode.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if is_octal {
        let special = mode.len().checked_sub(4).and_then(|at| mode.get(at..=at));
        return special.is_some_and(|digit| matches!(digit, "2" | "4" | "5" | "6" | "7" | "3"));
    }
    mode.split(',').any(|part| part.split_once(['+', '=']).is_some_and(|(_, bits)| bits.contains('s')))
}
