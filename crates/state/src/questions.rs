//! Questions that wait for the user at another terminal, because the agent's own program cannot ask.
//!
//! ```text
//!  hook ──► question in the file ──► `stockade watch` shows it ──► answer in the file ──► hook, or the next call of the same content
//! ```
//!
//! A question is bound to its content: the agent, the workspace, and the tool with all of its arguments. It is answered once, the
//! answer is used once, and both end after ten minutes. A question is only asked while the user watches, which is a lock that ends
//! with the process that has it.
#![expect(
    clippy::disallowed_methods,
    reason = "keeps files beside the audit trail, reads the clock, and waits"
)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use stockade_files::{KeptFile, OwnAccess, open_own};
use stockade_guard::audit::{new_name, private};
use stockade_text::{escape_path, to_printable_json, with_causes};

use crate::StateError;

/// How long a question and its answer are valid.
pub const MAX_AGE: Duration = Duration::from_secs(600);

/// Maximum number of questions. Further ones are not asked.
const MAX_QUESTIONS: usize = 32;

/// Maximum size of the content of a question in bytes. A call with more is not asked about.
const MAX_CONTENT: usize = 16 << 10;

const MAX_FILE_BYTES: u64 = 4 << 20;

/// How often a waiting hook looks for the answer.
const PAUSE: Duration = Duration::from_millis(50);

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionContent {
    /// The agent.
    pub agent: String,
    /// The directory of its project.
    pub workspace: PathBuf,
    /// The tool and all of its arguments, exactly.
    pub call: String,
}

/// A question that waits, or has been answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PendingQuestion {
    /// Its name.
    pub name: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: u64,
    /// What it is about.
    pub content: QuestionContent,
    /// The subject of the decision: the command, host, path or tool.
    pub subject: String,
    /// Why the user is asked.
    pub reason: String,
    /// The user's answer.
    #[serde(default)]
    pub answer: Option<QuestionAnswer>,
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionAnswer {
    /// This call is allowed, once.
    Allow,
    /// This call is denied.
    Deny,
}

impl QuestionAnswer {
    /// Returns the name, as recorded.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// It is saved, for this question.
    Now(PendingQuestion),
    /// The question has this answer already.
    Before(QuestionAnswer),
    /// The question does not exist, is used up, or is older than ten minutes.
    Expired,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    questions: Vec<PendingQuestion>,
}

/// Asks a question, and returns its name; nothing if there are too many, or if its content is too long.
///
/// # Errors
/// When it cannot be saved.
pub fn ask(content: QuestionContent, subject: &str, reason: &str) -> Result<Option<String>, StateError> {
    if content.call.len() + subject.len() + reason.len() > MAX_CONTENT {
        return Ok(None);
    }
    let name = new_name().map_err(StateError::unavailable)?;
    let question = PendingQuestion {
        name: name.clone(),
        asked_ms: now_ms(),
        content,
        subject: subject.to_owned(),
        reason: reason.to_owned(),
        answer: None,
    };
    change(|questions| {
        // The same call is one question, however often it is tried.
        questions.retain(|one| one.content != question.content);
        let has_room = questions.len() < MAX_QUESTIONS;
        if has_room {
            questions.push(question);
        }
        has_room.then_some(name)
    })
}

/// Waits for the answer to a question, and uses it. Returns nothing if it does not come in time: the question keeps waiting.
///
/// # Errors
/// When the file cannot be used.
pub fn wait(name: &str, time: Duration) -> Result<Option<QuestionAnswer>, StateError> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        thread::sleep(PAUSE);
        let found = read()?.into_iter().find(|one| one.name == name);
        match found {
            Some(question) if question.answer.is_none() => {}
            Some(question) => return redeem(&question.content),
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Uses the answer to a question of exactly this content.
///
/// # Errors
/// When the file cannot be used: then nothing was answered.
pub fn redeem(content: &QuestionContent) -> Result<Option<QuestionAnswer>, StateError> {
    let is_answered = |one: &PendingQuestion| one.content == *content && one.answer.is_some();
    // Most calls have no question, and need no lock.
    if !read()?.iter().any(is_answered) {
        return Ok(None);
    }
    change(|questions| {
        let at = questions.iter().position(is_answered)?;
        questions.remove(at).answer
    })
}

/// Answers a question.
///
/// # Errors
/// When the answer cannot be saved.
pub fn answer(name: &str, answer: QuestionAnswer) -> Result<Answered, StateError> {
    change(|questions| {
        let Some(question) = questions.iter_mut().find(|one| one.name == name) else {
            return Answered::Expired;
        };
        match question.answer {
            Some(before) => Answered::Before(before),
            None => {
                question.answer = Some(answer);
                Answered::Now(question.clone())
            }
        }
    })
}

/// Returns the questions without an answer, the oldest first.
///
/// # Errors
/// When the file cannot be read.
pub fn pending() -> Result<Vec<PendingQuestion>, StateError> {
    Ok(read()?.into_iter().filter(|one| one.answer.is_none()).collect())
}

/// Returns how long a question is still valid.
#[must_use]
pub fn remaining(question: &PendingQuestion) -> Duration {
    let end = Duration::from_millis(question.asked_ms).saturating_add(MAX_AGE);
    end.saturating_sub(Duration::from_millis(now_ms()))
}

/// Proof that the user can be asked, as long as it exists.
#[derive(Debug)]
pub struct Watching(#[expect(dead_code, reason = "the lock ends when the file is closed")] File);

/// Makes hooks ask here from now on.
///
/// # Errors
/// When the lock cannot be taken.
pub fn start_watching() -> Result<Watching, StateError> {
    let folder = folder()?;
    private::create_private_folder(&folder).map_err(StateError::unavailable)?;
    let file = open_lock(&folder.join("watching"), true).map_err(StateError::unavailable)?;
    flock(&file, FlockOperation::LockShared).map_err(StateError::unavailable)?;
    Ok(Watching(file))
}

/// Whether the user watches.
#[must_use]
pub fn is_watched() -> bool {
    let Some(file) = folder().ok().and_then(|folder| open_lock(&folder.join("watching"), false).ok()) else {
        return false;
    };
    // Another hook that looks has the lock for a moment.
    let is_free = || flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    !(0..3).any(|_| {
        is_free() || {
            thread::sleep(Duration::from_millis(2));
            false
        }
    })
}

/// Whether a question may get an answer: the user watches, or has answered a question that is still valid.
#[must_use]
pub fn may_be_answered() -> bool {
    is_watched() || read().is_ok_and(|questions| questions.iter().any(|one| one.answer.is_some()))
}

fn open_lock(path: &Path, creates: bool) -> std::io::Result<File> {
    open_own(path, if creates { OwnAccess::Keep } else { OwnAccess::Change })
}

fn folder() -> Result<PathBuf, StateError> {
    let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from));
    folder.ok_or_else(|| StateError::unavailable("cannot find the state directory: HOME is not set"))
}

fn file() -> Result<KeptFile, StateError> {
    Ok(KeptFile::new(folder()?.join("questions.json"), MAX_FILE_BYTES).private())
}

fn read() -> Result<Vec<PendingQuestion>, StateError> {
    let file = file()?;
    let text = file.read().map_err(|error| unusable(&file, &error))?;
    Ok(current(text.as_deref()))
}

/// Returns the questions that are still valid. A damaged file has none, so that nothing is allowed by it.
fn current(text: Option<&str>) -> Vec<PendingQuestion> {
    let written = text.and_then(|text| serde_json::from_str::<Written>(text).ok()).unwrap_or_default();
    let now = now_ms();
    // A clock that was set back must not prolong a question.
    let is_valid = |one: &PendingQuestion| one.asked_ms <= now && !remaining(one).is_zero();
    written.questions.into_iter().filter(is_valid).collect()
}

fn change<R>(edit: impl FnOnce(&mut Vec<PendingQuestion>) -> R) -> Result<R, StateError> {
    let file = file()?;
    if let Some(folder) = file.path().parent() {
        private::create_private_folder(folder).map_err(|error| unusable(&file, &error))?;
    }
    let changed = file.change(|text| {
        let mut questions = current(text);
        let result = edit(&mut questions);
        Ok::<_, StateError>((Some(format!("{}\n", to_printable_json(&Written { questions }))), result))
    });
    changed.map_err(|error| unusable(&file, &error))?
}

fn unusable(file: &KeptFile, error: &dyn std::error::Error) -> StateError {
    StateError::unavailable(format_args!("cannot use {}: {}", escape_path(file.path()), with_causes(error)))
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str, asked_ms: u64) -> PendingQuestion {
        let content = QuestionContent { agent: "codex".into(), workspace: "/w".into(), call: "ls".into() };
        let (subject, reason) = ("ls".to_owned(), "why".to_owned());
        PendingQuestion { name: name.into(), asked_ms, content, subject, reason, answer: None }
    }

    #[test]
    fn questions_end_and_damaged_files_have_none() {
        let now = now_ms();
        let age = u64::try_from(MAX_AGE.as_millis()).unwrap();
        let questions = vec![
            question("now", now),
            question("old", now - age),
            question("almost", now - age + 60_000),
            question("later", now + 60_000),
        ];
        let text = to_printable_json(&Written { questions });
        let names: Vec<String> = current(Some(&text)).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["now", "almost"]);
        for damaged in ["", "{", "[]", "{\"questions\":[{}]}", "{\"questions\":[],\"more\":1}"] {
            assert_eq!(current(Some(damaged)), Vec::new(), "{damaged}");
        }
        assert_eq!(current(None), Vec::new());
    }
}
