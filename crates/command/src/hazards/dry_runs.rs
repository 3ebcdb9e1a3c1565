//! Forms of dangerous programs that only list, or only test what they would do.
//!
//! A form is an allowlist: every option must be in its table, and one of the options or subcommands that make it harmless must be
//! there. So `mkfs.xfs -l size=8m /dev/sda` is not taken for the `-l` of fdisk.

use super::command::Command;
use stockade_shell::getopt::{self, OptionOrder, OptionTable};

struct Form {
    programs: &'static [&'static str],
    /// Options of which one is required; none if the program only lists without others.
    wants: &'static str,
    /// Subcommands of which one is required; none if the program has no subcommands.
    subcommands: &'static [&'static str],
    options: OptionTable,
}

const fn option(programs: &'static [&'static str], wants: &'static str, options: &'static str) -> Form {
    Form { programs, wants, subcommands: &[], options: OptionTable::unabbreviated(options) }
}

const fn subcommand(
    programs: &'static [&'static str],
    subcommands: &'static [&'static str],
    options: &'static str,
) -> Form {
    Form { programs, wants: "", subcommands, options: OptionTable::unabbreviated(options) }
}

/// From the manual pages of e2fsprogs, util-linux, lvm2, gptfdisk, mdadm, cryptsetup, zfs, btrfs-progs, nvme-cli and hdparm.
#[rustfmt::skip]
static FORMS: [Form; 22] = [
    option(&["mke2fs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4"], "-n", "-n -q -v -F -j -b: -i: -I: -L: -m: -N: -O: -T: -t:"),
    option(&["wipefs"], "", "-J -i -n -O: -p -q -t: --json --noheadings --no-act --output= --parsable --quiet --types="),
    option(&["wipefs"], "-n --no-act", "-a -J -i -n -O: -p -q -t: --all --json --noheadings --no-act --output= --parsable --quiet --types="),
    option(&["pvcreate", "vgremove", "lvremove"], "-t --test", "-t -f -y -v --test --force --yes --verbose"),
    option(&["fdisk", "gdisk"], "-l --list", "-l -o: -u -b: -x --list --output= --bytes"),
    option(&["sfdisk"], "-l -d -J -F -V --list --dump --json --list-free --verify",
        "-l -d -J -F -V -o: -q --list --dump --json --list-free --verify --output= --quiet --bytes"),
    option(&["sgdisk"], "-p -i -v -O --print --info --verify", "-p -i: -v -O --print --info= --verify --print-mbr"),
    option(&["parted"], "-l --list", "-l -m -s -j --list --machine --script --json"),
    subcommand(&["zpool"], &["list", "status", "get", "history", "iostat", "version"], "-H -L -P -T: -c -d -e -g -h -i -j -l -n -o: -p -t -v -x -y"),
    subcommand(&["zfs"], &["list", "get", "holds", "diff", "version", "userspace", "groupspace"], "-H -d: -o: -p -r -s: -S: -t: -j"),
    option(&["zfs"], "-n", "-n -v -r -R -p -H"),
    option(&["mdadm"], "-D -E -Q --detail --examine --query", "-D -E -Q -s -v -b --detail --examine --query --scan --brief --verbose --export"),
    subcommand(&["cryptsetup"], &["status", "luksDump", "isLuks", "luksUUID"], "-v --verbose"),
    subcommand(&["nvme"], &["list", "list-subsys", "smart-log", "id-ctrl", "id-ns", "error-log", "fw-log", "version", "help"], "-H -n: -o: -v --human-readable"),
    subcommand(&["btrfs"], &["version", "help"], ""),
    option(&["blkid"], "", "-d -i -k -l -o: -p -s: -t: -V"),
    option(&["smartctl"], "-a -A -c -H -i -x", "-a -A -c -d: -H -i -j -x"),
    option(&["tune2fs"], "-l", "-l"),
    option(&["dumpe2fs"], "-h", "-h"),
    option(&["fsck", "e2fsck", "fsck.ext4"], "-n -N", "-f -n -N -v"),
    option(&["hdparm"], "-I -i -g -t -T -C", "-I -i -g -t -T -C -v"),
    option(&["systemctl"], "--dry-run", "-q -f --dry-run --no-wall --no-pager --quiet --force"),
];

/// Whether a command is one of these forms.
pub(super) fn only_tries(command: &Command<'_, '_>) -> bool {
    let is_known = command.run.is_known() && !command.run.open_ended;
    is_known && (only_prints(command) || FORMS.iter().any(|form| form.fits(command)))
}

impl Form {
    fn fits(&self, command: &Command<'_, '_>) -> bool {
        if !self.programs.contains(&command.name) {
            return false;
        }
        let parsed = getopt::parse(&command.run.argv, 1, &self.options, OptionOrder::Anywhere);
        let has = |option: &str| parsed.has(option) || parsed.values.iter().any(|(name, _)| name == option);
        let operand =
            || parsed.rest.first().and_then(|at| command.run.argv.get(*at)).and_then(|word| word.known());
        !parsed.unknown
            && (self.wants.is_empty() || self.wants.split_ascii_whitespace().any(has))
            && (self.subcommands.is_empty() || operand().is_some_and(|word| self.subcommands.contains(&word)))
    }
}

/// Whether parted prints partitions: `parted /dev/sda unit MiB print free`. Every word is one of its commands.
fn only_prints(command: &Command<'_, '_>) -> bool {
    let mut words = command.known().filter(|word| !matches!(*word, "-s" | "-m" | "--script" | "--machine"));
    let has_device =
        command.name == "parted" && words.next().is_some_and(|device| device.starts_with("/dev/"));
    let mut prints = false;
    let mut is_unit = false;
    let all = has_device
        && words.all(|word| {
            prints |= matches!(word, "print" | "p");
            let is_value = std::mem::replace(&mut is_unit, word == "unit");
            is_value || is_unit || matches!(word, "print" | "p" | "free" | "all" | "devices" | "list")
        });
    all && prints
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn only_tries(text: &str) -> bool {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let actions = script.actions();
        super::only_tries(&Command::of(&actions.runs[0]).unwrap())
    }

    #[test]
    fn what_lists_or_tests_is_told_from_what_writes() {
        for text in [
            "mkfs.ext4 -n /dev/sda",
            "lvremove --test vg/lv",
            "wipefs /dev/sda",
            "wipefs -n -a /dev/sda",
            "zpool status tank",
            "fdisk -l /dev/sda",
            "sfdisk -d /dev/sda",
            "parted -l",
            "parted -s /dev/sda unit MiB print free",
            "mdadm --detail /dev/md0",
            "cryptsetup luksDump /dev/sda",
            "nvme list",
            "zfs destroy -n tank/x",
            "systemctl --dry-run reboot",
        ] {
            assert!(only_tries(text), "{text}");
        }
        for text in [
            "mkfs.ext4 /dev/sda",
            "mkfs.ext4 -l bad /dev/sda",
            "mkfs.xfs -l size=8m /dev/sda",
            "mkfs.vfat -n x /dev/sda",
            "wipefs -a /dev/sda",
            "wipefs -o 0 /dev/sda",
            "wipefs -n $x",
            "zpool destroy -n tank",
            "zpool destroy tank list",
            "zfs destroy tank/x",
            "fdisk /dev/sda",
            "parted /dev/sda mklabel gpt print",
            "parted /dev/sda print rm 1",
            "cryptsetup luksDump --dump-volume-key /dev/sda",
            "cryptsetup luksFormat /dev/sda status",
            "nvme format list",
            "hdparm -I --security-erase x /dev/sda",
            "lvremove vg/--test",
            "systemctl reboot",
            "rm -rf / --help",
        ] {
            assert!(!only_tries(text), "{text}");
        }
    }
}
