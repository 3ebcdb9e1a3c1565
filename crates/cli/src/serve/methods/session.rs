//! `session.open` and `session.close`: what is remembered between requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stockade_guard::limits::breaker::BreakerSettings;
use stockade_guard::limits::budget::BudgetLimits;
use stockade_guard::limits::store::AgentLimits;

use stockade_guard::policy::SandboxConfig;
use stockade_guard::{AnswerTerms, CommandAnswers};

use super::{AskedBy, Json, Lane, Parameters};
use crate::serve::Server;
use crate::serve::fault::Fault;
use crate::serve::sessions::Session;

/// Open a session: one run of one agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Open {
    /// The agent.
    #[serde(default)]
    agent: String,
    #[serde(default)]
    config: Config,
}

/// What holds in a session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Config {
    /// The workspace and its rules, as the `config` of `path.authorize`.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    paths: Option<SandboxConfig>,
    /// What it may use, as the `config` of `limits.script` for `budget`.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    budget: Option<BudgetLimits>,
    /// When a service that fails is left alone, as the `config` of `limits.script` for `breaker`.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    breaker: Option<BreakerSettings>,
    /// How many calls it may make; no limit by default.
    max_steps: Option<u32>,
    /// How long answers to commands hold.
    #[serde(default)]
    answers: Terms,
}

/// How long answers to commands hold that are to hold for more than one request.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Terms {
    /// Minutes for those of the session, should it last longer; 720 by default and at most, 0 for none.
    session_minutes: Option<u64>,
    /// Days for those that are kept; 30 by default and at most, 0 for none.
    kept_days: Option<u64>,
}

impl Terms {
    fn read(&self) -> AnswerTerms {
        let most = AnswerTerms::MAX_TERMS;
        let term = |most: Duration, seconds: Option<u64>| seconds.map_or(most, Duration::from_secs).min(most);
        AnswerTerms {
            session: term(most.session, self.session_minutes.map(|minutes| minutes.saturating_mul(60))),
            always: term(most.always, self.kept_days.map(|days| days.saturating_mul(24 * 3600))),
        }
    }
}

/// Close a session, and forget what was answered in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Close {
    /// The session.
    session: String,
}

/// The session that was opened.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Opened {
    /// Its name. Who knows it may answer for it.
    session: String,
}

/// The session that was closed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Closed {
    session: String,
}

impl Parameters for Open {
    const METHOD: &'static str = "session.open";
    const LANE: Lane = Lane::Here;
    type Answer = Opened;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let Config { paths, budget, breaker, max_steps, answers } = self.config;
        let limits = AgentLimits { budget: budget.unwrap_or_default(), breaker: breaker.unwrap_or_default() };
        let paths = paths.unwrap_or_else(SandboxConfig::standard);
        let answers = CommandAnswers::new(answers.read(), server.options.answers.clone());
        let session = server.sessions.open(Session::new(self.agent, paths, limits, max_steps, answers))?;
        Ok(Json::of(&Opened { session }))
    }
}

impl Parameters for Close {
    const METHOD: &'static str = "session.close";
    const LANE: Lane = Lane::Here;
    type Answer = Closed;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        server.sessions.close(&self.session)?;
        Ok(Json::of(&Closed { session: self.session }))
    }
}
