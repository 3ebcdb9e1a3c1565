//! As whom a command runs, inside and outside.

#![expect(clippy::disallowed_methods, reason = "writes the identities of a namespace, and opens namespaces")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::process::{Gid, Uid};

use crate::plan::Identity;
use crate::sys::launch::{Ended, with_user_namespace};

/// Nobody, as every system knows that user.
const NOBODY: u32 = 65534;

/// Users from here on belong to nobody: distributions leave this range free, and containers do not use it.
const UNUSED: u32 = 1_900_000_000;

/// A user and group inside of a sandbox, and what they are outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    kind: Identity,
    user: (u32, u32),
    group: (u32, u32),
}

impl Ids {
    /// The identity that a plan asks for. One that belongs to nobody is another for each sandbox that runs at the same
    /// time, so that they cannot reach each other either.
    pub(crate) fn new(kind: Identity, number: u32) -> Self {
        match kind {
            Identity::Same => {
                let user = rustix::process::geteuid().as_raw();
                let group = rustix::process::getegid().as_raw();
                Self { kind, user: (user, user), group: (group, group) }
            }
            Identity::Nobody => {
                let outside = UNUSED + number % 100_000_000;
                Self { kind, user: (NOBODY, outside), group: (NOBODY, outside) }
            }
            Identity::Owner { user, group } => Self { kind, user: (user, user), group: (group, group) },
        }
    }

    /// What the first process has to become itself.
    pub(super) fn to_become(self) -> Option<(u32, u32)> {
        (self.kind == Identity::Nobody).then_some((self.user.0, self.group.0))
    }

    /// Whom the command has to become outside, where it has no namespace in which it could be somebody else.
    pub(crate) fn outside(self) -> Option<(u32, u32)> {
        (self.kind != Identity::Same).then_some((self.user.1, self.group.1))
    }

    /// Makes a terminal the command's own, so that it can be opened by its path as well. A command that cannot has it open
    /// all the same.
    pub(crate) fn own(self, terminal: BorrowedFd<'_>) {
        let (user, group) = (Uid::from_raw(self.user.1), Gid::from_raw(self.group.1));
        rustix::fs::fchown(terminal, Some(user), Some(group)).ok();
    }

    /// Tells the kernel which identities the namespace of a process knows: one.
    pub(crate) fn write_maps(self, pid: i32) -> io::Result<()> {
        let process = Path::new("/proc").join(pid.to_string());
        if self.kind == Identity::Same {
            std::fs::write(process.join("setgroups"), "deny")?;
        }
        std::fs::write(process.join("gid_map"), format!("{} {} 1", self.group.0, self.group.1))?;
        std::fs::write(process.join("uid_map"), format!("{} {} 1", self.user.0, self.user.1))
    }
}

/// Namespaces in which files of one owner belong to the command, made as they are needed.
#[derive(Default)]
pub(super) struct OwnerMaps {
    made: BTreeMap<(u32, u32), OwnedFd>,
    /// The processes that held them until they were open.
    pub(super) ended: Vec<Ended>,
}

impl OwnerMaps {
    /// Returns one in which what belongs to this user and group on disk belongs to the command.
    pub(super) fn namespace(&mut self, ids: Ids, user: u32, group: u32) -> io::Result<&OwnedFd> {
        use std::collections::btree_map::Entry;
        match self.made.entry((user, group)) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                let (made, ended) = with_user_namespace(|pid| {
                    let mapped =
                        Ids { kind: Identity::Nobody, user: (user, ids.user.1), group: (group, ids.group.1) };
                    mapped.write_maps(pid)?;
                    File::open(Path::new("/proc").join(pid.to_string()).join("ns/user"))
                })?;
                self.ended.push(ended);
                Ok(place.insert(made.into()))
            }
        }
    }
}
