//! Totals of the records of a trail, in one pass with bounded memory.

use std::collections::VecDeque;

use stockade_guard::audit::{AuditRecord, EventKind, Timestamp};

use super::record_facts::{about, detail};
use super::timeline::Timeline;
use stockade_guard::admission::scan_report::Counted;

/// Maximum number of listed refusals, the newest ones.
const MAX_REFUSED: usize = 100;

/// Outcomes of decisions: indexes into an array of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed = 0,
    Asked = 1,
    Refused = 2,
}

/// Totals of a trail.
#[derive(Debug, Default)]
pub(crate) struct RecordTally {
    pub(crate) records: u64,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) outcomes: [u64; 3],
    pub(crate) over_time: Timeline<3>,
    /// Rules that refused or asked.
    pub(crate) rules: Counted<2>,
    pub(crate) agents: Counted<3>,
    pub(crate) skills: Counted<3>,
    pub(crate) hosts: Counted<2>,
    /// Runs in each backend: successful ones, and others.
    pub(crate) backends: Counted<2>,
    pub(crate) skills_blocked: u64,
    pub(crate) refused: VecDeque<Refusal>,
}

/// A recorded decision that refused something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) when: String,
    pub(crate) event: String,
    pub(crate) who: String,
    pub(crate) about: String,
    pub(crate) rule: String,
    pub(crate) because: String,
    pub(crate) to_allow: Option<String>,
    pub(crate) id: Option<String>,
}

impl RecordTally {
    /// Adds one record. Records are added from oldest to newest.
    pub(crate) fn add(&mut self, record: &AuditRecord) {
        self.records += 1;
        self.first.get_or_insert_with(|| record.timestamp.clone());
        self.last = Some(record.timestamp.clone());
        match record.kind() {
            Some(EventKind::SandboxCompleted) => self.ended(record, [1, 0]),
            Some(EventKind::SandboxError) => self.ended(record, [0, 1]),
            Some(EventKind::SkillBlocked) => {
                self.skills_blocked += 1;
                self.keep(record);
            }
            // Accesses from inside a sandbox that the system denied.
            Some(EventKind::SandboxDenied) => self.decided(record, Outcome::Refused),
            Some(kind) if kind.is_decision() => self.decided(record, outcome(record)),
            _ => {}
        }
    }

    fn ended(&mut self, record: &AuditRecord, counts: [u64; 2]) {
        self.backends.add(record.backend.as_deref().unwrap_or("unknown"), counts);
    }

    fn decided(&mut self, record: &AuditRecord, outcome: Outcome) {
        let mut counts = [0; 3];
        if let (Some(count), Some(sum)) =
            (counts.get_mut(outcome as usize), self.outcomes.get_mut(outcome as usize))
        {
            *count = 1;
            *sum += 1;
        }
        if let Some(at) = Timestamp::parse(&record.timestamp) {
            self.over_time.add(at, outcome as usize);
        }
        let [allowed, asked, refused] = counts;
        if let Some(rule) = record.rule.as_deref().filter(|_| outcome != Outcome::Allowed) {
            self.rules.add(rule, [asked, refused]);
        }
        if let Some(agent) = &record.agent {
            self.agents.add(agent, counts);
        }
        if let Some(skill) = &record.skill {
            self.skills.add(skill, counts);
        }
        if let (Some(EventKind::NetworkAllowed | EventKind::NetworkDenied), Some(host)) =
            (record.kind(), detail(record, "subject"))
        {
            self.hosts.add(&host, [allowed, refused + asked]);
        }
        if outcome == Outcome::Refused {
            self.keep(record);
        }
    }

    fn keep(&mut self, record: &AuditRecord) {
        if self.refused.len() == MAX_REFUSED {
            self.refused.pop_front();
        }
        self.refused.push_back(Refusal::of(record));
    }
}

impl Refusal {
    fn of(record: &AuditRecord) -> Self {
        let who = [&record.agent, &record.skill].into_iter().flatten().cloned().collect::<Vec<_>>();
        Self {
            when: record.timestamp.clone(),
            event: record.event.clone(),
            who: who.join(", "),
            about: about(record).unwrap_or_default(),
            rule: record.rule.clone().unwrap_or_default(),
            because: detail(record, "reason").unwrap_or_default(),
            to_allow: detail(record, "toAllow"),
            id: detail(record, "id"),
        }
    }
}

fn outcome(record: &AuditRecord) -> Outcome {
    use EventKind as K;
    match (record.kind(), record.decision.as_deref()) {
        (Some(K::ApprovalAsked), _) => Outcome::Asked,
        (Some(K::LimitReached), _) => Outcome::Refused,
        (_, Some("allow" | "sandbox")) => Outcome::Allowed,
        // A record about several decisions at once has only its kind.
        (Some(K::ToolAllowed | K::PathAllowed | K::CommandAllowed | K::NetworkAllowed), None) => {
            Outcome::Allowed
        }
        // An unknown decision does not count as allowed.
        _ => Outcome::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records with a decision, and records about several decisions at once, without one.
    #[test]
    fn allowed_actions_are_not_shown_as_refused() {
        let cases = [
            ("tool_allowed", None, [1, 0, 0]),
            ("tool_allowed", Some("allow"), [1, 0, 0]),
            ("command_allowed", Some("sandbox"), [1, 0, 0]),
            ("command_allowed", Some("unheard"), [0, 0, 1]),
            ("tool_denied", None, [0, 0, 1]),
            ("approval_asked", Some("ask"), [0, 1, 0]),
            ("limit_reached", None, [0, 0, 1]),
            ("sandbox_denied", None, [0, 0, 1]),
            ("scan_found", None, [0, 0, 0]),
        ];
        for (event, decision, expected) in cases {
            let record = serde_json::json!({
                "id": 1, "timestamp": "2026-11-21T09:30:00.000000Z", "event": event, "severity": "info",
                "decision": decision, "data": {}, "writer": "w", "prev": "",
            });
            let mut tally = RecordTally::default();
            tally.add(&serde_json::from_value(record).unwrap());
            assert_eq!(tally.outcomes, expected, "{event} {decision:?}");
            assert_eq!(tally.refused.len() as u64, expected[2], "{event} {decision:?}");
        }
    }
}
