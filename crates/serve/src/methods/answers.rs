//! `answers.list` and `answers.revoke`: the user's answers to commands.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::admission::answers::{AnsweredCommand, CommandAnswers, CommandQuestion, ListedAnswer};
use stockade_guard::command::answers::CommandAnswer;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// List valid answers to commands: those of a session, and those stored for later sessions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct List {
    /// The session; by default, the stored answers.
    session: Option<String>,
}

/// Revoke answers to commands, so that the user is asked again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Revoke {
    /// The session; by default, the stored answers.
    session: Option<String>,
    /// The ID of the answer, from `answers.list`.
    id: Option<String>,
    /// Whether to revoke all answers.
    #[serde(default)]
    all: bool,
}

/// The answers that are still valid.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    /// The session's answers first; each with `id`, `answer`, `agent`, `shown`, `cwd`, `rules`, `givenMs` and `endsMs`.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    answers: Vec<ListedAnswer>,
}

/// The result of revoking answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Revoked {
    /// The number of revoked answers.
    revoked: usize,
}

/// The user's answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Answer")]
#[serde(rename_all = "kebab-case")]
pub(super) enum Said {
    Allow,
    Deny,
    AllowSession,
    DenySession,
    AllowAlways,
}

impl Said {
    pub(super) const fn answer(self) -> CommandAnswer {
        match self {
            Self::Allow => CommandAnswer::Allow,
            Self::Deny => CommandAnswer::Deny,
            Self::AllowSession => CommandAnswer::AllowSession,
            Self::DenySession => CommandAnswer::DenySession,
            Self::AllowAlways => CommandAnswer::AllowAlways,
        }
    }

    /// Refuses a lasting answer without the question that it is bound to.
    pub(super) fn is_bound(self, question: Option<&str>, session: Option<&str>) -> Result<(), Fault> {
        if self.answer().lasts() && question.is_none() {
            return Err(Fault::parameters(
                "a saved answer needs `question`: the `id` of the question that the user was shown",
            ));
        }
        if matches!(self, Self::AllowSession | Self::DenySession) && session.is_none() {
            return Err(Fault::parameters("an answer for a session needs `session`; session.open opens one"));
        }
        Ok(())
    }
}

/// The part of a request that answers a question.
pub(super) enum Reply {
    /// It contains no answer.
    None,
    /// It answers this question.
    Given(CommandAnswer),
    /// It answers another question than the current one.
    ToAnother,
}

/// Why an answer is void.
pub(super) const CHANGED: &str =
    "the command, its directory, a variable or a file that it names changed after the question was asked";

impl Reply {
    pub(super) fn of(
        id: Option<&str>,
        said: Option<Said>,
        session: Option<&str>,
        question: &CommandQuestion,
    ) -> Result<Self, Fault> {
        let Some(said) = said else {
            return match id {
                Some(_) => Err(Fault::parameters("`question` needs `answer`: the answer of the user")),
                None => Ok(Self::None),
            };
        };
        said.is_bound(id, session)?;
        Ok(if id.is_none_or(|id| id == question.id) { Self::Given(said.answer()) } else { Self::ToAnother })
    }
}

/// The user's answer, if it decided.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AppliedAnswer")]
#[serde(rename_all = "camelCase")]
pub(super) struct AnsweredBy {
    /// `allow`, `deny`, `allow-session`, `deny-session` or `allow-always`.
    answer: &'static str,
    /// When the answer expires, in milliseconds since 1970; missing if it applies once.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_ms: Option<u64>,
    /// Why it applies once although it was meant to last.
    #[serde(skip_serializing_if = "Option::is_none")]
    once: Option<String>,
}

impl AnsweredBy {
    pub(super) const fn name(&self) -> &'static str {
        self.answer
    }

    pub(super) fn of(said: &AnsweredCommand) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self { answer: said.answer.name(), ends_ms: said.ends.map(millis), once: said.once.clone() }
    }
}

/// The answers of a session, or the stored ones.
pub(super) fn of(server: &Server, session: Option<&str>) -> Result<Arc<CommandAnswers>, Fault> {
    Ok(match server.session_of(session)? {
        Some(session) => Arc::clone(session.answers()),
        None => Arc::clone(&server.kept_answers),
    })
}

impl Parameters for List {
    const METHOD: &'static str = "answers.list";
    const LANE: Lane = Lane::Work;
    type Answer = Listed;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let answers = of(server, self.session.as_deref())?.list().map_err(|error| Fault::internal(&error))?;
        Ok(Json::of(&Listed { answers }))
    }
}

impl Parameters for Revoke {
    const METHOD: &'static str = "answers.revoke";
    const LANE: Lane = Lane::Work;
    type Answer = Revoked;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        if self.id.is_some() == self.all {
            return Err(Fault::parameters("give either `id` or `all`"));
        }
        let answers = of(server, self.session.as_deref())?;
        let revoked = answers.revoke(self.id.as_deref()).map_err(|error| Fault::internal(&error))?;
        Ok(Json::of(&Revoked { revoked }))
    }
}
