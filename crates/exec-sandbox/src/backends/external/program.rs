//! Which program a backend is: where it may lie, and whose it has to be.

#![expect(clippy::disallowed_methods, reason = "looks for programs, and at whose they are")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::choices::BackendName;
use crate::spec::SandboxSpec;

/// What stands before the name of a backend in that of its program.
const PREFIX: &str = "stockade-backend-";

/// The option by which a request names the program in full.
pub(super) const OPTION: ProgramOption = ProgramOption("program");

/// The most programs that are listed.
const MAX_LISTED: usize = 64;

/// An option that is for whoever starts the program, and not for the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramOption(&'static str);

impl ProgramOption {
    pub(super) fn is_some_in(self, spec: &SandboxSpec) -> bool {
        spec.backend_options.contains_key(self.0)
    }

    /// The options that the program is told.
    pub(super) fn without(self, spec: &SandboxSpec) -> BTreeMap<String, String> {
        let mut options = spec.backend_options.clone();
        options.remove(self.0);
        options
    }
}

/// A program that may be started, and which file that is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// The device, the number of the file, and when it was last changed.
    file: (u64, u64, i64, i64),
}

/// Why a program is not started, and what mends that.
type Wrong = (&'static str, String);

impl Program {
    /// The program of a backend, by the path that a request names or by its name.
    pub(super) fn of(name: BackendName, spec: &SandboxSpec) -> Result<Self, Wrong> {
        let path = match spec.backend_options.get(OPTION.0) {
            Some(path) => PathBuf::from(path),
            None => find(name).ok_or_else(|| {
                let fix = format!(
                    "put `{PREFIX}{name}` on the search path, or name it: --backend-option program=/…"
                );
                ("there is no such program", fix)
            })?,
        };
        Self::checked(&path, Some(&spec.workspace))
    }

    /// Looks at a program: nobody but its user and root may have written it, and no command in this workspace.
    pub(super) fn checked(path: &Path, workspace: Option<&Path>) -> Result<Self, Wrong> {
        if !path.is_absolute() {
            return Err(("its program is not named in full", "name an absolute path".to_owned()));
        }
        let missing = |_| ("there is no such program", format!("look at {}", path.display()));
        let real = fs::canonicalize(path).map_err(missing)?;
        let data = fs::metadata(&real).map_err(missing)?;
        if !data.is_file() || data.mode() & 0o111 == 0 {
            return Err((
                "its program is no file that can be started",
                format!("chmod +x {}", real.display()),
            ));
        }
        let inside = |folder: &Path| {
            let folder = fs::canonicalize(folder);
            folder.is_ok_and(|folder| real.starts_with(folder))
        };
        if workspace.is_some_and(inside) {
            let fix = "move it out of the workspace, to a folder that commands cannot write".to_owned();
            return Err(("its program lies in the workspace, where commands may have written it", fix));
        }
        let user = rustix::process::geteuid().as_raw();
        for (place, at) in real.ancestors().enumerate() {
            let data = fs::metadata(at).map_err(missing)?;
            // In a folder like /tmp, others cannot replace what is not theirs.
            let is_sticky = place > 0 && data.mode() & 0o1000 != 0;
            if data.uid() != 0 && data.uid() != user {
                return Err((
                    "its program belongs to somebody else",
                    format!("chown {} to yourself", at.display()),
                ));
            }
            if data.mode() & 0o022 != 0 && !is_sticky {
                return Err(("others may write its program", format!("chmod go-w {}", at.display())));
            }
        }
        let file = (data.dev(), data.ino(), data.ctime(), data.ctime_nsec());
        Ok(Self { path: real, file })
    }
}

/// Where programs of backends are looked for: the user's own folder, then the search path.
fn folders() -> Vec<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| env::home_dir().map(|home| home.join(".local/share")));
    let own = data.into_iter().map(|data| data.join("stockade/backends"));
    let path = env::var_os("PATH").unwrap_or_default();
    // What is named from where somebody stands may be a workspace.
    own.chain(env::split_paths(&path)).filter(|folder| folder.is_absolute()).collect()
}

/// Where the program of a backend lies.
pub(super) fn find(name: BackendName) -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(format!("{PREFIX}{name}"))).find(|path| path.is_file())
}

/// Returns where the program of a backend lies that may be started, by what it is told and by its name.
#[must_use]
pub fn external_program(name: BackendName, options: &BTreeMap<String, String>) -> Option<PathBuf> {
    let path = options.get(OPTION.0).map(PathBuf::from).or_else(|| find(name))?;
    Program::checked(&path, None).ok().map(|program| program.path)
}

/// Returns the names of all backends whose programs are found, in order.
#[must_use]
pub fn external_backends() -> Vec<BackendName> {
    let entries = folders().into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name();
        BackendName::new(name.to_str()?.strip_prefix(PREFIX)?)
    });
    names.collect::<BTreeSet<_>>().into_iter().take(MAX_LISTED).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn nobody_else_may_have_written_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stockade-backend-x");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        let mode = |at: &Path, mode: u32| fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
        let why = |workspace: Option<&Path>| Program::checked(&path, workspace).map_err(|wrong| wrong.0);
        mode(&path, 0o644);
        assert_eq!(why(None).unwrap_err(), "its program is no file that can be started");
        mode(&path, 0o755);
        let first = why(None).unwrap();
        assert_eq!(
            why(Some(folder.path())).unwrap_err(),
            "its program lies in the workspace, where commands may have written it"
        );
        for (at, open) in [(path.as_path(), 0o775), (path.as_path(), 0o757), (folder.path(), 0o777)] {
            let before = fs::metadata(at).unwrap().permissions();
            mode(at, open);
            assert_eq!(why(None).unwrap_err(), "others may write its program", "{at:?} {open:o}");
            fs::set_permissions(at, before).unwrap();
        }
        // A link is followed first: what counts is where it leads.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(Program::checked(&link, None).unwrap().path, fs::canonicalize(&path).unwrap());
        assert!(Program::checked(Path::new("stockade-backend-x"), None).is_err());
        fs::write(&path, "#!/bin/sh\n:").unwrap();
        assert_ne!(why(None).unwrap(), first, "what was said by another file counts no more");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            assert_eq!(why(None).unwrap_err(), "its program belongs to somebody else");
        }
    }
}
