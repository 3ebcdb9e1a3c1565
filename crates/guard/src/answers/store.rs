//! The answers that are kept for later sessions, in a file that its owner alone may read.
//!
//! The file holds digests and texts without secrets, no values of variables and no bytes of files.
#![expect(clippy::disallowed_methods, reason = "reads and replaces the file of answers")]

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade_policy::commands::answers::{AskedDigest, AskedPart, CommandAnswer, RememberedAnswer};
use thiserror::Error;

use super::digest;
use crate::audit::private;

/// The most answers that are kept. Of more, the oldest are forgotten.
const MAX_KEPT: usize = 1000;

/// The most bytes that the file may have.
const MAX_FILE_BYTES: u64 = 8 << 20;

const VERSION: u32 = 1;

/// A file of answers that hold in later sessions too.
#[derive(Debug, Clone)]
pub struct AnswerStore {
    path: PathBuf,
}

/// The answers could not be read or kept. Nothing is allowed by them then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerStoreError {
    /// The file could not be read or replaced.
    #[error("cannot use the answers in {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in the file is not what was written there.
    #[error("the answers in {} cannot be used; remove the file to begin anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Others than its owner can read or write the file.
    #[error("others can use the answers in {}: run `chmod go-rwx` on it, after looking at them", path.display())]
    OpenToOthers {
        /// The file.
        path: PathBuf,
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
    /// Returns the store in a file, which need not exist yet. Nothing is read or written.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the store of this user: `stockade/answers.json` in `$XDG_STATE_HOME`, or in `~/.local/state`; none where neither
    /// variable holds an absolute path.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from))?;
        Some(Self::new(folder.join("answers.json")))
    }

    /// Reads the answers. There are none where there is no file.
    ///
    /// # Errors
    /// When there is a file, and not all of it can be used.
    pub fn load(&self) -> Result<Vec<RememberedAnswer>, AnswerStoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.unusable(error)),
        };
        let metadata = file.metadata().map_err(|error| self.unusable(error))?;
        if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
            return Err(self.unusable(io::Error::other("it is no file of answers")));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(AnswerStoreError::OpenToOthers { path: self.path.clone() });
        }
        let mut text = String::new();
        file.take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(|error| self.unusable(error))?;
        let damaged = |source| AnswerStoreError::Damaged { path: self.path.clone(), source };
        let written: Written = serde_json::from_str(&text).map_err(damaged)?;
        if written.version != VERSION {
            return Err(self.unusable(io::Error::other("another version of this program wrote it")));
        }
        let answers: Option<Vec<_>> = written.answers.into_iter().map(WrittenAnswer::read).collect();
        answers.ok_or_else(|| self.unusable(io::Error::other("a digest in it is none")))
    }

    /// Changes the answers: reads them, lets `change` have those that hold, and replaces the file. Others who change it
    /// meanwhile wait.
    pub(super) fn change(
        &self,
        now: Duration,
        change: impl FnOnce(&mut Vec<RememberedAnswer>),
    ) -> Result<(), AnswerStoreError> {
        let _lock = self.lock().map_err(|error| self.unusable(error))?;
        let before = self.load()?;
        let mut answers: Vec<_> = before.iter().filter(|one| now < one.ends).cloned().collect();
        change(&mut answers);
        let first = answers.len().saturating_sub(MAX_KEPT);
        answers.drain(..first);
        if answers == before {
            return Ok(());
        }
        let written = Written { version: VERSION, answers: answers.iter().map(WrittenAnswer::of).collect() };
        let text = serde_json::to_string_pretty(&written).map_err(|error| self.unusable(error.into()))?;
        self.replace(text.as_bytes()).map_err(|error| self.unusable(error))
    }

    fn unusable(&self, source: io::Error) -> AnswerStoreError {
        AnswerStoreError::Unusable { path: self.path.clone(), source }
    }

    /// Waits until nobody else changes the file. The lock goes with what is returned.
    fn lock(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private::create_private_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(self.path.with_extension("lock"))?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// Writes a new file and puts it in the place of the old one, which no reader ever sees half of.
    fn replace(&self, text: &[u8]) -> io::Result<()> {
        let new = self.path.with_extension("new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
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
    let mut digest = AskedDigest::default();
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != digest.len() * 2 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}
