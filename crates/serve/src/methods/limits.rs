//! `limits.…`: the limits of an agent.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::store::CallRefusal;
use stockade_guard::limits_replay::script::{LimitScript, ScriptStep, run_script};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::{self, Fault};
use crate::guarded::{exhausted, undecided};
use crate::sessions::{Exhausted, Permit, Session, is_short};

/// Replay events on one limit, and return its answer to each.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RunScript {
    /// The limit: `budget`, `breaker`, `steps`, `retry`, `turnBudget`, `trajectory` or `costs`.
    component: String,
    /// Its settings; the defaults if missing.
    #[serde(default)]
    config: Value,
    /// The events, in order: `{atMs, op, args}`.
    script: Vec<ScriptStep>,
}

/// The answers to all events.
#[derive(Serialize, JsonSchema)]
pub(super) struct Results {
    /// One for each event: `null` if there is no result, `{"error": {scope, currentUsage, cap, …}}` for a refusal.
    results: Vec<Value>,
}

/// Request a permit for a call. Its estimated cost counts as used until the call is settled.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Admit {
    /// The session with the limits; on a server for one agent, the agent's by default.
    session: Option<String>,
    /// The task of the call, which has its own caps and steps; one for the whole session by default.
    #[serde(default)]
    execution: String,
    /// The maximum cost of the call.
    estimate: Cost,
}

/// Report the cost and outcome of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Settle {
    /// The session.
    session: Option<String>,
    /// The permit from `limits.admit`.
    permit: u64,
    /// The actual cost.
    used: Cost,
    /// Whether the service failed; false by default.
    #[serde(default)]
    failed: bool,
}

/// The cost of a call.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(rename = "CallCost")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Cost {
    /// Tokens read and written.
    #[serde(default)]
    tokens: u64,
    /// Money, in millionths of a dollar.
    #[serde(default)]
    micro_usd: u64,
}

/// A permit for one call.
#[derive(Serialize, JsonSchema)]
pub(super) struct Admitted {
    /// The permit, for `limits.settle`.
    permit: u64,
    /// The number of steps that the session has left; `null` without a limit.
    #[serde(rename = "stepsLeft")]
    steps_left: Option<u32>,
}

/// The result of settling a call.
#[derive(Serialize, JsonSchema)]
pub(super) struct Settled {
    /// Whether it cost more than the estimate.
    overrun: bool,
}

impl Parameters for RunScript {
    const METHOD: &'static str = "limits.script";
    const LANE: Lane = Lane::Here;
    type Answer = Results;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let script = LimitScript { component: self.component, config: self.config, script: self.script };
        let results = run_script(&script).map_err(|error| Fault::of(&error))?;
        Ok(Json::of(&Results { results }))
    }
}

impl From<Cost> for Usage {
    fn from(cost: Cost) -> Self {
        Self { cost: stockade_guard::limits::MicroUsd::new(cost.micro_usd), ..Self::tokens(cost.tokens) }
    }
}

impl Parameters for Admit {
    const METHOD: &'static str = "limits.admit";
    const LANE: Lane = Lane::Here;
    type Answer = Admitted;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        is_short("execution", &self.execution)?;
        let session = session_of(server, self.session.as_deref())?;
        let estimate = self.estimate.into();
        let (permit, steps_left) = match session.of_agent() {
            None => session.admit(&self.execution, estimate).map_err(|refusal| Fault::exhausted(&refusal))?,
            Some(guarded) => {
                let guard = guarded.now(server)?;
                let task = guard.begin(guarded.execution(&self.execution));
                match guard.begin_call(&task, estimate).map_err(|error| undecided(&error))? {
                    (_, Some(call)) => {
                        let left = call.steps_left();
                        (Permit::Guarded(call), left)
                    }
                    (decision, None) => return Err(exhausted(&decision)),
                }
            }
        };
        Ok(Json::of(&Admitted { permit: session.keep(permit), steps_left }))
    }

    fn reads_disk(server: &Server, _: &str) -> bool {
        reads_disk(server)
    }
}

impl Parameters for Settle {
    const METHOD: &'static str = "limits.settle";
    const LANE: Lane = Lane::Here;
    type Answer = Settled;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let session = session_of(server, self.session.as_deref())?;
        let outcome = if self.failed { CallOutcome::Failure } else { CallOutcome::Success };
        let overrun = match (session.take(self.permit)?, session.of_agent()) {
            (Permit::Free(permit), _) => session.settle(permit, self.used.into(), outcome)?,
            (Permit::Guarded(call), Some(guarded)) => {
                let settled = guarded.now(server)?.end_call(call, self.used.into(), outcome);
                settled.map_err(|error| undecided(&error))?.overrun != Usage::ZERO
            }
            (Permit::Guarded(_), None) => false,
        };
        Ok(Json::of(&Settled { overrun }))
    }

    fn reads_disk(server: &Server, _: &str) -> bool {
        reads_disk(server)
    }
}

/// Limits of agents are in a file or on a server, so this method accesses the disk.
fn reads_disk(server: &Server) -> bool {
    server.options.agent.is_some() || server.sessions.has_agents()
}

fn session_of(server: &Server, name: Option<&str>) -> Result<Arc<Session>, Fault> {
    server.session_of(name)?.ok_or_else(|| {
        Fault::parameters(
            "`session` is missing: session.open opens one, and a server for one agent needs none",
        )
    })
}

impl Fault {
    fn exhausted(refusal: &Exhausted) -> Self {
        let (code, scope) = match &refusal.0 {
            CallRefusal::Steps { .. } => (fault::EXHAUSTED, "steps"),
            CallRefusal::Budget(_) => (fault::EXHAUSTED, "budget"),
            CallRefusal::BreakerOpen { .. } => (fault::EXHAUSTED, "breaker"),
            _ => (fault::STORE_AWAY, "store"),
        };
        Self::new(code, refusal.to_string()).with(json!({"limit": scope}))
    }
}
