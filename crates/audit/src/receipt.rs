//! Receipts: one record, and the proof that it was on record, without the trail it is from.

use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bytes::{Bytes32, from_hex};
use crate::checkpoint::{Checkpoint, read_verifier_key, verifier_key};
use crate::error::AuditError;
use crate::merkle;
use crate::record::AuditRecord;
use crate::sealing::{checkpoint_path, read_checkpoints};
use crate::store::Store;
use stockade_text::to_hex;

/// What a receipt calls itself.
const KIND: &str = "stockade-audit-receipt/1";

/// The most hashes of a proof: there are not so many records as would need more.
const MAX_PROOF: usize = 64;

/// A record with the proof that it was on record when a checkpoint was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    kind: String,
    /// The record.
    pub record: AuditRecord,
    /// The checkpoint, a signed note.
    checkpoint: String,
    /// The hashes that lead from the record to the root that the checkpoint names.
    proof: Vec<String>,
    /// The key that has signed the checkpoint. By itself it proves nothing: the verifier must know it from elsewhere.
    pub key: String,
}

/// Why there is no receipt of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoReceipt {
    /// The record does not exist.
    #[error("no such record")]
    NoSuchRecord,
    /// No checkpoint was made since.
    #[error(
        "no checkpoint covers the record yet; one is written at the end of each run, and every 64 records"
    )]
    NoCheckpoint,
    /// The records are not those of the checkpoint.
    #[error("the records differ from the checkpoint; to list the differences, run `stockade audit verify`")]
    NotTheRecords,
}

/// Why a receipt shows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unproven {
    /// It is no receipt of a form that this version knows.
    #[error("invalid receipt, or from a newer version")]
    NoReceipt,
    /// The key is malformed.
    #[error("invalid key: expected NAME+ID+KEY")]
    NoKey,
    /// The record was changed.
    #[error("the record was changed after it was written")]
    Edited,
    /// The checkpoint cannot be read.
    #[error("its checkpoint is malformed")]
    NoCheckpoint,
    /// Another key has signed the checkpoint.
    #[error("its checkpoint is not signed by that key")]
    NotSigned,
    /// The proof leads somewhere else.
    #[error("its proof does not connect the record to the checkpoint")]
    NotIncluded,
}

pub(crate) fn make(
    store: &dyn Store,
    path: &Path,
    id: u64,
) -> Result<Result<Receipt, NoReceipt>, AuditError> {
    let unusable = |source: std::io::Error| AuditError::Unusable {
        path: path.to_owned(),
        doing: "reading the checkpoints",
        source: source.into(),
    };
    let text = read_checkpoints(&checkpoint_path(path)).map_err(unusable)?;
    let all = Checkpoint::read_all(&text).unwrap_or_default();
    let Some((checkpoint, note, key)) = first_since(&all, &text, id) else {
        return Ok(Err(if id > store.head()?.id {
            NoReceipt::NoSuchRecord
        } else {
            NoReceipt::NoCheckpoint
        }));
    };
    let (mut digests, mut found) = (Vec::new(), None);
    store.each_behind(0, &mut |record| {
        digests.push(from_hex(&record.hash).unwrap_or_default());
        let is_last = record.id >= checkpoint.size;
        if record.id == id {
            found = Some(record);
        }
        if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let Some(record) = found else { return Ok(Err(NoReceipt::NoSuchRecord)) };
    let place = usize::try_from(id.saturating_sub(1)).unwrap_or(usize::MAX);
    let proof = merkle::proof(&digests, place).iter().map(|hash| to_hex(hash)).collect();
    let key = verifier_key(&checkpoint.origin, &key);
    let receipt = Receipt { kind: KIND.to_owned(), record, checkpoint: note.to_owned(), proof, key };
    Ok(match receipt.check(&receipt.key) {
        Ok(_) => Ok(receipt),
        Err(_) => Err(NoReceipt::NotTheRecords),
    })
}

/// Returns the first checkpoint that a record is in, its note, and the key that it is signed by.
fn first_since<'c>(
    all: &'c [Checkpoint],
    text: &'c str,
    id: u64,
) -> Option<(&'c Checkpoint, &'c str, Bytes32)> {
    let mut from = 0_usize;
    let mut key = all.first()?.key?;
    for checkpoint in all {
        let length = usize::try_from(checkpoint.length).unwrap_or(usize::MAX);
        let note = text.get(from..from.saturating_add(length))?;
        if checkpoint.size >= id && id > 0 {
            return Some((checkpoint, note, key));
        }
        (from, key) = (from + length, checkpoint.next);
    }
    None
}

impl Receipt {
    /// Reads a receipt.
    ///
    /// # Errors
    /// When the text is not a receipt.
    pub fn read(text: &str) -> Result<Self, Unproven> {
        serde_json::from_str(text).map_err(|_| Unproven::NoReceipt)
    }

    /// Checks a receipt by a key that is known from elsewhere, and returns the checkpoint that it rests on.
    ///
    /// # Errors
    /// When it does not show that its record was on record.
    pub fn check(&self, key: &str) -> Result<Checkpoint, Unproven> {
        if self.kind != KIND || self.proof.len() > MAX_PROOF {
            return Err(Unproven::NoReceipt);
        }
        let (origin, key) = read_verifier_key(key).ok_or(Unproven::NoKey)?;
        let checkpoint = Checkpoint::read(&self.checkpoint).ok_or(Unproven::NoCheckpoint)?;
        if checkpoint.origin != origin || !checkpoint.is_signed_by(&key) {
            return Err(Unproven::NotSigned);
        }
        let digest = from_hex(&self.record.hash).filter(|_| self.record.digest() == self.record.hash);
        let digest = digest.ok_or(Unproven::Edited)?;
        let proof: Option<Vec<Bytes32>> = self.proof.iter().map(|hash| from_hex(hash)).collect();
        let place = self.record.id.checked_sub(1).ok_or(Unproven::NotIncluded)?;
        let root = proof.and_then(|proof| merkle::root_by_proof(&digest, place, checkpoint.size, &proof));
        if root == Some(checkpoint.root) { Ok(checkpoint) } else { Err(Unproven::NotIncluded) }
    }
}
