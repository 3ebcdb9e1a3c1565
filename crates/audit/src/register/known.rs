//! What the state file of a trail contains.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::bytes::{Bytes32, from_base64, from_hex, to_base64};
use crate::checkpoint::{Checkpoint, PREFIX_BYTES};
use crate::event::AuditEvent;
use crate::field;
use crate::kind::{EventKind, EventPhase, EventSeverity};
use crate::merkle::Frontier;
use crate::record::{AuditRecord, Draft, Head};
use crate::seal::{SealKey, SigningSeed};
use stockade_credentials::Redactor;
use stockade_text::to_hex;

/// Minimum size of the stored digests since the last checkpoint, if there are that many.
const MAX_RECENT_BYTES: usize = 512 * PREFIX_BYTES;

/// The state of a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(super) turn: u64,
    /// The path of the trail.
    pub(crate) path: PathBuf,
    /// The name of the trail in its checkpoints.
    pub(crate) origin: String,
    /// The digest of its first record.
    pub(crate) first: Option<String>,
    pub(crate) head: Head,
    pub(crate) frontier: Frontier,
    pub(super) key: SealKey,
    pub(crate) signing: SigningSeed,
    /// The size of its checkpoint file.
    pub(crate) checkpoint_bytes: u64,
    /// The first bytes of the digests of the records since the last checkpoint.
    pub(crate) recent: Vec<u8>,
    /// A digest of the seals of all records: the key of an older seal is gone, so nothing else shows that it was replaced.
    /// An older version did not store it.
    pub(crate) seals: Option<Bytes32>,
    /// The runs without an end, see [`mark_of_run`]. An older version did not store them.
    pub(crate) open_runs: Option<u64>,
    /// How much of its checkpoint file the anchors were told.
    pub(crate) told_bytes: u64,
    /// A rotation that has begun and is not on record yet.
    pub(crate) rotation: Option<Rotation>,
}

/// A rotation, as far as it must be finished if the process that began it is killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rotation {
    /// Where the files go.
    pub(crate) to: PathBuf,
    /// Where the trail ended.
    pub(crate) before: Head,
    /// Why it could not be continued, if it could not.
    pub(crate) wrong: Option<String>,
    /// Whether the files were moved. Then only the first record of the new trail is missing.
    pub(crate) is_moved: bool,
}

impl Rotation {
    /// Returns the first record of the new trail.
    pub(crate) fn draft(&self) -> Draft {
        let event = AuditEvent::new(EventKind::TrailBegun)
            .with(field::SET_ASIDE, self.to.to_string_lossy().into_owned())
            .with(field::RECORDS, self.before.id)
            .with(field::LAST, self.before.hash.clone());
        let event = match &self.wrong {
            None => event,
            Some(wrong) => {
                AuditEvent { severity: Some(EventSeverity::High), ..event }.with(field::WRONG, wrong.as_str())
            }
        };
        Draft { event: event.made_safe(&Redactor::default()), run: None, writer: "rotation".to_owned() }
    }
}

impl Known {
    /// Returns the state of a new trail.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            turn: 0,
            path: path.to_owned(),
            origin: format!("stockade/{}", crate::name::new_name()?),
            first: None,
            head: Head::default(),
            frontier: Frontier::default(),
            key: SealKey::new()?,
            signing: SigningSeed::new()?,
            checkpoint_bytes: 0,
            recent: Vec::new(),
            seals: Some(Bytes32::default()),
            open_runs: Some(0),
            told_bytes: 0,
            rotation: None,
        })
    }

    /// Returns the state of the trail under another path.
    pub(crate) fn at(&self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Whether a rotation has begun, and not all files were moved.
    pub(crate) fn is_being_moved(&self) -> bool {
        self.rotation.as_ref().is_some_and(|rotation| !rotation.is_moved)
    }

    /// Returns the state of the new trail that takes the place of this one.
    pub(crate) fn succeeded(&self, rotation: Rotation) -> io::Result<Self> {
        Ok(Self { turn: self.turn, rotation: Some(rotation), ..Self::new(&self.path)? })
    }

    /// Seals the next record, and replaces the key by its digest, so that the record cannot be sealed again.
    pub(crate) fn seal(&mut self, record: &mut AuditRecord) {
        record.seal = Some(self.key.seal(&record.hash));
        self.take(record);
    }

    /// Accepts a record that another process has sealed. Returns whether it is the next one.
    pub(crate) fn accept(&mut self, record: &AuditRecord) -> bool {
        let follows = record.id == self.head.id.saturating_add(1)
            && record.prev == self.head.hash
            && record.digest() == record.hash
            && record.seal.as_deref() == Some(self.key.seal(&record.hash).as_str());
        if follows {
            self.take(record);
        }
        follows
    }

    fn take(&mut self, record: &AuditRecord) {
        self.key.move_on();
        let digest = from_hex(&record.hash).unwrap_or_default();
        self.frontier.push(&digest);
        self.recent.extend(digest.iter().take(PREFIX_BYTES));
        // Where many are put on record together, the digests would grow without a limit. The next checkpoint covers all records
        // by their root, and the newest by their digests.
        if self.recent.len() >= 2 * MAX_RECENT_BYTES {
            self.recent.drain(..self.recent.len() - MAX_RECENT_BYTES);
        }
        self.first.get_or_insert_with(|| record.hash.clone());
        self.head = record.head().unwrap_or_default();
        self.seals = self.seals.map(|seals| with_seal(&seals, record));
        let mark = || mark_of_run(record.run.as_deref().unwrap_or_default());
        self.open_runs = self.open_runs.map(|open| match record.phase() {
            EventPhase::Start => open.wrapping_add(mark()),
            EventPhase::End => open.wrapping_sub(mark()),
            EventPhase::Point => open,
        });
    }

    /// Accepts a checkpoint that another process has written. Returns nothing if it is not the next one.
    pub(crate) fn take_checkpoint(&mut self, checkpoint: &Checkpoint) -> Option<()> {
        let since = self.head.id.checked_sub(checkpoint.size)?;
        checkpoint.is_signed_by(&self.public()).then_some(())?;
        self.signing = self.signing.next();
        let since = usize::try_from(since).unwrap_or(usize::MAX).saturating_mul(PREFIX_BYTES);
        self.recent.drain(..self.recent.len().saturating_sub(since));
        self.checkpoint_bytes = self.checkpoint_bytes.saturating_add(checkpoint.length);
        Some(())
    }

    /// Returns the public key for the next checkpoint.
    pub(crate) fn public(&self) -> Bytes32 {
        self.signing.key().verifying_key().to_bytes()
    }
}

/// Adds the seal of the next record to the digest of all seals.
pub(crate) fn with_seal(seals: &Bytes32, record: &AuditRecord) -> Bytes32 {
    let seal = record.seal.as_deref().unwrap_or_default();
    Sha256::new().chain_update(seals).chain_update(seal).finalize().into()
}

/// Returns a number for a run. The sum of those of all open runs shows whether a list of them is the one that records tell.
pub(crate) fn mark_of_run(run: &str) -> u64 {
    Sha256::digest(run).first_chunk().copied().map_or(0, u64::from_le_bytes)
}

/// [`Known`] as it is stored, in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    turn: u64,
    path: PathBuf,
    origin: String,
    first: Option<String>,
    head: Head,
    parts: Vec<String>,
    key: String,
    signing: String,
    checkpoint_bytes: u64,
    recent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seals: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_runs: Option<u64>,
    /// Missing where all was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rotation: Option<Rotation>,
}

impl Written {
    pub(super) fn of(known: &Known) -> Self {
        Self {
            turn: known.turn,
            path: known.path.clone(),
            origin: known.origin.clone(),
            first: known.first.clone(),
            head: known.head.clone(),
            parts: known.frontier.parts.iter().map(|part| to_hex(part)).collect(),
            key: known.key.written(),
            signing: known.signing.written(),
            checkpoint_bytes: known.checkpoint_bytes,
            recent: to_base64(&known.recent),
            seals: known.seals.map(|seals| to_hex(&seals)),
            open_runs: known.open_runs,
            told_bytes: (known.told_bytes != known.checkpoint_bytes).then_some(known.told_bytes),
            rotation: known.rotation.clone(),
        }
    }

    pub(super) fn known(self) -> Option<Known> {
        let parts: Option<Vec<Bytes32>> = self.parts.iter().map(|part| from_hex(part)).collect();
        Some(Known {
            turn: self.turn,
            path: self.path,
            origin: self.origin,
            first: self.first,
            frontier: Frontier { size: self.head.id, parts: parts? },
            head: self.head,
            key: SealKey::read(&self.key)?,
            signing: SigningSeed::read(&self.signing)?,
            checkpoint_bytes: self.checkpoint_bytes,
            recent: from_base64(&self.recent)?,
            seals: match self.seals {
                Some(seals) => Some(from_hex(&seals)?),
                None => None,
            },
            open_runs: self.open_runs,
            told_bytes: self.told_bytes.unwrap_or(self.checkpoint_bytes),
            rotation: self.rotation,
        })
    }
}
