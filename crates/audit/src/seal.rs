//! Keys that move on: today's key cannot seal or sign yesterday's records.

use ed25519_dalek::SigningKey;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::bytes::{Bytes32, from_hex};
use stockade_text::to_hex;

/// The key that seals the next record. The one before is forgotten.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SealKey(Bytes32);

impl SealKey {
    pub(crate) fn new() -> std::io::Result<Self> {
        random().map(Self)
    }

    /// Returns the seal of a record with this digest.
    pub(crate) fn seal(&self, digest: &str) -> String {
        // A key of any length will do for it.
        let mac = <Hmac<Sha256>>::new_from_slice(&self.0)
            .map(|mac| mac.chain_update(digest).finalize().into_bytes());
        mac.map(|seal| to_hex(&seal)).unwrap_or_default()
    }

    /// Moves on. There is no way back.
    pub(crate) fn move_on(&mut self) {
        self.0 = next(&self.0);
    }

    pub(crate) fn written(&self) -> String {
        to_hex(&self.0)
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        from_hex(text).map(Self)
    }
}

/// What the key of the next checkpoint is made of.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SigningSeed(Bytes32);

impl SigningSeed {
    pub(crate) fn new() -> std::io::Result<Self> {
        random().map(Self)
    }

    pub(crate) fn key(&self) -> SigningKey {
        let seed: Bytes32 = Sha256::new().chain_update("sign").chain_update(self.0).finalize().into();
        SigningKey::from_bytes(&seed)
    }

    pub(crate) fn next(&self) -> Self {
        Self(next(&self.0))
    }

    pub(crate) fn written(&self) -> String {
        to_hex(&self.0)
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        from_hex(text).map(Self)
    }
}

fn next(key: &Bytes32) -> Bytes32 {
    Sha256::new().chain_update("next").chain_update(key).finalize().into()
}

fn random() -> std::io::Result<Bytes32> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey")
    }
}

impl std::fmt::Debug for SigningSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningSeed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_moved_on_seals_otherwise() {
        let mut key = SealKey::read(&"0".repeat(64)).unwrap();
        // As Python's `hmac` and `hashlib` have it.
        let sealed = "7bf3903e9eaf6a33c1a682e1a56d28b99827cab1092692ca5f88d91df6e60cdf";
        assert_eq!(key.seal("digest"), sealed);
        key.move_on();
        assert_eq!(key.written(), "fb022482e7b008d88e84a7e769d2f21ec1123acc0a61c4e2e492e54338d84b95");
        let sealed = "d2573ec2a09784267467ab194656a1f1b4e08ec1e5a836438eb359a2eb505090";
        assert_eq!(key.seal("digest"), sealed);
        assert_eq!(format!("{key:?}"), "SealKey");
    }
}
