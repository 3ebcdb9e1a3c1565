//! A private home and temporary directory for a command without a mount namespace, deleted when the command ends.

#![expect(clippy::disallowed_methods, reason = "makes a folder and removes it")]

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use crate::moment::moment;
use crate::mounts::{IGNORED, Mount, MountKind, MountPoint, Owner};
use crate::native::{Ids, c_string};
use crate::plan::Plan;
use crate::spec::MountAccess;
use crate::sys::raw::open_path;
use crate::sys::remove::ScratchDir;

/// The directory. The first process of the sandbox deletes it; otherwise it is deleted on drop. Symlinks in it are not followed.
pub(super) struct Private {
    path: PathBuf,
    scratch_dir: ScratchDir,
    _open: [OwnedFd; 2],
}

impl Private {
    /// Creates a directory that other users cannot enter, with the generated files of a plan.
    pub(super) fn new(plan: &Plan, ids: Ids) -> io::Result<Self> {
        let temporary = std::env::temp_dir().canonicalize()?;
        let name = format!("stockade-{}-{}", moment(), std::process::id());
        let path = temporary.join(&name);
        let mut builder = DirBuilder::new();
        builder.mode(0o700).create(&path)?;
        let parent: OwnedFd = File::open(temporary)?.into();
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        let folder = open_path(parent.as_raw_fd(), &c_string(name.as_ref())?, flags, true)
            .map_err(io::Error::from_raw_os_error)?;
        let scratch_dir = ScratchDir::new(parent.as_fd(), folder.as_fd(), name.as_bytes())
            .ok_or(io::ErrorKind::InvalidFilename)?;
        let private = Self { path, scratch_dir, _open: [parent, folder] };
        builder.create(private.path.join("home"))?;
        builder.create(private.path.join("tmp"))?;
        private.generate(plan)?;
        private.give_to(ids)?;
        Ok(private)
    }

    /// Changes the owner to the user of the command. Paths are safe here, because no other process could enter the directory yet.
    fn give_to(&self, ids: Ids) -> io::Result<()> {
        let Some((user, group)) = ids.outside() else { return Ok(()) };
        let files = std::fs::read_dir(self.path.join("home"))?.map(|entry| Ok(entry?.path()));
        let all = files.chain(["home", "tmp", ""].map(|name| Ok(self.path.join(name))));
        all.into_iter().try_for_each(|path: io::Result<PathBuf>| {
            std::os::unix::fs::lchown(path?, Some(user), Some(group))
        })
    }

    /// Creates the generated files of the home. Without mounts nothing is hidden, so the gitignore file is skipped.
    fn generate(&self, plan: &Plan) -> io::Result<()> {
        let Some(home) = plan.private_home() else { return Ok(()) };
        plan.mounts.iter().filter(|mount| !mount.target.ends_with(IGNORED)).try_for_each(|mount| {
            match (&mount.kind, mount.target.strip_prefix(home)) {
                (MountKind::Generated { text }, Ok(below)) => {
                    let path = self.path.join("home").join(below);
                    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                    std::fs::write(path, text)
                }
                _ => Ok(()),
            }
        })
    }

    /// What the first process removes.
    pub(super) fn scratch_dir(&self) -> ScratchDir {
        self.scratch_dir
    }

    /// Returns the plan with its home and its temporary files in this folder.
    pub(super) fn move_in(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        let folder = |name: &str| self.path.join(name).into_os_string();
        // Git gives up where settings of the machine exist that it may not read.
        let rows = [("HOME", folder("home")), ("TMPDIR", folder("tmp")), ("GIT_CONFIG_NOSYSTEM", "1".into())];
        for (name, value) in rows {
            plan.environment.retain(|(other, _)| other != name);
            plan.environment.push((name.into(), value));
        }
        plan.environment.sort();
        let kind = MountKind::Bind {
            source: self.path.clone(),
            access: MountAccess::ReadWrite,
            point: MountPoint::Folder,
            owner: Owner::User,
        };
        let (target, reason) = (self.path.clone(), "private home and temporary files");
        plan.mounts.push(Mount { target, kind, reason });
        plan
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.scratch_dir.remove();
    }
}
