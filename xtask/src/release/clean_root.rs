//! Places to try artefacts in: a root of busybox alone, and the programs of this machine without its home or network.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use testkit::{Echo, Output, Program, Stop};

use super::pack::{copy, failed, make_directory};

/// The home of the user in such a root.
pub(crate) const HOME: &str = "/home/user";

/// A root directory, in which commands run.
pub(crate) struct CleanRoot {
    pub(crate) directory: PathBuf,
    kind: Kind,
    network: Network,
    hidden: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Busybox and the libraries that the programs name.
    Busybox,
    /// `/usr` of this machine, read-only.
    Host,
    /// What is in an image, and nothing else.
    Image,
}

/// Whether commands reach servers of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Closed,
    Host,
}

impl CleanRoot {
    /// A root with busybox, and with the libraries that it and other programs load.
    pub(crate) fn busybox(directory: &Path, programs: &[&Path]) -> Result<Self, Stop> {
        let root = Self::new(directory, Kind::Busybox)?;
        let busybox =
            find("busybox").ok_or_else(|| Stop::skipped("busybox is missing: run `cargo xtask setup`"))?;
        copy(&busybox, &directory.join("bin/busybox"), 0o755)?;
        let applets =
            Program::new(&busybox).arg("--list").read().map_err(|error| Stop::failed(error.to_string()))?;
        for applet in applets.lines().filter(|name| *name != "busybox") {
            let link = directory.join("bin").join(applet);
            symlink("busybox", &link).map_err(|error| failed(&link, &error))?;
        }
        for program in programs.iter().copied().chain([busybox.as_path()]) {
            for library in libraries(program) {
                copy(&library, &directory.join(library.strip_prefix("/").unwrap_or(&library)), 0o755)?;
            }
        }
        Ok(root)
    }

    /// The programs of this machine, and an empty home.
    pub(crate) fn host(directory: &Path) -> Result<Self, Stop> {
        Self::new(directory, Kind::Host)
    }

    /// The files of an image, which are put there by the caller.
    pub(crate) fn image(directory: &Path) -> Result<Self, Stop> {
        Self::new(directory, Kind::Image)
    }

    fn new(directory: &Path, kind: Kind) -> Result<Self, Stop> {
        if !Program::new("bwrap").arg("--version").succeeds() {
            return Err(Stop::skipped("bubblewrap is missing: run `cargo xtask setup`"));
        }
        if directory.exists() {
            fs::remove_dir_all(directory).map_err(|error| failed(directory, &error))?;
        }
        let root =
            Self { directory: directory.to_owned(), kind, network: Network::Closed, hidden: Vec::new() };
        for name in ["home/user", "tmp", "etc", "proc", "dev", "usr"] {
            make_directory(&directory.join(name))?;
        }
        if kind == Kind::Host {
            for (name, target) in [("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")] {
                symlink(target, directory.join(name)).map_err(|error| failed(directory, &error))?;
            }
        }
        Ok(root)
    }

    /// The same root, whose commands reach servers of this machine.
    pub(crate) fn with_network(self) -> Self {
        Self { network: Network::Host, ..self }
    }

    /// The same root, without a program.
    pub(crate) fn without(mut self, program: &'static str) -> Self {
        self.hidden.push(program);
        self
    }

    /// The home, as seen from outside.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.join("home/user")
    }

    /// Runs a command in the root.
    pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(
        &self,
        command: &[S],
        environment: &[(&str, &str)],
    ) -> Result<Output, Stop> {
        let bwrap =
            Program::new("bwrap").args(["--unshare-all", "--die-with-parent", "--clearenv", "--bind"]);
        let mut bwrap =
            bwrap.arg(&self.directory).args(["/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
        if self.kind == Kind::Host {
            bwrap = bwrap.args(["--ro-bind", "/usr", "/usr"]);
            for path in ["/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl"] {
                bwrap = bwrap.args(["--ro-bind-try", path, path]);
            }
        }
        if self.network == Network::Host {
            bwrap = bwrap.arg("--share-net");
        }
        for program in &self.hidden {
            // What cannot be executed is not found.
            let places = ["/usr/bin", "/usr/local/bin"].map(|place| format!("{place}/{program}"));
            for place in places.iter().filter(|place| Path::new(place).exists()) {
                bwrap = bwrap.args(["--ro-bind", "/dev/null", place]);
            }
        }
        let variables = [("HOME", HOME), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TMPDIR", "/tmp")];
        for (name, value) in variables.iter().chain(environment) {
            bwrap = bwrap.args(["--setenv", name, value]);
        }
        let program = bwrap.args(["--chdir", HOME, "--"]).args(command);
        program.run(Echo::Kept).map_err(|error| Stop::failed(format!("cannot run bwrap: {error}")))
    }

    /// Runs a command in the root that shall succeed.
    pub(crate) fn succeed<S: AsRef<std::ffi::OsStr>>(&self, command: &[S]) -> Result<String, Stop> {
        let output = self.run(command, &[])?;
        let words: Vec<String> = command.iter().map(|word| word.as_ref().display().to_string()).collect();
        if output.success {
            Ok(output.text)
        } else {
            Err(Stop::failed(format!("$ {}\n{}", words.join(" "), output.text)))
        }
    }
}

/// A program for a package manager, as root: of this machine, or of a namespace of its own.
pub(crate) fn as_root(name: &str) -> Program {
    let is_root = Program::new("id").arg("-u").read().is_ok_and(|id| id.trim() == "0");
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let program = if is_root {
        Program::new(name)
    } else {
        let bwrap =
            Program::new("bwrap").args(["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"]);
        bwrap.args(["--dev-bind", "/", "/", "--", name])
    };
    program.env("PATH", path)
}

/// The path of a program of this machine.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The libraries that a program loads, with its loader.
fn libraries(program: &Path) -> Vec<PathBuf> {
    // For a static program, ldd fails and lists nothing.
    let listed = Program::new("ldd").arg(program).read().unwrap_or_default();
    let path_in = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    listed.lines().filter_map(path_in).collect()
}
