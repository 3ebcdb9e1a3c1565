//! Which calls are the same call.

/// What identifies the arguments of a call. Two calls that share one by accident are at worst refused together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of arguments written as text, which must be written alike to be alike.
    #[must_use]
    pub fn of_text(arguments: &str) -> Self {
        Self(hash(arguments.bytes()))
    }
}

/// FNV-1a: the same on every machine and in every version, as a snapshot needs.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
