//! The arguments of bubblewrap for a plan.

#[cfg(target_os = "linux")]
mod mounted;
#[cfg(target_os = "linux")]
pub(crate) mod start;

use std::ffi::OsString;
use std::path::Path;

use crate::mounts::{Mount, MountKind, MountPoint};
use crate::plan::Plan;
use crate::spec::{MountAccess, Network};

/// Returns the arguments that make bubblewrap run a plan: mounts in their order, then what is not shared, then the
/// command. No value of a variable is among them: arguments are visible to everybody on the machine, so variables are
/// handed over as those of bubblewrap itself.
///
/// These are the documented arguments and the same view of the disk as the native launcher's. [`run`](crate::run()) adds
/// what has to be handed over by descriptor: variables, files that are made for the command, and the filter of system calls.
pub fn bwrap_arguments(plan: &Plan) -> Vec<OsString> {
    let mut arguments = options(plan);
    arguments.push("--".into());
    arguments.push(plan.program.clone());
    arguments.extend(plan.arguments.iter().cloned());
    arguments
}

fn options(plan: &Plan) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let socket =
        |mount: &&Mount| matches!(&plan.network, Network::Broker { socket } if *socket == mount.target);
    for mount in plan.mounts.iter().filter(|mount| !socket(mount)) {
        arguments.extend(mount_arguments(mount));
    }
    arguments.push("--unshare-all".into());
    match &plan.network {
        Network::Open => arguments.push("--share-net".into()),
        // Bubblewrap hands no socket out: see what it promises.
        Network::None | Network::Proxy(_) => arguments.push("--unshare-net".into()),
        Network::Broker { socket } => {
            arguments.extend(["--unshare-net".into(), "--bind".into(), socket.into(), socket.into()]);
        }
    }
    arguments.extend(["--die-with-parent", "--new-session", "--chdir"].map(OsString::from));
    arguments.push(plan.cwd.clone().into());
    arguments
}

fn mount_arguments(mount: &Mount) -> Vec<OsString> {
    let target: OsString = mount.target.clone().into();
    match &mount.kind {
        MountKind::Bind { source, access, .. } => {
            let option = if *access == MountAccess::ReadWrite { "--bind" } else { "--ro-bind" };
            vec![option.into(), source.into(), target]
        }
        MountKind::Link { to } => vec!["--symlink".into(), to.into(), target],
        MountKind::Processes => vec!["--proc".into(), target],
        MountKind::Devices => vec!["--dev".into(), target],
        MountKind::Scratch { size } => {
            vec!["--size".into(), size.to_string().into(), "--tmpfs".into(), target]
        }
        // It is handed over by descriptor.
        MountKind::Generated { .. } => Vec::new(),
        MountKind::Hidden { point: MountPoint::Folder } => vec!["--tmpfs".into(), target],
        MountKind::Hidden { point: MountPoint::File } => {
            vec!["--ro-bind".into(), Path::new("/dev/null").into(), target]
        }
    }
}
