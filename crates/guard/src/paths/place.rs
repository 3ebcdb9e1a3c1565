//! A place on a disk, held by the folder it is in.

use std::ffi::OsString;
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Stat};

/// A name in a folder that is held open. Whatever is put in the way of the folder later, this is still the folder.
#[derive(Debug)]
pub(super) struct Place {
    /// The folder: the deepest one that exists.
    pub(super) folder: OwnedFd,
    /// The name in it, `.` for the folder itself.
    pub(super) name: OsString,
    /// Names below that one. Only when it does not exist.
    pub(super) below: Vec<OsString>,
    /// What was there; nothing when it does not exist.
    pub(super) identity: Option<Identity>,
}

/// What tells one file from every other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity(pub(super) Stat);

impl Identity {
    pub(super) fn is(&self, stat: &Stat) -> bool {
        self.0.st_dev == stat.st_dev
            && self.0.st_ino == stat.st_ino
            && FileType::from_raw_mode(self.0.st_mode) == FileType::from_raw_mode(stat.st_mode)
    }
}
