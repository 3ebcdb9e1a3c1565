//! The steps that build_rootfs the new root for a plan.

#![expect(
    clippy::disallowed_methods,
    reason = "asks whose a file is that is to be seen as the command's own"
)]

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::identity::{Ids, OwnerMaps};
use super::{below_root, c_string};
use crate::limits::names_within;
use crate::mounts::{Mount, MountKind, MountPoint, Owner};
use crate::plan::Plan;
use crate::spec::MountAccess;
use crate::sys::launch::{BindSource, Ended, Step, copy_mount};
use crate::sys::raw::MountAttributes;

/// Devices that are harmless.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Links that programs expect between them.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Parts of `/proc` that set something for the whole machine. The command is never root, to whom they belong; this holds
/// should there be a way to become root.
const FROZEN: &[&str] = &["sys"];

/// Files of `/proc` that tell everybody something about the whole machine, and the most dangerous ones of root's. The
/// others of root's are closed to the command anyway, and each mount costs time.
pub(crate) const HIDDEN_FILES: &[&str] =
    &["kcore", "keys", "key-users", "kallsyms", "sysrq-trigger", "timer_list", "config.gz"];

/// Folders of `/proc` that do.
pub(crate) const HIDDEN_FOLDERS: &[&str] = &["acpi", "scsi"];

/// What is mounted in the rootfs, and the steps that build it.
#[derive(Default)]
pub(super) struct RootfsPlan {
    pub(super) bind_sources: Vec<BindSource>,
    pub(super) steps: Vec<Step>,
    /// Processes that were needed to make it.
    pub(super) ended: Vec<Ended>,
}

/// Returns the rootfs of a plan.
pub(super) fn build_rootfs(plan: &Plan, ids: Ids, terminal: Option<&Path>) -> io::Result<RootfsPlan> {
    let mut builder = RootfsBuilder {
        rootfs: RootfsPlan::default(),
        made: BTreeSet::new(),
        covered: Vec::new(),
        terminal,
        shared_memory: plan.limits.beside_temporary(),
        is_tight: plan.limits.is_tight(),
        view: View::of(plan),
    };
    for mount in &plan.mounts {
        builder.add(mount)?;
    }
    if ids.to_become().is_some() {
        builder.rootfs.ended = copy_ahead(plan, ids, &mut builder.rootfs.bind_sources)?;
    }
    Ok(builder.rootfs)
}

/// Copies mounts before the sandbox is made: the command's user could not even reach them. What belongs to the caller is
/// made to belong to the command.
fn copy_ahead(plan: &Plan, ids: Ids, bind_sources: &mut [BindSource]) -> io::Result<Vec<Ended>> {
    let mut maps = OwnerMaps::default();
    let owned = |bind_source: &BindSource| {
        plan.mounts.iter().any(|mount| match &mount.kind {
            MountKind::Bind { source, owner: Owner::User, .. } => {
                c_string(source.as_os_str()).is_ok_and(|source| source == bind_source.source)
            }
            _ => false,
        })
    };
    // What is inside of the workspace belongs to whom the workspace belongs.
    let workspace = std::fs::symlink_metadata(&plan.workspace)?;
    let is_layer = |source: &BindSource| {
        plan.layer
            .as_ref()
            .is_some_and(|layer| c_string(layer.as_os_str()).is_ok_and(|it| it == source.source))
    };
    for bind_source in bind_sources {
        if owned(bind_source) || is_layer(bind_source) {
            let path = Path::new(std::ffi::OsStr::from_bytes(bind_source.source.to_bytes()));
            let whose = if path.starts_with(&plan.workspace) {
                workspace.clone()
            } else {
                std::fs::symlink_metadata(path)?
            };
            let namespace = maps.namespace(ids, whose.uid(), whose.gid())?;
            bind_source.attributes.set |= MountAttributes::IDMAP;
            bind_source.attributes.user_namespace = namespace.as_raw_fd() as u64;
        }
        let copy = copy_mount(bind_source).map_err(|errno| {
            let error = io::Error::from_raw_os_error(errno);
            io::Error::new(
                error.kind(),
                format!("cannot copy the mount at {:?}: {error}", bind_source.source),
            )
        })?;
        bind_source.ready = Some(copy);
    }
    Ok(maps.ended)
}

/// A rootfs that is being planned, mount by mount.
struct RootfsBuilder<'t> {
    rootfs: RootfsPlan,
    /// Folders that were made.
    made: BTreeSet<PathBuf>,
    /// What was brought from the machine: below it, everything that is to be mounted on is there already.
    covered: Vec<PathBuf>,
    /// Where this machine has the terminal of the command.
    terminal: Option<&'t Path>,
    /// Bytes of shared memory.
    shared_memory: u64,
    /// Whether memory is bounded by less than usual.
    is_tight: bool,
    view: Option<View<'t>>,
}

/// A view of the workspace in the place of that.
#[derive(Debug, Clone, Copy)]
struct View<'v> {
    workspace: &'v Path,
    /// Where what is different in it is kept.
    layer: &'v Path,
}

impl<'v> View<'v> {
    fn of(plan: &'v Plan) -> Option<Self> {
        let layer = plan.layer.as_deref()?;
        Some(Self { workspace: &plan.workspace, layer })
    }

    /// Whether what is mounted is a part of the view.
    fn shows(self, mount: &Mount) -> bool {
        crate::review::is_in_view(mount, self.workspace)
    }
}

impl RootfsBuilder<'_> {
    fn add(&mut self, mount: &Mount) -> io::Result<()> {
        let target = mount.target.as_path();
        match &mount.kind {
            MountKind::Bind { source, access, point, .. } => {
                self.mount_point(target, *point)?;
                let read_only = if *access == MountAccess::ReadOnly { MountAttributes::READ_ONLY } else { 0 };
                let set = MountAttributes::NOSUID | MountAttributes::NODEV | read_only;
                match self.view.filter(|view| view.shows(mount)) {
                    Some(view) if source == view.workspace => self.overlay(view, target)?,
                    Some(_) => self.rebind(target, set)?,
                    None => self.bind(source, target, set)?,
                }
                self.covered.push(target.to_path_buf());
            }
            MountKind::Link { to } => {
                self.parents(target)?;
                let (path, to) = (below_root(target)?, c_string(to.as_os_str())?);
                self.step(Step::Link { path, to });
            }
            MountKind::Processes => self.processes(target)?,
            MountKind::Devices => self.devices(target)?,
            MountKind::Scratch { size } => self.scratch(target, *size, 0)?,
            MountKind::Generated { text } => {
                self.parents(target)?;
                let text = text.clone().into_bytes();
                self.step(Step::Text { path: below_root(target)?, text });
            }
            MountKind::Hidden { point: MountPoint::File } => self.step(Step::MaskFile(below_root(target)?)),
            MountKind::Hidden { point: MountPoint::Folder } => {
                self.step(Step::HideFolder(below_root(target)?));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: Step) {
        self.rootfs.steps.push(step);
    }

    fn bind(&mut self, source: &Path, target: &Path, set: u64) -> io::Result<()> {
        let attributes =
            MountAttributes { set, propagation: MountAttributes::PRIVATE, ..MountAttributes::default() };
        self.rootfs.bind_sources.push(BindSource {
            source: c_string(source.as_os_str())?,
            attributes,
            ready: None,
        });
        let bind_source = self.rootfs.bind_sources.len() - 1;
        self.step(Step::Mount { bind_source, path: below_root(target)? });
        Ok(())
    }

    /// Shows a view of the workspace in its place.
    fn overlay(&mut self, view: View<'_>, target: &Path) -> io::Result<()> {
        let attributes =
            MountAttributes { propagation: MountAttributes::PRIVATE, ..MountAttributes::default() };
        for source in [view.workspace, view.layer] {
            let source = c_string(source.as_os_str())?;
            self.rootfs.bind_sources.push(BindSource { source, attributes, ready: None });
        }
        let layer = self.rootfs.bind_sources.len() - 1;
        self.step(Step::Overlay { lower: layer - 1, layer, path: below_root(target)? });
        Ok(())
    }

    /// Mounts what lies in the view once more in its place.
    fn rebind(&mut self, target: &Path, set: u64) -> io::Result<()> {
        let attributes =
            MountAttributes { set, propagation: MountAttributes::PRIVATE, ..MountAttributes::default() };
        self.step(Step::Rebind { path: below_root(target)?, attributes });
        Ok(())
    }

    fn scratch(&mut self, target: &Path, size: u64, more: u64) -> io::Result<()> {
        self.mount_point(target, MountPoint::Folder)?;
        let mode = if target == Path::new("/tmp") || more != 0 { c"1777" } else { c"0755" };
        let names = names_within(size, self.is_tight);
        let [size, names] = [size, names].map(|number| c_string(number.to_string().as_ref()));
        let (size, names) = (size?, names?);
        let (path, attributes) =
            (below_root(target)?, MountAttributes::NOSUID | MountAttributes::NODEV | more);
        self.step(Step::Scratch { path, size, names, mode: mode.to_owned(), attributes });
        // What lies below was made in the folder that is now hidden.
        self.made.retain(|made| !made.starts_with(target) || made == target);
        Ok(())
    }

    fn processes(&mut self, target: &Path) -> io::Result<()> {
        self.mount_point(target, MountPoint::Folder)?;
        self.step(Step::Processes(below_root(target)?));
        for name in FROZEN {
            self.step(Step::Freeze(below_root(&target.join(name))?));
        }
        for name in HIDDEN_FILES {
            self.step(Step::HideFile(below_root(&target.join(name))?));
        }
        for name in HIDDEN_FOLDERS {
            self.step(Step::HideFolder(below_root(&target.join(name))?));
        }
        Ok(())
    }

    fn devices(&mut self, target: &Path) -> io::Result<()> {
        for name in DEVICES {
            let path = target.join(name);
            self.mount_point(&path, MountPoint::File)?;
            self.bind(
                &Path::new("/dev").join(name),
                &path,
                MountAttributes::NOSUID | MountAttributes::NOEXEC | MountAttributes::READ_ONLY,
            )?;
        }
        if let Some(terminal) = self.terminal {
            // Programs ask under which name their terminal is found.
            let path = target.join("console");
            self.mount_point(&path, MountPoint::File)?;
            self.bind(
                terminal,
                &path,
                MountAttributes::NOSUID | MountAttributes::NOEXEC | MountAttributes::READ_ONLY,
            )?;
        }
        for (name, to) in DEVICE_LINKS {
            let (path, to) = (below_root(&target.join(name))?, c_string(to.as_ref())?);
            self.step(Step::Link { path, to });
        }
        self.mount_point(&target.join("pts"), MountPoint::Folder)?;
        self.step(Step::Terminals(below_root(&target.join("pts"))?));
        self.scratch(&target.join("shm"), self.shared_memory, MountAttributes::NOEXEC)
    }

    /// Makes what is to be mounted on, unless it was brought from the machine.
    fn mount_point(&mut self, target: &Path, point: MountPoint) -> io::Result<()> {
        if self.covered.iter().any(|covered| target.starts_with(covered)) {
            return Ok(());
        }
        self.parents(target)?;
        match point {
            MountPoint::Folder => self.folder(target),
            MountPoint::File => {
                self.step(Step::File(below_root(target)?));
                Ok(())
            }
        }
    }

    fn parents(&mut self, target: &Path) -> io::Result<()> {
        let mut parents: Vec<&Path> =
            target.ancestors().skip(1).filter(|path| *path != Path::new("/")).collect();
        parents.reverse();
        parents.into_iter().try_for_each(|parent| self.folder(parent))
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        if self.made.insert(path.to_path_buf()) {
            self.step(Step::Folder(below_root(path)?));
        }
        Ok(())
    }
}
