//! What a cluster gets for a command, as values: a Job or a Sandbox with its pod, a Secret with the variables, a NetworkPolicy.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::ClusterAccess;
use super::asked;
use super::name::{DIGEST, FLEET, MANAGED, OWNER, RUN, RunName, file_key, variable_key};
use super::pod::PodParts;
use super::promise::promise;
use super::settings::{ClusterSettings, Workload};
use super::upload::Upload;
use stockade_exec_sandbox::Enforcement;
use stockade_exec_sandbox::Refusal;
use stockade_exec_sandbox::{Network, SandboxSpec};

/// What a cluster gets for a command.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunObjects {
    /// The name of the run.
    pub name: RunName,
    /// The namespace that they are made in.
    pub namespace: String,
    /// What makes the pod.
    pub workload: Workload,
    /// The Job or the Sandbox, held back.
    pub owner: Value,
    /// The Secret with the variables, and the files of the workspace where they travel in one. Its values are secret.
    pub secret: Value,
    /// The NetworkPolicy, unless the network is open.
    pub policy: Option<Value>,
    /// What holds, and what does not.
    pub enforcement: Enforcement,
    /// How long the command may take.
    pub time: Duration,
    /// Whether the request has a time limit.
    pub(super) is_timed: bool,
    /// How long it may take until it begins.
    pub start_time: Duration,
}

impl RunObjects {
    /// Returns what a cluster gets for `spec`, or why it gets nothing. `variables` are those of this program, `user` is who starts
    /// it, and `upload` what travels of the workspace.
    ///
    /// # Errors
    /// When something is asked for that no pod holds.
    pub fn plan(
        name: RunName,
        spec: &SandboxSpec,
        settings: &ClusterSettings,
        access: &ClusterAccess,
        host: &ClusterHost<'_>,
    ) -> Result<Self, Refusal> {
        asked::check(spec, settings)?;
        let user = asked::user(settings, host.user)?;
        let image = asked::image(spec)?;
        let words = asked::words(spec)?;
        let variables = asked::variables(spec, host.variables)?;
        let namespace = settings.namespace.clone().unwrap_or_else(|| access.namespace.clone());
        let time = spec.limits.wall_time.bound();
        let mut objects = Self {
            workload: settings.workload,
            owner: Value::Null,
            secret: secret(&name, &namespace, &variables, host.upload),
            policy: (spec.network == Network::None).then(|| policy(&name, &namespace)),
            enforcement: promise(spec, settings),
            time: time.unwrap_or(settings.longest),
            is_timed: time.is_some(),
            start_time: settings.start_time,
            namespace,
            name,
        };
        let pod = PodParts {
            name: &objects.name,
            deadline: deadline(&objects),
            spec,
            settings,
            user,
            image,
            words,
            variables: &variables,
            upload: host.upload,
        };
        objects.owner = match settings.workload {
            Workload::Job => job(&objects, settings, &pod.spec()),
            Workload::Sandbox => sandbox(&objects, &pod.spec()),
        };
        Ok(objects)
    }

    /// Returns the pod alone, as other programs take it that run pods.
    #[must_use]
    pub fn pod(&self) -> Value {
        let template = match self.workload {
            Workload::Job => self.owner.pointer("/spec/template"),
            Workload::Sandbox => self.owner.pointer("/spec/podTemplate"),
        };
        let spec = template.and_then(|template| template.get("spec")).cloned().unwrap_or_default();
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": self.metadata(), "spec": spec })
    }

    /// Annotates the run with the process that waits for it.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "elsewhere nothing is known of processes")
    )]
    pub(super) fn is_waited_for_by(&mut self, owner: &str) {
        self.annotate(OWNER, owner);
    }

    /// Makes it a run of a fleet, whose runs are watched together.
    pub(super) fn is_of_fleet(&mut self, fleet: &RunName) {
        let places =
            ["/metadata/labels", "/spec/template/metadata/labels", "/spec/podTemplate/metadata/labels"];
        for place in places {
            if let Some(Value::Object(labels)) = self.owner.pointer_mut(place) {
                labels.insert(FLEET.to_owned(), fleet.as_str().into());
            }
        }
    }

    /// What tells it from another run of the same name.
    pub(super) fn digest(&self) -> &str {
        self.owner
            .pointer("/metadata/annotations")
            .and_then(|all| all.get(DIGEST))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn annotate(&mut self, key: &str, value: &str) {
        if let Some(Value::Object(annotations)) = self.owner.pointer_mut("/metadata/annotations") {
            annotations.insert(key.to_owned(), value.into());
        }
    }

    fn metadata(&self) -> Value {
        metadata(&self.name, &self.namespace)
    }
}

/// What is known of this machine, as far as it concerns a cluster.
#[derive(Debug, Clone, Copy)]
pub struct ClusterHost<'h> {
    /// The variables of this program.
    pub variables: &'h BTreeMap<OsString, OsString>,
    /// Who starts it: the user and the group.
    pub user: (u32, u32),
    /// What travels of the workspace.
    pub upload: Option<&'h Upload>,
}

/// What a run is found by, and what its objects are called.
fn metadata(name: &RunName, namespace: &str) -> Value {
    json!({
        "name": name.object(),
        "namespace": namespace,
        "labels": { MANAGED.0: MANAGED.1, RUN: name.as_str() },
    })
}

fn secret(
    name: &RunName,
    namespace: &str,
    variables: &BTreeMap<String, String>,
    upload: Option<&Upload>,
) -> Value {
    let variables = variables.iter().map(|(name, value)| (variable_key(name), STANDARD.encode(value)));
    let files = upload.into_iter().flat_map(|upload| upload.files.iter().enumerate());
    let files = files.map(|(number, file)| (file_key(number), STANDARD.encode(&file.content)));
    let data: Map<String, Value> = variables.chain(files).map(|(key, value)| (key, value.into())).collect();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": true,
        "metadata": metadata(name, namespace),
        "data": data,
    })
}

/// Lets nothing in and nothing out.
fn policy(name: &RunName, namespace: &str) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, namespace),
        "spec": {
            "podSelector": { "matchLabels": { RUN: name.as_str() } },
            "policyTypes": ["Ingress", "Egress"],
        },
    })
}

/// The deadline of the pod, should the client not end it before: the time before the start counts as well.
fn deadline(objects: &RunObjects) -> u64 {
    let time = objects.time + objects.start_time;
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

fn job(objects: &RunObjects, settings: &ClusterSettings, pod: &Value) -> Value {
    let spec = json!({
        "suspend": true,
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "activeDeadlineSeconds": deadline(objects),
        "ttlSecondsAfterFinished": settings.kept.as_secs(),
        "template": { "metadata": pod_metadata(objects), "spec": pod },
    });
    owner(objects, "batch/v1", "Job", &spec)
}

/// A Sandbox has a pod or none, so one that is held back is to have none.
fn sandbox(objects: &RunObjects, pod: &Value) -> Value {
    let spec = json!({
        "replicas": 0,
        "podTemplate": { "metadata": pod_metadata(objects), "spec": pod },
    });
    owner(objects, "agents.x-k8s.io/v1alpha1", "Sandbox", &spec)
}

fn owner(objects: &RunObjects, version: &str, kind: &str, spec: &Value) -> Value {
    let digest = Sha256::digest(spec.to_string().as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut metadata = objects.metadata();
    if let Value::Object(metadata) = &mut metadata {
        metadata.insert("annotations".to_owned(), json!({ DIGEST: digest }));
    }
    json!({ "apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec })
}

fn pod_metadata(objects: &RunObjects) -> Value {
    json!({
        "labels": { MANAGED.0: MANAGED.1, RUN: objects.name.as_str() },
        // Moved elsewhere, the command would run twice.
        "annotations": { "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" },
    })
}
