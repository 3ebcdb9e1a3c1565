//! Rows of the database as records: all of one, or what its place in the chain depends on.

use std::collections::BTreeMap;

use rusqlite::Row;
use serde_json::value::RawValue;

use crate::detail::Detail;
use crate::digest::Digested;
use crate::record::AuditRecord;
use crate::store::{Entry, Link};

/// Reads of a row what its place in the chain depends on, without a copy of its texts.
pub(super) fn link<'r>(id: u64, row: &'r Row<'_>) -> Result<Link<'r>, Box<dyn std::error::Error>> {
    let text = |column| -> Result<&str, rusqlite::Error> { Ok(row.get_ref(column)?.as_str()?) };
    let some =
        |column| -> Result<Option<&str>, rusqlite::Error> { Ok(row.get_ref(column)?.as_str_or_null()?) };
    let took: Option<i64> = row.get(11)?;
    let data: &RawValue = serde_json::from_str(text(12)?)?;
    let digested = Digested {
        id,
        timestamp: text(1)?,
        event: text(2)?,
        severity: text(3)?,
        run: some(4)?,
        agent: some(5)?,
        skill: some(6)?,
        decision: some(7)?,
        rule: some(8)?,
        backend: some(9)?,
        exit_code: row.get(10)?,
        duration_ms: took.map(u64::try_from).transpose()?,
        data,
        writer: text(13)?,
        prev: text(14)?,
    };
    let is_sealed = some(16)?.is_some();
    Ok(Link { id, prev: digested.prev, hash: text(15)?, digest: digested.digest(), is_sealed })
}

/// Reads a row. Whatever is not as this program writes it is damage, not an error: the other rows can still be read.
pub(super) fn read(row: &Row<'_>) -> Result<Entry, rusqlite::Error> {
    let id: i64 = row.get(0)?;
    let id = id.unsigned_abs();
    let record = || -> Result<AuditRecord, Box<dyn std::error::Error>> {
        let data: String = row.get(12)?;
        let took: Option<i64> = row.get(11)?;
        Ok(AuditRecord {
            id,
            timestamp: row.get(1)?,
            event: row.get(2)?,
            severity: row.get(3)?,
            run: row.get(4)?,
            agent: row.get(5)?,
            skill: row.get(6)?,
            decision: row.get(7)?,
            rule: row.get(8)?,
            backend: row.get(9)?,
            exit_code: row.get(10)?,
            duration_ms: took.map(u64::try_from).transpose()?,
            data: as_written(&data)?,
            writer: row.get(13)?,
            prev: row.get(14)?,
            hash: row.get(15)?,
            seal: row.get(16)?,
        })
    };
    Ok(match record() {
        Ok(record) => Entry::Record(Box::new(record)),
        Err(error) => Entry::Damaged { id, reason: error.to_string() },
    })
}

/// Reads the details of a record, if they are as this program writes them. A key that stands twice would be one text for this
/// program and another one for the SQL of a reader.
fn as_written(data: &str) -> Result<BTreeMap<String, Detail>, Box<dyn std::error::Error>> {
    let read = serde_json::from_str(data)?;
    match serde_json::to_string(&read)? == data {
        true => Ok(read),
        false => Err("its details are not written as this program writes them".into()),
    }
}
