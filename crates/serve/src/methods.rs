//! All methods. The parameters of each are a type, which parses, documents and answers a request.

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
#[cfg(target_os = "linux")]
mod tool;
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

use super::connection_queue::ConnectionQueue;
use super::fault::Fault;
use super::in_flight::Cancellation;
use super::wire::Json;
use crate::Server;

/// The methods, in the order of the documentation.
pub(super) static METHODS: &[Method] = &[
    Method::of::<scan::Scan>(),
    Method::of::<scan::ScanBundle>(),
    Method::of::<sanitize::Sanitize>(),
    Method::of::<skill::Manifest>(),
    Method::of::<skill::Admit>(),
    Method::of::<tools::Resolve>(),
    // The judge of hooks rewrites commands for the sandbox, which only Linux has.
    #[cfg(target_os = "linux")]
    Method::of::<tool::Before>(),
    #[cfg(target_os = "linux")]
    Method::of::<tool::Answer>(),
    #[cfg(target_os = "linux")]
    Method::of::<tool::After>(),
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
    // Only Linux has a sandbox for running commands.
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

/// Methods that panic, to test that a panic ends only its own request.
#[cfg(debug_assertions)]
const BROKEN: &[Method] = &[
    Method::of::<broken::Here>(),
    Method::of::<broken::AmongWorkers>(),
    Method::of::<broken::AmongCommands>(),
];
#[cfg(not(debug_assertions))]
const BROKEN: &[Method] = &[];

/// The parameters of a method, and its answer.
pub(super) trait Parameters: DeserializeOwned + JsonSchema {
    /// The name of the method.
    const METHOD: &'static str;
    /// The lane in which it is answered.
    const LANE: Lane;
    /// The type of the result.
    type Answer: JsonSchema;

    /// Whether a request with these parameters (as text) accesses the disk although the method normally does not.
    fn reads_disk(_server: &Server, _parameters: &str) -> bool {
        false
    }

    /// Answers a request.
    fn answer(self, server: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault>;
}

/// The client and request of a call.
#[derive(Debug)]
pub(super) struct AskedBy<'c> {
    /// The ID of the request; notifications have none.
    pub(super) id: Option<&'c RawValue>,
    /// The connection.
    pub(super) queue: &'c Arc<ConnectionQueue>,
    /// Cancels the command of the request, if it runs one.
    pub(super) cancellation: Option<Cancellation>,
}

/// The thread that answers a request, fastest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// The reader: answering takes less time than passing the request on.
    Here,
    /// A worker, for requests that access the disk or take long.
    Work,
    /// A worker for requests that wait for commands.
    Run,
}

/// A row of the table of methods.
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

    /// Returns the lane of a request.
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

/// Bytes, serialized as Base64.
fn bytes_of(name: &str, base64: &str) -> Result<Vec<u8>, Fault> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(base64)
        .map_err(|error| Fault::parameters(format!("`{name}` is no Base64: {error}")))
}

/// Encodes bytes as Base64.
fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
