//! Checkpoints: how much was on record, said by a key that is gone afterwards.
//!
//! A checkpoint is a signed note as transparency logs publish them (C2SP `signed-note` and `tlog-checkpoint`): whatever
//! reads those reads these. Each names the key of the next one.

use ed25519_dalek::{Signature, Signer as _, SigningKey, Verifier as _, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::bytes::{Bytes32, from_base64, from_hex, to_base64};
use crate::checkpoint_file::{NoNote, Notes};
use stockade_text::to_hex;

/// The kind of key, as `signed-note` numbers them.
const ED25519: u8 = 1;

/// How many bytes of the digest of each record a checkpoint names, so that the first that is not as it was can be told.
pub(crate) const PREFIX_BYTES: usize = 8;

/// What a trail was at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which trail: a name that it was given at its beginning.
    pub origin: String,
    /// How many records there were.
    pub size: u64,
    /// The root of the tree over the digests of all of them.
    pub(crate) root: Bytes32,
    /// The digest of the last of them.
    pub head: String,
    /// When that was, by the clock of the machine.
    pub time: String,
    /// The key that has signed it, in the first checkpoint of a trail.
    pub(crate) key: Option<Bytes32>,
    /// The key that signs the next one.
    pub(crate) next: Bytes32,
    /// The first bytes of the digests of the records that came since the checkpoint before.
    pub(crate) recent: Vec<u8>,
    /// How long the whole note is.
    pub(crate) length: u64,
    /// The note, as it was signed.
    text: String,
    id: [u8; 4],
    signature: [u8; 64],
}

/// What a checkpoint is to say.
pub(crate) struct Said<'s> {
    pub(crate) origin: &'s str,
    pub(crate) size: u64,
    pub(crate) root: Bytes32,
    pub(crate) head: &'s str,
    pub(crate) time: String,
    pub(crate) is_first: bool,
    pub(crate) next: &'s SigningKey,
    pub(crate) recent: Vec<u8>,
}

impl Said<'_> {
    /// Returns the note with its signature.
    pub(crate) fn signed_by(&self, key: &SigningKey) -> String {
        let Self { origin, size, head, time, .. } = self;
        let public = |key: &SigningKey| to_base64(&tagged(&key.verifying_key().to_bytes()));
        let mut text = format!("{origin}\n{size}\n{}\nhead {head}\ntime {time}\n", to_base64(&self.root));
        if self.is_first {
            text += &format!("key {}\n", public(key));
        }
        text += &format!("next {}\n", public(self.next));
        if !self.recent.is_empty() {
            text += &format!("records {}\n", to_base64(&self.recent));
        }
        let mut signature = key_id(origin, &key.verifying_key().to_bytes()).to_vec();
        signature.extend(key.sign(text.as_bytes()).to_bytes());
        format!("{text}\n\u{2014} {origin} {}\n", to_base64(&signature))
    }
}

impl Checkpoint {
    /// Reads the checkpoints of a file. `Err` is the number of the line where it is no file of checkpoints.
    ///
    /// # Errors
    /// When something else stands there.
    pub fn read_all(text: &str) -> Result<Vec<Self>, usize> {
        let notes = Notes::new(text.as_bytes());
        notes.collect::<Result<_, _>>().map_err(|error| match error {
            NoNote::Line(line) | NoNote::Torn(line, _) => line,
            // Memory can be read.
            NoNote::Unreadable(_) => 0,
        })
    }

    /// Reads one checkpoint.
    #[must_use]
    pub fn read(note: &str) -> Option<Self> {
        let (text, signed) = note.split_once("\n\n")?;
        let mut lines = text.split('\n');
        let origin = lines.next().filter(|origin| !origin.is_empty() && !origin.contains([' ', '+']))?;
        let size: u64 = number(lines.next()?)?;
        let root = from_base64(lines.next()?)?.try_into().ok()?;
        let head = lines.next()?.strip_prefix("head ").filter(|head| from_hex(head).is_some())?;
        let time = lines.next()?.strip_prefix("time ")?;
        let mut line = lines.next()?;
        let key = line.strip_prefix("key ").map(untagged);
        if key.is_some() {
            line = lines.next()?;
        }
        let next = untagged(line.strip_prefix("next ")?)?;
        let recent = lines.next().map(|line| from_base64(line.strip_prefix("records ")?));
        let recent = recent
            .map_or(Some(Vec::new()), |recent| recent.filter(|recent| recent.len() % PREFIX_BYTES == 0))?;
        let signature = signed.strip_prefix('\u{2014}')?.strip_prefix(' ')?.strip_suffix('\n')?;
        let signature = from_base64(signature.strip_prefix(origin)?.strip_prefix(' ')?)?;
        let (id, signature) = signature.split_first_chunk::<4>()?;
        lines.next().is_none().then_some(())?;
        Some(Self {
            origin: origin.to_owned(),
            size,
            root,
            head: head.to_owned(),
            time: time.to_owned(),
            key: match key {
                Some(key) => Some(key?),
                None => None,
            },
            next,
            recent,
            length: u64::try_from(note.len()).unwrap_or(u64::MAX),
            text: format!("{text}\n"),
            id: *id,
            signature: signature.try_into().ok()?,
        })
    }

    /// Whether this key has signed it.
    pub(crate) fn is_signed_by(&self, key: &Bytes32) -> bool {
        let Ok(verifying) = VerifyingKey::from_bytes(key) else { return false };
        key_id(&self.origin, key) == self.id
            && verifying.verify(self.text.as_bytes(), &Signature::from_bytes(&self.signature)).is_ok()
    }

    /// Returns the number of the record that the first of the named digests belongs to.
    pub(crate) fn first_named(&self) -> u64 {
        let named = u64::try_from(self.recent.len() / PREFIX_BYTES).unwrap_or(u64::MAX);
        self.size.saturating_sub(named).saturating_add(1)
    }
}

/// The key of a checkpoint as others are told it: `NAME+ID+KEY`, as `signed-note` writes them.
pub(crate) fn verifier_key(origin: &str, key: &Bytes32) -> String {
    format!("{origin}+{}+{}", to_hex(&key_id(origin, key)), to_base64(&tagged(key)))
}

/// Reads what [`verifier_key`] writes.
pub(crate) fn read_verifier_key(text: &str) -> Option<(String, Bytes32)> {
    let (origin, rest) = text.split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let key = untagged(key)?;
    (to_hex(&key_id(origin, &key)) == id).then(|| (origin.to_owned(), key))
}

/// The short name of a key.
fn key_id(origin: &str, key: &Bytes32) -> [u8; 4] {
    let digest = Sha256::new().chain_update(origin).chain_update("\n").chain_update(tagged(key)).finalize();
    digest.first_chunk().copied().unwrap_or_default()
}

fn tagged(key: &Bytes32) -> Vec<u8> {
    std::iter::once(ED25519).chain(*key).collect()
}

fn untagged(text: &str) -> Option<Bytes32> {
    let bytes = from_base64(text)?;
    bytes.split_first().filter(|(kind, _)| **kind == ED25519).and_then(|(_, key)| key.try_into().ok())
}

/// Reads a number that is written in the one way there is.
fn number(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(key: &SigningKey, size: u64) -> String {
        let said = Said {
            origin: "stockade/test",
            size,
            root: [3; 32],
            head: &"a".repeat(64),
            time: "2026-11-25T00:00:00.000000Z".to_owned(),
            is_first: size == 0,
            next: &SigningKey::from_bytes(&[8; 32]),
            recent: vec![7; 16],
        };
        said.signed_by(key)
    }

    #[test]
    fn what_is_written_is_read_and_signed_by_its_key_alone() {
        let key = SigningKey::from_bytes(&[5; 32]);
        let text = note(&key, 0) + &note(&key, 9);
        let all = Checkpoint::read_all(&text).unwrap();
        let [first, second] = &all[..] else { panic!("{all:?}") };
        let public = key.verifying_key().to_bytes();
        assert_eq!((first.key, second.key), (Some(public), None));
        assert_eq!((second.size, second.first_named(), &second.recent[..]), (9, 8, &[7; 16][..]));
        assert!(first.is_signed_by(&public) && second.is_signed_by(&public));
        assert!(!second.is_signed_by(&SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes()));
        let told = verifier_key("stockade/test", &public);
        assert_eq!(read_verifier_key(&told), Some(("stockade/test".to_owned(), public)));
        assert_eq!(read_verifier_key(&told.replace("test", "best")), None);
    }

    #[test]
    fn a_changed_note_is_read_or_not_and_never_signed() {
        let key = SigningKey::from_bytes(&[5; 32]);
        let text = note(&key, 0);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            let read = Checkpoint::read(&changed);
            assert!(read.is_none_or(|read| !read.is_signed_by(&key.verifying_key().to_bytes())), "{at}");
        }
    }

    #[test]
    fn what_is_no_note_is_said_by_its_line() {
        let key = SigningKey::from_bytes(&[5; 32]);
        let text = note(&key, 0);
        assert_eq!(Checkpoint::read_all(""), Ok(Vec::new()));
        assert_eq!(Checkpoint::read_all("once\n"), Err(1));
        assert_eq!(Checkpoint::read_all(&(text.clone() + "once")), Err(text.matches('\n').count() + 1));
    }
}
