//! The jail in which allowed commands run: the programs of this machine, no network, no file of this machine that can be written, and
//! no home but its own.

use std::io;
use std::process::Command;

use super::inside;
use crate::fed_jail::{fed, of_namespaces};

/// What programs need of this machine, read-only.
const SHARED: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/passwd",
    "/etc/group",
    "/etc/magic",
    "/etc/manpath.config",
    "/etc/ssl/openssl.cnf",
    "/var/lib/dpkg",
    "/var/cache/man",
];

/// Shells that may run the commands, and where they are. `ash` is busybox, called by that name.
const SHELLS: &[(&str, &str)] =
    &[("bash", "/bin/bash"), ("sh", "/bin/sh"), ("zsh", "/bin/zsh"), ("ash", "/bin/busybox")];

/// The shell of busybox in the jail.
const ASH: &str = "/ash";

/// Returns the shells of this machine.
pub(super) fn shells() -> Vec<&'static str> {
    SHELLS.iter().filter(|(_, path)| std::path::Path::new(path).exists()).map(|(name, _)| *name).collect()
}

/// Returns an error if this machine cannot make the jail, or if the jail does not see harm.
pub(super) fn works() -> Result<(), String> {
    let texts = [
        "true",
        &format!("echo x > {}/x", inside::OUTSIDE),
        inside::MARKER,
        "cat ~/.netrc",
        "echo $API_TOKEN",
    ];
    let text: String = texts.iter().flat_map(|text| [*text, "\0"]).collect();
    let answers = run("bash", &text).map_err(|error| format!("no namespaces for a jail: {error}"))?;
    let seen: Vec<bool> = answers.split_terminator('\0').map(|answer| !answer.is_empty()).collect();
    if seen == [false, true, true, true, true] {
        Ok(())
    } else {
        Err(format!("the jail is blind: {answers:?}"))
    }
}

/// Runs NUL-separated texts, and returns the harm that each did, NUL-separated.
pub(super) fn run(shell: &str, texts: &str) -> io::Result<String> {
    let answers = fed(command(shell)?, texts)?;
    Ok(String::from_utf8_lossy(&answers).into_owned())
}

fn command(shell: &str) -> io::Result<Command> {
    let mut jail = of_namespaces();
    for folder in SHARED {
        jail.args(["--ro-bind-try", folder, folder]);
    }
    jail.arg("--ro-bind").arg(std::env::current_exe()?).arg(inside::PROGRAM);
    jail.args(["--proc", "/proc", "--dev", "/dev", "--symlink", "/bin/busybox", ASH]);
    for folder in inside::WRITABLE.iter().chain(&[inside::EVIL]) {
        jail.args(["--tmpfs", folder]);
    }
    jail.args(["--remount-ro", "/", "--chdir", inside::WORK, "--", inside::PROGRAM]);
    let path = SHELLS.iter().find(|(name, _)| *name == shell).map(|(_, path)| *path);
    jail.arg(if shell == "ash" { ASH } else { path.unwrap_or("/bin/bash") });
    Ok(jail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jail_shares_nothing_that_can_be_written() {
        let jail = command("zsh").unwrap();
        let words: Vec<String> = jail.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(words.iter().any(|word| word == "--unshare-all"));
        assert!(!words.iter().any(|word| matches!(word.as_str(), "--bind" | "--dev-bind" | "--share-net")));
    }
}
