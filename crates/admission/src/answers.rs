//! Questions about commands, and answers that last for more than one request.
//!
//! ```text
//!  decision: ask ──► question: what it depends on, with digests ──► an answer that holds? ──► what becomes of it
//!                                          ▲                                ▲
//!                    files that it names, read now          of this session, or kept in a file
//! ```
//!
//! An answer is bound to the question: the text, its directory, the agent, the variables that its meaning depends on,
//! and the bytes of every file that it names. Any change makes it a different question. An answer expires, and never
//! lifts a denial.
#![expect(clippy::disallowed_methods, reason = "reads the clock, by which answers end")]

mod digest;
mod question;
mod store;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use stockade_command::Effect;
use stockade_command::answers::{AnswerMemory, CommandAnswer, RememberedAnswer};

pub use question::{AskedCommand, BoundFile, CommandQuestion};
pub use store::{AnswerStore, AnswerStoreError};

/// Maximum lifetimes of the user's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerTerms {
    /// Maximum lifetime of an answer for a session, should the session last longer. Zero: it is valid once.
    pub session: Duration,
    /// Lifetime of an answer that is stored for later sessions. Zero: it is not stored.
    pub always: Duration,
}

impl AnswerTerms {
    /// The maximum: twelve hours, and thirty days.
    pub const MAX_TERMS: Self =
        Self { session: Duration::from_secs(12 * 3600), always: Duration::from_secs(30 * 24 * 3600) };

    /// Returns the shorter of both terms.
    #[must_use]
    pub fn shorter(self, other: Self) -> Self {
        Self { session: self.session.min(other.session), always: self.always.min(other.always) }
    }
}

impl AnswerTerms {
    /// Returns the lifetime of a new answer.
    const fn of(self, answer: CommandAnswer) -> Duration {
        match answer {
            CommandAnswer::AllowAlways => self.always,
            CommandAnswer::AllowSession | CommandAnswer::DenySession => self.session,
            CommandAnswer::Allow | CommandAnswer::Deny => Duration::ZERO,
        }
    }
}

impl Default for AnswerTerms {
    fn default() -> Self {
        Self::MAX_TERMS
    }
}

/// The valid answers of a session: its own, and stored ones.
pub struct CommandAnswers {
    session: Mutex<AnswerMemory>,
    store: Option<AnswerStore>,
    terms: AnswerTerms,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// Result of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnsweredCommand {
    /// Effect on the command.
    pub effect: Effect,
    /// The user's answer.
    pub answer: CommandAnswer,
    /// Expiry of the answer as time since 1970; `None` if it is valid once.
    pub ends: Option<Duration>,
    /// Why it is valid only once although it was to last.
    pub once: Option<String>,
}

/// A valid answer in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedAnswer {
    /// Its id, by which it is revoked: that of the question.
    pub id: String,
    /// The answer: `allow-session`, `deny-session` or `allow-always`.
    pub answer: &'static str,
    /// The agent that it was given to.
    pub agent: String,
    /// The command, as it was shown.
    pub shown: String,
    /// The directory.
    pub cwd: String,
    /// The rules and hazards that asked.
    pub rules: Vec<String>,
    /// Time of the answer, in milliseconds since 1970.
    pub given_ms: u64,
    /// Expiry, in milliseconds since 1970.
    pub ends_ms: u64,
}

impl CommandAnswers {
    /// Creates a set without answers. Those that outlast the session are kept in `store`, if there is one.
    #[must_use]
    pub fn new(terms: AnswerTerms, store: Option<AnswerStore>) -> Self {
        Self::with_clock(terms, store, || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// The same with a custom clock: the time since 1970.
    #[must_use]
    pub fn with_clock(
        terms: AnswerTerms,
        store: Option<AnswerStore>,
        clock: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        Self {
            session: Mutex::default(),
            store,
            terms: terms.shorter(AnswerTerms::MAX_TERMS),
            clock: Box::new(clock),
        }
    }

    /// Returns a valid earlier answer to a question.
    ///
    /// # Errors
    /// When the answer store cannot be used.
    pub fn recall(&self, question: &CommandQuestion) -> Result<Option<AnsweredCommand>, AnswerStoreError> {
        self.recall_within(question, self.terms)
    }

    /// The same, with lifetimes limited by the current terms.
    ///
    /// # Errors
    /// When the answer store cannot be used.
    pub fn recall_within(
        &self,
        question: &CommandQuestion,
        terms: AnswerTerms,
    ) -> Result<Option<AnsweredCommand>, AnswerStoreError> {
        let now = (self.clock)();
        let terms = self.terms.shorter(terms);
        let holds = |one: &RememberedAnswer| match one.answer {
            // Kept for the next use, however long the others last.
            CommandAnswer::Allow => !terms.always.is_zero(),
            answer => now < one.given.saturating_add(terms.of(answer)),
        };
        let said = |one: &RememberedAnswer| AnsweredCommand {
            effect: if one.answer.is_yes() { question.after_yes } else { Effect::Deny },
            answer: one.answer,
            ends: Some(one.ends),
            once: None,
        };
        let own = self
            .memory()
            .recall(&question.subject, question.content.as_ref(), &question.asked, now)
            .map(said);
        if own.is_some() {
            return Ok(own);
        }
        let Some(store) = &self.store else { return Ok(None) };
        let kept = store.load()?;
        Ok(kept.iter().find(|one| question.is_answered_by(one, now) && holds(one)).map(said))
    }

    /// Applies an answer to a question, and remembers it for its lifetime.
    ///
    /// # Errors
    /// When it cannot be stored although it should be. It has no effect then.
    pub fn answer(
        &self,
        question: &CommandQuestion,
        answer: CommandAnswer,
    ) -> Result<AnsweredCommand, AnswerStoreError> {
        self.answer_within(question, answer, self.terms)
    }

    /// The same, with lifetimes limited by these terms.
    ///
    /// # Errors
    /// As [`CommandAnswers::answer`].
    pub fn answer_within(
        &self,
        question: &CommandQuestion,
        answer: CommandAnswer,
        terms: AnswerTerms,
    ) -> Result<AnsweredCommand, AnswerStoreError> {
        let effect = if answer.is_yes() { question.after_yes } else { Effect::Deny };
        let once = AnsweredCommand { effect, answer, ends: None, once: None };
        if !answer.lasts() {
            return Ok(once);
        }
        let for_once = |why: &str| Ok(AnsweredCommand { once: Some(why.to_owned()), ..once.clone() });
        let term = self.terms.shorter(terms).of(answer);
        if term.is_zero() {
            return for_once("the configuration does not allow saved answers");
        }
        let now = (self.clock)();
        let remembered = match question.remembered(answer, now, now.saturating_add(term)) {
            Ok(remembered) => remembered,
            Err(why) => return for_once(&why),
        };
        let ends = Some(remembered.ends);
        if answer == CommandAnswer::AllowAlways {
            let Some(store) = &self.store else { return for_once("there is no file for saved answers") };
            store.change(now, |kept| {
                kept.retain(|one| one.content != remembered.content);
                kept.push(remembered.clone());
            })?;
        } else if !self.memory().remember(remembered) {
            return for_once("the session has reached its maximum number of answers");
        }
        Ok(AnsweredCommand { ends, ..once })
    }

    /// Stores an approval for the next use of exactly this, which is valid for `term`.
    ///
    /// # Errors
    /// When it cannot be stored. It has no effect then.
    pub fn allow_next(&self, question: &CommandQuestion, term: Duration) -> Result<(), AnswerStoreError> {
        let now = (self.clock)();
        let (Some(store), Ok(remembered)) =
            (&self.store, question.remembered(CommandAnswer::Allow, now, now.saturating_add(term)))
        else {
            return Ok(());
        };
        store.change(now, |kept| {
            kept.retain(|one| one.content != remembered.content);
            kept.push(remembered);
        })
    }

    /// Uses up an approval that was recalled, if it is for one use. Returns whether it still holds: of several uses at the same
    /// time, one has it.
    ///
    /// # Errors
    /// When the answer store cannot be used.
    pub fn spend(
        &self,
        question: &CommandQuestion,
        recalled: &AnsweredCommand,
    ) -> Result<bool, AnswerStoreError> {
        let (CommandAnswer::Allow, Some(store)) = (recalled.answer, &self.store) else { return Ok(true) };
        let now = (self.clock)();
        let is_spent =
            |one: &RememberedAnswer| one.answer == CommandAnswer::Allow && question.is_answered_by(one, now);
        let mut was_there = false;
        store.change(now, |kept| {
            let before = kept.len();
            kept.retain(|one| !is_spent(one));
            was_there = kept.len() < before;
        })?;
        Ok(was_there)
    }

    /// Whether there may be an answer to recall, so that building a question is worth its cost.
    #[must_use]
    pub fn may_hold_any(&self) -> bool {
        self.memory().list(Duration::ZERO).next().is_some()
            || self.store.as_ref().is_some_and(AnswerStore::is_there)
    }

    /// Returns the valid answers, those of the session first.
    ///
    /// # Errors
    /// When the answer store cannot be used.
    pub fn list(&self) -> Result<Vec<ListedAnswer>, AnswerStoreError> {
        let now = (self.clock)();
        let mut listed: Vec<ListedAnswer> = self.memory().list(now).map(ListedAnswer::of).collect();
        if let Some(store) = &self.store {
            listed.extend(store.load()?.iter().filter(|one| now < one.ends).map(ListedAnswer::of));
        }
        Ok(listed)
    }

    /// Revokes the answers with this id, or all of them. Returns their number.
    ///
    /// # Errors
    /// When the answer store cannot be used.
    pub fn revoke(&self, id: Option<&str>) -> Result<usize, AnswerStoreError> {
        let now = (self.clock)();
        let is_named = |one: &RememberedAnswer| id.is_none_or(|id| digest::name(&one.content) == id);
        let named: Vec<_> =
            self.memory().list(now).filter(|one| is_named(one)).map(|one| one.content).collect();
        let mut count: usize = named.iter().map(|content| self.memory().revoke(content)).sum();
        if let Some(store) = &self.store {
            store.change(now, |kept| {
                let before = kept.len();
                kept.retain(|one| !is_named(one));
                count += before - kept.len();
            })?;
        }
        Ok(count)
    }

    /// Forgets the answers of the session.
    pub fn end_session(&self) {
        self.memory().clear();
    }

    /// Every change of the memory is a single step, so it is consistent even after a panic of a holder.
    fn memory(&self) -> std::sync::MutexGuard<'_, AnswerMemory> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListedAnswer {
    fn of(one: &RememberedAnswer) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut rules: Vec<String> = one.asked.iter().map(|part| part.rule.clone()).collect();
        rules.sort();
        rules.dedup();
        Self {
            id: digest::name(&one.content),
            answer: one.answer.name(),
            agent: one.agent.clone(),
            shown: one.shown.clone(),
            cwd: one.cwd.clone(),
            rules,
            given_ms: millis(one.given),
            ends_ms: millis(one.ends),
        }
    }
}

impl fmt::Debug for CommandAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, terms, .. } = self;
        f.debug_struct("CommandAnswers").field("store", store).field("terms", terms).finish_non_exhaustive()
    }
}
