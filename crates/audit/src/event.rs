//! What is put on record, made safe to keep: secrets taken out, sizes bounded.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::detail::{AuditId, ClosedWord, Detail, TypedDetail};
use crate::field::{self, AuditField};
use crate::kind::{EventKind, EventSeverity};
use stockade_credentials::Redactor;

/// The most bytes of one text of an event.
const MAX_TEXT_BYTES: usize = 2 << 10;
/// The most bytes that are searched for secrets; more of a text is not looked at and not kept.
const MAX_SEARCHED_BYTES: usize = 64 << 10;
/// The most details, and the most texts of a list.
const MAX_DETAILS: usize = 64;
/// The most bytes of all texts of an event together.
const MAX_EVENT_BYTES: usize = 16 << 10;

/// Something that happened.
///
/// ```
/// use stockade_audit::{AuditEvent, EventKind, field};
///
/// let event = AuditEvent {
///     agent: Some("builder".into()),
///     rule: Some("git-read".into()),
///     ..AuditEvent::new(EventKind::CommandAllowed)
/// };
/// let event = event.with(field::COMMAND, "git status").with(field::TRUNCATED, false);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// What kind.
    pub kind: EventKind,
    /// The agent that it happened to.
    pub agent: Option<AuditId>,
    /// The skill that was at work.
    pub skill: Option<AuditId>,
    /// What was decided: `allow`, `ask`, `deny` …
    pub decision: Option<ClosedWord>,
    /// The rule that decided.
    pub rule: Option<AuditId>,
    /// What ran it: `native`, `bwrap` …
    pub backend: Option<AuditId>,
    /// The exit code of what ran.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// How much it matters, where that is more than its kind says.
    pub severity: Option<EventSeverity>,
    /// Details, each of a kind: see [`AuditEvent::with`].
    pub details: EventDetails,
}

/// The details of an event, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventDetails(BTreeMap<&'static str, TypedDetail>);

/// An event as it may be kept: without secrets, and bounded.
#[derive(Debug, Clone)]
pub(crate) struct SafeEvent {
    pub(crate) kind: EventKind,
    pub(crate) agent: Option<String>,
    pub(crate) skill: Option<String>,
    pub(crate) decision: Option<String>,
    pub(crate) rule: Option<String>,
    pub(crate) backend: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) duration: Option<Duration>,
    pub(crate) severity: Option<EventSeverity>,
    pub(crate) details: BTreeMap<String, Detail>,
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
            details: EventDetails(BTreeMap::new()),
        }
    }

    /// Adds a detail. Its kind is that of the field, and decides whether it is redacted.
    #[must_use]
    pub fn with<K: Into<TypedDetail>>(mut self, field: AuditField<K>, detail: impl Into<K>) -> Self {
        self.details.0.insert(field.name(), detail.into().into());
        self
    }

    /// Returns the event as it may be kept.
    pub(crate) fn made_safe(self, redactor: &Redactor) -> SafeEvent {
        let mut safe = Bounds { redactor, left: MAX_EVENT_BYTES, cut: false };
        let mut event = SafeEvent {
            kind: self.kind,
            agent: self.agent.map(|agent| safe.id(&agent)),
            skill: self.skill.map(|skill| safe.id(&skill)),
            decision: self.decision.map(|decision| safe.word(&decision)),
            rule: self.rule.map(|rule| safe.id(&rule)),
            backend: self.backend.map(|backend| safe.id(&backend)),
            exit_code: self.exit_code,
            duration: self.duration,
            severity: self.severity,
            details: BTreeMap::new(),
        };
        // Free text comes last, so that a long one leaves the rest whole.
        let (free, closed): (Vec<_>, Vec<_>) =
            self.details.0.into_iter().partition(|(_, detail)| detail.is_free());
        let all = closed.len() + free.len();
        for (name, detail) in closed.into_iter().chain(free).take(MAX_DETAILS) {
            event.details.insert(name.to_owned(), safe.detail(detail));
        }
        if safe.cut || all > MAX_DETAILS {
            event.details.insert(field::CUT.name().to_owned(), Detail::Flag(true));
        }
        event
    }
}

impl SafeEvent {
    /// Returns an event of the trail's own about a run, in whose words there is nothing to redact.
    pub(crate) fn of_trail(kind: EventKind, error: &'static str) -> Self {
        let details = BTreeMap::from([(field::ERROR.name().to_owned(), Detail::Text(error.to_owned()))]);
        Self { details, ..AuditEvent::new(kind).made_safe(&Redactor::default()) }
    }
}

/// What an event may still hold.
struct Bounds<'r> {
    redactor: &'r Redactor,
    left: usize,
    cut: bool,
}

impl Bounds<'_> {
    fn detail(&mut self, detail: TypedDetail) -> Detail {
        match detail {
            TypedDetail::Flag(flag) => Detail::Flag(flag),
            TypedDetail::Number(number) => Detail::Number(number.get()),
            TypedDetail::Word(word) => Detail::Text(self.word(&word)),
            TypedDetail::Words(words) => self.list(words.as_slice(), Self::word),
            TypedDetail::Id(id) => Detail::Text(self.id(&id)),
            TypedDetail::Ids(ids) => self.list(ids.as_slice(), Self::id),
            TypedDetail::Text(text) => Detail::Text(self.text(text.as_str())),
            TypedDetail::Texts(texts) => self.texts(texts.as_slice()),
        }
    }

    fn list<T>(&mut self, list: &[T], each: fn(&mut Self, &T) -> String) -> Detail {
        self.cut |= list.len() > MAX_DETAILS;
        Detail::List(list.iter().take(MAX_DETAILS).map(|one| each(self, one)).collect())
    }

    /// A word of a closed vocabulary cannot be a secret.
    fn word(&mut self, word: &ClosedWord) -> String {
        self.cut_to_size(word.as_str())
    }

    /// An id is a secret only if it has the form of a token; what is no id is free text.
    fn id(&mut self, id: &AuditId) -> String {
        if !id.is_well_formed() {
            return self.text(id.as_str());
        }
        let redacted = self.redactor.redact_word(id.as_str());
        self.cut_to_size(&redacted)
    }

    fn text(&mut self, text: &str) -> String {
        let searched = self.start(text, MAX_SEARCHED_BYTES);
        let redacted = self.redactor.redact(&searched).into_owned();
        self.cut_to_size(&redacted)
    }

    /// A secret may be a word of its own, behind the option that names it.
    fn texts(&mut self, texts: &[String]) -> Detail {
        self.cut |= texts.len() > MAX_DETAILS;
        let words: Vec<_> =
            texts.iter().take(MAX_DETAILS).map(|text| self.start(text, MAX_SEARCHED_BYTES)).collect();
        let safe = self.redactor.redact_words(&words);
        Detail::List(safe.iter().map(|text| self.cut_to_size(text)).collect())
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::detail::{AuditIds, AuditNumber, ClosedWords, FreeText, FreeTexts};

    /// A token by its form, which is also in the grammar of ids.
    const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

    /// Makes a detail of a kind out of a text, as far as text can be in it.
    pub(crate) trait Sample: Sized {
        fn sample(of: &str) -> Self;
    }

    /// The word that is a sample of a closed vocabulary.
    const CLOSED: &str = "password";

    impl Sample for bool {
        fn sample(_: &str) -> Self {
            true
        }
    }
    impl Sample for AuditNumber {
        fn sample(_: &str) -> Self {
            4_111_111_111_111_111_i64.into()
        }
    }
    impl Sample for ClosedWord {
        fn sample(_: &str) -> Self {
            CLOSED.into()
        }
    }
    impl Sample for ClosedWords {
        fn sample(_: &str) -> Self {
            [CLOSED, TOKEN].into_iter().collect()
        }
    }
    impl Sample for AuditId {
        fn sample(of: &str) -> Self {
            of.into()
        }
    }
    impl Sample for AuditIds {
        fn sample(of: &str) -> Self {
            vec![of].into()
        }
    }
    impl Sample for FreeText {
        fn sample(of: &str) -> Self {
            of.into()
        }
    }
    impl Sample for FreeTexts {
        fn sample(of: &str) -> Self {
            vec![of].into()
        }
    }

    /// An event in which every column and every detail is there.
    fn full(kind: EventKind, of: &str) -> AuditEvent {
        let event = AuditEvent {
            agent: Some(of.into()),
            skill: Some(of.into()),
            decision: Some(CLOSED.into()),
            rule: Some(of.into()),
            backend: Some(of.into()),
            ..AuditEvent::new(kind)
        };
        field::with_all(event, of)
    }

    /// Returns what became of the texts of each column and detail, with its kind.
    fn kept(event: AuditEvent, redactor: &Redactor) -> Vec<(String, Kind, String)> {
        let kinds: BTreeMap<_, _> =
            event.details.0.iter().map(|(name, detail)| (*name, Kind::of(detail))).collect();
        let safe = event.made_safe(redactor);
        let columns = [
            ("agent", Kind::Id, safe.agent),
            ("skill", Kind::Id, safe.skill),
            ("decision", Kind::Closed, safe.decision),
            ("rule", Kind::Id, safe.rule),
            ("backend", Kind::Id, safe.backend),
        ];
        let columns = columns.into_iter().map(|(name, kind, text)| (name.to_owned(), kind, text.unwrap()));
        let details = safe.details.into_iter().map(|(name, detail)| {
            let kind = kinds[name.as_str()];
            let text = match detail {
                Detail::Flag(flag) => flag.to_string(),
                Detail::Number(number) => number.to_string(),
                Detail::Text(text) => text,
                Detail::List(list) => list.join(" "),
            };
            (name, kind, text)
        });
        columns.chain(details).collect()
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Kind {
        Closed,
        Id,
        Free,
    }

    impl Kind {
        fn of(detail: &TypedDetail) -> Self {
            match detail {
                TypedDetail::Id(_) | TypedDetail::Ids(_) => Self::Id,
                detail if detail.is_free() => Self::Free,
                _ => Self::Closed,
            }
        }
    }

    /// A redactor that was told of every text of an event in every way that there is.
    fn hostile(words: &[&str]) -> Redactor {
        let names = ["G", "ISCL_SKILL_NAME", "API_TOKEN", "PASSWORD"];
        let variables = names.iter().flat_map(|name| words.iter().map(move |word| (*name, *word)));
        Redactor::default().hide_variables(variables).hide(words.iter().map(|word| (*word).to_owned()))
    }

    /// Whatever the redactor was told, only free text is redacted: of every kind of event, each detail and column.
    #[test]
    fn only_free_text_is_redacted() {
        let redactor = hostile(&["builder-7", CLOSED, "true", "4111111111111111", TOKEN]);
        for kind in EventKind::all() {
            for (name, of, text) in kept(full(kind, "builder-7"), &redactor) {
                let is_whole = match of {
                    Kind::Free => text == "[redacted]",
                    Kind::Id => text == "builder-7",
                    Kind::Closed => {
                        [CLOSED, "true", "4111111111111111", &format!("{CLOSED} {TOKEN}")].contains(&&*text)
                    }
                };
                assert!(is_whole, "{kind} {name}: {text}");
            }
        }
    }

    /// What fits the grammar of ids and has the form of a token is redacted: the safer answer wins.
    #[test]
    fn an_id_that_looks_like_a_token_is_redacted() {
        for kind in EventKind::all() {
            for (name, of, text) in kept(full(kind, TOKEN), &Redactor::default()) {
                assert!(of == Kind::Closed || text == "[redacted]", "{kind} {name}: {text}");
            }
        }
    }

    /// A secret cannot be hidden in the column of an id: what is not in the grammar of ids is free text.
    #[test]
    fn what_is_no_id_is_free_text() {
        let hidden = "x".repeat(100);
        let redactor = Redactor::default().hide(["correct horse".to_owned(), hidden.clone()]);
        for secret in ["correct horse", "PASSWORD=hunter2x", "https://me:hunter2x@git.example/", &hidden] {
            for kind in EventKind::all() {
                for (name, _, text) in kept(full(kind, secret), &redactor) {
                    let tells = text.contains("hunter2x") || text.contains("horse") || text.contains(&hidden);
                    assert!(!tells, "{kind} {name}: {text}");
                }
            }
        }
    }

    /// No long text takes the place of an id, a number or a word.
    #[test]
    fn an_event_is_bounded_and_keeps_what_it_is_found_by() {
        let long = "é".repeat(100_000);
        let texts = vec![long.as_str(); 1000];
        let event = AuditEvent::new(EventKind::CommandDenied)
            .with(field::COMMAND, long.as_str())
            .with(field::CHANGED, texts.clone())
            .with(field::EXPOSED, texts)
            .with(field::TOOL, "read");
        let safe = event.made_safe(&Redactor::default());
        assert_eq!(safe.details.get("cut"), Some(&Detail::Flag(true)));
        assert_eq!(safe.details.get("tool"), Some(&Detail::Text("read".to_owned())));
        let bytes = serde_json::to_string(&safe.details).unwrap().len();
        assert!(bytes < 4 * MAX_EVENT_BYTES, "{bytes}");
    }

    #[test]
    fn what_fits_is_not_touched() {
        let event = AuditEvent::new(EventKind::ToolAllowed).with(field::TOOL, "read").with(field::BYTES, -3);
        let safe = event.made_safe(&Redactor::default());
        let kept =
            [("bytes".to_owned(), Detail::Number(-3)), ("tool".to_owned(), Detail::Text("read".to_owned()))];
        assert_eq!(safe.details, BTreeMap::from(kept));
    }

    #[test]
    fn the_words_of_a_command_lose_the_secret_behind_an_option() {
        let event = AuditEvent::new(EventKind::CommandDenied)
            .with(field::COMMAND, format!("echo {TOKEN}"))
            .with(field::SUGGESTIONS, vec!["login", "--password", "hunter2", TOKEN]);
        let kept = format!("{:?}", event.made_safe(&Redactor::default()));
        assert!(!kept.contains("ghp_") && !kept.contains("hunter2"), "{kept}");
        assert!(kept.contains("--password") && kept.contains("login"), "{kept}");
    }
}
