//! What the tests of the binary share.
#![expect(clippy::disallowed_methods, reason = "copies files, runs the binary, reads PATH")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The binary under test.
pub(crate) const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");

/// Makes sure that the programs of remote backends lie beside the binary under test. Tests of the whole workspace have built them;
/// tests of this crate alone have not.
#[cfg(target_os = "linux")]
pub(crate) fn build_remote_backends() {
    static BUILT: std::sync::Once = std::sync::Once::new();
    BUILT.call_once(|| {
        let beside = Path::new(STOCKADE).parent().unwrap();
        let sources = ["backends-remote", "exec-sandbox"]
            .map(|name| repository().join("crates").join(name).join("src"));
        let newest = sources.iter().filter_map(|folder| newest_in(folder)).max();
        let is_fresh = |name: &str| modified(&beside.join(name)) >= newest;
        if ["stockade-backend-e2b", "stockade-backend-kubernetes"].into_iter().all(is_fresh) {
            return;
        }
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--quiet", "--package", "stockade-backends-remote", "--bins"])
            .current_dir(repository());
        build.arg("--target-dir").arg(beside.parent().unwrap());
        if beside.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the programs of remote backends do not build");
    });
}

#[cfg(target_os = "linux")]
fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

#[cfg(target_os = "linux")]
fn newest_in(folder: &Path) -> Option<std::time::SystemTime> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter_map(|path| if path.is_dir() { newest_in(&path) } else { modified(&path) }).max()
}

/// The folder of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `PATH` with the binary under test in front.
pub(crate) fn path_with_stockade() -> OsString {
    let mut paths = vec![Path::new(STOCKADE).parent().unwrap().to_path_buf()];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    std::env::join_paths(paths).unwrap()
}

/// Copies a folder of plain files.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// A run without a terminal, without input and with an empty environment.
pub(crate) fn stockade(args: &[&str], folder: &Path) -> Output {
    Command::new(STOCKADE).args(args).current_dir(folder).env_clear().stdin(Stdio::null()).output().unwrap()
}
