//! What is put on record, made safe to keep: secrets taken out, sizes bounded.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::kind::{EventKind, EventSeverity};
use crate::redact::Redactor;

/// The most bytes of one text of an event.
const MAX_TEXT_BYTES: usize = 2 << 10;
/// The most bytes that are searched for secrets; more of a text is not looked at and not kept.
const MAX_SEARCHED_BYTES: usize = 64 << 10;
/// The most details, and the most texts of a list.
const MAX_DETAILS: usize = 64;
/// The most bytes of all texts of an event together.
const MAX_EVENT_BYTES: usize = 16 << 10;

/// The detail that says that others were cut or left out.
const CUT: &str = "cut";

/// Details that are names, numbers, digests or words of a list, as the columns of a record are, and no text of anybody's.
const WORDS: &[&str] = &[
    "answer",
    "by",
    "cause",
    "change",
    "changes",
    "decision",
    "door",
    "driven",
    "end",
    "enforced",
    "files",
    "gaps",
    "id",
    "manifest",
    "memory",
    "network",
    "operation",
    "part",
    "rules",
    "rulesOff",
    "session",
    "startedBy",
    "tool",
];

/// Something that happened.
///
/// ```
/// use stockade_audit::{AuditEvent, EventKind};
///
/// let event = AuditEvent {
///     agent: Some("builder".into()),
///     rule: Some("git-read".into()),
///     ..AuditEvent::new(EventKind::CommandAllowed)
/// };
/// let event = event.with("command", "git status").with("parts", 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// What kind.
    pub kind: EventKind,
    /// The agent that it happened to.
    pub agent: Option<String>,
    /// The skill that was at work.
    pub skill: Option<String>,
    /// What was decided: `allow`, `ask`, `deny` …
    pub decision: Option<String>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// What ran it: `native`, `bwrap` …
    pub backend: Option<String>,
    /// The exit code of what ran.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// How much it matters, where that is more than its kind says.
    pub severity: Option<EventSeverity>,
    /// Whatever else there is to know.
    pub details: BTreeMap<String, Detail>,
}

/// One detail of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Detail {
    /// A detail that holds or does not.
    Flag(bool),
    /// A detail that is counted.
    Number(i64),
    /// A detail that is one text.
    Text(String),
    /// A detail that is several texts.
    List(Vec<String>),
}

impl AuditEvent {
    /// An event of this kind, of which nothing else is known.
    #[must_use]
    pub const fn new(kind: EventKind) -> Self {
        Self {
            kind,
            agent: None,
            skill: None,
            decision: None,
            rule: None,
            backend: None,
            exit_code: None,
            duration: None,
            severity: None,
            details: BTreeMap::new(),
        }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, detail: impl Into<Detail>) -> Self {
        self.details.insert(name.to_owned(), detail.into());
        self
    }

    /// Returns the event as it may be kept.
    pub(crate) fn made_safe(self, redactor: &Redactor) -> Self {
        let mut safe = Bounds { redactor, left: MAX_EVENT_BYTES, cut: false };
        let mut event = Self {
            agent: safe.column(self.agent),
            skill: safe.column(self.skill),
            decision: safe.column(self.decision),
            rule: safe.column(self.rule),
            backend: safe.column(self.backend),
            details: BTreeMap::new(),
            ..self
        };
        for (name, detail) in self.details {
            if event.details.len() == MAX_DETAILS {
                safe.cut = true;
                break;
            }
            let safe_detail = match detail {
                Detail::Text(text) if WORDS.contains(&name.as_str()) => Detail::Text(safe.word(&text)),
                Detail::List(list) if WORDS.contains(&name.as_str()) => safe.words(&list),
                detail => safe.detail(detail),
            };
            event.details.insert(safe.word(&name), safe_detail);
        }
        if safe.cut {
            event.details.insert(CUT.to_owned(), Detail::Flag(true));
        }
        event
    }
}

/// What an event may still hold.
struct Bounds<'r> {
    redactor: &'r Redactor,
    left: usize,
    cut: bool,
}

impl Bounds<'_> {
    fn column(&mut self, text: Option<String>) -> Option<String> {
        text.map(|text| self.word(&text))
    }

    /// A name, or a word of a list: nothing but a form of its own makes a secret of it.
    fn word(&mut self, text: &str) -> String {
        let searched = self.start(text, MAX_SEARCHED_BYTES);
        let redacted = self.redactor.redact_word(&searched).into_owned();
        self.cut_to_size(&redacted)
    }

    fn detail(&mut self, detail: Detail) -> Detail {
        match detail {
            Detail::Flag(_) | Detail::Number(_) => detail,
            Detail::Text(text) => Detail::Text(self.text(&text)),
            Detail::List(list) => {
                self.cut |= list.len() > MAX_DETAILS;
                // A secret may stand in a word of its own, behind the option that names it.
                let words: Vec<_> =
                    list.iter().take(MAX_DETAILS).map(|text| self.start(text, MAX_SEARCHED_BYTES)).collect();
                let safe = self.redactor.redact_words(&words);
                Detail::List(safe.iter().map(|text| self.cut_to_size(text)).collect())
            }
        }
    }

    fn text(&mut self, text: &str) -> String {
        let searched = self.start(text, MAX_SEARCHED_BYTES);
        let redacted = self.redactor.redact(&searched).into_owned();
        self.cut_to_size(&redacted)
    }

    fn words(&mut self, list: &[String]) -> Detail {
        self.cut |= list.len() > MAX_DETAILS;
        Detail::List(list.iter().take(MAX_DETAILS).map(|word| self.word(word)).collect())
    }

    fn cut_to_size(&mut self, text: &str) -> String {
        let kept = self.start(text, MAX_TEXT_BYTES.min(self.left));
        self.left -= kept.len();
        kept
    }

    /// Returns the first bytes, up to the end of a character.
    fn start(&mut self, text: &str, most: usize) -> String {
        let end = text.floor_char_boundary(most);
        self.cut |= end < text.len();
        text.get(..end).unwrap_or_default().to_owned()
    }
}

impl From<&str> for Detail {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Detail {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for Detail {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

impl From<bool> for Detail {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i32> for Detail {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<i64> for Detail {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Detail {
    /// A number that is too large is the largest that fits.
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(event: AuditEvent) -> AuditEvent {
        event.made_safe(&Redactor::default())
    }

    #[test]
    fn secrets_do_not_stay_in_any_part() {
        let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        let event = AuditEvent {
            agent: Some(token.into()),
            skill: Some(token.into()),
            decision: Some(token.into()),
            rule: Some(token.into()),
            backend: Some(token.into()),
            ..AuditEvent::new(EventKind::CommandDenied)
        };
        let event = event.with("command", format!("echo {token}")).with(token, true);
        let event =
            event.with("argv", vec!["login".to_owned(), "--password".into(), "hunter2".into(), token.into()]);
        let kept = format!("{:?}", safe(event));
        assert!(!kept.contains("ghp_") && !kept.contains("hunter2"), "{kept}");
        assert!(kept.contains("--password") && kept.contains("login"), "{kept}");
    }

    /// Whatever the variables of a command hold, its record keeps what it is found by.
    #[test]
    fn no_variable_hides_a_column() {
        let event = AuditEvent {
            agent: Some("builder".into()),
            skill: Some("test-skill".into()),
            decision: Some("allowed".into()),
            rule: Some("project-routine".into()),
            backend: Some("native".into()),
            exit_code: Some(0),
            ..AuditEvent::new(EventKind::SandboxCompleted)
        };
        let event = WORDS.iter().fold(event, |event, name| event.with(name, format!("{name}-workspace")));
        let words: Vec<String> = format!("{event:?}")
            .split(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '_')
            .map(str::to_owned)
            .collect();
        for name in ["G", "ISCL_SKILL_NAME", "API_TOKEN", "PASSWORD"] {
            let values = words.iter().map(|word| (name, word.as_str()));
            let redactor = Redactor::default().hide_variables(values).hide(words.clone());
            assert_eq!(event.clone().made_safe(&redactor), event, "{name}");
        }
        let kept = format!(
            "{:?}",
            event.with("command", "echo builder").made_safe(&Redactor::default().hide(["builder"]))
        );
        assert!(kept.contains("echo [redacted]"), "{kept}");
    }

    #[test]
    fn an_event_is_bounded() {
        let mut event = AuditEvent::new(EventKind::CommandDenied).with("command", "é".repeat(100_000));
        for number in 0..1000_u64 {
            event = event.with(&format!("detail {number:04}"), vec!["x".repeat(500); 100]);
        }
        let event = safe(event);
        assert_eq!(event.details.get(CUT), Some(&Detail::Flag(true)));
        let bytes = serde_json::to_string(&event.details).unwrap().len();
        assert!(event.details.len() <= MAX_DETAILS + 1 && bytes < 4 * MAX_EVENT_BYTES, "{bytes}");
    }

    #[test]
    fn what_fits_is_not_touched() {
        let event = AuditEvent::new(EventKind::ToolAllowed).with("tool", "read").with("limits", -3_i64);
        assert_eq!(safe(event.clone()), event);
    }
}
