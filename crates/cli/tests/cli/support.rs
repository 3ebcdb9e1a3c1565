//! What the tests of the binary share.
#![expect(clippy::disallowed_methods, reason = "copies files, runs the binary, reads PATH")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The binary under test.
pub(crate) const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");

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
