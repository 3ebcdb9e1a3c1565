//! The steps that build the root file system of a plan.

#![expect(
    clippy::disallowed_methods,
    reason = "asks whose a file is that is to be seen as the command's own"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
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
use crate::sys::launch::{BindSource, Ended, Missing, Reach, Step, Way, copy_mount};
use crate::sys::raw::MountAttributes;

/// Devices that are harmless.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Attributes of a device: it can be read and written, like any, but its node cannot be changed.
const OF_DEVICES: u64 = MountAttributes::NOSUID | MountAttributes::NOEXEC | MountAttributes::READ_ONLY;

/// Symlinks in /dev that programs expect.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Parts of `/proc` with settings of the whole machine, made read-only. Only root may write them, and the command is never root;
/// this protects them if it finds a way to become root.
const FROZEN: &[&str] = &["sys"];

/// Hidden files of `/proc`: world-readable ones with information about the whole machine, and the most dangerous ones of root.
/// Other files of root are not readable for the command anyway, and each mount takes time.
pub(crate) const HIDDEN_FILES: &[&str] =
    &["kcore", "keys", "key-users", "kallsyms", "sysrq-trigger", "timer_list", "config.gz"];

/// Hidden directories of `/proc`.
pub(crate) const HIDDEN_FOLDERS: &[&str] = &["acpi", "scsi"];

/// The bind sources of the root file system, and the steps that build it.
#[derive(Default)]
pub(super) struct RootfsPlan {
    pub(super) bind_sources: Vec<BindSource>,
    pub(super) steps: Vec<Step>,
    /// Helper processes to reap.
    pub(super) ended: Vec<Ended>,
}

/// Returns the root file system of a plan.
pub(super) fn build_rootfs(plan: &Plan, ids: Ids, terminal: Option<&Path>) -> io::Result<RootfsPlan> {
    let mut builder = RootfsBuilder {
        rootfs: RootfsPlan::default(),
        made: BTreeSet::new(),
        covered: Vec::new(),
        links: Vec::new(),
        terminal,
        shared_memory: plan.limits.beside_temporary(),
        is_tight: plan.limits.is_tight(),
        view: View::of(plan),
        system: SystemMounts::None,
        open: BTreeMap::new(),
    };
    for mount in &plan.mounts {
        builder.add(mount)?;
    }
    builder.restrict_system();
    if ids.to_become().is_some() {
        builder.rootfs.ended = copy_ahead(plan, ids, &mut builder.rootfs.bind_sources)?;
    }
    Ok(builder.rootfs)
}

/// Clones mounts before the sandbox is created, because the command's user could not access them. Files of the caller are mapped
/// to the command.
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
    // Mounts in the workspace are mapped with the owner of the workspace.
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

/// Plans a root file system, mount by mount.
struct RootfsBuilder<'t> {
    rootfs: RootfsPlan,
    /// Directories that were created.
    made: BTreeSet<PathBuf>,
    /// Bind mounts of this machine: below them, mount points exist already.
    covered: Vec<PathBuf>,
    /// Symlinks that were created.
    links: Vec<PathBuf>,
    /// The path of the command's terminal on this machine.
    terminal: Option<&'t Path>,
    /// Bytes of shared memory.
    shared_memory: u64,
    /// Whether the memory limit is below the default.
    is_tight: bool,
    view: Option<View<'t>>,
    system: SystemMounts,
    /// Directories of this machine, and whether they are open, see [`RootfsBuilder::is_open`].
    open: BTreeMap<PathBuf, bool>,
}

/// Mounts of the system by their names, which become read-only together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SystemMounts {
    /// Not one so far.
    None,
    /// There are some, which are writable until the first other mount. Nothing runs in the sandbox meanwhile.
    Writable,
    /// All are read-only. A further one would be mounted by a descriptor: a writable mount exists by now.
    Restricted,
}

/// An overlay in the place of the workspace.
#[derive(Debug, Clone, Copy)]
struct View<'v> {
    workspace: &'v Path,
    /// The directory of its upper layer.
    layer: &'v Path,
}

impl<'v> View<'v> {
    fn of(plan: &'v Plan) -> Option<Self> {
        let layer = plan.layer.as_deref()?;
        Some(Self { workspace: &plan.workspace, layer })
    }

    /// Whether a mount is a part of the overlay.
    fn shows(self, mount: &Mount) -> bool {
        crate::review::is_in_overlay(mount, self.workspace)
    }
}

impl RootfsBuilder<'_> {
    fn add(&mut self, mount: &Mount) -> io::Result<()> {
        let target = mount.target.as_path();
        if !matches!(mount.kind, MountKind::Bind { owner: Owner::System, .. } | MountKind::Link { .. }) {
            self.restrict_system();
        }
        match &mount.kind {
            MountKind::Bind { source, point, owner: Owner::System, .. }
                if self.is_by_name(source, target) =>
            {
                self.mount_point(target, *point)?;
                self.system = SystemMounts::Writable;
                self.bind_by_name(source, target)?;
            }
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
                self.links.push(target.to_path_buf());
            }
            MountKind::Processes => self.processes(target)?,
            MountKind::Devices => self.devices(target)?,
            MountKind::Scratch { size } => self.scratch(target, *size, 0)?,
            MountKind::Generated { text } => {
                self.parents(target)?;
                let text = text.clone().into_bytes();
                self.step(Step::Text { path: below_root(target)?, text });
            }
            MountKind::Replaced { text } => {
                self.step(Step::Replace { path: below_root(target)?, text: text.clone().into_bytes() });
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

    /// Whether a mount of the system is made by its name: one call in the place of five. Only root changes the directories that
    /// lead to it, and the command's user may search them.
    fn is_by_name(&mut self, source: &Path, target: &Path) -> bool {
        self.system != SystemMounts::Restricted
            && source.starts_with("/etc")
            && self.way_to(target) == Way::OfSteps
            && source.parent().is_some_and(|parent| self.is_open(parent))
    }

    /// Whether every user may search a directory and its parents, and only root can change them.
    fn is_open(&mut self, folder: &Path) -> bool {
        /// The right of all users to search it, and those of others than root to change it.
        const SEARCH: u32 = 0o001;
        const CHANGE: u32 = 0o022;
        if let Some(known) = self.open.get(folder) {
            return *known;
        }
        let is_open = std::fs::symlink_metadata(folder)
            .is_ok_and(|data| data.is_dir() && data.uid() == 0 && data.mode() & (SEARCH | CHANGE) == SEARCH)
            && folder.parent().is_none_or(|parent| parent == Path::new("/") || self.is_open(parent));
        self.open.insert(folder.to_path_buf(), is_open);
        is_open
    }

    fn bind_by_name(&mut self, source: &Path, target: &Path) -> io::Result<()> {
        let (source, path) = (c_string(source.as_os_str())?, below_root(target)?);
        self.step(Step::Bind { source, path, missing: Missing::IsAnError });
        Ok(())
    }

    /// Makes all mounts so far read-only in one call, and the root writable again.
    fn restrict_system(&mut self) {
        if self.system == SystemMounts::Writable {
            let set = MountAttributes::READ_ONLY | MountAttributes::NOSUID | MountAttributes::NODEV;
            self.restrict_but_top(c"", set);
        }
        self.system = SystemMounts::Restricted;
    }

    /// Sets attributes of a mount and of all below it, which are private and read-only; the mount itself stays writable.
    fn restrict_but_top(&mut self, path: &CStr, set: u64) {
        let (path, propagation) = (path.to_owned(), MountAttributes::PRIVATE);
        let all = MountAttributes { set, propagation, ..MountAttributes::default() };
        let top = MountAttributes { clear: MountAttributes::READ_ONLY, ..MountAttributes::default() };
        self.step(Step::Restrict { path: path.clone(), attributes: all, reach: Reach::All });
        self.step(Step::Restrict { path, attributes: top, reach: Reach::One });
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
        self.step(Step::Mount { bind_source, path: below_root(target)?, way: self.way_to(target) });
        Ok(())
    }

    /// Mounts an overlay of the workspace in its place.
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

    /// Bind-mounts a path of the overlay on itself.
    fn rebind(&mut self, target: &Path, set: u64) -> io::Result<()> {
        let attributes =
            MountAttributes { set, propagation: MountAttributes::PRIVATE, ..MountAttributes::default() };
        self.step(Step::Rebind { path: below_root(target)?, attributes });
        Ok(())
    }

    fn scratch(&mut self, target: &Path, size: u64, more: u64) -> io::Result<()> {
        self.mount_point(target, MountPoint::Folder)?;
        let mode = if target == Path::new("/tmp") || more != 0 { "1777" } else { "0755" };
        let names = names_within(size, self.is_tight);
        let options = format!("size={size},nr_inodes={names},mode={mode}");
        self.filesystem(c"tmpfs", target, MountAttributes::NOSUID | MountAttributes::NODEV | more, &options)?;
        // The created directories below are now covered by this mount.
        self.made.retain(|made| !made.starts_with(target) || made == target);
        Ok(())
    }

    fn processes(&mut self, target: &Path) -> io::Result<()> {
        self.mount_point(target, MountPoint::Folder)?;
        let set = MountAttributes::NOSUID | MountAttributes::NODEV | MountAttributes::NOEXEC;
        self.filesystem(c"proc", target, set, "")?;
        let empty = [(HIDDEN_FILES, c".nothing"), (HIDDEN_FOLDERS, c".nothing.d")];
        for name in FROZEN {
            let path = below_root(&target.join(name))?;
            self.step(Step::Bind { source: path.clone(), path, missing: Missing::IsFine });
        }
        for (name, source) in empty.iter().flat_map(|(names, by)| names.iter().map(move |name| (name, *by))) {
            let (source, path) = (source.to_owned(), below_root(&target.join(name))?);
            self.step(Step::Bind { source, path, missing: Missing::IsFine });
        }
        self.restrict_but_top(&below_root(target)?, set | MountAttributes::READ_ONLY);
        Ok(())
    }

    fn filesystem(
        &mut self,
        kind: &'static CStr,
        target: &Path,
        attributes: u64,
        options: &str,
    ) -> io::Result<()> {
        let (path, options, way) = (below_root(target)?, c_string(options.as_ref())?, self.way_to(target));
        self.step(Step::Filesystem { kind, path, attributes, options, way });
        Ok(())
    }

    fn devices(&mut self, target: &Path) -> io::Result<()> {
        for name in DEVICES {
            let path = target.join(name);
            self.mount_point(&path, MountPoint::File)?;
            self.device(&Path::new("/dev").join(name), &path)?;
        }
        if let Some(terminal) = self.terminal {
            // ttyname(3) needs a path for the terminal.
            let path = target.join("console");
            self.mount_point(&path, MountPoint::File)?;
            self.bind(terminal, &path, OF_DEVICES)?;
        }
        for (name, to) in DEVICE_LINKS {
            let (path, to) = (below_root(&target.join(name))?, c_string(to.as_ref())?);
            self.step(Step::Link { path, to });
        }
        self.mount_point(&target.join("pts"), MountPoint::Folder)?;
        let set = MountAttributes::NOSUID | MountAttributes::NOEXEC;
        self.filesystem(c"devpts", &target.join("pts"), set, "ptmxmode=0666,mode=0620")?;
        self.scratch(&target.join("shm"), self.shared_memory, MountAttributes::NOEXEC)
    }

    /// Mounts a device by its name where all users may search its directory.
    fn device(&mut self, source: &Path, target: &Path) -> io::Result<()> {
        if self.way_to(target) == Way::Foreign || !source.parent().is_some_and(|folder| self.is_open(folder))
        {
            return self.bind(source, target, OF_DEVICES);
        }
        self.bind_by_name(source, target)?;
        let path = below_root(target)?;
        let propagation = MountAttributes::PRIVATE;
        let attributes = MountAttributes { set: OF_DEVICES, propagation, ..MountAttributes::default() };
        self.step(Step::Restrict { path, attributes, reach: Reach::One });
        Ok(())
    }

    /// Returns who made the directories that lead to a mount point.
    fn way_to(&self, target: &Path) -> Way {
        let is_foreign = self.is_covered(target) || self.links.iter().any(|link| target.starts_with(link));
        if is_foreign { Way::Foreign } else { Way::OfSteps }
    }

    /// Whether a path is in a bind mount of this machine.
    fn is_covered(&self, target: &Path) -> bool {
        self.covered.iter().any(|covered| target.starts_with(covered))
    }

    /// Creates a mount point, unless it is in a bind mount of this machine.
    fn mount_point(&mut self, target: &Path, point: MountPoint) -> io::Result<()> {
        if self.is_covered(target) {
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
