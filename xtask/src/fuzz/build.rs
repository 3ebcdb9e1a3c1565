//! Builds fuzz targets with the instrumentation that libFuzzer reads.

use std::path::PathBuf;

use crate::check::{Check, Verdict, verdict_of};
use crate::program::Program;
use crate::workspace::Workspace;

/// What each compiled crate gets. Level 4 with counters and a PC table is how libFuzzer sees coverage; traced
/// comparisons let it solve `if x == MAGIC`. The pass is part of LLVM, so the stable compiler has it.
const RUSTFLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg",
    "fuzzing",
    "-Cdebug-assertions",
];

/// Returns the check that the targets of one fuzz workspace build.
pub(super) fn check(workspace: &Workspace, folder: &str) -> Check {
    let program = program(workspace, folder);
    let moves: Vec<(PathBuf, PathBuf)> = super::targets(workspace, folder)
        .into_iter()
        .map(|target| (built(workspace, &target), binary(workspace, folder, &target)))
        .collect();
    Check::new(super::GROUP, format!("build {folder}"), move |echo| {
        if let Some(reason) = crate::setup::lacking(super::GROUP) {
            return Verdict::cannot(reason);
        }
        match verdict_of(&program, echo) {
            Verdict::Passed { .. } => keep(&moves),
            other => other,
        }
    })
}

/// Copies what was built to a folder of its crate: targets of two crates may have the same name.
fn keep(moves: &[(PathBuf, PathBuf)]) -> Verdict {
    for (from, to) in moves {
        let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = made.and_then(|()| std::fs::copy(from, to)) {
            let reason =
                format!("{} did not build: {error}; is it a [[bin]] of the manifest?", from.display());
            return Verdict::failed(reason);
        }
    }
    Verdict::passed()
}

/// Cargo, building every target of a fuzz workspace.
pub(super) fn program(workspace: &Workspace, folder: &str) -> Program {
    // The flags apply to the named platform only, and so not to build scripts and procedural macros.
    let build = workspace.cargo().args(["build", "--release", "--bins", "--target", &host()]);
    build
        .args(["--manifest-path", &format!("{folder}/Cargo.toml")])
        .arg("--target-dir")
        .arg(target_folder(workspace))
        .env("RUSTFLAGS", RUSTFLAGS.join(" "))
        .without_env("CARGO_ENCODED_RUSTFLAGS")
}

/// Where a target's program is kept.
pub(super) fn binary(workspace: &Workspace, folder: &str, target: &str) -> PathBuf {
    target_folder(workspace).join(folder).join(target)
}

/// Where cargo puts a target's program.
pub(super) fn built(workspace: &Workspace, target: &str) -> PathBuf {
    target_folder(workspace).join(host()).join("release").join(target)
}

/// One folder for every fuzz workspace, so that libFuzzer is built once.
fn target_folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("fuzz")
}

/// The platform that the compiler builds for by default.
fn host() -> String {
    let version = Program::new("rustc").arg("-vV").read().unwrap_or_default();
    version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or("x86_64-unknown-linux-gnu")
        .to_owned()
}
