//! The user and group of a command, inside and outside of the sandbox.

#![expect(clippy::disallowed_methods, reason = "writes the identities of a namespace, and opens namespaces")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::process::{Gid, Uid};

use crate::plan::Identity;
use crate::sys::launch::{Ended, with_user_namespace};

/// The kernel's overflow user ID, which has no rights on any system.
const OVERFLOW_USER: u32 = 65534;

/// The start of an unused range of user IDs: distributions leave it free, and containers do not use it.
const UNUSED: u32 = 1_900_000_000;

/// A user and group, each inside and outside of a sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    kind: Identity,
    user: (u32, u32),
    group: (u32, u32),
}

impl Ids {
    /// Returns the identity of a plan. An unprivileged identity differs for each running sandbox, so that sandboxes cannot access
    /// each other's processes.
    pub(crate) fn new(kind: Identity, number: u32) -> Self {
        match kind {
            Identity::Same => {
                let user = rustix::process::geteuid().as_raw();
                let group = rustix::process::getegid().as_raw();
                Self { kind, user: (user, user), group: (group, group) }
            }
            Identity::Unprivileged => {
                let outside = UNUSED + number % 100_000_000;
                Self { kind, user: (OVERFLOW_USER, outside), group: (OVERFLOW_USER, outside) }
            }
            Identity::Owner { user, group } => Self { kind, user: (user, user), group: (group, group) },
        }
    }

    /// Returns the user and group that the first process must change to.
    pub(super) fn to_become(self) -> Option<(u32, u32)> {
        (self.kind == Identity::Unprivileged).then_some((self.user.0, self.group.0))
    }

    /// Returns the user and group outside, if they differ from the caller's.
    pub(crate) fn outside(self) -> Option<(u32, u32)> {
        (self.kind != Identity::Same).then_some((self.user.1, self.group.1))
    }

    /// Changes the owner of a terminal, so that the command can open it by its path. Errors are ignored, because the command
    /// has it open in any case.
    pub(crate) fn own(self, terminal: BorrowedFd<'_>) {
        let (user, group) = (Uid::from_raw(self.user.1), Gid::from_raw(self.group.1));
        rustix::fs::fchown(terminal, Some(user), Some(group)).ok();
    }

    /// Writes the ID maps of a process's user namespace, with a single user and group. Without privileges, `setgroups` must
    /// be denied first, see user_namespaces(7).
    pub(crate) fn write_maps(self, pid: i32) -> io::Result<()> {
        let process = Path::new("/proc").join(pid.to_string());
        if self.kind == Identity::Same {
            std::fs::write(process.join("setgroups"), "deny")?;
        }
        std::fs::write(process.join("gid_map"), format!("{} {} 1", self.group.0, self.group.1))?;
        std::fs::write(process.join("uid_map"), format!("{} {} 1", self.user.0, self.user.1))
    }
}

/// User namespaces for ID-mapped mounts, which map a file owner to the command, created on demand.
#[derive(Default)]
pub(super) struct OwnerMaps {
    made: BTreeMap<(u32, u32), OwnedFd>,
    /// The helper processes that kept the namespaces alive until they were opened.
    pub(super) ended: Vec<Ended>,
}

impl OwnerMaps {
    /// Returns a namespace that maps this user and group on the disk to the command.
    pub(super) fn namespace(&mut self, ids: Ids, user: u32, group: u32) -> io::Result<&OwnedFd> {
        use std::collections::btree_map::Entry;
        match self.made.entry((user, group)) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                let (made, ended) = with_user_namespace(|pid| {
                    let mapped = Ids {
                        kind: Identity::Unprivileged,
                        user: (user, ids.user.1),
                        group: (group, ids.group.1),
                    };
                    mapped.write_maps(pid)?;
                    File::open(Path::new("/proc").join(pid.to_string()).join("ns/user"))
                })?;
                self.ended.push(ended);
                Ok(place.insert(made.into()))
            }
        }
    }
}
