//! Programs that download the package of an MCP server and start it: `npx` and `uvx`.
//!
//! In a sandbox without a network they cannot, so `stockade install --mcp` installs the package once, outside of the sandbox and
//! without its scripts. The wrapper then starts the program of that package, which it shows read-only.
#![expect(clippy::disallowed_methods, reason = "looks for the program of an installed package")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// How packages of a launcher are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum PackageKind {
    Npm,
    Python,
}

/// A program that downloads a package and runs it.
#[derive(Debug)]
struct Launcher {
    program: &'static str,
    kind: PackageKind,
    /// Options with a value before the package.
    valued: &'static [&'static str],
    /// Options that name the package; the program of the package follows.
    naming: &'static [&'static str],
}

const LAUNCHERS: &[Launcher] = &[
    Launcher {
        program: "npx",
        kind: PackageKind::Npm,
        valued: &["-w", "--workspace"],
        naming: &["-p", "--package"],
    },
    Launcher {
        program: "uvx",
        kind: PackageKind::Python,
        valued: &["-p", "--python", "--index-url", "--index"],
        naming: &["--from"],
    },
];

/// What a launcher was asked to start.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) struct Launched {
    pub(in crate::commands) kind: PackageKind,
    /// The package, with its version if one was asked for.
    pub(in crate::commands) package: String,
    /// The program of the package, if it was named.
    program: Option<String>,
    /// The arguments of the program.
    arguments: Vec<String>,
}

/// Returns what a launcher was asked to start; nothing for other programs, and for options that this table does not have.
pub(in crate::commands) fn launched(command: &str, args: &[String]) -> Option<Launched> {
    let name = Path::new(command).file_name()?.to_str()?;
    let launcher = LAUNCHERS.iter().find(|launcher| launcher.program == name)?;
    let (kind, mut package, mut args) = (launcher.kind, None, args.iter());
    while let Some(arg) = args.next() {
        let (option, value) =
            arg.split_once('=').map_or((arg.as_str(), None), |(option, value)| (option, Some(value)));
        if launcher.naming.contains(&option) {
            let value = value.map(str::to_owned).or_else(|| args.next().cloned());
            // Several packages are not one server.
            if package.replace(value?).is_some() {
                return None;
            }
        } else if launcher.valued.contains(&option) {
            if value.is_none() {
                args.next()?;
            }
        } else if !arg.starts_with('-') {
            let arguments = args.cloned().collect();
            let (package, program) = match package {
                Some(package) => (package, Some(arg.clone())),
                None => (arg.clone(), None),
            };
            return Some(Launched { kind, package: of_registry(kind, &package)?, program, arguments });
        } else if !["-y", "--yes", "-q", "--quiet", "--"].contains(&arg.as_str()) {
            return None;
        }
    }
    None
}

/// Returns a package as its manager installs it, if it comes from a registry. A URL, a repository or a directory may be built, which
/// runs its code outside of the sandbox: the settings of a project can name any.
fn of_registry(kind: PackageKind, package: &str) -> Option<String> {
    let is_plain = |text: &str, others: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    match kind {
        PackageKind::Npm => {
            let (scope, name) = match package.strip_prefix('@') {
                Some(scoped) => scoped.split_once('/').map(|(scope, name)| (Some(scope), name))?,
                None => (None, package),
            };
            let (name, version) = name.split_once('@').unwrap_or((name, "latest"));
            let is_one = is_plain(name, "-._") && scope.is_none_or(|scope| is_plain(scope, "-._"));
            (is_one && is_plain(version.trim_start_matches(['^', '~', '=']), "-.+"))
                .then(|| package.to_owned())
        }
        PackageKind::Python => {
            // uvx writes versions as `name@1.0`, which pip reads as a URL.
            let (name, version) = package.split_once('@').unwrap_or((package, "latest"));
            let is_one = is_plain(name, "-._[],=<>~!") && is_plain(version, ".+!-");
            let pinned = || if version == "latest" { name.to_owned() } else { format!("{name}=={version}") };
            is_one.then(pinned)
        }
    }
}

impl Launched {
    /// Returns the command of the package that was installed in a directory.
    pub(in crate::commands) fn command(&self, folder: &Path) -> Result<Vec<OsString>, String> {
        let program = match self.kind {
            PackageKind::Npm => self.npm_program(folder)?,
            PackageKind::Python => {
                let name = self.program.as_deref().unwrap_or_else(|| python_name(&self.package));
                folder.join("bin").join(plain(name)?)
            }
        };
        if !program.is_file() {
            return Err(format!(
                "{} is not there; install it again: stockade install AGENT --mcp",
                program.display()
            ));
        }
        Ok([program.into_os_string()].into_iter().chain(self.arguments.iter().map(OsString::from)).collect())
    }

    /// Chooses the program as `npx` does: the named one, the only one, or the one that is named like the package.
    fn npm_program(&self, folder: &Path) -> Result<PathBuf, String> {
        let modules = folder.join("node_modules");
        let bin = modules.join(".bin");
        if let Some(name) = &self.program {
            return Ok(bin.join(plain(name)?));
        }
        let own = read(&folder.join("package.json"))?;
        let own = own.get("dependencies").and_then(Value::as_object);
        let package = own.and_then(|own| own.keys().next()).ok_or("no package is installed there")?;
        let manifest = read(&modules.join(package).join("package.json"))?;
        let short = package.rsplit('/').next().unwrap_or(package);
        let name = match manifest.get("bin") {
            Some(Value::Object(bins)) if bins.len() == 1 => {
                bins.keys().next().map(String::as_str).unwrap_or(short)
            }
            _ => short,
        };
        Ok(bin.join(plain(name)?))
    }
}

/// Refuses a name that is a path.
fn plain(name: &str) -> Result<&str, String> {
    match name.contains('/') || name.starts_with('.') || name.is_empty() {
        true => Err(format!("`{}` is not the name of a program", stockade_text::escape(name))),
        false => Ok(name),
    }
}

/// Returns the name of a Python package without its version and extras.
fn python_name(package: &str) -> &str {
    package.split(['@', '=', '<', '>', '~', '[', '!', ' ']).next().unwrap_or(package)
}

fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<(String, Option<String>, String)> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let found = launched(&words[0], &words[1..])?;
        Some((found.package, found.program, found.arguments.join(" ")))
    }

    #[test]
    fn the_package_and_its_arguments_are_found() {
        let row = |package: &str, program: Option<&str>, arguments: &str| {
            Some((package.to_owned(), program.map(str::to_owned), arguments.to_owned()))
        };
        for (line, found) in [
            ("npx -y @a/server . --x", row("@a/server", None, ". --x")),
            ("/usr/bin/npx --package=@a/x@1 x -y", row("@a/x@1", Some("x"), "-y")),
            ("npx -p @a/x x", row("@a/x", Some("x"), "")),
            ("uvx --python 3.12 mcp-server-git --r .", row("mcp-server-git", None, "--r .")),
            ("uvx x@1.2 a", row("x==1.2", None, "a")),
            ("uvx x@latest", row("x", None, "")),
            ("uvx --from x[cli]==1.2 y", row("x[cli]==1.2", Some("y"), "")),
            // Code of these would run outside of the sandbox.
            ("uvx --from git+https://x.example/y y", None),
            ("uvx --from ./x y", None),
            ("uvx x@https://x.example/y.zip", None),
            ("npx github:a/b", None),
            ("npx a/b", None),
            ("npx ./server", None),
            ("npx -p file:../x x", None),
            ("npx x@https://x.example/y.tgz", None),
            ("npx x@npm:y", None),
            ("npx -y", None),
            ("npx -p a -p b c", None),
            ("npx -c id", None),
            ("uvx --with requests x", None),
            ("node server.js", None),
        ] {
            assert_eq!(of(line), found, "{line}");
        }
        assert_eq!(python_name("mcp-server-git[x]==1.0"), "mcp-server-git");
    }

    #[test]
    fn the_program_is_the_one_that_the_launcher_would_start() {
        let folder = tempfile::tempdir().unwrap();
        let modules = folder.path().join("node_modules");
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let command = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            launched(&words[0], &words[1..]).unwrap().command(folder.path())
        };
        assert!(command("npx @a/server").is_err());
        write(folder.path().join("package.json"), r#"{"dependencies": {"@a/server": "1"}}"#);
        write(modules.join("@a/server/package.json"), r#"{"bin": {"other": "x.js"}}"#);
        assert!(command("npx @a/server").unwrap_err().contains("install it again"));
        write(modules.join(".bin/other"), "");
        let words = command("npx @a/server a b").unwrap();
        assert_eq!(words, [modules.join(".bin/other").into_os_string(), "a".into(), "b".into()]);
        assert!(command("npx -p @a/server ../../x").unwrap_err().contains("not the name of a program"));
        write(folder.path().join("bin/mcp-server-git"), "");
        assert!(command("uvx mcp-server-git@1.0").is_ok());
    }
}
