//! Packages on a disk: acceptance, rejection, and that the checked bytes are the ones that are handed on.
#![expect(clippy::disallowed_methods, reason = "lays out packages, and changes them")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stockade_admission::container::{
    PackageError, PackageOptions, PackageReport, check_package, parse_manifest,
};
use stockade_admission::scanner::Scanner;
use tempfile::TempDir;

use crate::support::{ATTACK, folder};

const MAIN: &str = "console.log('hi');\n";
/// The well-known first test key of wallets.
const KEY: [u8; 32] = [
    0xac, 0x09, 0x74, 0xbe, 0xc3, 0x9a, 0x17, 0xe3, 0x6b, 0xa4, 0xa6, 0xb4, 0xd2, 0x38, 0xff, 0x94, 0x4b,
    0xac, 0xb4, 0x78, 0xcb, 0xed, 0x5e, 0xfc, 0xae, 0x78, 0x4d, 0x7b, 0xf4, 0xf2, 0xff, 0x80,
];
const ADDRESS: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A manifest of these files, signed.
pub(crate) fn manifest(files: &[(&str, &str)]) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|(path, text)| json!({ "path": path, "sha256": hex(&Sha256::digest(text.as_bytes())) }))
        .collect();
    let mut manifest = json!({
        "version": "1",
        "name": "demo",
        "publisher": { "name": "Demo", "address": ADDRESS, "contact": "demo@example.com" },
        "permissions": { "txActions": [], "chains": [1], "networkAccess": false, "filesystemAccess": false },
        "sandbox": { "memoryMb": 64, "timeoutMs": 10000, "allowSpawn": true },
        "files": files,
        "signature": format!("0x{}", "00".repeat(65)),
    });
    let hash = parse_manifest(&manifest.to_string()).unwrap().hash().to_string();
    let bytes: Vec<u8> =
        (2..66).step_by(2).map(|at| u8::from_str_radix(hash.get(at..at + 2).unwrap(), 16).unwrap()).collect();
    let (signature, v) = SigningKey::from_slice(&KEY).unwrap().sign_prehash_recoverable(&bytes);
    manifest["signature"] = json!(format!("0x{}{:02x}", hex(&signature.to_bytes()), 27 + v.to_byte()));
    manifest
}

/// A directory with these files, and a manifest that lists them.
fn package(files: &[(&str, &str)]) -> TempDir {
    let bytes: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let package = folder(&bytes);
    fs::write(package.path().join("manifest.json"), manifest(files).to_string()).unwrap();
    package
}

fn check(package: &Path) -> PackageReport {
    check_package(package, Scanner::builtin(), &PackageOptions::default()).unwrap()
}

/// The problems as `PATH: MESSAGE`.
fn problems(package: &Path) -> Vec<String> {
    let report = check(package);
    assert_eq!(report.passed(), report.package.problems.is_empty(), "{report:?}");
    assert_eq!(report.verified().is_some(), report.passed());
    report.package.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

const TWO: &[(&str, &str)] = &[("index.js", MAIN), ("lib/deep/util.js", "export {};\n")];

#[test]
fn no_file_name_has_invisible_characters() {
    for (path, seen) in [("a.js", true), ("žluť.js", true), ("a\u{202e}b", false), ("a\u{200b}", false)] {
        let mut manifest = manifest(&[("a", MAIN)]);
        manifest["files"][0]["path"] = json!(path);
        let problems = parse_manifest(&manifest.to_string()).err().map(|error| error.problems);
        let hidden =
            problems.iter().flatten().any(|problem| problem.message.contains("invisible characters"));
        assert_eq!(hidden, !seen, "{path:?}");
        assert_eq!(problems.is_none(), seen, "{path:?}");
    }
}

#[test]
fn a_package_as_it_was_signed_passes() {
    let package = package(TWO);
    assert!(problems(package.path()).is_empty());
    assert_eq!(check(package.path()).package.signer.unwrap().to_string(), ADDRESS.to_lowercase());
}

/// A manipulation of a package, and the expected problems. A path ends before a `: `.
type Tampering = (&'static str, fn(&Path), &'static [&'static str]);

const TAMPERINGS: &[Tampering] = &[
    (
        "one of two files changes",
        |package| fs::write(package.join("index.js"), "evil()").unwrap(),
        &["index.js: its SHA-256 is "],
    ),
    (
        "a file is missing",
        |package| fs::remove_file(package.join("index.js")).unwrap(),
        &["index.js: it is missing"],
    ),
    (
        "a folder is missing",
        |package| fs::remove_dir_all(package.join("lib")).unwrap(),
        &["lib/deep/util.js: it is missing"],
    ),
    (
        "a file too many",
        |package| fs::write(package.join("lib/.hidden"), "").unwrap(),
        &["lib/.hidden: the manifest does not list it"],
    ),
    (
        "a folder too many, never entered",
        |package| fs::create_dir_all(package.join("node_modules/a/b")).unwrap(),
        &["node_modules: the manifest lists no file in this directory"],
    ),
    (
        "a link to a file with the same text",
        |package| {
            fs::rename(package.join("index.js"), package.join("lib/deep/index.js")).unwrap();
            symlink("lib/deep/index.js", package.join("index.js")).unwrap();
        },
        &["index.js: it is a symlink", "lib/deep/index.js: the manifest does not list it"],
    ),
    (
        "a link out of the package instead of a folder",
        |package| {
            fs::remove_dir_all(package.join("lib")).unwrap();
            symlink("/tmp", package.join("lib")).unwrap();
        },
        &["lib: it is a symlink", "lib/deep/util.js: it is missing"],
    ),
    (
        "a pipe instead of a file",
        |package| {
            fs::remove_file(package.join("index.js")).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, package.join("index.js"), kind, mode, 0).unwrap();
        },
        &["index.js: it is a pipe, socket or device"],
    ),
    (
        "a folder instead of a file",
        |package| {
            fs::remove_file(package.join("index.js")).unwrap();
            fs::create_dir(package.join("index.js")).unwrap();
        },
        &["index.js: the manifest lists no file in this directory"],
    ),
    (
        "the manifest is a link",
        |package| {
            fs::rename(package.join("manifest.json"), package.join("lib/deep/m")).unwrap();
            symlink("lib/deep/m", package.join("manifest.json")).unwrap();
        },
        &["lib/deep/m: the manifest does not list it", "manifest.json: it is a symlink"],
    ),
];

#[test]
fn tampering_is_seen_and_named() {
    for (what, tamper, wanted) in TAMPERINGS {
        let package = package(TWO);
        tamper(package.path());
        let found = problems(package.path());
        assert_eq!(found.len(), wanted.len(), "{what}: {found:?}");
        for (found, wanted) in found.iter().zip(*wanted) {
            assert!(found.starts_with(wanted), "{what}: {found}");
        }
    }
}

/// Runs a test as an ordinary user, since root reads every file.
fn as_ordinary_user(test: &str) {
    const ORDINARY_USER: u32 = 65_534;
    // Through its path, the program might be in a directory that only root can enter.
    let mut program = Command::new("/proc/self/exe");
    let run = program
        .args(["--exact", test])
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn an_unreadable_file_does_not_pass() {
    if rustix::process::geteuid().is_root() {
        return as_ordinary_user("container::an_unreadable_file_does_not_pass");
    }
    let package = package(TWO);
    fs::set_permissions(package.path().join("index.js"), fs::Permissions::from_mode(0o0)).unwrap();
    assert_eq!(problems(package.path()), ["index.js: could not be read: permission denied"]);
}

#[test]
fn a_changed_manifest_is_not_the_publishers() {
    let package = package(TWO);
    let mut changed = manifest(TWO);
    changed["sandbox"]["memoryMb"] = json!(512);
    fs::write(package.path().join("manifest.json"), changed.to_string()).unwrap();
    let report = check(package.path());
    assert!(report.package.signer.is_err() && report.package.problems.is_empty());
    assert!(!report.passed() && report.verified().is_none());
}

#[test]
fn what_attacks_does_not_pass_even_signed() {
    let package = package(&[("README.md", ATTACK)]);
    let report = check(package.path());
    assert!(report.package.signer.is_ok() && report.package.problems.is_empty());
    assert!(!report.passed(), "{:?}", report.findings);
    assert_eq!((report.findings[0].path.as_str(), report.findings[0].line), ("README.md", 1));
}

#[test]
fn the_copy_is_what_was_checked_whatever_lies_there_now() {
    let package = package(TWO);
    let report = check(package.path());
    let verified = report.verified().unwrap();
    fs::write(package.path().join("index.js"), "evil()").unwrap();
    let target = folder(&[]);
    let copy = target.path().join("copy");
    verified.write_to(&copy).unwrap();
    for (path, text) in TWO {
        assert_eq!(fs::read_to_string(copy.join(path)).unwrap(), *text);
        assert_eq!(fs::metadata(copy.join(path)).unwrap().permissions().mode() & 0o222, 0);
    }
    assert!(!copy.join("manifest.json").exists());
    assert!(verified.write_to(&copy).is_err(), "never into a folder that is there");
}

#[test]
fn sizes_are_bounded() {
    let large = "x".repeat(600);
    let package = package(&[("a", &large), ("b", &large)]);
    let check = |max_bytes, max_entries| {
        let options = PackageOptions { max_bytes, max_entries };
        let report = check_package(package.path(), Scanner::builtin(), &options).unwrap();
        assert_eq!(report.passed(), report.package.problems.is_empty());
        report.package.problems.into_iter().map(|problem| problem.path).collect::<Vec<_>>()
    };
    assert!(check(1200, 3).is_empty());
    assert_eq!(check(1199, 3), ["b"]);
    assert_eq!(check(599, 3), ["a", "b"]);
    assert_eq!(check(1200, 2), ["", "a", "b"]);
}

#[test]
fn what_is_no_package_is_an_error() {
    let none = folder(&[("index.js", MAIN.as_bytes())]);
    let no_manifest = folder(&[("manifest.json", b"{}")]);
    let no_text = folder(&[("manifest.json", b"{\"name\": \"\xff\"}")]);
    let run = |path: &Path| check_package(path, Scanner::builtin(), &PackageOptions::default()).unwrap_err();
    for path in [none.path(), &none.path().join("index.js"), Path::new("/no/such/folder"), no_text.path()] {
        assert!(matches!(run(path), PackageError::Unreadable { .. }), "{path:?}");
    }
    assert!(matches!(run(no_manifest.path()), PackageError::Manifest(_)));
}
