//! Podman with everything in a folder of its own. It needs no daemon, and takes a runtime that knows every kind of control groups.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::daemon::archive;
use super::packages::Engine;

/// The variable that says where everything is.
pub(crate) const STORAGE: &str = "CONTAINERS_STORAGE_CONF";

/// A Podman with an image, in a folder that goes with the test.
pub(crate) struct Podman {
    folder: TempDir,
    /// The image, by its digest.
    pub(crate) image: String,
}

impl Podman {
    /// Imports an image, or prints why that is not possible.
    pub(crate) fn start() -> Option<Self> {
        Self::try_to_start().map_err(|why| println!("skipped: {why}")).ok()
    }

    fn try_to_start() -> Result<Self, String> {
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if !rustix::process::geteuid().is_root() || !has("podman") || !has("runc") {
            return Err(
                "there is no podman with runc for root on this machine: run `cargo xtask setup`".to_owned()
            );
        }
        let mut podman = Self { folder: tempfile::tempdir().unwrap(), image: String::new() };
        let store = podman.folder.path().join("store");
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = \"{0}/g\"\nrunroot = \"{0}/r\"\n",
            store.display()
        );
        fs::write(podman.storage(), storage).unwrap();
        let file = podman.folder.path().join("image.tar");
        archive(&file)?;
        // The volume is filled in the image.
        let changes = ["import", "--change", "VOLUME /filled", "--change", r#"CMD ["/bin/sh","main.sh"]"#];
        let imported = podman.ask(&[&changes[..], &[file.to_str().unwrap()]].concat());
        let said = String::from_utf8_lossy(&imported.stdout).into_owned();
        let image = said.lines().last().map(|line| line.trim().to_owned());
        podman.image = image.ok_or_else(|| format!("podman imports no image here: {imported:?}"))?;
        Ok(podman)
    }

    /// The file that says where everything is.
    pub(crate) fn storage(&self) -> PathBuf {
        self.folder.path().join("storage.conf")
    }

    pub(crate) fn ask(&self, words: &[&str]) -> Output {
        let mut podman = Command::new("podman");
        podman.args(words).env(STORAGE, self.storage()).env("HOME", self.folder.path());
        podman.stdin(Stdio::null()).output().unwrap()
    }
}

impl Engine for Podman {
    fn image(&self) -> &str {
        &self.image
    }

    fn options(&self) -> &'static [&'static str] {
        &["--backend", "podman", "--runtime", "runc"]
    }

    fn variable(&self) -> (&'static str, String) {
        (STORAGE, self.storage().display().to_string())
    }
}

/// Why a run did not begin, where the machine is to blame.
pub(crate) fn why_not(ran: &Value) -> Option<String> {
    (ran["end"] == "failed").then(|| format!("podman runs no container here: {ran}"))
}
