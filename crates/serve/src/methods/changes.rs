//! `changes.…`: changes that commands made on overlays of a workspace.

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

/// Maximum number of changes that an answer contains line by line.
const MAX_DIFFS: usize = 1_000;

/// List the commands with changes on an overlay of their workspace, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct List {
    /// The session of an agent, which sees only changes in its own workspace.
    session: Option<String>,
    /// The workspace of the changes, if no session has one.
    workspace: Option<PathBuf>,
}

/// The commands with changes, each with its state.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Layers {
    changes: Vec<ChangeSet>,
}

/// Show the changes of a command by path; with `lines`, line by line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Diff {
    /// The ID from the list, or a prefix of it.
    id: String,
    /// Files and directories, relative to the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// Whether to include line-by-line differences of the first thousand files; true by default.
    #[serde(default = "always")]
    lines: bool,
    /// The session of an agent, which sees only changes in its own workspace.
    session: Option<String>,
    /// The workspace of the changes, if no session has one.
    workspace: Option<PathBuf>,
}

const fn always() -> bool {
    true
}

/// Apply changes to the workspace. Files that the user changed meanwhile are not overwritten, and then nothing of the same
/// repository is applied: `conflicts` lists them. Files that other programs obey are never applied: `refused` lists them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Apply {
    /// The ID from the list, or a prefix of it.
    id: String,
    /// Files and directories, relative to the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// The session of an agent, which sees only changes in its own workspace.
    session: Option<String>,
    /// The workspace of the changes, if no session has one.
    workspace: Option<PathBuf>,
}

/// Undo applied changes. They are pending again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Undo {
    /// The ID from the list, or a prefix of it.
    id: String,
    /// Files and directories, relative to the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// The session of an agent, which sees only changes in its own workspace.
    session: Option<String>,
    /// The workspace of the changes, if no session has one.
    workspace: Option<PathBuf>,
}

/// Discard pending changes of a command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Discard {
    /// The ID from the list, or a prefix of it.
    id: String,
    /// Files and directories, relative to the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// The session of an agent, which sees only changes in its own workspace.
    session: Option<String>,
    /// The workspace of the changes, if no session has one.
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

/// The changes that a request can access.
struct Seen {
    reviews: Reviews,
    /// The agent's session of the request.
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

    /// Records the decision before it is carried out.
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
