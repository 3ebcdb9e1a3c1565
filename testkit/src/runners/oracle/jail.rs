//! A jail of namespaces: no network, no processes but its own, and no program but a logger under many names.
//!
//! The shell itself, and a few programs that start others (`env`, `xargs`, …), are the real ones of this machine, so
//! that their real behaviour counts; they are logged first, too.

use std::io;
use std::process::Command;

use super::inside;
use crate::fed_jail::{fed, of_namespaces};

/// Programs that are logged and then run for real, if this machine has them.
const REAL: &[&str] = &[
    "bash", "zsh", "sh", "ash", "env", "nohup", "nice", "timeout", "setsid", "stdbuf", "xargs", "find",
    "echo", "cat", "tee",
];

/// Programs that are only logged. All other names are logged by the shells.
const LOGGED: &[&str] = &["rm", "id", "ls", "git", "curl", "sudo"];

/// Where the dynamic linker and its libraries are on different systems.
const LIBRARIES: &[&str] = &["/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// A jail for one shell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jail {
    shell: &'static str,
}

impl Jail {
    /// Returns the jail that texts for `shell` run in.
    pub(super) const fn of(shell: &'static str) -> Self {
        Self { shell }
    }

    /// Returns an error if this machine cannot make such a jail.
    pub(super) fn works(self) -> Result<(), String> {
        if on_this_machine(self.shell).is_none() {
            return Err(format!("{} is missing: run `cargo xtask setup`", self.shell));
        }
        match self.run("rm canary\0") {
            Ok(runs) if runs == b"1\x002\0rm\0canary\0" => Ok(()),
            Ok(runs) => {
                Err(format!("the jail saw {:?} instead of `rm canary`", String::from_utf8_lossy(&runs)))
            }
            Err(error) => Err(format!("no namespaces for a jail: {error}")),
        }
    }

    /// Runs NUL-separated texts, and returns their runs.
    pub(super) fn run(self, texts: &str) -> io::Result<Vec<u8>> {
        fed(self.command()?, texts)
    }

    fn command(self) -> io::Result<Command> {
        let mut jail = of_namespaces();
        for folder in LIBRARIES {
            jail.args(["--ro-bind-try", folder, folder]);
        }
        for name in [inside::PROGRAM, inside::EVIL] {
            jail.arg("--ro-bind").arg(std::env::current_exe()?).arg(name);
        }
        for name in REAL.iter().chain(LOGGED).filter(|name| !matches!(**name, "bash" | "zsh" | "sh" | "ash"))
        {
            jail.args(["--symlink", inside::EVIL, &format!("{}/{name}", inside::EVIL_FOLDER)]);
        }
        jail.args([
            "--symlink",
            inside::PROGRAM,
            inside::NAMES,
            "--dir",
            "/home/me",
            "--symlink",
            "bin",
            "/usr/bin",
        ]);
        for name in REAL {
            if let Some(path) = on_this_machine(name) {
                jail.args(["--ro-bind", &path, &format!("{}/{name}", inside::REAL)]);
            }
            jail.args(["--symlink", inside::PROGRAM, &format!("/bin/{name}")]);
        }
        for name in LOGGED {
            jail.args(["--symlink", inside::PROGRAM, &format!("/bin/{name}")]);
        }
        jail.args([
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            inside::WORK,
            "--tmpfs",
            inside::LOG,
            "--tmpfs",
            "/tmp",
        ]);
        jail.args(["--remount-ro", "/", "--chdir", inside::WORK, "--setenv", inside::DRIVE, self.shell]);
        jail.args(["--", inside::PROGRAM]);
        Ok(jail)
    }
}

fn on_this_machine(name: &str) -> Option<String> {
    // busybox is every program by whose name it is called.
    let name = if name == "ash" { "busybox" } else { name };
    let path = ["/usr/bin", "/bin"].map(|folder| format!("{folder}/{name}"));
    path.into_iter().find(|path| std::path::Path::new(path).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_and_what_is_real_are_different_programs() {
        assert!(LOGGED.iter().all(|name| !REAL.contains(name)));
    }

    #[test]
    fn the_jail_shares_nothing_that_can_be_written() {
        let Ok(jail) = Jail::of("bash").command() else { panic!("no executable") };
        let words: Vec<String> = jail.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(words.iter().any(|word| word == "--unshare-all"));
        assert!(!words.iter().any(|word| matches!(word.as_str(), "--bind" | "--dev-bind" | "--share-net")));
    }
}
