//! Records, each of which holds the digest of the one before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::detail::Detail;
use crate::digest::Digested;
use crate::event::SafeEvent;
use crate::field;
use crate::kind::{EventKind, EventPhase, EventSeverity};
use stockade_text::Timestamp;

/// What the first record names as the one before.
pub(crate) const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A clock that is behind the last record by more than this was set back.
const STEP_BACK: u64 = 1_000_000;

/// An event on record. Written as JSON, its fields are in this order, which the digest is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct AuditRecord {
    /// Its number, from 1 without a gap.
    pub id: u64,
    /// When. It is later than the record before, so that the order of times is that of numbers; only where the clock was set back
    /// by more than a second is it earlier, and `clockWentBackMs` says by how much.
    pub timestamp: String,
    /// What: the name of an [`EventKind`].
    pub event: String,
    /// How much it matters.
    pub severity: String,
    /// What it belongs to: a start, its end and what happened in between name the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whatever else there is to know.
    pub data: BTreeMap<String, Detail>,
    /// The process that wrote it, by a name that it gave itself.
    pub writer: String,
    /// The digest of the record before.
    pub prev: String,
    /// The digest of all the above.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// The seal of the digest, by a key that only the writer's register has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// Where a trail ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last record; 0 in an empty trail.
    pub id: u64,
    /// Its time, in microseconds since 1970.
    pub micros: u64,
    /// Its digest. Kept elsewhere, it proves later that nothing before was changed.
    pub hash: String,
}

/// An event that has no place in the trail yet.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) event: SafeEvent,
    pub(crate) run: Option<String>,
    pub(crate) writer: String,
}

/// A start that has no end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenRun {
    pub(crate) run: String,
    pub(crate) writer: String,
    pub(crate) agent: Option<String>,
    pub(crate) skill: Option<String>,
}

impl Default for Head {
    fn default() -> Self {
        Self { id: 0, micros: 0, hash: BEGINNING.to_owned() }
    }
}

impl Head {
    /// Returns the record of an event behind this one.
    pub(crate) fn follow(&self, draft: Draft, now: Timestamp) -> AuditRecord {
        let Draft { event, run, writer } = draft;
        let last = Timestamp::from_micros(self.micros);
        let mut data = event.details;
        let is_set_back = now.micros().saturating_add(STEP_BACK) < last.micros();
        data.remove(field::CLOCK_WENT_BACK_MS.name());
        if is_set_back {
            let millis = i64::try_from((last.micros() - now.micros()) / 1000).unwrap_or(i64::MAX);
            data.insert(field::CLOCK_WENT_BACK_MS.name().to_owned(), Detail::Number(millis));
        }
        // A clock that once was wrong must not spoil the times of all that comes: a great step is taken as it is, and told.
        let at = if now > last || is_set_back { now } else { last.next() };
        let mut record = AuditRecord {
            id: self.id.saturating_add(1),
            timestamp: at.to_string(),
            event: event.kind.name().to_owned(),
            severity: event
                .kind
                .severity()
                .max(event.severity.unwrap_or(EventSeverity::Info))
                .name()
                .to_owned(),
            run,
            agent: event.agent,
            skill: event.skill,
            decision: event.decision,
            rule: event.rule,
            backend: event.backend,
            exit_code: event.exit_code,
            duration_ms: event.duration.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            data,
            writer,
            prev: self.hash.clone(),
            hash: String::new(),
            seal: None,
        };
        record.hash = record.digest();
        record
    }
}

impl AuditRecord {
    /// Returns the digest that belongs to what the record says.
    pub(crate) fn digest(&self) -> String {
        let digested = Digested {
            id: self.id,
            timestamp: &self.timestamp,
            event: &self.event,
            severity: &self.severity,
            run: self.run.as_deref(),
            agent: self.agent.as_deref(),
            skill: self.skill.as_deref(),
            decision: self.decision.as_deref(),
            rule: self.rule.as_deref(),
            backend: self.backend.as_deref(),
            exit_code: self.exit_code,
            duration_ms: self.duration_ms,
            data: &self.data,
            writer: &self.writer,
            prev: &self.prev,
        };
        digested.digest()
    }

    /// Returns where a trail ends whose last record this is.
    pub(crate) fn head(&self) -> Option<Head> {
        Some(Head {
            id: self.id,
            micros: Timestamp::parse(&self.timestamp)?.micros(),
            hash: self.hash.clone(),
        })
    }

    /// Returns what kind of event it is, if this version knows it.
    #[must_use]
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::from_name(&self.event)
    }

    /// Returns whether it begins or ends a run.
    pub(crate) fn phase(&self) -> EventPhase {
        self.kind().map_or(EventPhase::Point, EventKind::phase)
    }

    /// Returns the run that it begins.
    pub(crate) fn begins(&self) -> Option<OpenRun> {
        let run = self.run.clone().filter(|_| self.phase() == EventPhase::Start)?;
        Some(OpenRun {
            run,
            writer: self.writer.clone(),
            agent: self.agent.clone(),
            skill: self.skill.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::AuditEvent;
    use stockade_credentials::Redactor;

    fn record(head: &Head, now: u64) -> AuditRecord {
        let event = AuditEvent::new(EventKind::ToolAllowed).with(field::TOOL, "read");
        let event = event.made_safe(&Redactor::default());
        head.follow(Draft { event, run: None, writer: "w".into() }, Timestamp::from_micros(now))
    }

    #[test]
    fn a_record_follows_the_one_before() {
        let first = record(&Head::default(), 5_000_000);
        let second = record(&first.head().unwrap(), 6_000_000);
        assert_eq!((first.id, first.prev.as_str()), (1, BEGINNING));
        assert_eq!((second.id, &second.prev), (2, &first.hash));
        assert_ne!(first.hash, second.hash);
        assert_eq!(first.hash, first.digest());
    }

    #[test]
    fn the_digest_is_that_of_the_json_without_digest_and_seal() {
        use sha2::{Digest as _, Sha256};
        let record = record(&Head::default(), 5_000_000);
        let bare = AuditRecord { hash: String::new(), seal: None, ..record.clone() };
        let text = serde_json::to_string(&bare).unwrap();
        assert_eq!(stockade_text::to_hex(&Sha256::digest(text)), record.hash);
    }

    #[test]
    fn the_digest_covers_every_field() {
        let record = record(&Head::default(), 5_000_000);
        let full = AuditRecord {
            run: Some("r".into()),
            agent: Some("a".into()),
            skill: Some("s".into()),
            decision: Some("allow".into()),
            rule: Some("x".into()),
            backend: Some("native".into()),
            exit_code: Some(0),
            duration_ms: Some(1),
            seal: None,
            ..record
        };
        let written = serde_json::to_value(&full).unwrap();
        let fields = written.as_object().unwrap();
        assert_eq!(fields.len(), 16);
        for name in fields.keys().filter(|name| *name != "hash") {
            let mut changed = written.clone();
            changed[name] = match &fields[name] {
                serde_json::Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
                serde_json::Value::Object(_) => serde_json::json!({"tool": "write"}),
                _ => "something else".into(),
            };
            let changed: AuditRecord = serde_json::from_value(changed).unwrap();
            assert_ne!(changed.digest(), full.digest(), "{name}");
        }
    }

    #[test]
    fn time_never_stands_still_and_a_clock_set_back_is_told() {
        let first = record(&Head::default(), 9_000_000);
        let same = record(&first.head().unwrap(), 9_000_000);
        assert_eq!(same.timestamp, "1970-01-01T00:00:09.000001Z");
        assert!(!same.data.contains_key("clockWentBackMs"));
        let back = record(&same.head().unwrap(), 2_000_000);
        assert_eq!(back.timestamp, "1970-01-01T00:00:02.000000Z");
        assert_eq!(back.data.get("clockWentBackMs"), Some(&Detail::Number(7000)));
        let shortly = record(&back.head().unwrap(), 1_500_000);
        assert_eq!(shortly.timestamp, "1970-01-01T00:00:02.000001Z");
    }
}
