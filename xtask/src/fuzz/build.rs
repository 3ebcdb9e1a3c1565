//! Builds fuzz targets with the instrumentation that libFuzzer reads.

use std::path::PathBuf;

use crate::checks::{Check, Verdict, verdict_of};
use testkit::{Program, Workspace};

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

/// Returns the check that the targets of a package build; those of every package when none is named.
pub(super) fn check(workspace: &Workspace, package: Option<&str>) -> Check {
    let name = package.map_or("every target builds".to_owned(), |package| format!("build {package}"));
    let program = program(workspace, package);
    Check::new(super::GROUP, name, move |echo| match crate::setup::lacking(super::GROUP) {
        Some(reason) => Verdict::cannot(reason),
        None => verdict_of(&program, echo),
    })
}

/// Cargo, building targets.
fn program(workspace: &Workspace, package: Option<&str>) -> Program {
    // The flags apply to the named platform only, and so not to build scripts and procedural macros.
    let build = workspace.cargo().args(["build", "--release", "--bins", "--target", &host()]);
    let build = match package {
        Some(package) => build.args(["--package", package]),
        None => build.arg("--workspace"),
    };
    build
        .args(["--manifest-path", super::MANIFEST])
        .arg("--target-dir")
        .arg(target_folder(workspace))
        .env("RUSTFLAGS", RUSTFLAGS.join(" "))
        .without_env("CARGO_ENCODED_RUSTFLAGS")
}

/// A target's program. No two targets have the same name.
pub(super) fn binary(workspace: &Workspace, target: &str) -> PathBuf {
    target_folder(workspace).join(host()).join("release").join(target)
}

/// Apart from everything else: the flags are others.
fn target_folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("fuzz")
}

/// The platform that the compiler builds for by default.
pub(crate) fn host() -> String {
    let version = Program::new("rustc").arg("-vV").read().unwrap_or_default();
    version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or("x86_64-unknown-linux-gnu")
        .to_owned()
}
