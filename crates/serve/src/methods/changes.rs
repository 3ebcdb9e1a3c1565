//! `changes.…`: what commands changed in their views of a workspace, and what becomes of it.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stockade_guard::Session;
use stockade_guard::audit::AuditEvent;
use stockade_guard::exec::review::ReviewError;

use super::trail::unrecorded;
use super::{AskedBy, Json, Lane, Parameters};
use crate::fault::{self, Fault};
use crate::{Server, guarded};
use stockade_state::changes::{
    self, ChangeDecision, ChangeSet, ChangesDecided, MAX_DIFFED_FILE, PathChange, Reviews, ShownChanges,
};

/// The most changes that one answer holds line by line.
const MAX_DIFFS: usize = 1_000;

/// List the commands that changed something in a view of their workspace, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct List {
    /// The session of an agent: what was changed in another workspace than its own is not there for it.
    session: Option<String>,
    /// The workspace whose changes are meant, where no session has one.
    workspace: Option<PathBuf>,
}

/// The commands that changed something in a view, with how far each has come.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Layers {
    changes: Vec<ChangeSet>,
}

/// Show what a command changed, path by path; `lines` shows it line by line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Diff {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// Whether what is different in files is shown line by line, for the first thousand of them; true by default.
    #[serde(default = "always")]
    lines: bool,
    /// The session of an agent: what was changed in another workspace than its own is not there for it.
    session: Option<String>,
    /// The workspace whose changes are meant, where no session has one.
    workspace: Option<PathBuf>,
}

const fn always() -> bool {
    true
}

/// Put changes into the workspace. What the user changed meanwhile is not overwritten, and nothing of the same repository is applied
/// then: `conflicts` names it. What other programs obey is never applied: `refused` names it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Apply {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// The session of an agent: what was changed in another workspace than its own is not there for it.
    session: Option<String>,
    /// The workspace whose changes are meant, where no session has one.
    workspace: Option<PathBuf>,
}

/// Take changes back that were applied. They wait again then.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Undo {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// The session of an agent: what was changed in another workspace than its own is not there for it.
    session: Option<String>,
    /// The workspace whose changes are meant, where no session has one.
    workspace: Option<PathBuf>,
}

/// Give changes up that wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Discard {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// The session of an agent: what was changed in another workspace than its own is not there for it.
    session: Option<String>,
    /// The workspace whose changes are meant, where no session has one.
    workspace: Option<PathBuf>,
}

impl Parameters for List {
    const METHOD: &'static str = "changes.list";
    const LANE: Lane = Lane::Work;
    type Answer = Layers;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let seen = Seen::by(server, self.session.as_deref(), self.workspace.as_deref())?;
        let layers = seen.reviews.layers()?;
        Ok(Json::of(&Layers { changes: layers.iter().map(ChangeSet::of).collect() }))
    }
}

impl Parameters for Diff {
    const METHOD: &'static str = "changes.diff";
    const LANE: Lane = Lane::Work;
    type Answer = ShownChanges;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let seen = Seen::by(server, self.session.as_deref(), self.workspace.as_deref())?;
        let layer = seen.reviews.layer(&self.id)?;
        let meant = changes::meant(&layer, &self.paths)?;
        let shown = meant.iter().enumerate().map(|(at, change)| {
            if !self.lines || at >= MAX_DIFFS {
                return Ok(PathChange::of(change));
            }
            let (before, after) = layer.contents(change, MAX_DIFFED_FILE)?;
            Ok(PathChange::with_diff(change, &before, &after))
        });
        let changes = shown.collect::<Result<Vec<_>, Fault>>()?;
        Ok(Json::of(&ShownChanges::of(&layer, changes)))
    }
}

impl Parameters for Apply {
    const METHOD: &'static str = "changes.apply";
    const LANE: Lane = Lane::Work;
    type Answer = ChangesDecided;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let seen = Seen::by(server, self.session.as_deref(), self.workspace.as_deref())?;
        seen.decide(server, &self.id, &self.paths, ChangeDecision::Applied)
    }
}

impl Parameters for Undo {
    const METHOD: &'static str = "changes.undo";
    const LANE: Lane = Lane::Work;
    type Answer = ChangesDecided;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let seen = Seen::by(server, self.session.as_deref(), self.workspace.as_deref())?;
        seen.decide(server, &self.id, &self.paths, ChangeDecision::Undone)
    }
}

impl Parameters for Discard {
    const METHOD: &'static str = "changes.discard";
    const LANE: Lane = Lane::Work;
    type Answer = ChangesDecided;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let seen = Seen::by(server, self.session.as_deref(), self.workspace.as_deref())?;
        seen.decide(server, &self.id, &self.paths, ChangeDecision::Discarded)
    }
}

/// What a request sees of the changes of this user.
struct Seen {
    reviews: Reviews,
    /// The session of an agent that it is part of.
    session: Option<Session>,
}

impl Seen {
    fn by(server: &Server, session: Option<&str>, workspace: Option<&Path>) -> Result<Self, Fault> {
        let named = server.session_of(session)?;
        let Some(own) = named.as_ref().and_then(|session| session.of_agent()) else {
            return Ok(Self { reviews: Reviews::open(workspace)?, session: None });
        };
        let session = own.within(server, workspace)?;
        let reviews = Reviews::open(Some(session.guard().workspace()))?;
        Ok(Self { reviews, session: Some(session) })
    }

    fn decide(
        &self,
        server: &Server,
        id: &str,
        paths: &[PathBuf],
        decision: ChangeDecision,
    ) -> Result<Json, Fault> {
        let layer = self.reviews.layer(id)?;
        let decided = self.reviews.decide(&layer, decision, paths, |event| self.record(server, event))?;
        Ok(Json::of(&ChangesDecided::of(&layer, decision, &decided)))
    }

    /// Puts on record what is decided, before it is done.
    fn record(&self, server: &Server, event: AuditEvent) -> Result<(), Fault> {
        let (trail, agent) = match &self.session {
            Some(session) => {
                let guard = session.guard();
                (Some(guarded::trail(server, guard)?), Some(guard.agent().into()))
            }
            None => (server.trail.get(None)?, None),
        };
        let Some(trail) = trail else { return Ok(()) };
        trail.record(AuditEvent { agent, ..event }).map(drop).map_err(|error| unrecorded(&error))
    }
}

impl From<ReviewError> for Fault {
    fn from(error: ReviewError) -> Self {
        let code = match error {
            ReviewError::Unknown(_)
            | ReviewError::Nothing
            | ReviewError::NothingHere { .. }
            | ReviewError::NoSuchPath(_) => fault::PARAMETERS,
            ReviewError::Busy | ReviewError::Running(_) => fault::BUSY,
            _ => fault::INTERNAL,
        };
        Self::new(code, error.to_string()).with(json!({"help": error.help()}))
    }
}
