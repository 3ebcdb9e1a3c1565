//! Commands that destroy files, file systems, disks and history.

use std::sync::LazyLock;

use super::Floor::{Ask, Deny};
use super::command::Command;
use super::dry_runs::only_tries;
use super::files::RAW_DISKS;
use super::shape::Shape;
use super::target::Base;
use stockade_names::names;
use stockade_shell::lookup::last_name;

const RECURSIVE: &str = "-r -R --recursive";

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // T1485. Denied for everyone: there is no task for an agent that needs it.
        id: "delete-everything",
        floor: Deny,
        programs: &["rm", "unlink", "rmdir", "srm", "shred", "trash", "rimraf", "del-cli"],
        fires: |command| command.targets().any(|target| target.is_everything()) && deletes_much(command),
        reason: "deletes the root, a home, a system directory or a parent directory with all contents",
        fix: "name the directory inside the workspace to delete",
        matches: &[
            "rm -rf /@(etc|usr)",
            "rm -rf ~/!(x)",
            "rm -rf /",
            "rm -r -f /",
            "rm --recursive --forc /",
            "rm -fr ~",
            "rm -f /*",
            "rm -rf \"$HOME\"",
            "rm -rf ${HOME}/*",
            "rm -rf /tmp/../etc",
            "rm -r -- /",
            "rm / -rf",
            "rm -rf x /usr",
            "rm -rf ..",
            "rm -rf /home/*",
            "sudo rm -rf /",
            "bash -c 'rm -rf /*'",
            "r\\m -rf '/'",
            "rm -rf /{bin,etc}",
            "busybox rm -rf /",
            "find . -exec rm -rf / +",
            "echo x | xargs rm -rf /",
            "shred -u /etc/*",
        ],
        clean: &[
            "echo 'rm -rf /'",
            "rm -rf build",
            "rm -- -rf",
            "git commit -m 'rm -rf /'",
            "rm -rf /tmp/x",
            "rm file",
            "rm -rf node_modules dist",
            "grep -r 'rm -rf /' .",
            "ls /",
            "rm -rf '/*'/x",
        ],
    },
    Shape {
        // A mirror of an empty directory is `rm -rf` under another name.
        id: "mirror-deletes",
        floor: Deny,
        programs: &["rsync", "rclone", "robocopy"],
        fires: |command| {
            let deletes = match command.name {
                "rsync" => {
                    command.known().any(|word| word.starts_with("--del") || word == "--remove-source-files")
                }
                "rclone" => command.is_sub(&["sync", "purge", "delete", "move"]),
                _ => command.says(&["/mir", "/purge", "/MIR", "/PURGE"]),
            };
            deletes && command.targets().any(|target| target.is_everything())
        },
        reason: "deletes everything in the root, a home or a system directory that the other directory lacks",
        fix: "mirror into a directory inside the workspace, or leave out the option that deletes",
        matches: &[
            "rsync -a --delete empty/ /",
            "rsync -a --delete-after e/ ~",
            "rsync -r --del e/ $HOME/",
            "rsync --remove-source-files -a /etc/ x",
            "rclone sync empty ~",
        ],
        clean: &["rsync -a --delete src/ build/", "rsync -a e/ x", "rclone sync a b", "rsync -a / x"],
    },
    Shape {
        // The bug that emptied home directories: in 2015, Steam's script ran `rm -rf "$STEAMROOT/"*` with an empty
        // variable.
        id: "delete-unset",
        floor: Ask,
        programs: &["rm"],
        fires: |command| {
            command.has(RECURSIVE) && command.targets().any(|target| target.is_everything_when_empty())
        },
        reason: "deletes the root or a system directory if the variable in its path is empty",
        fix: "write ${name:?} instead of $name, which fails if the variable is empty",
        matches: &["rm -rf \"$DIR\"/*", "rm -rf $DIR/", "rm -rf ${a}/usr"],
        clean: &["rm -rf \"$DIR/build\"", "rm -rf \"$DIR\"", "rm \"$DIR\"/*"],
    },
    Shape {
        // The workspace is the agent's to change, but the user's uncommitted work is in it.
        id: "delete-workspace",
        floor: Ask,
        programs: &["rm", "rimraf"],
        fires: |command| {
            let own = |target: super::target::Target| target.is_here() || target.fits("**/.git");
            command.has(RECURSIVE) && command.targets().any(own)
        },
        reason: "deletes its whole working directory, or the history of a repository",
        fix: "name the directories to delete",
        matches: &["rm -rf .", "rm -rf *", "rm -rf ./*", "rm -rf .git", "rm -r $PWD"],
        clean: &["rm *", "rm -rf ./build", "rm -rf *.o", "rm -rf .gitignore"],
    },
    Shape {
        // `find / -delete` is `rm -rf /` under another name.
        id: "find-deletes",
        floor: Deny,
        programs: &["find", "gfind", "fd", "fdfind", "bfs"],
        fires: |command| find_removes(command) && command.targets().any(|target| target.is_everything()),
        reason: "deletes files that it finds in the root, a home or a system directory",
        fix: "start in a directory inside the workspace, and list the files without -delete first",
        matches: &[
            "find / -delete",
            "find ~ -name x -exec rm {} ;",
            "find /etc -type f \\-delete",
            "find / -exec rm -rf {} +",
        ],
        clean: &["find . -name '*.o' -delete", "find / -name x", "find / -newer x -print"],
    },
    Shape {
        // Without a filter, `-delete` removes everything, and `-delete` before a filter does so too.
        id: "find-deletes-here",
        floor: Ask,
        programs: &["find", "gfind", "bfs"],
        fires: |command| {
            find_removes(command) && !command.words().any(|word| word.known().is_some_and(is_find_filter))
        },
        reason: "deletes everything below its start directory",
        fix: "select files with -name or -path",
        matches: &["find . -delete", "find build -exec rm -rf {} +"],
        clean: &["find . -name '*.o' -delete", "find . -type f"],
    },
    Shape {
        // T1561. The data of a wiped disk cannot be restored.
        id: "wipe-disk",
        floor: Deny,
        programs: &[
            "mkfs",
            "mke2fs",
            "mkfs.ext2",
            "mkfs.ext3",
            "mkfs.ext4",
            "mkfs.xfs",
            "mkfs.btrfs",
            "mkfs.vfat",
            "mkfs.fat",
            "mkfs.ntfs",
            "mkfs.f2fs",
            "mkfs.exfat",
            "mkfs.minix",
            "mkfs.cramfs",
            "mkdosfs",
            "mkntfs",
            "mkswap",
            "wipefs",
            "blkdiscard",
            "sgdisk",
            "sfdisk",
            "fdisk",
            "gdisk",
            "cfdisk",
            "parted",
            "newfs",
            "hdparm",
            "badblocks",
            "cryptsetup",
            "pvcreate",
            "vgremove",
            "lvremove",
            "zpool",
            "mdadm",
            "nvme",
        ],
        fires: |command| {
            // Without arguments, these programs print their usage.
            command.words().next().is_some() && !command.only_asks_for_help() && !only_tries(command)
        },
        reason: "creates, changes or wipes a file system or a partition",
        fix: "ask the user to do it",
        matches: &[
            "mkfs.ext4 /dev/sda1",
            "sudo mkfs /dev/sda",
            "wipefs -a /dev/sda",
            "parted /dev/sda mklabel gpt",
            "mke2fs x",
            "mkfs.xfs -l size=8m /dev/sda",
            "mkfs.ext4 /dev/sda -V",
        ],
        clean: &[
            "npm run mkfs-docs",
            "cat mkfs.md",
            "fdisk -l",
            "mkfs.ext4 -n /dev/sda",
            "lvremove --test vg/lv",
            "wipefs /dev/sda",
            "echo mkfs.ext4 /dev/sda",
            "mkfs.ext4 --version",
        ],
    },
    Shape {
        // One wrong letter in `of=` overwrites another disk.
        id: "dd-device",
        floor: Deny,
        programs: &["dd"],
        fires: |command| {
            // Writing to a file below `/dev` bypasses the file system.
            let device = |word: &str| {
                word.strip_prefix("of=").is_some_and(|file| file.starts_with("/dev/") && !is_null(file))
            };
            command.known().any(device)
        },
        reason: "writes raw data to a device",
        fix: "write to a file inside the workspace",
        matches: &[
            "dd if=/dev/zero of=/dev/sda",
            "dd of=/dev/nvme0n1 if=x bs=1M",
            "sudo dd if=x of=/dev/disk2",
        ],
        clean: &["dd if=x of=y", "dd if=/dev/urandom of=key bs=32 count=1", "dd if=a of=/dev/null"],
    },
    Shape {
        // As root, `mv x /dev/null` replaces the device by a file, and every program that writes to it fills the
        // disk.
        id: "move-to-nothing",
        floor: Deny,
        programs: &["mv"],
        fires: |command| command.operands().last().and_then(|word| word.known()).is_some_and(is_null),
        reason: "moves files to the null device, which deletes them or replaces the device",
        fix: "delete the file with rm, or move it to a directory",
        matches: &["mv x /dev/null", "mv ~/* /dev/null", "mv -t /tmp x /dev/zero"],
        clean: &["mv x y", "cp x /dev/null", "cat x > /dev/null"],
    },
    Shape {
        // A moved system directory is as bad as a deleted one: nothing starts any more.
        id: "move-everything",
        floor: Deny,
        programs: &["mv"],
        fires: |command| {
            let sources = command.operands().count().saturating_sub(1);
            command.targets().take(sources).any(|target| target.is_everything())
        },
        reason: "moves a home, a system directory or all of its contents away",
        fix: "name the files inside the workspace to move",
        matches: &["mv ~/* /tmp/x", "mv /etc /tmp", "mv / x"],
        clean: &["mv a ..", "mv a ~", "mv build/* dist"],
    },
    Shape {
        // ssh refuses keys that others can read, and sudo files that others can write: a recursive `chmod` locks users out.
        id: "open-everything",
        floor: Deny,
        programs: &["chmod", "chown", "chgrp", "setfacl", "chattr", "chcon"],
        fires: |command| {
            command.has("-R --recursive") && command.targets().any(|target| target.is_everything())
        },
        reason: "changes the owner or permissions of everything in the root, a home or a system directory",
        fix: "name the files inside the workspace",
        matches: &["chmod -R 777 /", "chown -R me /usr", "chmod --recurs a+w ~", "chown -hR me:me /*"],
        clean: &["chmod -R u+w build", "chmod 755 deploy.sh", "chown -R me ."],
    },
    Shape {
        // T1222. Other users' programs could replace what this user runs later.
        id: "open-to-all",
        floor: Ask,
        programs: &["chmod"],
        fires: |command| command.operand(0).is_some_and(lets_all_write),
        reason: "makes files writable for every user of the machine",
        fix: "give write permission to the owner only: chmod u+w",
        matches: &[
            "chmod 777 x",
            "chmod -R 0777 .",
            "chmod a+w x",
            "chmod o+rwx,g-x x",
            "chmod 666 x",
            "chmod +w,o=w x",
        ],
        clean: &["chmod 755 x", "chmod u+w x", "chmod +x x", "chmod o-w x"],
    },
    Shape {
        // T1070.003: the history and the journal are the user's only record of what an agent did outside of the
        // trail.
        id: "truncate-history",
        floor: Ask,
        programs: &["history", "fc", "journalctl", "wevtutil", "auditctl", "dmesg", "logrotate", "utmpdump"],
        fires: |command| match command.name {
            "history" => command.has("-c -d -w -p"),
            "fc" => command.has("-e -s -W -p"),
            "journalctl" => command.has("--vacuum-time --vacuum-size --vacuum-files --rotate"),
            "auditctl" => command.has("-D -e"),
            "dmesg" => command.has("-c -C --clear --read-clear"),
            "logrotate" => command.has("-f --force"),
            "utmpdump" => command.has("-r --reverse"),
            _ => command.is_sub(&["cl", "clear-log"]),
        },
        reason: "deletes logs or the shell history, or repeats a command from the history",
        fix: "ask the user to do it",
        matches: &[
            "history -c",
            "dmesg -C",
            "logrotate -f x",
            "journalctl --vacuum-time=1s",
            "fc -e vim",
            "history -cw",
        ],
        clean: &["history", "journalctl -u x", "fc -l", "echo history -c"],
    },
];

/// Whether a program deletes its targets recursively.
pub(super) fn deletes(command: &Command<'_, '_>) -> bool {
    match command.name {
        "rm" | "shred" | "srm" | "rimraf" | "trash" => deletes_much(command),
        "find" | "gfind" | "bfs" => find_removes(command),
        _ => false,
    }
}

fn deletes_much(command: &Command<'_, '_>) -> bool {
    !matches!(command.name, "rm" | "shred")
        || command.has("-r -R -f -u --recursive --force --no-preserve-root --remove")
}

fn find_removes(command: &Command<'_, '_>) -> bool {
    let mut words = command.known().peekable();
    while let Some(word) = words.next() {
        let runs =
            matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch");
        let next = words.peek().map(|name| last_name(name));
        if word == "-delete" || (runs && matches!(next, Some("rm" | "shred" | "unlink" | "rmdir"))) {
            return true;
        }
    }
    false
}

fn is_find_filter(word: &str) -> bool {
    matches!(
        word,
        "-name"
            | "-iname"
            | "-path"
            | "-ipath"
            | "-wholename"
            | "-regex"
            | "-iregex"
            | "-mtime"
            | "-mmin"
            | "-atime"
            | "-ctime"
            | "-size"
            | "-empty"
            | "-newer"
            | "-user"
            | "-group"
            | "-perm"
            | "-links"
            | "-inum"
            | "-lname"
    )
}

fn is_null(file: &str) -> bool {
    matches!(file, "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

fn lets_all_write(mode: &str) -> bool {
    let is_octal = !mode.is_empty() && mode.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if is_octal {
        return mode.ends_with(['2', '3', '6', '7']);
    }
    mode.split(',').any(|part| {
        let (who, change) = part.split_once(['+', '=']).unwrap_or_default();
        (who.contains(['o', 'a'])) && change.contains('w')
    })
}

/// Whether a path is a disk, judged by the known beginning of its name: `/dev/sd$x`.
pub(super) fn is_disk(target: &super::target::Target) -> bool {
    static DISKS: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let disks = names().filter(|name| name.id == RAW_DISKS).flat_map(|name| name.paths);
        disks.filter_map(|path| path.strip_prefix("dev/")).map(|disk| disk.trim_end_matches('*')).collect()
    });
    let [dev, name, ..] = target.names.as_slice() else { return false };
    target.base == Base::Root && dev == "dev" && DISKS.iter().any(|disk| name.starts_with(disk))
}
