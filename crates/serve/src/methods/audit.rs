//! `audit.query`: records of what was allowed, refused and run.

use std::path::PathBuf;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::audit::{AuditQuery, AuditRecord, AuditTrail, EventSeverity, Timestamp};
use stockade_guard::config::{Config, ConfigSources};

use super::{AskedBy, Json, Lane, Parameters};
use crate::fault::{self, Fault};
use crate::{Audit, Server};
use stockade_state::when::parse_when;

/// Return the newest matching records, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Query {
    /// The event; `%` matches any characters, `_` one character.
    event: Option<String>,
    /// The earliest time: `2026-11-21`, `2026-11-21T09:30:00Z`, or an age such as `2h`.
    since: Option<String>,
    /// The end of the time range, in the same form.
    until: Option<String>,
    /// The run.
    run: Option<String>,
    /// The agent.
    agent: Option<String>,
    /// The skill.
    skill: Option<String>,
    /// The ID of a decision, as in the `id` of a refusal.
    name: Option<String>,
    /// The minimum severity: `info`, `warn` or `high`.
    severity: Option<String>,
    /// The maximum number of records; 20 by default, 1000 at most.
    limit: Option<usize>,
}

/// The records that match the query.
#[derive(Serialize, JsonSchema)]
pub(super) struct Events {
    /// The records, newest first.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    events: Vec<AuditRecord>,
}

impl Parameters for Query {
    const METHOD: &'static str = "audit.query";
    const LANE: Lane = Lane::Work;
    type Answer = Events;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let usual = AuditQuery::default();
        let query = AuditQuery {
            event: self.event,
            since: self.since.as_deref().map(|text| time("since", text)).transpose()?,
            until: self.until.as_deref().map(|text| time("until", text)).transpose()?,
            run: self.run,
            agent: self.agent,
            skill: self.skill,
            name: self.name,
            severity: self.severity.as_deref().map(severity).transpose()?,
            limit: self.limit.unwrap_or(usual.limit),
            ..usual
        };
        let path = match &server.options.audit {
            Audit::File(path) => Some(path.clone()),
            Audit::Default | Audit::Off => configured_trail()?,
        };
        let Some(path) = path else {
            return Err(Fault::new(
                fault::INTERNAL,
                "neither XDG_STATE_HOME nor HOME says where the audit trail is; start the server with `--audit FILE`",
            ));
        };
        // Before the first run there is no trail and no record.
        if !exists(&path) {
            return Ok(Json::of(&Events { events: Vec::new() }));
        }
        let trail = AuditTrail::open_to_read(&path).map_err(|error| Fault::internal(&error))?;
        let events = trail.query(&query).map_err(|error| Fault::internal(&error))?;
        Ok(Json::of(&Events { events }))
    }
}

/// Returns the trail that agents write.
#[expect(clippy::disallowed_methods, reason = "asks in which folder it runs, for the configuration there")]
fn configured_trail() -> Result<Option<PathBuf>, Fault> {
    let folder = std::env::current_dir().unwrap_or_default();
    let config = Config::load(&ConfigSources::of_process(&folder));
    let config = config
        .map_err(|error| Fault::new(fault::INTERNAL, format!("the configuration cannot be used: {error}")))?;
    Ok(stockade_state::trail::path(&config))
}

fn severity(name: &str) -> Result<EventSeverity, Fault> {
    let found = EventSeverity::from_name(name);
    found.ok_or_else(|| Fault::parameters(format!("`severity`: expected info, warn or high, not `{name}`")))
}

#[expect(clippy::disallowed_methods, reason = "asks whether there is a trail")]
fn exists(path: &std::path::Path) -> bool {
    path.exists()
}

#[expect(clippy::disallowed_methods, reason = "how long ago something was is counted from now")]
fn time(name: &str, text: &str) -> Result<Timestamp, Fault> {
    parse_when(text, SystemTime::now().into())
        .map_err(|error| Fault::parameters(format!("`{name}`: {error}")))
}
