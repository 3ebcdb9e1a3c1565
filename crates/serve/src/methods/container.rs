//! `container.manifest`: validates a package's manifest, and returns its signer and the Docker arguments.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stockade_guard::container::{
    ContainerArgs, ContainerManifest, ContainerOptions, ManifestProblem, NotEnforced, parse_manifest,
};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Validate the manifest of a container package, and return the arguments with which Docker runs it. Nothing is run, and no file
/// is read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Manifest {
    /// The manifest, as written: an object of schema version "1".
    #[schemars(with = "serde_json::Value")]
    manifest: Box<RawValue>,
    /// The image by its digest, `sha256:…` or `NAME@sha256:…`; `iscl-skill-NAME:latest` by default.
    image: Option<String>,
    /// A Unix socket of the API, the container's only connection.
    api_socket: Option<PathBuf>,
    /// A word that distinguishes simultaneous runs of the package.
    run: Option<String>,
}

/// The result of validating a manifest.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Read {
    /// Whether every field conforms to the schema. This does not verify the signature.
    valid: bool,
    /// The problems.
    errors: Vec<Wrong>,
    /// The Keccak-256 hash of its canonical text, which is signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest_hash: Option<String>,
    /// Whether the signature of the publisher's key is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Signed>,
    /// The arguments of `docker`.
    #[serde(skip_serializing_if = "Option::is_none")]
    docker_args: Option<Vec<String>>,
    /// The arguments of `docker` that end the run, because killing the client leaves the container running.
    #[serde(skip_serializing_if = "Option::is_none")]
    kill_args: Option<Vec<String>>,
    /// The time after which to kill it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    /// Requirements that these arguments do not cover.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_enforced: Vec<Missing>,
}

/// A problem of a manifest.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ManifestProblem")]
struct Wrong {
    /// The field, such as `sandbox.memoryMb`.
    path: String,
    message: String,
    line: usize,
    column: usize,
    /// The fix.
    fix: String,
}

/// The signature of a manifest.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SignatureCheck")]
#[serde(rename_all = "camelCase")]
struct Signed {
    /// Whether the publisher signed it. Whether the publisher is trustworthy is a separate decision.
    by_publisher: bool,
    /// The reason if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A requirement that arguments of `docker` cannot cover.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UnenforcedPermission")]
struct Missing {
    /// `allowSpawn`, `image` or `memoryMb`.
    what: &'static str,
    message: &'static str,
}

impl Parameters for Manifest {
    const METHOD: &'static str = "container.manifest";
    const LANE: Lane = Lane::Work;
    type Answer = Read;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let options =
            ContainerOptions { image: self.image, api_socket: self.api_socket, run: self.run, runtime: None };
        let read = match parse_manifest(self.manifest.get()) {
            Ok(manifest) => Read::valid(&manifest, &options)?,
            Err(errors) => Read::refused(errors.problems),
        };
        Ok(Json::of(&read))
    }
}

impl Read {
    fn valid(manifest: &ContainerManifest, options: &ContainerOptions) -> Result<Self, Fault> {
        let args = manifest.docker_args(options).map_err(|error| Fault::parameters(error.to_string()))?;
        let ContainerArgs { docker, kill, timeout_ms, not_enforced, .. } = args;
        let problem = manifest.signer().err().map(|error| error.to_string());
        Ok(Self {
            valid: true,
            errors: Vec::new(),
            manifest_hash: Some(manifest.hash().to_string()),
            signature: Some(Signed { by_publisher: problem.is_none(), problem }),
            docker_args: Some(docker),
            kill_args: Some(kill),
            timeout_ms: Some(timeout_ms),
            not_enforced: not_enforced.into_iter().map(Missing::of).collect(),
        })
    }

    fn refused(problems: Vec<ManifestProblem>) -> Self {
        Self {
            valid: false,
            errors: problems.into_iter().map(Wrong::of).collect(),
            manifest_hash: None,
            signature: None,
            docker_args: None,
            kill_args: None,
            timeout_ms: None,
            not_enforced: Vec::new(),
        }
    }
}

impl Wrong {
    fn of(problem: ManifestProblem) -> Self {
        let ManifestProblem { path, message, line, column, fix, .. } = problem;
        Self { path, message, line, column, fix }
    }
}

impl Missing {
    const fn of(what: NotEnforced) -> Self {
        Self { what: what.name(), message: what.message() }
    }
}
