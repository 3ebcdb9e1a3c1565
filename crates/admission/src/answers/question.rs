//! A question about a command: the text for the user, and everything that the answer is bound to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use stockade_audit::Redactor;
use stockade_command::Dependencies;
use stockade_command::answers::{AskedDigest, AskedPart, CommandAnswer, RememberedAnswer};
use stockade_command::shell::Shell;
use stockade_command::{CommandContext, CommandDecision, Effect};
use stockade_text::{Shown, escape_path};

use super::digest::{self, Digester, FileState};

/// Approximate number of characters of a command in a question, and in a remembered answer.
const MAX_SHOWN: usize = 4000;
const MAX_KEPT: usize = 400;

/// Maximum number of parts that one answer covers.
const MAX_ASKED: usize = 64;

/// Maximum number of files that a question lists. Its answer is bound to all of them.
const MAX_LISTED: usize = 32;

/// The origin of a command.
#[derive(Debug, Clone)]
pub struct AskedCommand<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The shell that would run it.
    pub shell: Shell,
    /// Where it would run.
    pub place: &'a CommandContext,
    /// The variables that it would run with, if known.
    pub variables: Option<&'a BTreeMap<String, String>>,
}

/// A question about a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CommandQuestion {
    /// Its id: a digest of everything that an answer is bound to. Equal questions have equal ids.
    pub id: String,
    /// The command on one line, as shown to the user: nothing in it is hidden.
    pub shown: String,
    /// The directory that it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Why the user is asked, for each part.
    pub reasons: Vec<String>,
    /// The variables that its meaning depends on; an answer is bound to their values.
    pub variables: Vec<String>,
    /// The existing files that it names; an answer is bound to their bytes. At most thirty-two are listed.
    pub files: Vec<BoundFile>,
    /// The possible answers.
    pub answers: Vec<&'static str>,
    /// Why an approval cannot last, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<String>,
    /// Effect on the command after an approval.
    #[serde(skip)]
    pub(super) after_yes: Effect,
    #[serde(skip)]
    pub(super) subject: AskedDigest,
    /// `None` if no approval can last.
    #[serde(skip)]
    pub(super) content: Option<AskedDigest>,
    #[serde(skip)]
    pub(super) asked: BTreeSet<AskedPart>,
    #[serde(skip)]
    agent: String,
    #[serde(skip)]
    kept: String,
}

/// A file that an answer is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BoundFile {
    /// Its path.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

impl CommandQuestion {
    /// Returns the question of a decision, or `None` if it asks nothing. Reads the files that the command names.
    #[must_use]
    pub fn of(decision: &CommandDecision<'_, '_>, asked: &AskedCommand<'_>) -> Option<Self> {
        if decision.effect != Effect::Ask {
            return None;
        }
        let subject = subject(decision.text, asked);
        let bound = bound(decision, asked);
        let end = |digest: Digester| digest.end();
        let (content, dependencies, files, once) = match bound {
            Ok((dependencies, files)) => {
                let content = end(content(subject, &dependencies, &files));
                (Some(content), dependencies, files, None)
            }
            Err(why) => (None, Dependencies::default(), BTreeMap::new(), Some(why)),
        };
        let last = |answer: &CommandAnswer| once.is_none() || !(answer.lasts() && answer.is_yes());
        Some(Self {
            id: digest::name(&content.unwrap_or(subject)),
            shown: decision.shown(MAX_SHOWN),
            cwd: asked.place.cwd.as_deref().map(escape_path),
            reasons: decision.decisive().take(MAX_LISTED).map(|part| part.cause.to_string()).collect(),
            variables: dependencies.variables.keys().map(|name| Shown(name).to_string()).collect(),
            files: files.iter().filter_map(BoundFile::of).take(MAX_LISTED).collect(),
            answers: CommandAnswer::ALL
                .iter()
                .filter(|answer| last(answer))
                .map(|answer| answer.name())
                .collect(),
            once,
            after_yes: decision.after_yes(),
            subject,
            content,
            asked: decision.asked(),
            agent: asked.agent.to_owned(),
            kept: Shown(&Redactor::default().redact(&decision.shown(MAX_KEPT))).to_string(),
        })
    }

    /// Returns an answer in the form to be remembered, or why it is valid only once.
    pub(super) fn remembered(
        &self,
        answer: CommandAnswer,
        given: Duration,
        ends: Duration,
    ) -> Result<RememberedAnswer, String> {
        if self.asked.len() > MAX_ASKED {
            return Err(format!("the user would be asked about more than {MAX_ASKED} parts"));
        }
        let content = match (self.content, &self.once) {
            (Some(content), _) => content,
            // A denial depends on the text alone.
            (None, _) if !answer.is_yes() => self.subject,
            (None, why) => return Err(why.clone().unwrap_or_default()),
        };
        Ok(RememberedAnswer {
            answer,
            subject: self.subject,
            content,
            asked: self.asked.clone(),
            agent: self.agent.clone(),
            shown: self.kept.clone(),
            cwd: self.cwd.clone().unwrap_or_default(),
            given,
            ends,
        })
    }

    pub(super) fn is_answered_by(&self, answer: &RememberedAnswer, now: Duration) -> bool {
        answer.holds_for(&self.subject, self.content.as_ref(), &self.asked, now)
    }
}

impl BoundFile {
    fn of((path, state): (&PathBuf, &FileState)) -> Option<Self> {
        match state {
            FileState::File(digest) => Some(Self { path: escape_path(path), sha256: digest.clone() }),
            FileState::Folder | FileState::Device | FileState::Absent => None,
        }
    }
}

/// Digest of the question without the content of files.
fn subject(text: &str, asked: &AskedCommand<'_>) -> AskedDigest {
    let folder =
        |folder: &Option<PathBuf>| folder.as_ref().map(|path| path.as_os_str().as_encoded_bytes().to_vec());
    let CommandContext { cwd, workspace, .. } = asked.place;
    let digest = Digester::new("stockade command 1")
        .with(asked.agent.as_bytes())
        .with(format!("{:?}", asked.shell).as_bytes())
        .with(text.as_bytes());
    let folders = [folder(cwd), folder(workspace)];
    let digest = folders.iter().fold(digest, |digest, folder| match folder {
        Some(folder) => digest.with(b"in").with(folder),
        None => digest.with(b"anywhere"),
    });
    digest.end()
}

type Bound = (Dependencies, BTreeMap<PathBuf, FileState>);

fn bound(decision: &CommandDecision<'_, '_>, asked: &AskedCommand<'_>) -> Result<Bound, String> {
    let dependencies = decision.dependencies(asked.place, asked.variables).map_err(|why| why.to_string())?;
    let files = digest::look(dependencies.files.iter().cloned())?;
    Ok((dependencies, files))
}

fn content(
    subject: AskedDigest,
    dependencies: &Dependencies,
    files: &BTreeMap<PathBuf, FileState>,
) -> Digester {
    let mut digest = Digester::new("stockade answer 1").with(&subject);
    for (name, value) in &dependencies.variables {
        digest = digest.with(b"variable").with(name.as_bytes());
        digest = match value {
            Some(value) => digest.with(b"set").with(value.as_bytes()),
            None => digest.with(b"unset"),
        };
    }
    for (path, state) in files {
        digest = digest.with(b"file").with(path.as_os_str().as_encoded_bytes());
        digest = match state {
            FileState::File(hash) => digest.with(b"holds").with(hash.as_bytes()),
            FileState::Folder => digest.with(b"folder"),
            FileState::Device => digest.with(b"device"),
            FileState::Absent => digest.with(b"absent"),
        };
    }
    digest
}
