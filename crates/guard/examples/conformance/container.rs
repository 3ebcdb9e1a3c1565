//! `iscl-manifest.json`: manifests of packages for containers, and what becomes of the packages.

use std::fs;
use std::path::Path;

use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stockade_guard::container::{PackageOptions, PackageReport, check_package, parse_manifest};
use stockade_guard::scanner::Scanner;

type Checked = Result<(), String>;

/// One row: whether a manifest is valid, or what is said of a package in the words of its `case`.
pub(super) fn row(row: &Value) -> Option<Checked> {
    let valid = row.get("valid")?.as_bool()?;
    if let Some(case) = row.get("case").and_then(Value::as_str) {
        return Some(package_row(case));
    }
    let text = match (row.get("generated"), row.get("manifest_text").and_then(Value::as_str)) {
        (Some(_), _) => format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        (None, Some(text)) => text.to_owned(),
        (None, None) => row.get("manifest")?.to_string(),
    };
    Some(match (parse_manifest(&text), valid) {
        (Ok(_), true) => Ok(()),
        (Ok(_), false) => Err("valid, and should not be".to_owned()),
        (Err(errors), true) => Err(format!("refused: {errors}")),
        (Err(errors), false) => match row.get("error_path_contains").and_then(Value::as_str) {
            Some(part) if !errors.problems.iter().any(|problem| problem.path.contains(part)) => {
                Err(format!("no problem at {part}: {errors}"))
            }
            _ => Ok(()),
        },
    })
}

/// The cases are told in words; each is played here.
fn package_row(case: &str) -> Checked {
    let play: fn() -> Option<bool> = match case {
        "hash ignores the signature field" => || Some(hash("a", "00")? == hash("a", "11")?),
        "hash changes when any other field changes" => || Some(hash("a", "00")? != hash("b", "00")?),
        "hash is 0x + 64 lower-case hex (keccak-256 of the JCS text)" => || {
            let hash = hash("a", "00")?;
            let digits = hash.strip_prefix("0x")?;
            Some(digits.len() == 64 && !digits.contains(|c: char| !matches!(c, '0'..='9' | 'a'..='f')))
        },
        "signature text is 132 characters" => || {
            let signed = signed(&[])?;
            let is_signed = parse_manifest(&signed.to_string()).ok()?.signer().is_ok();
            Some(signed.get("signature")?.as_str()?.len() == 132 && is_signed)
        },
        "declared hash equals file" => || with_package(|_| Some(()), PackageReport::passed),
        "declared hash differs" => || with_package(change_b, |report| !report.passed()),
        "declared file is missing" => {
            || with_package(|package| fs::remove_file(package.join("b.js")).ok(), is_about_b)
        }
        "two files, one changed: only that one is listed" => || with_package(change_b, is_about_b),
        "declared path is a FIFO or device" => || with_package(pipe_at_b, is_about_b),
        "file changes between hash check and image build" => || {
            with_package(
                |_| Some(()),
                |report| {
                    // What the image is built from is what was checked, whatever lies on the disk by then.
                    let verified = report.verified();
                    verified.is_some_and(|package| package.files().all(|(_, bytes)| bytes == TEXT.as_bytes()))
                },
            )
        },
        _ => return Err("unknown case".to_owned()),
    };
    match play() {
        Some(true) => Ok(()),
        Some(false) => Err("it is otherwise".to_owned()),
        None => Err("it could not be played".to_owned()),
    }
}

const TEXT: &str = "console.log('hi');\n";
const FILES: [&str; 2] = ["a.js", "b.js"];

fn change_b(package: &Path) -> Option<()> {
    fs::write(package.join("b.js"), "evil()").ok()
}

fn pipe_at_b(package: &Path) -> Option<()> {
    let path = package.join("b.js");
    fs::remove_file(&path).ok()?;
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).ok()
}

fn is_about_b(report: &PackageReport) -> bool {
    !report.passed() && report.package.problems.iter().map(|problem| problem.path.as_str()).eq(["b.js"])
}

/// Lays out a signed package, lets something happen to it, checks it, lets something happen again, and looks.
fn with_package(happens: fn(&Path) -> Option<()>, holds: fn(&PackageReport) -> bool) -> Option<bool> {
    let folder = tempfile::tempdir().ok()?;
    for file in FILES {
        fs::write(folder.path().join(file), TEXT).ok()?;
    }
    fs::write(folder.path().join("manifest.json"), signed(&FILES)?.to_string()).ok()?;
    happens(folder.path())?;
    let report = check_package(folder.path(), Scanner::builtin(), &PackageOptions::default()).ok()?;
    // Replaced instead of overwritten: one of them may be a pipe without a reader, and opening it would block.
    for path in FILES.map(|file| folder.path().join(file)) {
        drop(fs::remove_file(&path));
        fs::write(path, "evil()").ok()?;
    }
    Some(holds(&report))
}

fn hash(name: &str, signature: &str) -> Option<String> {
    let mut manifest = unsigned(&["a"]);
    *manifest.get_mut("name")? = json!(name);
    *manifest.get_mut("signature")? = json!(format!("0x{}", signature.repeat(65)));
    Some(parse_manifest(&manifest.to_string()).ok()?.hash().to_string())
}

fn unsigned(files: &[&str]) -> Value {
    let sha256 = hex(&Sha256::digest(TEXT.as_bytes()));
    let files: Vec<Value> = files.iter().map(|path| json!({ "path": path, "sha256": sha256 })).collect();
    json!({
        "version": "1",
        "name": "a",
        // The address of the key 1.
        "publisher": {
            "name": "Me", "contact": "me@example.com", "address": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
        },
        "permissions": { "txActions": [], "chains": [], "networkAccess": false, "filesystemAccess": false },
        "sandbox": { "memoryMb": 64, "timeoutMs": 1000, "allowSpawn": false },
        "files": files,
        "signature": format!("0x{}", "00".repeat(65)),
    })
}

fn signed(files: &[&str]) -> Option<Value> {
    let mut manifest = unsigned(if files.is_empty() { &["a"] } else { files });
    let hash = parse_manifest(&manifest.to_string()).ok()?.hash().to_string();
    let byte = |at: usize| u8::from_str_radix(hash.get(at..at + 2)?, 16).ok();
    let hash: Vec<u8> = (2..66).step_by(2).map(byte).collect::<Option<_>>()?;
    let mut key = [0; 32];
    *key.last_mut()? = 1;
    let (signature, v) = SigningKey::from_slice(&key).ok()?.sign_prehash_recoverable(&hash);
    let text = format!("0x{}{:02x}", hex(&signature.to_bytes()), 27 + v.to_byte());
    *manifest.get_mut("signature")? = json!(text);
    Some(manifest)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
