//! Packages for containers that a test makes, signs and runs by the command that people have for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// The well-known first key of wallets for tests.
const KEY: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const ADDRESS: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// What every package holds, and the image starts.
pub(crate) const MAIN: &str = "echo hello-from-sandbox\n";

/// A key of this machine that no package is to see.
pub(crate) const SECRET: &str = "hunter2";

/// What makes the containers.
pub(crate) trait Engine {
    /// The image, by its digest.
    fn image(&self) -> &str;

    /// The options that select it for the command that runs a package.
    fn options(&self) -> &'static [&'static str];

    /// The variable by which it is found.
    fn variable(&self) -> (&'static str, String);
}

/// An engine, the program under test, and a folder for packages and records.
pub(crate) struct Packages<'e, E> {
    pub(crate) engine: &'e E,
    stockade: PathBuf,
    pub(crate) folder: TempDir,
}

impl<'e, E: Engine> Packages<'e, E> {
    pub(crate) fn new(engine: &'e E, stockade: &Path) -> Self {
        Self { engine, stockade: stockade.to_path_buf(), folder: tempfile::tempdir().unwrap() }
    }

    /// Makes a package with these bounds, and signs it.
    pub(crate) fn package(&self, name: &str, sandbox: &Value) -> PathBuf {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("main.sh"), MAIN).unwrap();
        let mut manifest = json!({
            "version": "1",
            "name": "demo",
            "publisher": { "name": "Demo", "address": ADDRESS, "contact": "demo@example.com" },
            "permissions": { "txActions": [], "chains": [1], "networkAccess": false, "filesystemAccess": false },
            "sandbox": sandbox,
            "files": [{ "path": "main.sh", "sha256": hex(&Sha256::digest(MAIN)) }],
            "signature": format!("0x{}", "00".repeat(65)),
        });
        fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
        let checked = self.stockade(&["container", "check", "--format", "json", folder.to_str().unwrap()]);
        let hash = document(&checked)["manifestHash"].as_str().unwrap_or_default().to_owned();
        let key = SigningKey::from_slice(&bytes(KEY)).unwrap();
        let (signature, v) =
            key.sign_prehash_recoverable(&bytes(hash.strip_prefix("0x").unwrap_or_default()));
        manifest["signature"] = json!(format!("0x{}{:02x}", hex(&signature.to_bytes()), 27 + v.to_byte()));
        fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
        folder
    }

    pub(crate) fn trail(&self) -> PathBuf {
        self.folder.path().join("trail.db")
    }

    pub(crate) fn stockade(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.stockade);
        command.args(words).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let (name, value) = self.engine.variable();
        command.env("HOME", self.folder.path()).env(name, value);
        for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK"] {
            command.env(name, SECRET);
        }
        command.env("HTTPS_PROXY", format!("http://user:{SECRET}@proxy.example")).stdin(Stdio::null());
        command
    }

    /// How a package is run.
    pub(crate) fn ready(&self, package: &Path, options: &[&str], words: &[&str]) -> Command {
        let audit = format!("--audit={}", self.trail().display());
        let head = ["container", "run", package.to_str().unwrap(), "--image", self.engine.image(), &audit];
        let options = [self.engine.options(), options].concat();
        let separator: &[&str] = if words.is_empty() { &[] } else { &["--"] };
        self.command(&[&head[..], &options, separator, words].concat())
    }

    /// Runs a package, and returns the document of how that went.
    pub(crate) fn run(&self, package: &Path, options: &[&str], words: &[&str]) -> Value {
        document(&self.ready(package, &[&["--format", "json"], options].concat(), words).output().unwrap())
    }

    /// The same, of an image of another name.
    pub(crate) fn run_of_image(&self, package: &Path, image: &str) -> Value {
        let audit = format!("--audit={}", self.trail().display());
        let head =
            ["container", "run", package.to_str().unwrap(), "--format", "json", "--image", image, &audit];
        document(&self.stockade(&[&head[..], &["--", "/probe", "marker"]].concat()))
    }

    /// The records of all runs, the newest first.
    pub(crate) fn records(&self) -> Vec<Value> {
        let trail = self.trail();
        let said = self.stockade(&[
            "audit",
            "query",
            "--format",
            "json",
            "--limit",
            "1000",
            "--file",
            trail.to_str().unwrap(),
        ]);
        document(&said)["events"].as_array().cloned().unwrap_or_default()
    }
}

pub(crate) fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"))
}

pub(crate) fn printed(document: &Value) -> &str {
    document["stdout"]["text"].as_str().unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(pair).collect()
}
