//! `cargo xtask static [NAME]`, which is also `cargo static`: a program as one file without shared libraries, at an address of its
//! own, which starts soonest, takes the least memory and runs on any machine of its kind.
//!
//! Messages of panics name source files. Those of dependencies are in a folder with the name of the user who builds, so paths get
//! other beginnings, and equal sources give equal programs wherever they are built.

use std::env;
use std::path::{Path, PathBuf};

use testkit::{Program, Stop, Workspace, nearest, no_more};

const USAGE: &str = "static [stockade|e2b|kubernetes]";

/// The programs that can be built: name, package and binary.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("stockade", "stockade-cli", "stockade"),
    ("e2b", "stockade-backends-remote", "stockade-backend-e2b"),
    ("kubernetes", "stockade-backends-remote", "stockade-backend-kubernetes"),
];

/// Separates flags in the variable of Cargo, so that paths may contain spaces.
const SEPARATOR: &str = "\u{1f}";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (name, rest) = arguments.split_first().map_or(("stockade", arguments), |(name, rest)| (name, rest));
    no_more(rest, USAGE)?;
    let Some((_, package, binary)) = PROGRAMS.iter().find(|(known, ..)| *known == name) else {
        let near = nearest(name, PROGRAMS.iter().map(|(known, ..)| *known));
        let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        return Err(Stop::usage(format!("there is no program `{name}`{near}; usage: cargo xtask {USAGE}")));
    };
    let cargo = Program::cargo()
        .args(["rustc", "--locked", "--release", "--package", package, "--bin", binary, "--"])
        .args(["-Ctarget-feature=+crt-static", "-Crelocation-model=static"])
        .without_env("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", flags(&workspace.root, &cargo_home()?))
        .folder(&workspace.root);
    match cargo.run_in_place() {
        Ok(Some(0)) => Ok(()),
        Ok(_) => Err(Stop::reported()),
        Err(error) => Err(Stop::failed(format!("cannot run cargo: {error}"))),
    }
}

/// Returns the flags for all crates: those of the user, and the beginnings of paths.
fn flags(root: &Path, home: &Path) -> String {
    let own = env::var("CARGO_ENCODED_RUSTFLAGS").ok().unwrap_or_else(|| {
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        flags.split_ascii_whitespace().collect::<Vec<_>>().join(SEPARATOR)
    });
    let remapped = [(home, "/cargo"), (root, "/stockade")]
        .map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    let all = Some(own).filter(|own| !own.is_empty()).into_iter().chain(remapped);
    all.collect::<Vec<_>>().join(SEPARATOR)
}

pub(crate) fn cargo_home() -> Result<PathBuf, Stop> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("CARGO_HOME")
        .or_else(|| Some(named("HOME")?.join(".cargo")))
        .ok_or_else(|| Stop::failed("cannot find the folder of Cargo: HOME is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_get_other_beginnings() {
        let flags = flags(Path::new("/src/stock ade"), Path::new("/home/me/.cargo"));
        let last: Vec<&str> = flags.rsplit(SEPARATOR).take(2).collect();
        assert_eq!(
            last,
            ["--remap-path-prefix=/src/stock ade=/stockade", "--remap-path-prefix=/home/me/.cargo=/cargo"]
        );
    }
}
