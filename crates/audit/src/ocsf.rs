//! Records for collectors that speak OCSF, the Open Cybersecurity Schema Framework, version 1.8.0.

use serde_json::{Map, Value, json};

use crate::kind::{EventKind, EventSeverity};
use crate::record::AuditRecord;
use crate::timestamp::Timestamp;

/// The version of the framework.
const VERSION: &str = "1.8.0";

/// A class of the framework, with its category and the activities used here.
struct Class {
    category: u32,
    uid: u32,
    activity: u32,
}

const DETECTION: Class = Class { category: 2, uid: 2004, activity: 1 };
const PROCESS_LAUNCH: Class = Class { category: 1, uid: 1007, activity: 1 };
const PROCESS_END: Class = Class { category: 1, uid: 1007, activity: 2 };
const FILE: Class = Class { category: 1, uid: 1001, activity: 99 };
const NETWORK: Class = Class { category: 4, uid: 4001, activity: 1 };
const NETWORK_REFUSED: Class = Class { category: 4, uid: 4001, activity: 5 };
const API: Class = Class { category: 6, uid: 6003, activity: 99 };
const CONFIG: Class = Class { category: 5, uid: 5019, activity: 1 };

/// Which class an event belongs to.
const fn class(kind: EventKind) -> &'static Class {
    use EventKind as K;
    match kind {
        K::ScanFound | K::SkillBlocked | K::SkillFlagged | K::SandboxDenied => &DETECTION,
        K::SandboxStarted | K::CommandAllowed | K::CommandDenied => &PROCESS_LAUNCH,
        K::SandboxCompleted | K::SandboxError => &PROCESS_END,
        K::PathAllowed | K::PathDenied => &FILE,
        K::NetworkAllowed => &NETWORK,
        K::NetworkDenied => &NETWORK_REFUSED,
        K::PolicyChanged | K::LimitsReset | K::TrailBegun => &CONFIG,
        K::ScanClean
        | K::Sanitized
        | K::SkillAccepted
        | K::ToolAllowed
        | K::ToolDenied
        | K::ApprovalAsked
        | K::ApprovalAnswered
        | K::LimitReached => &API,
    }
}

/// Whether the framework counts an event as a success, a failure or neither.
const fn status(kind: EventKind) -> u32 {
    use EventKind as K;
    match kind {
        K::SandboxError
        | K::SandboxDenied
        | K::SkillBlocked
        | K::ToolDenied
        | K::PathDenied
        | K::CommandDenied
        | K::NetworkDenied
        | K::LimitReached => 2,
        K::SandboxCompleted
        | K::SkillAccepted
        | K::ToolAllowed
        | K::PathAllowed
        | K::CommandAllowed
        | K::NetworkAllowed => 1,
        _ => 0,
    }
}

/// Returns the record as an event of OCSF. What the framework has no place for is in `unmapped`, the whole record among it.
#[must_use]
pub fn to_ocsf(record: &AuditRecord) -> Value {
    let kind = record.kind();
    let class = kind.map_or(&API, class);
    let severity = match kind.map(EventKind::severity) {
        Some(EventSeverity::Info) => 1,
        Some(EventSeverity::Warn) => 3,
        Some(EventSeverity::High) | None => 4,
    };
    let mut event = Map::new();
    let mut put = |name: &str, value: Value| drop(event.insert(name.to_owned(), value));
    put("category_uid", class.category.into());
    put("class_uid", class.uid.into());
    put("activity_id", class.activity.into());
    put("type_uid", (class.uid * 100 + class.activity).into());
    put("severity_id", severity.into());
    put("status_id", kind.map_or(0, status).into());
    put("time", Timestamp::parse(&record.timestamp).map_or(0, |at| at.micros() / 1000).into());
    put("message", record.event.as_str().into());
    put("metadata", metadata(record));
    if let Some(took) = record.duration_ms {
        put("duration", took.into());
    }
    if let Some(code) = record.exit_code {
        put("exit_code", code.into());
    }
    put("unmapped", json!({ "stockade": record }));
    Value::Object(event)
}

fn metadata(record: &AuditRecord) -> Value {
    json!({
        "version": VERSION,
        "uid": record.hash,
        "sequence": record.id,
        "correlation_uid": record.run,
        "product": { "name": "stockade", "vendor_name": "Stockade", "version": env!("CARGO_PKG_VERSION") },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::AuditEvent;
    use crate::record::{Draft, Head};

    #[test]
    fn every_kind_has_what_the_framework_requires() {
        for kind in EventKind::all() {
            let draft = Draft { event: AuditEvent::new(kind), run: Some("r".into()), writer: "w".into() };
            let event =
                to_ocsf(&Head::default().follow(draft, Timestamp::from_micros(1_795_252_229_123_456)));
            for name in ["category_uid", "class_uid", "activity_id", "type_uid", "severity_id", "time"] {
                assert!(event[name].is_u64(), "{kind}: {name}");
            }
            assert_eq!(
                event["type_uid"],
                event["class_uid"].as_u64().unwrap() * 100 + event["activity_id"].as_u64().unwrap()
            );
            assert_eq!(event["class_uid"].as_u64().unwrap() / 1000, event["category_uid"].as_u64().unwrap());
            assert_eq!(event["time"], 1_795_252_229_123_u64);
            assert_eq!(event["metadata"]["correlation_uid"], "r");
            assert_eq!(event["unmapped"]["stockade"]["event"], kind.name());
        }
    }
}
