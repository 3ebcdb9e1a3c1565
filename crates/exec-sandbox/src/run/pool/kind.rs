//! The kind of a prepared sandbox: everything that must be unchanged for a command to use it.

#![expect(clippy::disallowed_methods, reason = "looks at files")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use crate::choices::ReviewMode;
use crate::host::KnownLinks;
use crate::host::Stamp;
use crate::mounts::{Mount, MountKind};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::run::{Input, Streams, Terminal, is_grouped};
use crate::spec::{Explain, Network};

/// The plan without the command's arguments, and the identity of each mounted or hidden file. Identities matter because the
/// kernel removes a mount when another program replaces its mount point.
#[derive(Debug, PartialEq)]
pub(super) struct Kind {
    pub(super) plan: Plan,
    pub(super) streams: Streams,
    files: Vec<Option<File>>,
}

impl Kind {
    /// Returns the kind of a plan; nothing if such a sandbox is not prepared.
    pub(super) fn of(plan: &Plan, streams: Streams) -> Option<Self> {
        let grouped = is_grouped(plan);
        let observed = plan.explain == Explain::Asked;
        // A proxy serves one sandbox, and ends with its command.
        let proxied = matches!(plan.network, Network::Proxy(_));
        // A prepared sandbox would get the standard input of an earlier command.
        let fed = streams.stdin == Input::Inherit;
        let alone = grouped || observed || proxied || fed || streams.terminal != Terminal::None;
        // Each command has an overlay of its own.
        let reviewed = plan.review != ReviewMode::Off;
        if plan.provider != Provider::Native || alone || reviewed {
            return None;
        }
        // State for the sweep, which goes by the plan of each command: neither the sandbox nor its observer reads it.
        let (program, arguments, watched) = (OsString::new(), Vec::new(), Vec::new());
        let (git_plans, links) = (BTreeMap::new(), KnownLinks::default());
        let mut plan = Plan { program, arguments, watched, git_plans, links, ..plan.clone() };
        for entry in &mut plan.protected {
            entry.stamp = Stamp { file: entry.stamp.file, ..Stamp::default() };
        }
        let files = plan.mounts.iter().map(|mount| place(mount).and_then(File::at)).collect();
        Some(Self { plan, streams, files })
    }
}

/// Returns the path on this machine that a mount shows or hides.
fn place(mount: &Mount) -> Option<&Path> {
    match &mount.kind {
        MountKind::Bind { source, .. } => Some(source),
        MountKind::Hidden { .. } | MountKind::Replaced { .. } => Some(&mount.target),
        MountKind::Link { .. }
        | MountKind::Processes
        | MountKind::Devices
        | MountKind::Scratch { .. }
        | MountKind::Generated { .. } => None,
    }
}

/// The identity of a file. Its inode number may be reused after it is deleted, so the creation time of a directory, or the
/// change time of a file, counts as well.
#[derive(Debug, Clone, PartialEq)]
struct File {
    device: u64,
    number: u64,
    made: Option<SystemTime>,
    changed: Option<(i64, i64)>,
}

impl File {
    fn at(path: &Path) -> Option<Self> {
        let data = std::fs::symlink_metadata(path).ok()?;
        let made = data.created().ok();
        let lasting = data.is_dir() && made.is_some();
        let changed = (!lasting).then(|| (data.ctime(), data.ctime_nsec()));
        Some(Self { device: data.dev(), number: data.ino(), made, changed })
    }
}
