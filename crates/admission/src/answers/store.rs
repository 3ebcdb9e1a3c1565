//! Answers that are stored for later sessions, in a file that only its owner may read.
//!
//! The file contains digests and texts without secrets, no values of variables and no bytes of files.
#![expect(clippy::disallowed_methods, reason = "looks whether the file of answers is there")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade_audit::private;
use stockade_command::answers::{AskedDigest, AskedPart, CommandAnswer, RememberedAnswer};
use stockade_files::{KeptFile, KeptFileError};
use thiserror::Error;

use super::digest;

/// Maximum number of stored answers; the oldest are dropped.
const MAX_KEPT: usize = 1000;

/// Maximum size of the file.
const MAX_FILE_BYTES: u64 = 8 << 20;

const VERSION: u32 = 1;

/// A file of answers that are valid in later sessions too.
#[derive(Debug, Clone)]
pub struct AnswerStore {
    file: KeptFile,
}

/// The answers could not be read or stored. None of them is applied then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerStoreError {
    /// The file could not be read or replaced.
    #[error("cannot use the saved answers in {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: KeptFileError,
    },
    /// The content of the file is invalid.
    #[error("the saved answers in {} are invalid; delete the file to start without them", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    answers: Vec<WrittenAnswer>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenAnswer {
    answer: CommandAnswer,
    subject: String,
    content: String,
    asked: BTreeSet<AskedPart>,
    agent: String,
    shown: String,
    cwd: String,
    given_ms: u64,
    ends_ms: u64,
}

impl AnswerStore {
    /// Creates a store in a file, which need not exist. Nothing is read or written.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: KeptFile::new(path, MAX_FILE_BYTES).private() }
    }

    /// Returns the store of this user: `stockade/answers.json` in `$XDG_STATE_HOME`, or in `~/.local/state`; `None`
    /// if neither variable contains an absolute path.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from))?;
        Some(Self::new(folder.join("answers.json")))
    }

    /// Whether the file exists. If that cannot be determined, it may.
    pub(super) fn is_there(&self) -> bool {
        self.file.path().try_exists().unwrap_or(true)
    }

    /// Reads the answers. A missing file has none.
    ///
    /// # Errors
    /// When the file exists and cannot be used completely.
    pub fn load(&self) -> Result<Vec<RememberedAnswer>, AnswerStoreError> {
        let text = self.file.read().map_err(|source| self.unusable(source))?;
        text.map_or_else(|| Ok(Vec::new()), |text| self.parse(&text))
    }

    /// Reads the answers, passes the valid ones to `change`, and replaces the file. Concurrent writers wait.
    pub(super) fn change(
        &self,
        now: Duration,
        change: impl FnOnce(&mut Vec<RememberedAnswer>),
    ) -> Result<(), AnswerStoreError> {
        let folder = self.file.path().parent().filter(|folder| *folder != Path::new(""));
        folder.map_or(Ok(()), private::create_private_folder).map_err(|error| self.unusable(error.into()))?;
        let changed = self.file.change(|text| {
            let before = text.map_or_else(|| Ok(Vec::new()), |text| self.parse(text))?;
            let mut answers: Vec<_> = before.iter().filter(|one| now < one.ends).cloned().collect();
            change(&mut answers);
            let first = answers.len().saturating_sub(MAX_KEPT);
            answers.drain(..first);
            let written = (answers != before).then(|| self.written(&answers)).transpose()?;
            Ok((written, ()))
        });
        changed.map_err(|source| self.unusable(source))?
    }

    fn parse(&self, text: &str) -> Result<Vec<RememberedAnswer>, AnswerStoreError> {
        let written: Written = serde_json::from_str(text).map_err(|source| self.damaged(source))?;
        let other = |what: &str| self.damaged(serde::de::Error::custom(what));
        if written.version != VERSION {
            return Err(other("another version of this program wrote it"));
        }
        let answers: Option<Vec<_>> = written.answers.into_iter().map(WrittenAnswer::read).collect();
        answers.ok_or_else(|| other("a digest in it is malformed"))
    }

    fn written(&self, answers: &[RememberedAnswer]) -> Result<String, AnswerStoreError> {
        let written = Written { version: VERSION, answers: answers.iter().map(WrittenAnswer::of).collect() };
        serde_json::to_string_pretty(&written).map_err(|source| self.damaged(source))
    }

    fn damaged(&self, source: serde_json::Error) -> AnswerStoreError {
        AnswerStoreError::Damaged { path: self.file.path().to_owned(), source }
    }

    fn unusable(&self, source: KeptFileError) -> AnswerStoreError {
        AnswerStoreError::Unusable { path: self.file.path().to_owned(), source }
    }
}

impl WrittenAnswer {
    fn of(one: &RememberedAnswer) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            answer: one.answer,
            subject: digest::name(&one.subject),
            content: digest::name(&one.content),
            asked: one.asked.clone(),
            agent: one.agent.clone(),
            shown: one.shown.clone(),
            cwd: one.cwd.clone(),
            given_ms: millis(one.given),
            ends_ms: millis(one.ends),
        }
    }

    fn read(self) -> Option<RememberedAnswer> {
        Some(RememberedAnswer {
            answer: self.answer,
            subject: read_digest(&self.subject)?,
            content: read_digest(&self.content)?,
            asked: self.asked,
            agent: self.agent,
            shown: self.shown,
            cwd: self.cwd,
            given: Duration::from_millis(self.given_ms),
            ends: Duration::from_millis(self.ends_ms),
        })
    }
}

fn read_digest(text: &str) -> Option<AskedDigest> {
    stockade_text::from_hex(text.as_bytes())?.try_into().ok()
}
