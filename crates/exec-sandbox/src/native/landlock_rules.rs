//! Landlock rules equivalent to the mounts: an additional layer behind them, or the only layer without namespaces.

#![expect(
    clippy::disallowed_methods,
    reason = "looks which files of /proc the kernel has, and what lies beside what is hidden"
)]

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::path::Path;

use super::{Handed, c_string};
use crate::mounts::{MountKind, MountPoint};
use crate::plan::Plan;
use crate::spec::MountAccess;
use crate::sys::launch::Landlock;

// Rights, from linux/landlock.h.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// The ABI versions that added rights, newest first, with all rights of each.
const HANDLED: &[(u32, u64)] = &[(5, (1 << 16) - 1), (3, (1 << 15) - 1), (2, (1 << 14) - 1)];

/// The scopes LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and LANDLOCK_SCOPE_SIGNAL.
const SCOPES: u64 = 0b11;

/// Returns the rules for a plan; nothing if the kernel's Landlock is too old to allow renames between directories.
pub(super) fn rules(plan: &Plan, handed: &Handed) -> io::Result<Option<Landlock>> {
    let version = plan.landlock;
    let Some(&(_, handled)) = HANDLED.iter().find(|(first, _)| version >= *first) else { return Ok(None) };
    let all = handled & !(MAKE_CHAR | MAKE_BLOCK);
    let of_files = handled & (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV);
    let mut rules = vec![(c"/".to_owned(), EXECUTE | READ_FILE | READ_DIR)];
    for mount in &plan.mounts {
        let allowed = match &mount.kind {
            MountKind::Bind { access: MountAccess::ReadWrite, point: MountPoint::Folder, .. }
            | MountKind::Scratch { .. } => all,
            MountKind::Bind { access: MountAccess::ReadWrite, point: MountPoint::File, .. } => of_files,
            MountKind::Processes => handled & (WRITE_FILE | TRUNCATE),
            MountKind::Devices => handled & (WRITE_FILE | IOCTL_DEV),
            // Generated files are in the private home, which has a rule.
            MountKind::Bind { .. }
            | MountKind::Link { .. }
            | MountKind::Generated { .. }
            | MountKind::Replaced { .. }
            | MountKind::Hidden { .. } => continue,
        };
        rules.push((c_string(mount.target.as_os_str())?, allowed));
    }
    rules.push((c"/dev/shm".to_owned(), all));
    let scopes = if version >= 6 { SCOPES } else { 0 };
    Ok(Some(Landlock { version, handled, scopes, rules, terminal: terminal(handed, handled) }))
}

/// Returns the rule for the command's terminal, which is in the devpts of this machine, where no other one is visible.
fn terminal(handed: &Handed, handled: u64) -> Option<(RawFd, u64)> {
    let rights = handled & (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV);
    handed.terminal_number().map(|number| (number, rights))
}

/// Harmless devices, without a private `/dev`. `tty` is the controlling terminal of a command that has one.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Files with information about the machine that programs read, without a private `/proc`.
const MACHINE: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/vm/overcommit_memory",
];

/// Returns the hidden paths of a plan below a directory.
fn hidden_below<'p>(plan: &'p Plan, folder: &Path) -> Vec<&'p Path> {
    let hidden = plan.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Hidden { .. }));
    hidden.map(|mount| mount.target.as_path()).filter(|path| path.starts_with(folder)).collect()
}

/// Maximum number of rules for the siblings of hidden paths.
const MAX_BESIDE: usize = 16_384;

/// Adds rules that make a directory readable except for hidden paths. Landlock has no exceptions, so each sibling gets a rule of
/// its own. The names of all entries stay visible.
fn all_but(folder: &Path, hidden: &[&Path], rules: &mut Vec<(CString, u64)>) -> io::Result<()> {
    rules.push((c_string(folder.as_os_str())?, READ_DIR));
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if rules.len() > MAX_BESIDE {
            return Err(io::Error::other(format!("too many files beside the hidden ones in {folder:?}")));
        }
        if hidden.contains(&path.as_path()) {
            continue;
        }
        if kind.is_dir() && hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            all_but(&path, hidden, rules)?;
        } else if kind.is_dir() {
            rules.push((c_string(path.as_os_str())?, EXECUTE | READ_FILE | READ_DIR));
        } else if kind.is_file() {
            rules.push((c_string(path.as_os_str())?, EXECUTE | READ_FILE));
        }
    }
    Ok(())
}

/// Returns the rules for a plan in which only Landlock confines the command.
pub(super) fn rules_in_place(plan: &Plan, handed: &Handed) -> io::Result<Option<Landlock>> {
    let version = plan.landlock;
    let Some(&(_, handled)) = HANDLED.iter().find(|(first, _)| version >= *first) else {
        return Err(io::Error::other("the kernel's Landlock is too old"));
    };
    let all = handled & !(MAKE_CHAR | MAKE_BLOCK);
    let read = EXECUTE | READ_FILE;
    let mut rules = Vec::new();
    for mount in &plan.mounts {
        let MountKind::Bind { source, access, point, .. } = &mount.kind else { continue };
        let allowed = match (access, point) {
            (MountAccess::ReadOnly, MountPoint::Folder) => read | READ_DIR,
            (MountAccess::ReadOnly, MountPoint::File) => read,
            (MountAccess::ReadWrite, MountPoint::Folder) => all,
            (MountAccess::ReadWrite, MountPoint::File) => all & (read | WRITE_FILE | TRUNCATE),
        };
        let hidden = hidden_below(plan, source);
        if hidden.is_empty() || *access == MountAccess::ReadWrite {
            rules.push((c_string(source.as_os_str())?, allowed));
        } else {
            all_but(source, &hidden, &mut rules)?;
        }
    }
    for device in DEVICES {
        rules.push((c_string(device.as_ref())?, handled & (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV)));
    }
    for file in MACHINE.iter().filter(|file| Path::new(file).symlink_metadata().is_ok()) {
        rules.push((c_string(file.as_ref())?, READ_FILE));
    }
    let scopes = if version >= 6 { SCOPES } else { 0 };
    Ok(Some(Landlock { version, handled, scopes, rules, terminal: terminal(handed, handled) }))
}
