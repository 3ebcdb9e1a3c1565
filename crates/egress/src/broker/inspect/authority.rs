//! The certificate authority of one proxy, which only its sandboxes trust. Its key exists only in the memory of the proxy. So the
//! certificate needs no name constraints: an attacker who can read this memory needs no key.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SerialNumber,
};
use rustls::crypto::ring::sign::any_supported_type;
use rustls::sign::CertifiedKey;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::super::super::target::Host;

/// Its name in certificates.
const NAME: &str = "Stockade, for one run";

const OF_HOST: &str = "Inspected by Stockade";

/// How far its certificates are backdated, because clocks differ a little.
const BEFORE: Duration = Duration::from_secs(24 * 3600);

/// Lifetime of certificates: longer than any run, and short enough for clients to accept.
const LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);

/// Maximum number of cached certificates.
const MAX_KEPT: usize = 1024;

/// An authority, with its issued certificates.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    /// The key of all hosts. One key suffices, since it proves the same to every client.
    host_key: KeyPair,
    given: Mutex<HashMap<Host, Arc<CertifiedKey>>>,
    next: AtomicU64,
}

impl Authority {
    /// Creates an authority.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(super) fn new() -> io::Result<Self> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = held(NAME);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(io::Error::other)?.der().clone();
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate,
            host_key: KeyPair::generate().map_err(io::Error::other)?,
            given: Mutex::default(),
            next: AtomicU64::new(1),
        })
    }

    /// Returns its own certificate, for trust stores.
    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// Returns the certificate and key for a host.
    ///
    /// # Errors
    /// When a certificate cannot contain the name.
    pub(super) fn for_host(&self, host: &Host) -> io::Result<Arc<CertifiedKey>> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = given.get(host) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(self.make(host)?);
        // Above the limit, all are dropped and created again on demand.
        if given.len() >= MAX_KEPT {
            given.clear();
        }
        given.insert(host.clone(), Arc::clone(&made));
        Ok(made)
    }

    fn make(&self, host: &Host) -> io::Result<CertifiedKey> {
        // With the issuer's own name as subject, the certificate would look self-signed.
        let mut params = held(OF_HOST);
        params.subject_alt_names = vec![match host {
            Host::Name(name) => rcgen::SanType::DnsName(name.as_str().try_into().map_err(io::Error::other)?),
            Host::Address(address) => rcgen::SanType::IpAddress(*address),
        }];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        // Serial numbers of an authority must be unique.
        params.serial_number = Some(SerialNumber::from(self.next.fetch_add(1, Ordering::Relaxed)));
        let certificate = params.signed_by(&self.host_key, &self.issuer).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.host_key.serialize_der()));
        let key = any_supported_type(&key).map_err(io::Error::other)?;
        Ok(CertifiedKey::new(vec![certificate.der().clone(), self.certificate.clone()], key))
    }
}

/// Returns the common parameters of its certificates.
fn held(name: &str) -> CertificateParams {
    let now = SystemTime::now();
    let mut params = CertificateParams::default();
    params.not_before = now.checked_sub(BEFORE).unwrap_or(now).into();
    params.not_after = now.checked_add(LIFETIME).unwrap_or(now).into();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
