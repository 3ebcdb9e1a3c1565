//! Which program a backend is: where it may lie, and whose it has to be.

#![expect(clippy::disallowed_methods, reason = "looks for programs, and at whose they are")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::released::{Released, this_program};
use crate::choices::BackendName;
use crate::spec::SandboxSpec;

/// The prefix of the name of a program, before that of its backend.
const PREFIX: &str = "stockade-backend-";

/// The option by which a request names the program in full.
pub(super) const OPTION: ProgramOption = ProgramOption("program");

/// The most programs that are listed.
const MAX_LISTED: usize = 64;

/// An option for Stockade, which starts the program, and not for the program.
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

/// Whose word the answers of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    /// Its own: nothing of it was tried.
    OwnWord,
    /// That of the release which this program is of, since the program lies beside it.
    Release,
}

/// A program that may be started, and which file that is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) trust: Trust,
    /// What it gets of the variables of this program, beside those of every helper.
    pub(super) variables: Vec<&'static str>,
    /// The device, the number of the file, and when it was last changed.
    file: (u64, u64, i64, i64),
}

/// Why a program is not started, and what mends that.
type Wrong = (&'static str, String);

impl Program {
    /// The program of a backend, by the path that a request names or by its name.
    pub(super) fn of(name: BackendName, spec: &SandboxSpec) -> Result<Self, Wrong> {
        if let Some(released) = Released::of(name).filter(|_| !OPTION.is_some_in(spec)) {
            let path = released.find().ok_or_else(|| (released.missing, released.fix()))?;
            return Self::of_release(&path, released, &spec.workspace);
        }
        let path = match spec.backend_options.get(OPTION.0) {
            Some(path) => PathBuf::from(path),
            None => find(name).ok_or_else(|| {
                let fix = format!(
                    "put `{PREFIX}{name}` into a directory of `PATH`, or use `--backend-option program=/PATH`"
                );
                ("its program was not found", fix)
            })?,
        };
        Self::checked(&path, Some(&spec.workspace))
    }

    /// Checks a program of a release: it is trusted as far as `stockade` itself, beside which it lies. In a folder where others
    /// make files, such as `/tmp`, its owner has to be root, the user, or the owner of `stockade`.
    fn of_release(path: &Path, released: &Released, workspace: &Path) -> Result<Self, Wrong> {
        let (real, data) = started(path)?;
        let this = this_program().map_err(|_| missing(path))?;
        // Where `stockade` itself lies in the workspace, as below `node_modules`, the program beside it is no weaker.
        if outside(&this, Some(workspace)).is_ok() {
            outside(&real, Some(workspace))?;
        }
        let own = fs::metadata(&this).map_err(|_| missing(path))?;
        let user = rustix::process::geteuid().as_raw();
        if ![0, user, own.uid()].contains(&data.uid()) {
            return Err((
                "its program belongs to another user",
                format!("chown {} to yourself", real.display()),
            ));
        }
        if data.mode() & 0o022 & !own.mode() != 0 {
            return Err(("other users can write its program", format!("chmod go-w {}", real.display())));
        }
        let variables = released.variables().collect();
        Ok(Self { path: real, trust: Trust::Release, variables, file: file(&data) })
    }

    /// Checks a program: only its user and root may have written it, and no command in this workspace.
    pub(super) fn checked(path: &Path, workspace: Option<&Path>) -> Result<Self, Wrong> {
        if !path.is_absolute() {
            return Err((
                "the path of its program is not absolute",
                "use `--backend-option program=/PATH`".to_owned(),
            ));
        }
        let (real, own) = started(path)?;
        outside(&real, workspace)?;
        let user = rustix::process::geteuid().as_raw();
        for (place, at) in real.ancestors().enumerate() {
            let data = fs::metadata(at).map_err(|_| missing(path))?;
            // In a folder like /tmp, others cannot replace what is not theirs.
            let is_sticky = place > 0 && data.mode() & 0o1000 != 0;
            if data.uid() != 0 && data.uid() != user {
                return Err((
                    "its program belongs to another user",
                    format!("chown {} to yourself", at.display()),
                ));
            }
            if data.mode() & 0o022 != 0 && !is_sticky {
                return Err(("other users can write its program", format!("chmod go-w {}", at.display())));
            }
        }
        Ok(Self { path: real, trust: Trust::OwnWord, variables: Vec::new(), file: file(&own) })
    }
}

/// Returns the file that a path resolves to, if it can be started.
fn started(path: &Path) -> Result<(PathBuf, fs::Metadata), Wrong> {
    let real = fs::canonicalize(path).map_err(|_| missing(path))?;
    let data = fs::metadata(&real).map_err(|_| missing(path))?;
    if !data.is_file() || data.mode() & 0o111 == 0 {
        return Err(("its program is not an executable file", format!("chmod +x {}", real.display())));
    }
    Ok((real, data))
}

fn missing(path: &Path) -> Wrong {
    ("its program was not found", format!("check the path: `ls -l {}`", path.display()))
}

/// Checks that a program lies outside the workspace.
fn outside(real: &Path, workspace: Option<&Path>) -> Result<(), Wrong> {
    let inside = |folder: &Path| {
        let folder = fs::canonicalize(folder);
        folder.is_ok_and(|folder| real.starts_with(folder))
    };
    if workspace.is_some_and(inside) {
        let fix = "move it to a directory that commands cannot write".to_owned();
        return Err(("its program is in the workspace, where a command could have written it", fix));
    }
    Ok(())
}

fn file(data: &fs::Metadata) -> (u64, u64, i64, i64) {
    (data.dev(), data.ino(), data.ctime(), data.ctime_nsec())
}

/// Where programs of backends are looked for: the user's own folder, then the search path.
fn folders() -> Vec<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| env::home_dir().map(|home| home.join(".local/share")));
    let own = data.into_iter().map(|data| data.join("stockade/backends"));
    let path = env::var_os("PATH").unwrap_or_default();
    // A relative folder may be a workspace.
    own.chain(env::split_paths(&path)).filter(|folder| folder.is_absolute()).collect()
}

/// Where the program of a backend lies.
pub(super) fn find(name: BackendName) -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(format!("{PREFIX}{name}"))).find(|path| path.is_file())
}

/// Returns where the program of a backend lies that may be started, by what it is told and by its name.
#[must_use]
pub fn external_program(name: BackendName, options: &BTreeMap<String, String>) -> Option<PathBuf> {
    let found = || Released::of(name).map_or_else(|| find(name), Released::find);
    let path = options.get(OPTION.0).map(PathBuf::from).or_else(found)?;
    Program::checked(&path, None).ok().map(|program| program.path)
}

/// Returns the names of all backends whose programs are found and are of no release, in order.
#[must_use]
pub fn external_backends() -> Vec<BackendName> {
    let entries = folders().into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name();
        BackendName::new(name.to_str()?.strip_prefix(PREFIX)?)
    });
    let names = names.filter(|name| Released::of(*name).is_none());
    names.collect::<BTreeSet<_>>().into_iter().take(MAX_LISTED).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_program_writable_by_others_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stockade-backend-x");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        let mode = |at: &Path, mode: u32| fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
        let why = |workspace: Option<&Path>| Program::checked(&path, workspace).map_err(|wrong| wrong.0);
        mode(&path, 0o644);
        assert_eq!(why(None).unwrap_err(), "its program is not an executable file");
        mode(&path, 0o755);
        let first = why(None).unwrap();
        assert_eq!(
            why(Some(folder.path())).unwrap_err(),
            "its program is in the workspace, where a command could have written it"
        );
        for (at, open) in [(path.as_path(), 0o775), (path.as_path(), 0o757), (folder.path(), 0o777)] {
            let before = fs::metadata(at).unwrap().permissions();
            mode(at, open);
            assert_eq!(why(None).unwrap_err(), "other users can write its program", "{at:?} {open:o}");
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
            assert_eq!(why(None).unwrap_err(), "its program belongs to another user");
        }
    }
}
