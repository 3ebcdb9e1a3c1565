//! Certificate authorities that the proxy trusts for hosts: those of the machine or its operator, and those of the options.
#![expect(clippy::disallowed_methods, reason = "reads the certificates of the machine")]

use std::io;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use stockade_handoff::trust::{BUNDLES, VARIABLES};

/// The variable that replaces the authorities of the machine.
const INSTEAD: &str = "SSL_CERT_FILE";

/// The certificate authorities that are trusted for hosts.
pub(super) struct Roots {
    pub(super) store: RootCertStore,
    /// All certificates, as read.
    pub(super) certificates: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// Reads the machine's certificates, or those of `SSL_CERT_FILE` if it is set, and additional files.
    ///
    /// # Errors
    /// When a file cannot be read, or contains no certificate.
    pub(super) fn read(extra: &[PathBuf]) -> io::Result<Self> {
        let named = std::env::var_os(INSTEAD).filter(|name| !name.is_empty()).map(PathBuf::from);
        let of_the_machine =
            || BUNDLES.iter().map(Path::new).find(|path| path.is_file()).map(Path::to_path_buf);
        let first = named.or_else(of_the_machine);
        if first.is_none() && extra.is_empty() {
            let why = format!(
                "no CA certificates on this machine, so servers cannot be authenticated; install `ca-certificates`, \
                 or set {INSTEAD} to a file"
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        let mut roots = Self { store: RootCertStore::empty(), certificates: Vec::new() };
        first.iter().chain(extra).try_for_each(|path| roots.add(path))?;
        Ok(roots)
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let failed = |why: String| io::Error::other(format!("certificates of {}: {why}", path.display()));
        let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let found = certificates(&text).map_err(failed)?;
        if found.is_empty() {
            return Err(failed("the file contains no certificate".to_owned()));
        }
        self.store.add_parsable_certificates(found.iter().cloned());
        self.certificates.extend(found);
        Ok(())
    }
}

/// Whether the operator has set authorities by a variable, such as that of a company.
pub(in super::super) fn has_own_authorities() -> bool {
    let mut names = std::iter::once(INSTEAD).chain(VARIABLES.iter().map(|(name, _)| *name));
    names.any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Returns the certificates of a PEM text.
pub(super) fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    all.map_err(|error| error.to_string())
}
