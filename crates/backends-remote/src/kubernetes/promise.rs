//! What holds in a pod, by what Kubernetes says of it.

use super::settings::{ClusterSettings, ClusterWorkspace, NetworkPolicies};
use stockade_exec_sandbox::{Enforcement, Property};
use stockade_exec_sandbox::{MountAccess, Network, SandboxSpec};

/// Returns what a request may count on, and every gap.
pub(super) fn promise(spec: &SandboxSpec, settings: &ClusterSettings) -> Enforcement {
    let mut promise = Enforcement::default();
    promise.enforce(Property::Files, "a read-only image, and the volumes of its pod");
    if !spec.container.is_pinned() {
        let why = "the image is named by a tag, which can move to another image: use `--image NAME@sha256:…`";
        promise.gap(Property::Files, why);
    }
    promise.enforce(Property::Processes, "a separate pod, which is deleted when the command ends");
    promise.enforce(Property::Ipc, "a separate pod, and the seccomp filter of its node");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any; a non-root user");
    promise
        .enforce(Property::SystemCalls, "the default seccomp filter of the node's runtime (RuntimeDefault)");
    match (&spec.network, settings.network_policies) {
        (Network::Open, _) => promise.enforce(Property::Network, "open, as asked for"),
        (_, NetworkPolicies::Enforced) => promise.enforce(
            Property::Network,
            "a NetworkPolicy that denies all traffic, which the network of the cluster enforces according to its \
             operator",
        ),
        (_, NetworkPolicies::Unknown) => promise.gap(
            Property::Network,
            "a NetworkPolicy denies all traffic, but it is unknown whether the network of the cluster enforces it: \
             confirm it with `--backend-option networkPolicies=enforced`, or use `--network open`",
        ),
    }
    promise.gap(
        Property::SecondWall,
        "pods do not use Landlock; set a RuntimeClass of gVisor or Kata for a second layer",
    );
    if matches!(settings.workspace, ClusterWorkspace::Claim { .. })
        && spec.workspace_access == MountAccess::ReadWrite
    {
        promise.gap(
            Property::ProtectedNames,
            "files in the volume of a claim cannot be checked from this machine",
        );
    } else {
        promise.enforce(Property::ProtectedNames, "files that the command writes are not copied back");
    }
    for property in [Property::Memory, Property::TotalMemory, Property::Processors] {
        promise.enforce(property, "a limit of its container, enforced by a control group");
    }
    promise.enforce(Property::Disk, "a limit of its pod, which the node polls");
    promise.gap(
        Property::Disk,
        "the node polls every few seconds, and a claim is limited by the size of its volume",
    );
    promise
        .gap(Property::ProcessCount, "that is a setting of the node (podPidsLimit), which a pod cannot read");
    promise.gap(Property::Priority, "the node schedules CPU time");
    promise
}
