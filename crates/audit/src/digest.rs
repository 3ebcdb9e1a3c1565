//! What the digest of a record is made of, borrowed from wherever the record is.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use stockade_text::to_hex;

/// Most records are shorter, so that their text is written without moving it.
const USUAL_BYTES: usize = 1024;

/// The fields of an [`AuditRecord`](crate::AuditRecord) but for its digest and its seal, in the same order and with the same names.
///
/// The data are generic: a database has them as JSON, which is digested without parsing it. JSON that means the same and is
/// written otherwise has another digest, as it must.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Digested<'r, D> {
    pub(crate) id: u64,
    pub(crate) timestamp: &'r str,
    pub(crate) event: &'r str,
    pub(crate) severity: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skill: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    pub(crate) data: D,
    pub(crate) writer: &'r str,
    pub(crate) prev: &'r str,
}

impl<D: Serialize> Digested<'_, D> {
    /// Returns the digest, in hexadecimal.
    pub(crate) fn digest(&self) -> String {
        let mut text = Vec::with_capacity(USUAL_BYTES);
        // Writing strings and numbers to memory cannot fail; if it could, the digest would fit nothing.
        match serde_json::to_writer(&mut text, self) {
            Ok(()) => to_hex(&Sha256::digest(&text)),
            Err(_) => String::new(),
        }
    }
}
