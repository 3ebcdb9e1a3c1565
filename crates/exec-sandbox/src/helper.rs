//! Programs of this machine that are asked something, such as whether a service behind them answers.
#![expect(clippy::disallowed_methods, reason = "looks for programs, and makes them ready to be started")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sys::spawn;

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

/// Returns those that are set.
pub(crate) fn known_variables() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    VARIABLES.iter().filter_map(|name| Some((*name, env::var_os(name)?)))
}

/// Returns where on the search path a program lies. Folders that are named from where somebody stands are left out: that may be
/// a workspace, and what lies there is a stranger's.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Makes a program ready to be started as a helper: it holds no capability and gains none, it has the few variables that lead it to
/// its service, it reads nothing, and nobody hears it until the caller says otherwise.
///
/// A helper is asked and not trusted: a program on the search path may be another than it is called.
pub fn helper_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(known_variables());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    spawn::without_privileges(&mut command);
    command
}
