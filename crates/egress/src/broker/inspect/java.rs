//! A Java key store with certificates, in version 2, which every Java reads (`sun.security.provider.JavaKeyStore`).

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use rustls_pki_types::CertificateDer;

const MAGIC: u32 = 0xfeed_feed;
const VERSION: u32 = 2;
const TRUSTED: u32 = 2;

/// The password of the stores that come with Java. It protects nothing secret: it is part of the checksum at the end.
const PASSWORD: &str = "changeit";

/// The constant that is also part of the checksum.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// Returns a store with these certificates.
pub(super) fn store(certificates: &[&CertificateDer<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, number: u32| bytes.extend(number.to_be_bytes());
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend(u16::try_from(text.len()).unwrap_or_default().to_be_bytes());
        bytes.extend(text.as_bytes());
    };
    number(&mut bytes, MAGIC);
    number(&mut bytes, VERSION);
    number(&mut bytes, u32::try_from(certificates.len()).unwrap_or_default());
    for (at, certificate) in certificates.iter().enumerate() {
        number(&mut bytes, TRUSTED);
        text(&mut bytes, &format!("authority{at}"));
        // The time of the entry.
        bytes.extend(0_u64.to_be_bytes());
        text(&mut bytes, "X.509");
        number(&mut bytes, u32::try_from(certificate.len()).unwrap_or_default());
        bytes.extend(certificate.as_ref());
    }
    let mut sum = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    PASSWORD.encode_utf16().for_each(|unit| sum.update(&unit.to_be_bytes()));
    sum.update(WHITENER);
    sum.update(&bytes);
    bytes.extend(sum.finish().as_ref());
    bytes
}
