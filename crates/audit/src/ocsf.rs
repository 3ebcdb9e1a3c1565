//! Records for collectors that speak OCSF, the Open Cybersecurity Schema Framework, version 1.9.0.

use serde_json::{Map, Value, json};

use crate::detail::Detail;
use crate::kind::{EventKind, EventSeverity};
use crate::record::AuditRecord;
use stockade_text::Timestamp;

/// The version of the framework.
const VERSION: &str = "1.9.0";

/// What an activity is called that the framework has no number for.
const OTHER: u32 = 99;

/// A class of the framework, with its category and the activities used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Class {
    category: u32,
    uid: u32,
    activity: u32,
}

const fn class_of(uid: u32, activity: u32) -> Class {
    Class { category: uid / 1000, uid, activity }
}

const FINDING: Class = class_of(2004, 1);
const PROCESS_LAUNCH: Class = class_of(1007, 1);
const PROCESS_END: Class = class_of(1007, 2);
const FILE: Class = class_of(1001, OTHER);
const NETWORK: Class = class_of(4001, 1);
const NETWORK_REFUSED: Class = class_of(4001, 5);
const NETWORK_END: Class = class_of(4001, 2);
const HTTP: u32 = 4002;
const API: Class = class_of(6003, OTHER);
const CONFIG: Class = class_of(5019, 1);

/// Which class an event belongs to.
const fn class(kind: EventKind) -> Class {
    use EventKind as K;
    match kind {
        K::ScanFound | K::SkillBlocked | K::SkillFlagged | K::SandboxDenied => FINDING,
        K::SandboxStarted | K::CommandAllowed | K::CommandDenied => PROCESS_LAUNCH,
        K::SandboxCompleted | K::SandboxError => PROCESS_END,
        K::PathAllowed | K::PathDenied | K::ChangesDecided => FILE,
        K::NetworkAllowed => NETWORK,
        K::NetworkDenied => NETWORK_REFUSED,
        K::NetworkCompleted => NETWORK_END,
        K::PolicyChanged | K::LimitsReset | K::TrailBegun => CONFIG,
        K::ScanClean
        | K::Sanitized
        | K::SkillAccepted
        | K::ToolAllowed
        | K::ToolDenied
        | K::ApprovalAsked
        | K::ApprovalAnswered
        | K::LimitReached => API,
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
        | K::NetworkAllowed
        | K::NetworkCompleted => 1,
        _ => 0,
    }
}

/// Returns the record as an event of OCSF, of the machine of this name. What the framework has no place for is in `unmapped`, the
/// whole record among it.
#[must_use]
pub fn to_ocsf(record: &AuditRecord, host: &str) -> Value {
    let kind = record.kind();
    let class = http_class(record).unwrap_or_else(|| kind.map_or(API, class));
    let severity = match severity(record) {
        EventSeverity::Info => 1,
        EventSeverity::Warn => 3,
        EventSeverity::High => 4,
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
    if class.activity == OTHER {
        put("activity_name", record.event.as_str().into());
    }
    if let Some(detail) = first(record, &["cause", "reason", "error"]) {
        put("status_detail", detail.into());
    }
    if let Some(took) = record.duration_ms {
        put("duration", took.into());
    }
    put("unmapped", json!({ "stockade": record }));
    about(record, class, host).into_iter().for_each(|(name, value)| put(name, value));
    Value::Object(event)
}

/// What the framework calls the methods of requests, from 1 on.
const METHODS: &[&str] = &["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "TRACE", "PATCH"];

/// The class of a record about a request: `HTTP Activity`, with its method as activity.
fn http_class(record: &AuditRecord) -> Option<Class> {
    let method = first(record, &["method"])?;
    let number = METHODS.iter().position(|name| *name == method);
    let activity = number.and_then(|number| u32::try_from(number + 1).ok()).unwrap_or(OTHER);
    Some(class_of(HTTP, activity))
}

/// How much a record matters, by what it says and by what its kind says.
pub(crate) fn severity(record: &AuditRecord) -> EventSeverity {
    let said = EventSeverity::from_name(&record.severity);
    let of_kind = record.kind().map_or(EventSeverity::High, EventKind::severity);
    said.map_or(of_kind, |said| said.max(of_kind))
}

/// What the class of an event is about, which it must have.
fn about(record: &AuditRecord, class: Class, host: &str) -> Vec<(&'static str, Value)> {
    let device = || ("device", json!({ "hostname": host, "type_id": 0 }));
    let actor = || ("actor", json!({ "app_name": record.agent.as_deref().unwrap_or("stockade") }));
    let run = record.run.as_deref().unwrap_or(&record.hash);
    match class.uid {
        1007 => {
            let mut all = vec![device(), actor(), ("process", process(record, run))];
            all.extend(record.exit_code.map(|code| ("exit_code", code.into())));
            all
        }
        1001 => vec![device(), actor(), ("file", file(record))],
        4001 | HTTP => network(record, class, host, run),
        6003 => {
            let api = json!({ "operation": record.event });
            vec![actor(), ("api", api), ("src_endpoint", json!({ "hostname": host, "uid": run }))]
        }
        2004 => vec![("finding_info", finding(record))],
        _ => vec![device()],
    }
}

/// The connection of an event, its traffic once it has ended, and its request if it was visible.
fn network(record: &AuditRecord, class: Class, host: &str, run: &str) -> Vec<(&'static str, Value)> {
    let run = first(record, &["startedBy"]).unwrap_or(run);
    let mut all =
        vec![("src_endpoint", json!({ "uid": run, "hostname": host })), ("dst_endpoint", endpoint(record))];
    if let (Some(sent), Some(received)) = (number(record, "sent"), number(record, "received")) {
        all.push(("traffic", json!({ "bytes_out": sent, "bytes_in": received, "bytes": sent + received })));
    }
    if class.uid == HTTP {
        let endpoint = endpoint(record);
        let url = json!({
            "hostname": endpoint.get("hostname"),
            "port": endpoint.get("port"),
            "path": first(record, &["urlPath"]).unwrap_or("/"),
        });
        let id = first(record, &["id"]).unwrap_or(&record.hash);
        all.push((
            "http_request",
            json!({ "uid": id, "http_method": first(record, &["method"]), "url": url }),
        ));
        all.extend(number(record, "status").map(|code| ("http_response", json!({ "code": code }))));
    }
    all
}

fn number(record: &AuditRecord, name: &str) -> Option<i64> {
    match record.data.get(name) {
        Some(Detail::Number(number)) => Some(*number),
        _ => None,
    }
}

fn process(record: &AuditRecord, run: &str) -> Value {
    let mut process = Map::new();
    process.insert("uid".to_owned(), run.into());
    if let Some(command) = first(record, &["command", "subject"]) {
        process.insert("cmd_line".to_owned(), command.into());
    }
    if let Some(backend) = &record.backend {
        process.insert("sandbox".to_owned(), backend.as_str().into());
    }
    Value::Object(process)
}

fn file(record: &AuditRecord) -> Value {
    let path = first(record, &["path", "subject", "resource"]).unwrap_or("?");
    let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path);
    json!({ "name": name, "path": path, "type_id": 0 })
}

fn endpoint(record: &AuditRecord) -> Value {
    let subject = first(record, &["host", "subject"]).unwrap_or("?");
    match subject.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?))) {
        Some((host, port)) => json!({ "hostname": host, "port": port }),
        None => json!({ "hostname": subject }),
    }
}

fn finding(record: &AuditRecord) -> Value {
    let mut finding = Map::new();
    finding.insert("uid".to_owned(), record.hash.as_str().into());
    finding.insert("title".to_owned(), record.event.as_str().into());
    if let Some(rule) = &record.rule {
        finding.insert("types".to_owned(), json!([rule]));
    }
    if let Some(reason) = first(record, &["reason", "error"]) {
        finding.insert("desc".to_owned(), reason.into());
    }
    Value::Object(finding)
}

/// Returns the first of these details that is a text.
fn first<'r>(record: &'r AuditRecord, names: &[&str]) -> Option<&'r str> {
    names.iter().find_map(|name| match record.data.get(*name) {
        Some(Detail::Text(text)) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    })
}

fn metadata(record: &AuditRecord) -> Value {
    let mut metadata = Map::new();
    let mut put = |name: &str, value: Value| drop(metadata.insert(name.to_owned(), value));
    put("version", VERSION.into());
    put("uid", record.hash.as_str().into());
    put("sequence", record.id.into());
    put("original_time", record.timestamp.as_str().into());
    if let Some(run) = &record.run {
        put("correlation_uid", run.as_str().into());
    }
    put(
        "product",
        json!({ "name": "stockade", "vendor_name": "Stockade", "version": env!("CARGO_PKG_VERSION") }),
    );
    Value::Object(metadata)
}
