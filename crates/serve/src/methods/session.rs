//! `session.open` and `session.close`: state between requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stockade_guard::limits::Cap;
use stockade_guard::limits::breaker::BreakerSettings;
use stockade_guard::limits::budget::{Allowance, BudgetLimits};
use stockade_guard::limits::store::AgentLimits;

use stockade_guard::Narrowing;
use stockade_guard::admission::answers::{AnswerTerms, CommandAnswers};
use stockade_guard::policy::{SandboxConfig, ToolCatalog, ToolPolicyConfig};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::{MAX_SAID, at_most};
use crate::fault::{self, Fault};
use crate::guarded::{Guarded, SessionRequest, said_of_paths};
use crate::sessions::Session;

/// Open a session: one run of one agent. With `agent`, the configuration of that agent decides on tools, paths, commands, skills,
/// limits, results and hosts, every decision is recorded, and `config` can only narrow it. Budgets, circuit breakers and steps
/// are shared by all sessions of the agent. Without `agent`, `config` has the settings, and nothing is stored after the session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Open {
    /// The agent.
    agent: Option<String>,
    /// The workspace of the agent; by default that of the server, or for `exec` the one in the request.
    workspace: Option<PathBuf>,
    /// Additional tools, so that their names in the configuration are not reported as mistakes.
    #[serde(default)]
    tools: Vec<String>,
    /// MCP servers whose tools are not listed.
    #[serde(default)]
    mcp_servers: Vec<String>,
    /// The graph run of which the agent is a node, from `graph.begin`: its commands can read and write the directory of the run.
    #[cfg(target_os = "linux")]
    graph: Option<String>,
    /// Whether to send notifications `policy.changed` when policies of the session or rules of the server change; false by
    /// default.
    #[serde(default)]
    listen: bool,
    #[serde(default)]
    config: Config,
}

/// Settings of a session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "SessionConfig")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Config {
    /// The tool policy: `{profile, allow, deny}`. Only for an agent, which then has the tools that both policies allow.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    tools: Option<ToolPolicyConfig>,
    /// The workspace and its rules, like `config` of `path.authorize`.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    paths: Option<SandboxConfig>,
    /// The budget, like `config` of `limits.script` for `budget`.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    budget: Option<BudgetLimits>,
    /// The circuit breaker, like `config` of `limits.script` for `breaker`.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    breaker: Option<BreakerSettings>,
    /// The maximum number of calls; no limit by default.
    max_steps: Option<u32>,
    /// The lifetime of answers to commands.
    #[serde(default)]
    answers: Terms,
}

/// The lifetime of answers to commands that apply to more than one request.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "AnswerTerms")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Terms {
    /// Minutes, for answers for the session; 720 by default and at most, 0 for none.
    session_minutes: Option<u64>,
    /// Days, for stored answers; 30 by default and at most, 0 for none.
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

/// Close a session, and delete the answers in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Close {
    /// The session.
    session: String,
}

/// The session that was opened.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Opened {
    /// Its name. It is secret: every client that knows it can answer questions of the session.
    session: String,
}

/// The session that was closed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Closed {
    session: String,
}

impl Open {
    /// Converts the parameters to the request for an agent's session.
    fn request(self) -> SessionRequest {
        let Config { tools, mut paths, budget, breaker, max_steps, answers } = self.config;
        let workspace = self.workspace.or_else(|| paths.as_mut().and_then(|paths| paths.cwd.take()));
        // A limit that the request omits does not apply.
        let limits = AgentLimits {
            budget: budget.unwrap_or(UNBOUNDED),
            breaker: breaker.unwrap_or(PATIENT),
            max_steps,
        };
        SessionRequest {
            workspace,
            catalog: ToolCatalog { tools: self.tools, mcp_servers: self.mcp_servers },
            narrowing: Narrowing { tools, paths, limits: Some(limits) },
            answers: answers.read(),
        }
    }

    /// Opens a session without an agent.
    fn free(self, server: &Server) -> Result<Session, Fault> {
        if self.config.tools.is_some() || !self.tools.is_empty() || !self.mcp_servers.is_empty() {
            return Err(Fault::parameters("`tools` and `mcpServers` belong to the session of an `agent`"));
        }
        #[cfg(target_os = "linux")]
        if self.graph.is_some() {
            return Err(Fault::parameters("`graph` belongs to the session of an `agent`"));
        }
        let Config { paths, budget, breaker, max_steps, answers, .. } = self.config;
        let limits = AgentLimits {
            budget: budget.unwrap_or_default(),
            breaker: breaker.unwrap_or_default(),
            max_steps,
        };
        let mut paths = paths.unwrap_or_else(SandboxConfig::standard);
        paths.cwd = self.workspace.or(paths.cwd);
        at_most("bytes of `config.paths`", said_of_paths(&paths), MAX_SAID, "say less")?;
        let answers = CommandAnswers::new(answers.read(), server.options.answers.clone());
        Ok(Session::free(paths, limits, answers))
    }
}

/// Limits without an effect.
const UNBOUNDED: BudgetLimits = {
    let none = Allowance { tokens: Cap::Unlimited, cost: Cap::Unlimited };
    BudgetLimits { per_execution: none, per_hour: none, per_day: none, lease: Duration::MAX }
};
const PATIENT: BreakerSettings = BreakerSettings {
    failure_threshold: NonZeroU32::MAX,
    cooldown: Duration::ZERO,
    probe_timeout: Duration::MAX,
};

/// Returns the agent of a session: the requested one, or the single agent of the server.
pub(super) fn of_agent(asked: Option<&str>, only: Option<&str>) -> Result<Option<String>, Fault> {
    match (asked.filter(|name| !name.is_empty()), only) {
        (Some(asked), Some(only)) if asked != only => Err(Fault::new(
            fault::REFUSED,
            format!("this server is for the agent `{only}` alone; it was started with `--agent {only}`"),
        )),
        (Some(name), _) | (None, Some(name)) => stockade_state::agents::parse_name(name)
            .map(Some)
            .map_err(|why| Fault::parameters(format!("`agent`: {why}"))),
        (None, None) => Ok(None),
    }
}

impl Parameters for Open {
    const METHOD: &'static str = "session.open";
    const LANE: Lane = Lane::Here;
    type Answer = Opened;

    fn answer(self, server: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault> {
        let listener = self.listen.then(|| Arc::downgrade(caller.queue));
        let session = match of_agent(self.agent.as_deref(), server.options.agent.as_deref())? {
            Some(agent) => {
                #[cfg(target_os = "linux")]
                let graph = self.graph.clone();
                let guarded = Guarded::open(server, &agent, self.request())?;
                #[cfg(target_os = "linux")]
                if let Some(graph) = graph {
                    guarded.join(server, &graph)?;
                }
                Session::guarded(guarded)
            }
            None => self.free(server)?,
        };
        Ok(Json::of(&Opened { session: server.sessions.open(session, caller.queue.client(), listener)? }))
    }

    fn reads_disk(server: &Server, parameters: &str) -> bool {
        server.options.agent.is_some() || parameters.contains("\"agent\"")
    }
}

impl Parameters for Close {
    const METHOD: &'static str = "session.close";
    const LANE: Lane = Lane::Work;
    type Answer = Closed;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        if let Some(guarded) = server.sessions.close(&self.session)?.of_agent() {
            guarded.end();
        }
        Ok(Json::of(&Closed { session: self.session }))
    }
}
