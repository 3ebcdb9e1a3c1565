//! The pod of a run: a container that can change nothing of its own system, and its volumes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::name::{CONTAINER, HOME, RunName, file_key, variable_key};
use super::settings::{ClusterSettings, ClusterWorkspace};
use super::upload::{Upload, UploadedFile};
use stockade_exec_sandbox::{MountAccess, Network, SandboxSpec};

/// A pod that is to end has so many seconds for it, and is ended then.
const GRACE: u64 = 1;

/// What a pod is made of.
pub(super) struct PodParts<'p> {
    pub(super) name: &'p RunName,
    pub(super) deadline: u64,
    pub(super) spec: &'p SandboxSpec,
    pub(super) settings: &'p ClusterSettings,
    pub(super) user: (u32, u32),
    pub(super) image: String,
    pub(super) words: Vec<String>,
    pub(super) variables: &'p BTreeMap<String, String>,
    pub(super) upload: Option<&'p Upload>,
}

impl PodParts<'_> {
    pub(super) fn spec(&self) -> Value {
        let mut spec = json!({
            "restartPolicy": "Never",
            "activeDeadlineSeconds": self.deadline,
            "terminationGracePeriodSeconds": GRACE,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "hostname": "stockade",
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": self.user.0,
                "runAsGroup": self.user.1,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "containers": [self.container()],
            "volumes": self.volumes(),
        });
        let mut add = |key: &str, value: Value| {
            if let Value::Object(spec) = &mut spec {
                spec.insert(key.to_owned(), value);
            }
        };
        if self.spec.network == Network::None {
            // DNS requests go to the pod itself: the names of the cluster are not for the command.
            add("dnsPolicy", "None".into());
            add("dnsConfig", json!({ "nameservers": ["127.0.0.1"] }));
        }
        if let Some(runtime) = &self.spec.container.runtime {
            add("runtimeClassName", runtime.as_str().into());
        }
        if let Some(secret) = &self.settings.pull_secret {
            add("imagePullSecrets", json!([{ "name": secret }]));
        }
        spec
    }

    fn container(&self) -> Value {
        let variables = self.variables.keys().map(|name| {
            let key = json!({ "name": self.name.object(), "key": variable_key(name) });
            json!({ "name": name, "valueFrom": { "secretKeyRef": key } })
        });
        json!({
            "name": CONTAINER,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": self.words,
            "workingDir": self.spec.cwd.as_ref().unwrap_or(&self.spec.workspace),
            "env": variables.collect::<Vec<_>>(),
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "privileged": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
            "resources": self.resources(),
            "volumeMounts": self.mounts(),
        })
    }

    fn resources(&self) -> Value {
        let limits = &self.spec.limits;
        let memory = limits.memory.bound().unwrap_or_default().to_string();
        let processors = limits.processors.bound().unwrap_or(self.settings.processors).to_string();
        let disk = limits.disk.bound().unwrap_or(self.settings.disk).to_string();
        json!({
            "limits": { "cpu": processors, "memory": memory, "ephemeral-storage": disk },
            // A node is to have the memory and the disk, while processors are shared.
            "requests": { "cpu": "100m", "memory": memory, "ephemeral-storage": disk },
        })
    }

    /// The volumes of the pod: the name, where it is mounted, and what it is.
    fn table(&self) -> Vec<(&'static str, PathBuf, Value)> {
        let limits = &self.spec.limits;
        let memory = |size: u64| json!({ "emptyDir": { "medium": "Memory", "sizeLimit": size.to_string() } });
        let mut table = vec![
            ("tmp", PathBuf::from("/tmp"), memory(limits.temporary())),
            ("home", PathBuf::from(HOME), memory(limits.beside_temporary())),
        ];
        let disk = limits.disk.bound().unwrap_or(self.settings.disk).to_string();
        let workspace = match (&self.settings.workspace, self.upload) {
            (ClusterWorkspace::Claim { name, .. }, _) => {
                let is_read = self.spec.workspace_access == MountAccess::ReadOnly;
                json!({ "persistentVolumeClaim": { "claimName": name, "readOnly": is_read } })
            }
            (ClusterWorkspace::Upload, Some(upload)) => {
                json!({ "secret": { "secretName": self.name.object(), "items": items(upload), "defaultMode": 0o444 } })
            }
            _ => json!({ "emptyDir": { "sizeLimit": disk } }),
        };
        table.push(("workspace", self.spec.workspace.clone(), workspace));
        table
    }

    fn volumes(&self) -> Value {
        let volume = |(name, _, what): (&str, PathBuf, Value)| {
            let mut volume = what;
            if let Value::Object(volume) = &mut volume {
                volume.insert("name".to_owned(), name.into());
            }
            volume
        };
        self.table().into_iter().map(volume).collect()
    }

    fn mounts(&self) -> Value {
        let mount = |(name, place, _): (&str, PathBuf, Value)| {
            let mut mount = json!({ "name": name, "mountPath": place });
            if let (Value::Object(mount), "workspace") = (&mut mount, name) {
                if self.spec.workspace_access == MountAccess::ReadOnly {
                    mount.insert("readOnly".to_owned(), true.into());
                }
                if let ClusterWorkspace::Claim { folder: Some(folder), .. } = &self.settings.workspace {
                    mount.insert("subPath".to_owned(), folder.as_str().into());
                }
            }
            mount
        };
        self.table().into_iter().map(mount).collect()
    }
}

fn items(upload: &Upload) -> Value {
    let item = |(number, file): (usize, &UploadedFile)| {
        let mode = if file.is_program { 0o555 } else { 0o444 };
        json!({ "key": file_key(number), "path": file.path, "mode": mode })
    };
    upload.files.iter().enumerate().map(item).collect()
}
