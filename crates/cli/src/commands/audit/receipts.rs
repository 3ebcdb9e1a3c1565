//! `stockade audit receipt` and `check-receipt`: proof of one record for a party without the trail.
#![expect(clippy::disallowed_methods, reason = "reads the receipt")]

use std::path::Path;

use serde::Serialize;
use stockade_guard::audit::{AuditRecord, AuditTrail, Checkpoint, Receipt};
use stockade_text::escape;

use super::{finish, unreadable};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_text::to_printable_json;

/// Maximum size of a receipt. Records and proofs are bounded, so a larger one is invalid.
const MAX_RECEIPT_BYTES: u64 = 1 << 20;

pub(super) fn print(trail: &AuditTrail, id: u64) -> Result<Exit, Failure> {
    let receipt = trail.receipt(id).map_err(|error| unreadable(&error))?;
    let receipt = receipt
        .map_err(|why| Failure::found(format_args!("cannot issue a receipt for record {id}: {why}")))?;
    finish(&format!("{}\n", to_printable_json(&receipt)), Exit::Clean)
}

/// Content of a valid receipt, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'r> {
    proven: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Rests<'r>>,
    record: &'r AuditRecord,
}

/// The checkpoint that a receipt refers to.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rests<'r> {
    trail: &'r str,
    records: u64,
    time: &'r str,
}

pub(super) fn check(path: &Path, key: &str, format: Format) -> Result<Exit, Failure> {
    let named =
        |what: &dyn std::fmt::Display| Failure::incomplete(format_args!("{}: {what}", path.display()));
    let length = std::fs::metadata(path).map_err(|error| named(&error))?.len();
    if length > MAX_RECEIPT_BYTES {
        return Err(named(&"too large for a receipt"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    let receipt = Receipt::read(&text).map_err(|error| named(&error))?;
    let checked = receipt.check(key);
    let printed = match (format, &checked) {
        (Format::Json, _) => format!("{}\n", to_printable_json(&shown(&receipt, &checked))),
        (Format::Text, Ok(checkpoint)) => proven(&receipt.record, checkpoint),
        (Format::Text, Err(why)) => format!("invalid: {why}\n"),
    };
    finish(&printed, if checked.is_ok() { Exit::Clean } else { Exit::Found })
}

fn shown<'r>(
    receipt: &'r Receipt,
    checked: &'r Result<Checkpoint, stockade_guard::audit::Unproven>,
) -> Shown<'r> {
    let rests = |checkpoint: &'r Checkpoint| Rests {
        trail: &checkpoint.origin,
        records: checkpoint.size,
        time: &checkpoint.time,
    };
    Shown {
        proven: checked.is_ok(),
        reason: checked.as_ref().err().map(ToString::to_string),
        checkpoint: checked.as_ref().ok().map(rests),
        record: &receipt.record,
    }
}

fn proven(record: &AuditRecord, checkpoint: &Checkpoint) -> String {
    format!(
        "valid: record {} ({}, {}) was in {} when it had {} records, at {}\n",
        record.id,
        escape(&record.event),
        escape(&record.timestamp),
        escape(&checkpoint.origin),
        checkpoint.size,
        escape(&checkpoint.time)
    )
}
