//! What holds in a pod, by what Kubernetes says of it.

use super::settings::{ClusterSettings, ClusterWorkspace, NetworkPolicies};
use stockade_exec_sandbox::{Enforcement, Property};
use stockade_exec_sandbox::{MountAccess, Network, SandboxSpec};

/// Returns what a request may count on, and every gap.
pub(super) fn promise(spec: &SandboxSpec, settings: &ClusterSettings) -> Enforcement {
    let mut promise = Enforcement::default();
    promise
        .enforce(Property::Files, "an image of its own that cannot be written, and the volumes of its pod");
    if !spec.container.is_pinned() {
        let why = "the image is named by a tag, which may be another image next time: name it by its digest";
        promise.gap(Property::Files, why);
    }
    promise.enforce(Property::Processes, "a pod of its own, which is gone with the command");
    promise.enforce(Property::Ipc, "a pod of its own, and the filter of its node");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any; a user who is not root");
    promise.enforce(Property::SystemCalls, "the filter that the runtime of the node brings (RuntimeDefault)");
    match (&spec.network, settings.network_policies) {
        (Network::Open, _) => promise.enforce(Property::Network, "open, as asked for"),
        (_, NetworkPolicies::Enforced) => promise.enforce(
            Property::Network,
            "a NetworkPolicy that lets nothing in or out, which the network of the cluster carries out, as its operator says",
        ),
        (_, NetworkPolicies::Unknown) => promise.gap(
            Property::Network,
            "a NetworkPolicy lets nothing in or out, and whether the network of the cluster enforces it is unknown: confirm it by the option `networkPolicies=enforced`, or leave the network open",
        ),
    }
    promise.gap(Property::SecondWall, "a pod has none; name a RuntimeClass of gVisor or Kata for one");
    if matches!(settings.workspace, ClusterWorkspace::Claim { .. })
        && spec.workspace_access == MountAccess::ReadWrite
    {
        promise.gap(
            Property::ProtectedNames,
            "files that are written into the volume of a claim cannot be checked from here",
        );
    } else {
        promise.enforce(Property::ProtectedNames, "nothing that the command writes comes back");
    }
    for property in [Property::Memory, Property::TotalMemory, Property::Processors] {
        promise.enforce(property, "a limit of its container, which the node holds by a control group");
    }
    promise.enforce(Property::Disk, "a limit of its pod, which the node looks after now and then");
    promise.gap(Property::Disk, "a node looks every few seconds, and a claim has the size of its volume");
    promise
        .gap(Property::ProcessCount, "that is a setting of the node (podPidsLimit), of which no pod is told");
    promise.gap(Property::Priority, "the node decides who gets processors first");
    promise
}
