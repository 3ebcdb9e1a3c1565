//! Every method there is: its parameters are a type, which reads, documents and answers a request.

mod answers;
mod audit;
#[cfg(debug_assertions)]
mod broken;
#[cfg(target_os = "linux")]
mod cancel;
#[cfg(target_os = "linux")]
mod changes;
mod command;
mod container;
mod eval;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
mod graph;
mod limits;
mod net;
mod path;
mod policy;
mod sandbox;
mod sanitize;
mod scan;
mod service;
mod session;
mod skill;
mod source;
mod tools;
mod trail;

pub(super) use command::CompiledRules;
#[cfg(target_os = "linux")]
pub(super) use exec::OutputPiece;
pub(super) use path::open as open_paths;
pub(super) use trail::Trail;

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::connection_queue::Traffic;
use super::fault::Fault;
use super::in_flight::Cancellation;
use super::wire::Json;
use crate::Server;

/// The methods, in the order of the documentation.
pub(super) const METHODS: &[Method] = &[
    Method::of::<scan::Scan>(),
    Method::of::<scan::ScanBundle>(),
    Method::of::<sanitize::Sanitize>(),
    Method::of::<skill::Manifest>(),
    Method::of::<skill::Admit>(),
    Method::of::<tools::Resolve>(),
    Method::of::<path::Authorize>(),
    Method::of::<command::Parse>(),
    Method::of::<command::Validate>(),
    Method::of::<command::Evaluate>(),
    Method::of::<command::RouteCommand>(),
    Method::of::<answers::List>(),
    Method::of::<answers::Revoke>(),
    Method::of::<policy::ListRules>(),
    Method::of::<policy::ExplainCommand>(),
    Method::of::<policy::AddRules>(),
    Method::of::<policy::RemoveRules>(),
    Method::of::<policy::ImportRules>(),
    Method::of::<policy::ExportRules>(),
    Method::of::<limits::RunScript>(),
    Method::of::<limits::Admit>(),
    Method::of::<limits::Settle>(),
    Method::of::<net::Check>(),
    Method::of::<source::Resolve>(),
    Method::of::<source::Apply>(),
    Method::of::<container::Manifest>(),
    Method::of::<eval::Eval>(),
    Method::of::<eval::EvalCondition>(),
    Method::of::<eval::EvalInterpolate>(),
    Method::of::<sandbox::PlanSandbox>(),
    // No other system has a sandbox that runs commands yet.
    #[cfg(target_os = "linux")]
    Method::of::<exec::Exec>(),
    #[cfg(target_os = "linux")]
    Method::of::<cancel::Cancel>(),
    #[cfg(target_os = "linux")]
    Method::of::<changes::List>(),
    #[cfg(target_os = "linux")]
    Method::of::<changes::Diff>(),
    #[cfg(target_os = "linux")]
    Method::of::<changes::Apply>(),
    #[cfg(target_os = "linux")]
    Method::of::<changes::Undo>(),
    #[cfg(target_os = "linux")]
    Method::of::<changes::Discard>(),
    Method::of::<audit::Query>(),
    #[cfg(target_os = "linux")]
    Method::of::<graph::Begin>(),
    #[cfg(target_os = "linux")]
    Method::of::<graph::End>(),
    Method::of::<session::Open>(),
    Method::of::<session::Close>(),
    Method::of::<service::Ping>(),
    Method::of::<service::Version>(),
];

/// Methods with a bug, to see that they end no more than themselves.
#[cfg(debug_assertions)]
const BROKEN: &[Method] = &[
    Method::of::<broken::Here>(),
    Method::of::<broken::AmongWorkers>(),
    Method::of::<broken::AmongCommands>(),
];
#[cfg(not(debug_assertions))]
const BROKEN: &[Method] = &[];

/// The parameters of a method, and what it answers.
pub(super) trait Parameters: DeserializeOwned + JsonSchema {
    /// The name of the method.
    const METHOD: &'static str;
    /// Where it is answered.
    const LANE: Lane;
    /// What the result holds.
    type Answer: JsonSchema;

    /// Whether a request with these parameters, as text, reads or writes the disk although the method does not as a rule.
    fn reads_disk(_server: &Server, _parameters: &str) -> bool {
        false
    }

    /// Answers a request.
    fn answer(self, server: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault>;
}

/// Who asks, and by which request.
#[derive(Debug)]
pub(super) struct AskedBy<'c> {
    /// The id of the request; notifications have none.
    pub(super) id: Option<&'c RawValue>,
    /// The connection.
    pub(super) traffic: &'c Arc<Traffic>,
    /// What ends the command of the request, if it runs one.
    pub(super) cancellation: Option<Cancellation>,
}

/// Where a request is answered, the quickest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// Where it is read: the answer takes less than handing it over would.
    Here,
    /// By a worker: it reads the disk, or takes long.
    Work,
    /// By a worker of those that wait for commands.
    Run,
}

/// A method, as a row of the table.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    lane: Lane,
    reads_disk: fn(&Server, &str) -> bool,
    pub(super) call: fn(&Server, Option<&RawValue>, &AskedBy<'_>) -> Result<Json, Fault>,
    pub(super) parameters: fn(&mut SchemaGenerator) -> Schema,
    pub(super) answer: fn(&mut SchemaGenerator) -> Schema,
}

impl Method {
    const fn of<P: Parameters>() -> Self {
        Self {
            name: P::METHOD,
            lane: P::LANE,
            reads_disk: P::reads_disk,
            call: call::<P>,
            parameters: P::json_schema,
            answer: P::Answer::json_schema,
        }
    }

    /// Returns where a request is answered.
    pub(super) fn lane(&self, server: &Server, parameters: Option<&RawValue>) -> Lane {
        match parameters {
            Some(text) if (self.reads_disk)(server, text.get()) => self.lane.max(Lane::Work),
            _ => self.lane,
        }
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().chain(BROKEN).find(|method| method.name == name)
    }
}

fn call<P: Parameters>(
    server: &Server,
    parameters: Option<&RawValue>,
    caller: &AskedBy<'_>,
) -> Result<Json, Fault> {
    let text = match parameters.map(RawValue::get) {
        None => "{}",
        Some(text) if text.starts_with('{') => text,
        Some(_) => return Err(Fault::parameters("parameters are given by name, as an object")),
    };
    serde_json::from_str::<P>(text).map_err(|error| Fault::unread(&error))?.answer(server, caller)
}

/// Bytes that are written as Base64.
fn bytes_of(name: &str, base64: &str) -> Result<Vec<u8>, Fault> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(base64)
        .map_err(|error| Fault::parameters(format!("`{name}` is no Base64: {error}")))
}

/// Writes bytes as Base64.
fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
