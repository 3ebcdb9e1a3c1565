//! Questions to the trail.

use crate::detail::Detail;
use crate::kind::{EventKind, EventSeverity};
use crate::record::AuditRecord;
use stockade_text::Timestamp;

/// The most records that one answer holds.
pub const MAX_QUERY: usize = 1000;

/// Which records to return: the newest that fit all that is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// The event, as a pattern of SQL: `%` matches any characters, `_` one.
    pub event: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// The run.
    pub run: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The skill.
    pub skill: Option<String>,
    /// Of this severity, or a higher one.
    pub severity: Option<EventSeverity>,
    /// The decision of this name: what its `id` is.
    pub name: Option<String>,
    /// Decisions alone, and not what names one: see [`EventKind::is_decision`].
    pub decisions: bool,
    /// What was decided: `deny`.
    pub decision: Option<String>,
    /// Written behind the record of this number.
    pub behind: Option<u64>,
    /// At most so many, and never more than [`MAX_QUERY`].
    pub limit: usize,
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self {
            event: None,
            since: None,
            until: None,
            run: None,
            agent: None,
            skill: None,
            severity: None,
            name: None,
            decisions: false,
            decision: None,
            behind: None,
            limit: 20,
        }
    }
}

impl AuditQuery {
    /// Returns how many records to return.
    pub(crate) fn limit(&self) -> usize {
        self.limit.clamp(1, MAX_QUERY)
    }

    /// The words of the severities that are asked for.
    #[cfg(feature = "sqlite")]
    pub(crate) fn severities(&self) -> Option<String> {
        let least = self.severity?;
        let all = EventSeverity::ALL.into_iter();
        Some(
            all.filter(|severity| *severity >= least)
                .map(|severity| format!(" {} ", severity.name()))
                .collect(),
        )
    }

    /// The words of the events that are asked for, where only decisions are.
    #[cfg(feature = "sqlite")]
    pub(crate) fn decision_events(&self) -> Option<String> {
        let decisions = EventKind::all().filter(|kind| kind.is_decision());
        self.decisions.then(|| decisions.map(|kind| format!(" {} ", kind.name())).collect())
    }

    /// Whether a record is asked for.
    pub(crate) fn asks_for(&self, record: &AuditRecord) -> bool {
        let is = |asked: &Option<String>, found: &Option<String>| asked.is_none() || asked == found;
        let at = record.timestamp.as_str();
        self.event.as_deref().is_none_or(|pattern| like(pattern, &record.event))
            && self.since.is_none_or(|since| at >= since.to_string().as_str())
            && self.until.is_none_or(|until| at < until.to_string().as_str())
            && self.behind.is_none_or(|behind| record.id > behind)
            && self
                .name
                .as_ref()
                .is_none_or(|name| matches!(record.data.get("id"), Some(Detail::Text(id)) if id == name))
            && (!self.decisions || EventKind::from_name(&record.event).is_some_and(EventKind::is_decision))
            && self.severity.is_none_or(|least| EventSeverity::from_name(&record.severity) >= Some(least))
            && is(&self.decision, &record.decision)
            && is(&self.run, &record.run)
            && is(&self.agent, &record.agent)
            && is(&self.skill, &record.skill)
    }
}

/// Whether a text fits a pattern of SQL, as SQLite sees it: letters of ASCII in either case.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // Which places of the pattern could be next; walking them together keeps the time within pattern × text.
    let mut open = vec![false; pattern.len() + 1];
    if let Some(first) = open.first_mut() {
        *first = true;
    }
    skip_any(&pattern, &mut open);
    for c in text {
        let mut next = vec![false; pattern.len() + 1];
        for (at, sign) in pattern.iter().enumerate().filter(|(at, _)| open.get(*at).copied().unwrap_or(false))
        {
            let (stays, moves) = match sign {
                '%' => (true, false),
                '_' => (false, true),
                sign => (false, sign.eq_ignore_ascii_case(&c)),
            };
            if let Some([here, behind]) = next.get_mut(at..at + 2) {
                *here |= stays;
                *behind |= moves;
            }
        }
        skip_any(&pattern, &mut next);
        open = next;
    }
    open.last().copied().unwrap_or(false)
}

/// `%` also matches nothing.
fn skip_any(pattern: &[char], open: &mut [bool]) {
    for (at, _) in pattern.iter().enumerate().filter(|(_, sign)| **sign == '%') {
        if let Some([here, behind]) = open.get_mut(at..at + 2) {
            *behind |= *here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn patterns() {
        let cases = [
            ("sandbox_%", "sandbox_started", true),
            ("sandbox_%", "sandboxed", true),
            ("sandbox_%", "sandbox", false),
            ("SANDBOX%", "sandbox_error", true),
            ("%error", "sandbox_error", true),
            ("%", "", true),
            ("_", "", false),
            ("_", "é", true),
            ("a%b%c", "a-b-b-c", true),
            ("a%b%c", "a-c-b", false),
            ("", "", true),
            ("", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(like(pattern, text), expected, "{pattern} {text}");
        }
    }
}
