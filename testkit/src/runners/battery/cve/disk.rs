//! Temporary directory of the attacks.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::case::{Case, OnDisk};

/// A temporary directory with one below it for each attack.
pub(super) struct Disk {
    top: PathBuf,
}

/// The directories of one attack.
pub(super) struct Ground {
    /// The attacked workspace.
    pub(super) workspace: PathBuf,
    /// Empty, so that settings of the user who runs this do not matter.
    pub(super) home: PathBuf,
    /// The only directory on the search path: each program in it leaves the marker there.
    pub(super) programs: PathBuf,
    /// Appears when a program was started.
    pub(super) marker: PathBuf,
}

/// Programs that a tool might start on its own.
const PROGRAMS: &[&str] = &["git", "rg", "sh", "bash", "docker", "npx"];

impl Disk {
    pub(super) fn new() -> io::Result<Self> {
        let top = std::env::temp_dir().join(format!("stockade-attacks-{}", std::process::id()));
        std::fs::create_dir(&top)?;
        // Resolve links on the way here, such as `/tmp` on some machines: they are not part of the test.
        Ok(Self { top: top.canonicalize()? })
    }

    /// Creates the files of an attack.
    pub(super) fn prepare(&self, number: usize, case: &Case) -> io::Result<Ground> {
        let folder = self.top.join(number.to_string());
        let at = |name: &str| folder.join(name);
        let ground = Ground {
            workspace: at("work"),
            home: at("home"),
            programs: at("programs"),
            marker: at("started"),
        };
        for folder in [&ground.workspace, &ground.home, &ground.programs] {
            std::fs::create_dir_all(folder)?;
        }
        for name in PROGRAMS {
            let program = ground.programs.join(name);
            std::fs::write(&program, format!("#!/bin/sh\n: > '{}'\n", ground.marker.display()))?;
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755))?;
        }
        case.on_disk.iter().try_for_each(|one| ground.make(one))?;
        Ok(ground)
    }
}

impl Ground {
    fn make(&self, one: &OnDisk) -> io::Result<()> {
        match *one {
            OnDisk::Folder(name) => std::fs::create_dir_all(self.workspace.join(name)),
            OnDisk::File(name, text) => {
                std::fs::write(with_parents(self.workspace.join(name))?, self.filled_in(text))
            }
            OnDisk::Repository(name, settings) => {
                let within = |part: &str| self.workspace.join(name).join(part);
                std::fs::create_dir_all(within("objects"))?;
                std::fs::create_dir_all(within("refs/heads"))?;
                std::fs::write(within("HEAD"), "ref: refs/heads/main\n")?;
                std::fs::write(within("config"), self.filled_in(settings))
            }
            OnDisk::Link(name, to) => {
                std::os::unix::fs::symlink(to, with_parents(self.workspace.join(name))?)
            }
        }
    }

    fn filled_in(&self, text: &str) -> String {
        text.replace("{marker}", &self.marker.display().to_string())
    }
}

fn with_parents(path: PathBuf) -> io::Result<PathBuf> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    Ok(path)
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Leftovers are in the temporary directory of the system.
        drop(std::fs::remove_dir_all(&self.top));
    }
}
