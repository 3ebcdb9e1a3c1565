//! Lookup of CLIs and of the sources of their keys. No key is read.
#![expect(clippy::disallowed_methods, reason = "looks up programs, variables and logins")]

use std::env;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use stockade_exec_sandbox::handoff::find_program;
use stockade_exec_sandbox::{HomeState, MountAccess, SandboxSpec};

use crate::error::DriveError;
use crate::table::{DrivenCli, DrivenKey, KeySource};

/// Maximum size of a login file that is read to check its expiry.
const MAX_LOGIN: u64 = 1 << 20;

/// Returns the home directory with symlinks resolved.
pub(crate) fn home() -> PathBuf {
    let home = env::home_dir().unwrap_or_default();
    home.canonicalize().unwrap_or(home)
}

/// The program of a CLI, and its files.
#[derive(Debug)]
pub(crate) struct Program {
    /// The executable, with symlinks resolved.
    pub(crate) path: PathBuf,
    /// The package directory that contains it.
    packages: Option<PathBuf>,
    /// Its interpreter, if it is a script for Node.js.
    interpreter: Option<PathBuf>,
}

impl Program {
    /// Finds the program at the given path, or in `PATH`.
    pub(crate) fn find(cli: &DrivenCli, named: Option<&Path>) -> Result<Self, DriveError> {
        let found = match named {
            Some(path) if path.components().count() > 1 => Some(path.to_path_buf()),
            Some(name) => name.to_str().and_then(find_program),
            None if cli.is_generic() => {
                let fix = "use --program with a path or a name in PATH";
                return Err(DriveError::new("`generic` needs a program", fix));
            }
            None => find_program(cli.program),
        };
        let shown = named.map_or_else(|| cli.program.to_owned(), |path| path.display().to_string());
        let install = match cli.package {
            "" => "use another file with --program".to_owned(),
            package => {
                format!("install it, for example with `npm install -g {package}`, or use --program")
            }
        };
        let missing =
            |why: &str| DriveError::new(format!("`{}` {why}", shown.escape_debug()), install.clone());
        let found = found.ok_or_else(|| missing("is not in PATH"))?;
        let path = found.canonicalize().map_err(|error| missing(&format!("cannot be started: {error}")))?;
        let is_program =
            fs::metadata(&path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
        if !is_program {
            return Err(missing("is not an executable file"));
        }
        let interpreter = is_of_node(&path).then(|| find_program("node")).flatten();
        let interpreter = interpreter.and_then(|node| node.canonicalize().ok());
        Ok(Self { packages: packages_of(&path), path, interpreter })
    }

    /// Makes the program visible in the sandbox.
    pub(crate) fn show(&self, spec: &mut SandboxSpec) {
        let files =
            std::iter::once(&self.path).chain(&self.interpreter).filter(|path| !is_of_the_system(path));
        spec.home_state.extend(files.map(|path| HomeState {
            source: path.clone(),
            target: path.clone(),
            access: MountAccess::ReadOnly,
        }));
        spec.read_only.extend(self.packages.clone().filter(|path| !is_of_the_system(path)));
        // The interpreter is found by name, which may be that of a symlink in a hidden directory.
        if let Some(folder) = self.interpreter.as_deref().and_then(Path::parent) {
            let path = env::var_os("PATH").unwrap_or_default();
            let folders = std::iter::once(folder.to_path_buf())
                .chain(env::split_paths(&path).filter(|it| it.is_absolute()));
            if let Ok(path) = env::join_paths(folders) {
                spec.environment.set.push(("PATH".into(), path));
            }
        }
    }
}

/// Whether every command can see a path.
fn is_of_the_system(path: &Path) -> bool {
    path.starts_with("/usr")
}

/// Returns the outermost package directory of a file, which also contains its dependencies.
fn packages_of(path: &Path) -> Option<PathBuf> {
    let folders =
        path.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules"));
    folders.last().map(Path::to_path_buf)
}

/// Whether a file starts like a script for Node.js.
fn is_of_node(path: &Path) -> bool {
    let mut head = [0; 64];
    let read = fs::File::open(path).and_then(|mut file| file.read(&mut head)).unwrap_or_default();
    let line = head.get(..read).unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.starts_with("#!") && line.split([' ', '/']).any(|word| word == "node")
}

/// A key and its source.
#[derive(Debug)]
pub(crate) struct FoundKey {
    pub(crate) key: &'static DrivenKey,
    /// The source, in the syntax of a secret.
    pub(crate) source: String,
    /// The source, for users.
    pub(crate) shown: String,
}

/// Returns the key of a CLI: the given one, or the first that exists.
pub(crate) fn key(cli: &'static DrivenCli, named: Option<&str>, home: &Path) -> Result<FoundKey, DriveError> {
    if let Some(named) = named {
        return named_key(cli, named);
    }
    let mut over = None;
    for (key, source) in cli.keys.iter().flat_map(|key| key.sources.iter().map(move |source| (key, source))) {
        match source {
            KeySource::Variable(name) => {
                if env::var_os(name).is_some_and(|value| !value.is_empty()) {
                    let shown = format!("the variable {name}");
                    return Ok(FoundKey { key, source: format!("env:{name}"), shown });
                }
            }
            KeySource::Login { file, member, until } => {
                let path = home.join(file);
                match holds(&path, member, *until) {
                    Login::Holds => {
                        let text = path.to_string_lossy().replace('@', "%40");
                        let shown = format!("the login in ~/{file}");
                        return Ok(FoundKey { key, source: format!("json:{text}#{member}"), shown });
                    }
                    Login::IsOver => over = Some(*file),
                    Login::Missing => {}
                }
            }
        }
    }
    Err(missing(cli, over))
}

/// Parses `SOURCE`, or `VARIABLE=SOURCE` for another key than the first.
fn named_key(cli: &'static DrivenCli, named: &str) -> Result<FoundKey, DriveError> {
    let (variable, source) = match named.split_once('=') {
        Some((variable, source)) if !variable.contains(':') => (Some(variable), source),
        _ => (None, named),
    };
    let key = cli.keys.iter().find(|key| variable.is_none_or(|variable| key.variable == variable));
    let key = key.ok_or_else(|| {
        let names: Vec<_> = cli.keys.iter().map(|key| key.variable).collect();
        let why = format!("{} has no key with that name", cli.title);
        DriveError::new(why, format!("write one of {} before the `=`, or remove it", names.join(", ")))
    })?;
    let shown = source.split_once('#').map_or(source, |(file, _)| file);
    Ok(FoundKey { key, source: source.replace('@', "%40"), shown: format!("`{}`", shown.escape_debug()) })
}

/// Returns the error for a missing key, with its sources.
fn missing(cli: &DrivenCli, over: Option<&str>) -> DriveError {
    let first = cli.keys.first().map_or("", |key| key.variable);
    if let Some(file) = over {
        let why = format!("the login in ~/{file} has expired");
        return DriveError::new(
            why,
            format!("start `{}` once outside of the sandbox to renew it, or set {first}", cli.program),
        );
    }
    let sources: Vec<_> = cli.keys.iter().flat_map(DrivenKey::places).collect();
    let why = format!("no key for {}: neither {} exists", cli.title, sources.join(" nor "));
    DriveError::new(why, format!("set {first}, or use --key file:/PATH"))
}

/// State of a login.
#[derive(Debug, PartialEq, Eq)]
enum Login {
    Missing,
    IsOver,
    Holds,
}

/// Checks whether a file contains a login that has not expired.
fn holds(path: &Path, member: &str, until: Option<&str>) -> Login {
    let Ok(file) = fs::File::open(path) else { return Login::Missing };
    let mut text = zeroize::Zeroizing::new(String::new());
    if file.take(MAX_LOGIN).read_to_string(&mut text).is_err() {
        return Login::Missing;
    }
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let at = |members: &str| members.split('.').try_fold(&value, |value, name| value.get(name));
    if at(member).and_then(serde_json::Value::as_str).is_none_or(str::is_empty) {
        return Login::Missing;
    }
    let until = until.and_then(at).and_then(serde_json::Value::as_u64).map(Duration::from_millis);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    if until.is_some_and(|until| until <= now) { Login::IsOver } else { Login::Holds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs_lies_beside_it() {
        for (path, folder) in [
            ("/o/lib/node_modules/@a/b/cli.js", Some("/o/lib/node_modules")),
            ("/o/node_modules/a/node_modules/b/x", Some("/o/node_modules")),
            ("/usr/bin/x", None),
        ] {
            assert_eq!(packages_of(Path::new(path)), folder.map(PathBuf::from), "{path}");
        }
    }

    #[test]
    fn logins_hold_until_they_are_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login.json");
        let later =
            u64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis())
                .unwrap()
                + 60_000;
        assert_eq!(holds(&path, "a.b", None), Login::Missing);
        for (text, expected) in [
            (r#"{"a": {"b": "token", "until": 1}}"#.to_owned(), Login::IsOver),
            (format!(r#"{{"a": {{"b": "token", "until": {later}}}}}"#), Login::Holds),
            (r#"{"a": {"b": "token"}}"#.to_owned(), Login::Holds),
            (r#"{"a": {"b": ""}}"#.to_owned(), Login::Missing),
            (r#"{"a": {"b": null}}"#.to_owned(), Login::Missing),
            ("{".to_owned(), Login::Missing),
        ] {
            fs::write(&path, &text).unwrap();
            assert_eq!(holds(&path, "a.b", Some("a.until")), expected, "{text}");
        }
    }

    #[test]
    fn scripts_of_node_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cli");
        for (text, is_one) in [
            ("#!/usr/bin/env node\n", true),
            ("#!/usr/bin/env -S node --no-warnings=X\n", true),
            ("#!/usr/local/bin/node\n", true),
            ("#!/bin/sh\nnode\n", false),
            ("\x7fELF", false),
            ("", false),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(is_of_node(&path), is_one, "{text:?}");
        }
    }
}
