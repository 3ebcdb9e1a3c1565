//! Records for collectors that speak the protocol of OpenTelemetry, as logs in its JSON form.

use serde_json::{Value, json};

use crate::detail::Detail;
use crate::kind::EventSeverity;
use crate::ocsf::severity;
use crate::record::AuditRecord;
use stockade_text::Timestamp;

/// Returns records as one request to export logs, of the machine of this name: what `/v1/logs` of a collector takes. The conversion
/// keeps all that a record says; its run is the trace.
#[must_use]
pub fn to_otlp(records: &[AuditRecord], host: &str) -> Value {
    let resource =
        [("service.name", "stockade"), ("service.version", env!("CARGO_PKG_VERSION")), ("host.name", host)];
    let attributes: Vec<Value> =
        resource.into_iter().map(|(key, value)| attribute(key, &text(value))).collect();
    let records: Vec<Value> = records.iter().map(log).collect();
    json!({ "resourceLogs": [{
        "resource": { "attributes": attributes },
        "scopeLogs": [{
            "scope": { "name": "stockade.audit", "version": env!("CARGO_PKG_VERSION") },
            "logRecords": records,
        }],
    }] })
}

fn log(record: &AuditRecord) -> Value {
    let severity = match severity(record) {
        EventSeverity::Info => 9,
        EventSeverity::Warn => 13,
        EventSeverity::High => 17,
    };
    let at = Timestamp::parse(&record.timestamp).map_or(0, Timestamp::micros);
    let nanos = u128::from(at) * 1000;
    let mut log = json!({
        "timeUnixNano": nanos.to_string(),
        "observedTimeUnixNano": nanos.to_string(),
        "severityNumber": severity,
        "severityText": record.severity.to_ascii_uppercase(),
        "eventName": format!("stockade.{}", record.event),
        "body": { "stringValue": record.event },
        "attributes": attributes(record),
    });
    // A trace has a name of 16 bytes, as a run has.
    let is_trace = |run: &&String| run.len() == 32 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let (Some(run), Some(log)) = (record.run.as_ref().filter(is_trace), log.as_object_mut()) {
        log.insert("traceId".to_owned(), run.to_ascii_lowercase().into());
    }
    log
}

fn attributes(record: &AuditRecord) -> Vec<Value> {
    let texts = [
        ("stockade.run", record.run.as_ref()),
        ("gen_ai.agent.name", record.agent.as_ref()),
        ("stockade.skill", record.skill.as_ref()),
        ("stockade.decision", record.decision.as_ref()),
        ("stockade.rule", record.rule.as_ref()),
        ("stockade.backend", record.backend.as_ref()),
        ("stockade.writer", Some(&record.writer)),
        ("stockade.record.prev", Some(&record.prev)),
        ("stockade.record.hash", Some(&record.hash)),
        ("stockade.record.seal", record.seal.as_ref()),
    ];
    let numbers = [
        ("stockade.record.id", i64::try_from(record.id).ok()),
        ("process.exit.code", record.exit_code.map(i64::from)),
        ("stockade.duration_ms", record.duration_ms.and_then(|took| i64::try_from(took).ok())),
    ];
    let texts = texts.into_iter().filter_map(|(key, said)| Some(attribute(key, &text(said?))));
    let numbers = numbers.into_iter().filter_map(|(key, said)| Some(attribute(key, &number(said?))));
    let details =
        record.data.iter().map(|(name, detail)| attribute(&format!("stockade.data.{name}"), &value(detail)));
    texts.chain(numbers).chain(details).collect()
}

fn value(detail: &Detail) -> Value {
    match detail {
        Detail::Flag(flag) => json!({ "boolValue": flag }),
        Detail::Number(said) => number(*said),
        Detail::Text(said) => text(said),
        Detail::List(all) => {
            let values: Vec<Value> = all.iter().map(|said| text(said)).collect();
            json!({ "arrayValue": { "values": values } })
        }
    }
}

fn attribute(key: &str, value: &Value) -> Value {
    json!({ "key": key, "value": value })
}

fn text(said: &str) -> Value {
    json!({ "stringValue": said })
}

/// Numbers of 64 bits are texts in JSON, which has none of that size.
fn number(said: i64) -> Value {
    json!({ "intValue": said.to_string() })
}
