//! What is true of every input, however hostile. The fuzz targets call these functions, and so do ordinary tests: with the
//! seeds, and with random texts.

use std::ops::ControlFlow;

use stockade_audit::{
    AuditQuery, AuditRecord, AuditTrail, Checkpoint, MAX_QUERY, Receipt, Redactor, Verified, to_ocsf,
};

/// Every line of JSON is a record or is not one. A record is written as it was read, has an answer for every reader,
/// and can be exported.
pub(crate) fn record(data: &[u8]) {
    let Ok(record) = serde_json::from_slice::<AuditRecord>(data) else { return };
    let written = serde_json::to_string(&record).unwrap();
    let again: AuditRecord = serde_json::from_str(&written).unwrap();
    assert_eq!(again, record);
    assert!(record.kind().is_none_or(|kind| kind.name() == record.event));
    let event = to_ocsf(&record, "m");
    assert!(event["class_uid"].is_u64() && event["time"].is_u64(), "{event}");
    let redacted = Redactor::default().hide([record.event.as_str()]).redact(&written).into_owned();
    assert!(record.event.len() < 6 || !redacted.contains(&format!("\"event\":\"{}\"", record.event)));
}

/// Whatever stands in the file of a trail, every reader has an answer, and what is called intact is a chain.
pub(crate) fn verify(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    write(&path, data);
    let trail = AuditTrail::open_to_read(&path).unwrap();
    let verified = trail.verify(None).unwrap();
    assert!(verified.faults.len() <= 100);
    let newest = trail.query(&AuditQuery { limit: MAX_QUERY, ..AuditQuery::default() }).unwrap();
    assert!(newest.len() <= MAX_QUERY);
    let mut records = Vec::new();
    let read_all = trail.each(|record| {
        records.push(record);
        ControlFlow::Continue(())
    });
    if verified.intact() {
        assert!(read_all.is_ok());
        is_a_chain(&records, &verified);
    }
}

/// Every text is a file of checkpoints or is not one, and the same holds for receipts. What can be read is in the order in which
/// it stands there, and a malformed receipt proves nothing.
pub(crate) fn note(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Checkpoint::read_all(text) {
        Ok(all) => assert_eq!(all.is_empty(), text.is_empty()),
        Err(line) => assert!(line >= 1 && line <= text.matches('\n').count() + 1),
    }
    if let Ok(receipt) = Receipt::read(text) {
        let again = Receipt::read(&serde_json::to_string(&receipt).unwrap()).unwrap();
        assert_eq!(again, receipt);
        // A key that has signed no checkpoint of it.
        let key = "stockade/x+0f6ea5de+Ad1lh9sq6s5LsNLJ0Q6d1jKUGGyKRmAZqA1tl/cpU7wS";
        assert!(receipt.check(key).is_err());
    }
}

fn is_a_chain(records: &[AuditRecord], verified: &Verified) {
    assert_eq!(u64::try_from(records.len()), Ok(verified.records));
    for (number, record) in (1_u64..).zip(records) {
        assert_eq!(record.id, number);
    }
    for pair in records.windows(2) {
        assert!(pair[1].prev == pair[0].hash && pair[1].timestamp > pair[0].timestamp);
    }
    assert_eq!(records.last().map_or(0, |record| record.id), verified.head.id);
}

#[expect(clippy::disallowed_methods, reason = "lays out the file of a trail")]
fn write(path: &std::path::Path, data: &[u8]) {
    std::fs::write(path, data).unwrap();
}
