//! Files by which a sandbox trusts the certificate authority of a run. They contain no secrets.
#![expect(clippy::disallowed_methods, reason = "writes files for sandboxes")]

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustls_pki_types::CertificateDer;
use stockade_handoff::trust::{BROWSERS_NAME, BUNDLE_NAME, OF_RUN_NAME, RunTrust, STORE_NAME, VARIABLES};

use super::java;
use super::roots::certificates;

/// The length of a line in PEM.
const LINE: usize = 64;

/// Number of attempts to find an unused name.
const TRIES: u32 = 16;

/// Writes the certificate of a run together with those that this machine trusts. Certificates in environment variables of the
/// operator are trusted in the sandbox as they are outside.
///
/// # Errors
/// When a directory or file cannot be created.
pub(super) fn write(own: &CertificateDer<'_>, roots: &[CertificateDer<'_>]) -> io::Result<(RunTrust, Alive)> {
    let parent = std::env::temp_dir().canonicalize()?;
    sweep(&parent);
    let (folder, alive) = folder(&parent)?;
    let trust = RunTrust::new(folder);
    let named = VARIABLES.iter().filter_map(|(name, _)| std::env::var_os(name));
    let named = named.filter_map(|path| std::fs::read(path).ok());
    let mut more: Vec<CertificateDer<'static>> =
        named.filter_map(|text| certificates(&text).ok()).flatten().collect();
    more.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
    more.dedup();
    more.retain(|one| !roots.contains(one));
    let extra: Vec<&CertificateDer<'_>> = std::iter::once(own).chain(&more).collect();
    let all: Vec<&CertificateDer<'_>> = extra.iter().copied().chain(roots).collect();
    put(&trust, OF_RUN_NAME, pem(&extra).as_bytes())?;
    put(&trust, BUNDLE_NAME, pem(&all).as_bytes())?;
    put(&trust, STORE_NAME, &java::store(&all))?;
    let browsers = trust.file(BROWSERS_NAME);
    DirBuilder::new().mode(0o755).create(&browsers)?;
    std::fs::set_permissions(&browsers, Permissions::from_mode(0o755))?;
    put(&trust, &format!("{BROWSERS_NAME}/{POLICY_NAME}"), policy(&extra).as_bytes())?;
    Ok((trust, alive))
}

/// A lock that marks the directory of a run as in use.
#[derive(Debug)]
pub(super) struct Alive(#[expect(dead_code, reason = "it is held, and its lock with it")] File);

impl Alive {
    /// Locks a directory, or returns `None` if another process has locked it or it is gone.
    fn take(folder: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = File::from(open(folder, flags, Mode::empty()).ok()?);
        flock(&opened, FlockOperation::NonBlockingLockExclusive).ok()?;
        let (held, there) = (opened.metadata().ok()?, std::fs::symlink_metadata(folder).ok()?);
        let is_own = held.uid() == rustix::process::geteuid().as_raw();
        (is_own && (held.dev(), held.ino()) == (there.dev(), there.ino())).then_some(Self(opened))
    }
}

/// The prefix of these directories.
const PREFIX: &str = "stockade-trust-";

/// Limit of directory entries that are read in the temporary directory: an attacker who fills it cannot block the start.
const MAX_SEEN: usize = 10_000;

/// Removes directories of proxies that were killed.
fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.take(MAX_SEEN).flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_one && let Some(_taken) = Alive::take(&entry.path()) {
            std::fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// Creates a directory that all users can read.
fn folder(parent: &Path) -> io::Result<(PathBuf, Alive)> {
    let mut tried = 0;
    loop {
        let mut random = [0; 8];
        SystemRandom::new()
            .fill(&mut random)
            .map_err(|_| io::Error::other("no random numbers are available"))?;
        let folder = parent.join(format!("{PREFIX}{:016x}", u64::from_ne_bytes(random)));
        match DirBuilder::new().mode(0o755).create(&folder) {
            Ok(()) => match Alive::take(&folder) {
                Some(alive) => {
                    // Set regardless of the umask, because commands in a sandbox may run as another user.
                    std::fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
                    return Ok((folder, alive));
                }
                // Another process deleted or locked it between the two steps.
                None if tried < TRIES => {
                    std::fs::remove_dir(&folder).ok();
                    tried += 1;
                }
                None => {
                    return Err(io::Error::other(
                        "the directory of the certificates belongs to another process",
                    ));
                }
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < TRIES => tried += 1,
            Err(error) => return Err(error),
        }
    }
}

fn put(trust: &RunTrust, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(trust.file(name))?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(bytes)
}

/// The file with the browser policy. Browsers read every file in the directory.
const POLICY_NAME: &str = "stockade.json";

/// Returns the policy by which Chromium and derived browsers trust additional authorities (`CACertificates`).
fn policy(certificates: &[&CertificateDer<'_>]) -> String {
    let encoded: Vec<String> = certificates.iter().map(|certificate| STANDARD.encode(certificate)).collect();
    serde_json::json!({ "CACertificates": encoded }).to_string()
}

pub(super) fn pem(certificates: &[&CertificateDer<'_>]) -> String {
    let mut text = String::new();
    for certificate in certificates {
        text.push_str("-----BEGIN CERTIFICATE-----\n");
        let encoded = STANDARD.encode(certificate);
        for line in encoded.as_bytes().chunks(LINE) {
            text.push_str(&String::from_utf8_lossy(line));
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broker_left_is_swept_and_what_one_holds_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path().canonicalize().unwrap();
        let (left, alive) = folder(&parent).unwrap();
        std::fs::write(left.join(OF_RUN_NAME), "x").unwrap();
        let (held, _alive) = folder(&parent).unwrap();
        let others: Vec<PathBuf> = ["other", "stockade-other"].map(|name| parent.join(name)).into();
        others.iter().for_each(|path| std::fs::create_dir(path).unwrap());
        // What is no folder, and what only leads to one, is nothing of ours.
        let (file, link) = (parent.join(format!("{PREFIX}file")), parent.join(format!("{PREFIX}link")));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&others[0], &link).unwrap();
        sweep(&parent);
        assert!(left.exists() && held.exists());
        // A broker that is killed lets go of its lock.
        drop(alive);
        sweep(&parent);
        assert!(!left.exists() && held.exists());
        assert!(others.iter().chain([&file]).all(|path| path.exists()) && link.is_symlink());
    }
}
