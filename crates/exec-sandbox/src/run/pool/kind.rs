//! What must not have changed for a command to run in a sandbox that was made before it.

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

/// What must be the same for a command to use a sandbox: the plan but for the words of the command, and each file and folder
/// that is mounted or hidden. The kernel takes a mount away when somebody puts another file in the place of what it lies on.
#[derive(Debug, PartialEq)]
pub(super) struct Kind {
    pub(super) plan: Plan,
    pub(super) streams: Streams,
    files: Vec<Option<File>>,
}

impl Kind {
    /// Returns the kind of a plan; nothing where such a sandbox is not made beforehand.
    pub(super) fn of(plan: &Plan, streams: Streams) -> Option<Self> {
        let grouped = is_grouped(plan);
        let observed = plan.explain == Explain::Asked;
        // A proxy hears of one sandbox at a time, and is gone with the command that it was started for.
        let proxied = matches!(plan.network, Network::Proxy(_));
        // Standard input is for the command that is started next, and not for those that are ready for later.
        let fed = streams.stdin == Input::Inherit;
        let alone = grouped || observed || proxied || fed || streams.terminal != Terminal::None;
        // Each command has a view of its own.
        let reviewed = plan.review != ReviewMode::Off;
        if plan.provider != Provider::Native || alone || reviewed {
            return None;
        }
        // What is only looked at afterwards makes no difference to a sandbox.
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

/// Where on this machine something lies that a mount shows or hides.
fn place(mount: &Mount) -> Option<&Path> {
    match &mount.kind {
        MountKind::Bind { source, .. } => Some(source),
        MountKind::Hidden { .. } => Some(&mount.target),
        MountKind::Link { .. }
        | MountKind::Processes
        | MountKind::Devices
        | MountKind::Scratch { .. }
        | MountKind::Generated { .. } => None,
    }
}

/// Which file something is. Its number may be used again after it is gone; so the time counts as well at which a folder was
/// made, or a file was last changed.
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
