//! Converts a plan to the arguments of bubblewrap.

#[cfg(target_os = "linux")]
mod mounted;
#[cfg(target_os = "linux")]
pub(crate) mod start;

use std::ffi::OsString;
use std::path::Path;

use crate::mounts::{Mount, MountKind, MountPoint};
use crate::plan::Plan;
use crate::spec::{MountAccess, Network};

/// Returns the arguments with which bubblewrap runs a plan: mounts in order, then unshared namespaces, then the command. They
/// contain no values of variables, because all users of the machine can read the arguments of a process.
///
/// They use documented options, and create the same mounts as the native launcher. [`run`](crate::run()) adds data that is
/// passed by descriptor: the environment, generated files, and the seccomp filter.
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
        // Bubblewrap cannot pass a listening socket out, which `provider` reports as a gap.
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
        // Its content is passed by descriptor.
        MountKind::Generated { .. } | MountKind::Replaced { .. } => Vec::new(),
        MountKind::Hidden { point: MountPoint::Folder } => vec!["--tmpfs".into(), target],
        MountKind::Hidden { point: MountPoint::File } => {
            vec!["--ro-bind".into(), Path::new("/dev/null").into(), target]
        }
    }
}
