//! What the operator of an agent decides about a cluster.

use std::time::Duration;

use stockade_exec_sandbox::Processors;

/// What becomes of commands in a cluster, beside what is said of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSettings {
    /// Where its objects are made; the namespace of the kubeconfig if nothing is said.
    pub namespace: Option<String>,
    /// Whether the network of the cluster carries out what a NetworkPolicy says. No request of Kubernetes tells.
    pub network_policies: NetworkPolicies,
    /// What the command finds at the place of the workspace.
    pub workspace: ClusterWorkspace,
    /// What makes the pod.
    pub workload: Workload,
    /// The user and the group that the command runs as. The default is the user of this program where the workspace is a claim, and
    /// otherwise 65532, which has no account.
    pub user: Option<(u32, u32)>,
    /// The Secret by which nodes fetch the image.
    pub pull_secret: Option<String>,
    /// How long a command may take that says nothing itself, so that one whose client died does not run for ever.
    pub longest: Duration,
    /// How long it may take until a command begins: until a node has room for it, and has the image.
    pub start_time: Duration,
    /// How long a run that has ended is kept for a client that comes back.
    pub kept: Duration,
    /// Processors of a command that says nothing itself.
    pub processors: Processors,
    /// Bytes that a command may put on the disk of its node, where it says nothing itself.
    pub disk: u64,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        Self {
            namespace: None,
            network_policies: NetworkPolicies::default(),
            workspace: ClusterWorkspace::default(),
            workload: Workload::default(),
            user: None,
            pull_secret: None,
            longest: Duration::from_secs(3600),
            start_time: Duration::from_secs(300),
            kept: Duration::from_secs(300),
            processors: Processors::ONE,
            disk: 1 << 30,
        }
    }
}

/// Whether the network of a cluster carries out what a NetworkPolicy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetworkPolicies {
    /// Unknown: a command has a NetworkPolicy beside it, and nothing is promised of it.
    #[default]
    Unknown,
    /// The operator of the cluster confirms that it does, as Calico, Cilium and others do.
    Enforced,
}

/// What a command finds at the place of its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClusterWorkspace {
    /// An empty folder, which is gone with the command.
    #[default]
    Empty,
    /// A volume that exists, by the name of its PersistentVolumeClaim.
    Claim {
        /// The name of the claim.
        name: String,
        /// The folder of the volume that is shown; all of it if nothing is said.
        folder: Option<String>,
    },
    /// The files of the workspace on this machine, which the command can read and not change. They are few and small: they
    /// travel as a Secret.
    Upload,
}

/// What makes the pod of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workload {
    /// A Job, which every cluster has.
    #[default]
    Job,
    /// A Sandbox of `agents.x-k8s.io/v1alpha1`, where the cluster has the controller of agent-sandbox.
    Sandbox,
}
