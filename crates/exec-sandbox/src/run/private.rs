//! A folder for a command that cannot have a view of the disk of its own: its home and its temporary files, gone with it.

#![expect(clippy::disallowed_methods, reason = "makes a folder and removes it")]

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::plan::Plan;
use crate::sweep::moment;

/// The folder. It is removed when this is dropped; links in it are removed and not followed.
pub(super) struct Private {
    path: PathBuf,
}

impl Private {
    /// Makes one that nobody else has, and can enter.
    pub(super) fn new() -> io::Result<Self> {
        let temporary = std::env::temp_dir().canonicalize()?;
        let path = temporary.join(format!("stockade-{}-{}", moment(), std::process::id()));
        let mut builder = DirBuilder::new();
        builder.mode(0o700).create(&path)?;
        builder.create(path.join("home"))?;
        builder.create(path.join("tmp"))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the plan with its home and its temporary files in this folder.
    pub(super) fn move_in(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        let home = plan.environment.iter().find(|(name, _)| name == "HOME").map(|(_, value)| value.clone());
        let settings = home.map(|home| PathBuf::from(home).join(".gitconfig"));
        let settings = settings.filter(|path| plan.mounts.iter().any(|mount| mount.target == *path));
        let folder = |name: &str| self.path.join(name).into_os_string();
        let rows = [("HOME", Some(folder("home"))), ("TMPDIR", Some(folder("tmp")))];
        // Git gives up where settings exist that it may not read.
        let git = [
            ("GIT_CONFIG_GLOBAL", settings.map(PathBuf::into_os_string)),
            ("GIT_CONFIG_NOSYSTEM", Some("1".into())),
        ];
        for (name, value) in rows.into_iter().chain(git) {
            let Some(value) = value else { continue };
            plan.environment.retain(|(other, _)| other != name);
            plan.environment.push((name.into(), value));
        }
        plan.environment.sort();
        plan
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).ok();
    }
}
