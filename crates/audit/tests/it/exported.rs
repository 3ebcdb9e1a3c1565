//! Records in exported formats, checked by the tools that define them.
#![expect(clippy::disallowed_methods, reason = "runs the tools of each format")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use stockade_audit::{
    AuditEvent, AuditField, AuditNumber, AuditOptions, AuditRecord, AuditTrail, EventKind, EventPhase,
    FreeTexts, field, to_ocsf, to_otlp,
};

/// What the framework says of its classes and objects, see `tests/ocsf/README.md`.
const DEFINITIONS: &str = include_str!("../ocsf/definitions.json");

const COUNT: AuditField<AuditNumber> = AuditField::new("count");
const FLAG: AuditField<bool> = AuditField::new("flag");
const LIST: AuditField<FreeTexts> = AuditField::new("list");

/// A record of every kind, bare and with all that a record can have.
fn records() -> Vec<AuditRecord> {
    let folder = tempfile::tempdir().unwrap();
    let trail = AuditTrail::open(&folder.path().join("audit.jsonl"), AuditOptions::default()).unwrap();
    let full = |kind: EventKind, subject: &str| {
        let event = AuditEvent {
            agent: Some("bot".into()),
            skill: Some("builder".into()),
            decision: Some("allow".into()),
            rule: Some("git-read".into()),
            backend: Some("native".into()),
            exit_code: Some(-1),
            duration: Some(Duration::from_millis(5)),
            ..AuditEvent::new(kind)
        };
        let event = event
            .with(field::SUBJECT, subject)
            .with(field::COMMAND, "make test")
            .with(field::REASON, "because");
        event.with(COUNT, -1_i64).with(FLAG, true).with(LIST, vec!["a", "b"])
    };
    for kind in EventKind::all() {
        let asked = |method: &str| {
            let event =
                full(kind, "x.example:443").with(field::METHOD, method).with(field::URL_PATH, "/v1/a");
            event.with(field::STATUS, 200_i64).with(field::SENT, 120_i64).with(field::RECEIVED, 7_i64)
        };
        let plain = [AuditEvent::new(kind), full(kind, "x.example:443"), full(kind, "/a/b/")];
        for event in plain.into_iter().chain([asked("PATCH"), asked("REPORT")]) {
            match kind.phase() {
                EventPhase::Point => drop(trail.record(event).unwrap()),
                EventPhase::Start => drop(trail.start(event).unwrap()),
                EventPhase::End => {
                    let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
                    drop(run.end(event).unwrap());
                }
            }
        }
    }
    let mut all = Vec::new();
    trail
        .each(|record| {
            all.push(record);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    all
}

/// Adds what is wrong with an object by its definition.
fn check(definitions: &Value, definition: &Value, at: &str, found: &Value, wrong: &mut Vec<String>) {
    let Some(members) = found.as_object() else { return wrong.push(format!("{at} is no object: {found}")) };
    let attributes = definition["attributes"].as_object().unwrap();
    for (name, attribute) in attributes.iter().filter(|(_, attribute)| attribute["required"] == true) {
        if !members.contains_key(name) {
            wrong.push(format!("{at} has no {name}, of {}", attribute["type"]));
        }
    }
    let one_of = definition["atLeastOne"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if one_of.clone().count() > 0 && !one_of.clone().any(|name| members.contains_key(name)) {
        wrong.push(format!("{at} has none of {:?}", one_of.collect::<Vec<_>>()));
    }
    for (name, value) in members {
        let at = format!("{at}.{name}");
        let Some(attribute) = attributes.get(name) else {
            wrong.push(format!("there is no {at}"));
            continue;
        };
        let values = match (attribute["array"] == true, value) {
            (true, Value::Array(values)) => values.iter().collect(),
            (true, _) => return wrong.push(format!("{at} is no list: {value}")),
            (false, value) => vec![value],
        };
        for value in values {
            check_value(definitions, attribute, &at, value, wrong);
        }
    }
}

fn check_value(definitions: &Value, attribute: &Value, at: &str, value: &Value, wrong: &mut Vec<String>) {
    let numbers = attribute["enum"].as_array();
    let is_right = match attribute["type"].as_str().unwrap() {
        "string" => value.is_string(),
        "integer" | "long" => value.as_i64().is_some_and(|_| numbers.is_none_or(|all| all.contains(value))),
        "boolean" => value.is_boolean(),
        "float" => value.is_number(),
        // Anything may stand there.
        "json" => true,
        "object" => {
            let name = attribute["object"].as_str().unwrap();
            match definitions["objects"].get(name) {
                // An object of nothing in particular.
                Some(_) if name == "object" => value.is_object(),
                Some(definition) => {
                    check(definitions, definition, at, value, wrong);
                    true
                }
                None => {
                    wrong.push(format!("{at}: the definition of {name} is not at hand"));
                    true
                }
            }
        }
        other => panic!("{at}: {other}"),
    };
    if !is_right {
        wrong.push(format!("{at} is no {attribute}: {value}"));
    }
}

#[test]
fn every_kind_is_an_event_of_the_framework_as_it_is_published() {
    let definitions: Value = serde_json::from_str(DEFINITIONS).unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for record in records() {
        kinds.insert(record.event.clone());
        let event = to_ocsf(&record, "machine.example");
        let class = &definitions["classes"][event["class_uid"].to_string()];
        let mut wrong = Vec::new();
        check(&definitions, class, &record.event, &event, &mut wrong);
        assert!(wrong.is_empty(), "{wrong:#?}\n{event:#}");
        assert_eq!(event["category_uid"], class["category"], "{event}");
        assert_eq!(event["metadata"]["version"], "1.9.0");
        let expected = event["class_uid"].as_u64().unwrap() * 100 + event["activity_id"].as_u64().unwrap();
        assert_eq!(event["type_uid"], expected, "{event}");
        assert_eq!(event["unmapped"]["stockade"], serde_json::to_value(&record).unwrap());
    }
    assert_eq!(kinds.len(), EventKind::all().count());
}

/// What is left out or wrong is found: else the test above would show nothing.
#[test]
fn an_event_that_is_not_of_the_framework_is_found() {
    let definitions: Value = serde_json::from_str(DEFINITIONS).unwrap();
    let event =
        records().iter().map(|record| to_ocsf(record, "m")).find(|event| event["class_uid"] == 1007).unwrap();
    let spoil: [(&str, Option<Value>); 5] = [
        ("process", None),
        ("device", None),
        ("activity_id", Some(77.into())),
        ("time", Some("now".into())),
        ("nothing", Some(1.into())),
    ];
    for (name, value) in spoil {
        let mut spoiled = event.clone();
        match value {
            None => drop(spoiled.as_object_mut().unwrap().remove(name)),
            Some(value) => spoiled[name] = value,
        }
        let mut wrong = Vec::new();
        check(&definitions, &definitions["classes"]["1007"], "event", &spoiled, &mut wrong);
        assert_eq!(wrong.len(), 1, "{name}: {wrong:?}");
    }
}

/// What reads a request to export logs, and prints how many records it has, and one of them.
const READER: &str = "
import json, sys
try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
except ImportError:
    print('absent'); sys.exit()
read = json_format.Parse(sys.stdin.read(), ExportLogsServiceRequest(), ignore_unknown_fields=False)
logs = read.resource_logs[0].scope_logs[0].log_records
print(len(logs), {a.key: a.value.int_value for a in logs[1].attributes}['stockade.data.count'], all(log.time_unix_nano for log in logs))
";

#[test]
fn a_collector_of_opentelemetry_reads_every_kind() {
    let records = records();
    let request = to_otlp(&records, "machine.example");
    let logs = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
    assert_eq!(logs.len(), records.len());
    for (log, record) in logs.iter().zip(&records) {
        assert_eq!(log["body"]["stringValue"], record.event.as_str());
        // Names of traces are hexadecimal in this form, and numbers of 64 bits are texts.
        assert_eq!(log.get("traceId").and_then(Value::as_str), record.run.as_deref());
        assert!(log["timeUnixNano"].as_str().unwrap().ends_with("000"), "{log}");
    }
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin/python");
    let python =
        Command::new(python).args(["-c", READER]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else {
        return println!("skipped: OpenTelemetry's own reader: `cargo xtask setup` fetches it");
    };
    // Where its package is absent, it ends before it has read anything.
    python.stdin.take().unwrap().write_all(request.to_string().as_bytes()).ok();
    let output = python.wait_with_output().unwrap();
    match String::from_utf8_lossy(&output.stdout).trim() {
        "absent" => println!("skipped: OpenTelemetry's own reader: `cargo xtask setup` fetches it"),
        said => assert_eq!(said, format!("{} -1 True", records.len()), "{output:?}"),
    }
}
