//! Programs of this machine that are asked something, such as whether a service behind them answers.
#![expect(clippy::disallowed_methods, reason = "looks for programs, and starts them")]

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::thread::set_no_new_privs;

use crate::capabilities::keep_capabilities;

/// What a program may need in order to find its service, and what tells it nothing else.
const VARIABLES: &[&str] = &[
    "HOME",
    "PATH",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "CONTAINER_HOST",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "XDG_DATA_HOME",
    "TMPDIR",
];

/// Returns the variables of this program that a helper gets.
pub fn helper_variables() -> impl Iterator<Item = (&'static str, OsString)> {
    VARIABLES.iter().filter_map(|name| Some((*name, env::var_os(name)?)))
}

/// Returns where on the search path a program lies. Relative folders of the search path are left out: the current folder may be
/// a workspace, and what lies there is untrusted.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A program to be started as a helper: it holds no capability and gains none, it has the few variables by which it finds
/// its service, it reads nothing, and its output is discarded until the caller wants it.
///
/// A helper is asked and not trusted: a program on the search path may be another than it is called.
#[derive(Debug)]
pub struct HelperCommand(Command);

/// Makes a program ready to be started as a helper.
#[must_use]
pub fn helper_command(program: &Path) -> HelperCommand {
    let mut command = Command::new(program);
    command.env_clear().envs(helper_variables());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    HelperCommand(command)
}

impl HelperCommand {
    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.0.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.0.args(arguments);
        self
    }

    /// Sets variables.
    pub fn envs(
        &mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Self {
        self.0.envs(variables);
        self
    }

    /// Sets the folder that it starts in.
    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.0.current_dir(folder);
        self
    }

    /// Sets where its output goes.
    pub fn stdout(&mut self, output: Stdio) -> &mut Self {
        self.0.stdout(output);
        self
    }

    /// Has it lead a process group of its own, so that it can be ended with all that it starts.
    pub fn in_own_group(&mut self) -> &mut Self {
        self.0.process_group(0);
        self
    }

    /// Starts it.
    ///
    /// A process inherits the rights of the thread that starts it, so that thread is one of its own, which gives up all of
    /// them first. By `no_new_privs`, no setuid program gives the helper any back, nor does being root.
    ///
    /// # Errors
    /// When the program cannot be started, or would have a capability.
    pub fn spawn(&mut self) -> io::Result<Child> {
        let command = &mut self.0;
        let start = move || {
            keep_capabilities(&[])?;
            set_no_new_privs(true)?;
            command.spawn()
        };
        thread::scope(|scope| {
            let starter = thread::Builder::new().spawn_scoped(scope, start)?;
            starter.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
        })
    }
}
