//! Writes the files by which a sandbox trusts the authority of a run. There is nothing secret in them.
#![expect(clippy::disallowed_methods, reason = "writes files for sandboxes")]

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustls_pki_types::CertificateDer;

use super::java;
use super::roots::certificates;
use crate::trust::{BUNDLE_NAME, OF_RUN_NAME, RunTrust, STORE_NAME, VARIABLES};

/// The bytes of a line in PEM.
const LINE: usize = 64;

/// How often a name is tried that somebody has taken.
const TRIES: u32 = 16;

/// Writes the certificate of a run, and with it those that this machine trusts. What the variables of whoever starts it name is
/// trusted within as it would be without a run.
///
/// # Errors
/// When no folder can be made, or a file not be written.
pub(super) fn write(own: &CertificateDer<'_>, roots: &[CertificateDer<'_>]) -> io::Result<RunTrust> {
    let trust = RunTrust { folder: folder()? };
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
    Ok(trust)
}

/// A new folder that everybody may read.
fn folder() -> io::Result<PathBuf> {
    let parent = std::env::temp_dir().canonicalize()?;
    let mut tried = 0;
    loop {
        let mut random = [0; 8];
        SystemRandom::new().fill(&mut random).map_err(|_| io::Error::other("there are no random numbers"))?;
        let folder = parent.join(format!("stockade-trust-{:016x}", u64::from_ne_bytes(random)));
        match DirBuilder::new().mode(0o755).create(&folder) {
            Ok(()) => {
                // Whatever the umask says: in a sandbox, somebody else reads it.
                std::fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
                return Ok(folder);
            }
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
