//! Whose key signed a manifest.

use std::fmt;
use stockade_text::to_hex;

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use sha3::{Digest as _, Keccak256};
use thiserror::Error;

use super::field::bytes_of;
use super::manifest::ContainerManifest;

/// The address of a key, as Ethereum makes it: the last 20 bytes of the Keccak-256 of the public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address([u8; 20]);

/// Why the publisher's signature of a manifest is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The bytes are no signature of this manifest by any key.
    #[error("invalid signature: r, s or v is out of range")]
    Broken,
    /// It was signed, or changed after it was signed, so that another key fits than the publisher's.
    #[error("the manifest is signed by {signer}, not by its publisher {publisher}")]
    SomebodyElse {
        /// Whose key fits what is written now.
        signer: Address,
        /// Who is said to have published it.
        publisher: Address,
    },
}

impl ContainerManifest {
    /// Returns the publisher's address, if it was the publisher's key that signed what the manifest says now.
    ///
    /// That proves that the holder of this key has signed it. Whether to trust the key is another question.
    ///
    /// # Errors
    /// Another key has signed it, or none.
    pub fn signer(&self) -> Result<Address, SignatureError> {
        let signer = recover(&self.hash().0, &self.signature).ok_or(SignatureError::Broken)?;
        let digits = self.publisher.address.strip_prefix("0x").unwrap_or_default();
        let publisher = Address(bytes_of(digits).ok_or(SignatureError::Broken)?);
        if signer == publisher { Ok(signer) } else { Err(SignatureError::SomebodyElse { signer, publisher }) }
    }
}

/// Returns the address of the key that made this signature of this hash.
fn recover(hash: &[u8; 32], signature: &[u8; 65]) -> Option<Address> {
    let (v, r_and_s) = signature.split_last()?;
    let is_odd = match v {
        0 | 27 => false,
        1 | 28 => true,
        _ => return None,
    };
    let signature = Signature::from_slice(r_and_s).ok()?;
    // Of the two signatures that fit everything, wallets only write the one with the lower s.
    if signature.normalize_s() != signature {
        return None;
    }
    let key = VerifyingKey::recover_from_prehash(hash, &signature, RecoveryId::new(is_odd, false)).ok()?;
    Some(Address::of(&key))
}

impl Address {
    fn of(key: &VerifyingKey) -> Self {
        let point = key.to_sec1_point(false);
        // The first byte only marks an uncompressed point, with both coordinates.
        let hash: [u8; 32] = Keccak256::digest(point.as_bytes().get(1..).unwrap_or_default()).into();
        let mut last = [0; 20];
        last.iter_mut().zip(hash.iter().skip(12)).for_each(|(to, from)| *to = *from);
        Self(last)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", to_hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use k256::ecdsa::SigningKey;
    use serde_json::{Value, json};

    use super::super::manifest::tests::sample;
    use super::*;

    /// The first key of the well-known list that wallets for tests are made from, and its address.
    const KEY: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    const ADDRESS: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

    fn parse(manifest: &Value) -> ContainerManifest {
        ContainerManifest::parse(&manifest.to_string(), |_| true).unwrap()
    }

    fn published() -> Value {
        let mut manifest = sample();
        manifest["publisher"]["address"] = json!(ADDRESS);
        manifest
    }

    /// Signs as wallets do; `v` is 27 or 28.
    fn sign(manifest: &mut Value) -> [u8; 65] {
        let key = SigningKey::from_slice(&bytes_of::<32>(KEY).unwrap()).unwrap();
        let (signature, v) = key.sign_prehash_recoverable(&parse(manifest).hash().0);
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&signature.to_bytes());
        bytes[64] = 27 + v.to_byte();
        write(manifest, &bytes);
        bytes
    }

    fn write(manifest: &mut Value, signature: &[u8; 65]) {
        let digits: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        manifest["signature"] = json!(format!("0x{digits}"));
    }

    #[test]
    fn what_the_publisher_signed_is_the_publishers() {
        let mut manifest = published();
        let mut signature = sign(&mut manifest);
        assert_eq!(manifest["signature"].as_str().unwrap().len(), 132);
        assert_eq!(parse(&manifest).signer().unwrap().to_string(), ADDRESS.to_lowercase());
        signature[64] -= 27;
        write(&mut manifest, &signature);
        assert!(parse(&manifest).signer().is_ok(), "v may be 0 or 1");
    }

    #[test]
    fn what_was_changed_since_is_not() {
        let mut signed = published();
        sign(&mut signed);
        for (field, value) in [
            ("/name", json!("tampered-skill")),
            ("/sandbox/allowSpawn", json!(true)),
            ("/files/0/sha256", json!("b".repeat(64))),
            ("/publisher/address", json!("0x0000000000000000000000000000000000000001")),
        ] {
            let mut tampered = signed.clone();
            *tampered.pointer_mut(field).unwrap() = value;
            let error = parse(&tampered).signer().unwrap_err();
            assert!(matches!(error, SignatureError::SomebodyElse { .. }), "{field}: {error}");
        }
    }

    #[test]
    fn what_is_no_signature_is_said_to_be_none() {
        let mut manifest = published();
        let good = sign(&mut manifest);
        let with_v = |v| {
            let mut bytes = good;
            bytes[64] = v;
            bytes
        };
        let other_s = {
            let s = Signature::from_slice(&good[..64]).unwrap();
            let (r, s) = s.split_scalars();
            let mut bytes = with_v(good[64] ^ 7);
            bytes[..64].copy_from_slice(&Signature::from_scalars(r, -s).unwrap().to_bytes());
            bytes
        };
        for bytes in [[0; 65], [0xff; 65], [0xab; 65], with_v(2), with_v(29), with_v(255), other_s] {
            write(&mut manifest, &bytes);
            assert_eq!(parse(&manifest).signer(), Err(SignatureError::Broken), "{bytes:?}");
        }
    }

    #[test]
    fn the_address_of_the_known_key_is_the_known_address() {
        let key = SigningKey::from_slice(&bytes_of::<32>(KEY).unwrap()).unwrap();
        assert_eq!(Address::of(key.verifying_key()).to_string(), ADDRESS.to_lowercase());
    }
}
