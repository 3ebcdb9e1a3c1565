//! What must not have changed for a command to run in a sandbox that was made before it.

#![expect(clippy::disallowed_methods, reason = "looks at files, and at the variables of this program")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::mounts::{Mount, MountKind};
use crate::plan::Plan;
use crate::probe::{home, is_without_links, places};
use crate::provider::Provider;
use crate::run::{GROUPED, Streams, Terminal};
use crate::spec::{Explain, SandboxSpec};
use crate::workspace::{Found, look};

/// What a probe finds out, so far as it can be compared at a glance. What it finds out about the kernel has shown itself in the
/// sandboxes that were made.
#[derive(Debug)]
pub(super) struct Glance {
    home: PathBuf,
    variables: BTreeMap<OsString, OsString>,
    /// What lies where the probe looks.
    files: Vec<(PathBuf, Option<File>)>,
    /// What lies in the workspace under names that count.
    pub(super) found: Found,
}

impl Glance {
    /// Looks, for a wish. This comes before the probe: what changes in between is seen the next time.
    pub(super) fn at(spec: &SandboxSpec) -> Self {
        let home = home();
        let file = |path: PathBuf| {
            let file = File::at(&path);
            (path, file)
        };
        Self {
            files: places(spec, &home).map(file).collect(),
            home,
            variables: variables(),
            found: look(&spec.workspace),
        }
    }

    /// Whether all is as it was, but for files that a sandbox of this kind shows: these are looked at with that. A folder that
    /// was named may not have come to lie behind a link.
    pub(super) fn still_holds(&self, spec: &SandboxSpec, kind: &Kind) -> bool {
        let same = |(path, file): &(PathBuf, Option<File>)| kind.shows(path) || File::at(path) == *file;
        let named =
            std::iter::once(&spec.workspace).chain(&spec.shared).chain(&spec.spill).chain(&spec.read_only);
        self.files.iter().all(same)
            && named.into_iter().all(|path| is_without_links(path))
            && self.home == home()
            && self.variables == variables()
            && self.found == look(&spec.workspace)
    }
}

fn variables() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// What must be the same for a command to use a sandbox: the plan but for the words of the command, and each file and folder
/// that is mounted or hidden. The kernel takes a mount away when somebody puts another file in the place of what it lies on.
#[derive(Debug, PartialEq)]
pub(super) struct Kind {
    pub(super) plan: Plan,
    files: Vec<Option<File>>,
}

impl Kind {
    /// Returns the kind of a plan; nothing where such a sandbox is not made beforehand.
    pub(super) fn of(plan: &Plan, streams: Streams) -> Option<Self> {
        let grouped = plan.require.iter().any(|property| GROUPED.contains(property));
        let observed = plan.explain == Explain::Asked;
        if plan.provider != Provider::Native || grouped || observed || streams.terminal != Terminal::None {
            return None;
        }
        // What is only reported when it changes makes no difference to a sandbox.
        let (program, arguments, watched) = (OsString::new(), Vec::new(), Vec::new());
        let plan = Plan { program, arguments, watched, ..plan.clone() };
        let files = plan.mounts.iter().map(|mount| place(mount).and_then(File::at)).collect();
        Some(Self { plan, files })
    }

    /// Whether each file is still the one that it was.
    pub(super) fn still_holds(&self) -> bool {
        let now = self.plan.mounts.iter().map(|mount| place(mount).and_then(File::at));
        now.eq(self.files.iter().cloned())
    }

    fn shows(&self, path: &Path) -> bool {
        self.plan.mounts.iter().any(|mount| place(mount) == Some(path))
    }
}

/// Where on this machine something lies that a mount shows or hides.
fn place(mount: &Mount) -> Option<&Path> {
    match &mount.kind {
        MountKind::Bind { source, .. } => Some(source),
        MountKind::Hidden { .. } => Some(&mount.target),
        MountKind::Link { .. } | MountKind::Processes | MountKind::Devices | MountKind::Scratch { .. } => {
            None
        }
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
