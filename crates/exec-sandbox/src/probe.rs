//! Collects the facts about this machine that planning needs.

#![expect(clippy::disallowed_methods, reason = "fills HostFacts from the real machine")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, fstat, openat, openat2, statat,
};
use rustix::io::Errno;
use rustix::thread::{SecureComputingMode, secure_computing_mode};
use stockade_credentials::names_without_values;
use stockade_files::{read_kernel_line, real_path};
use stockade_git::{UsersPlaces, users_file, users_git};
use stockade_handoff::trust;
use stockade_names::home::masked;
use stockade_names::{fits, fold};

use crate::backends::engine::probe::look as look_at;
use crate::binds::homes;
use crate::choices::{HomeView, SandboxBackend};
use crate::container_request::Engine;
use crate::exposed_secrets::Seen;
use crate::host::{Entry, HostFacts, Kernel, Searched};
use crate::mounts::{IGNORED, SYSTEM, path_at_home, rows_at_home};
use crate::seccomp::Architecture;
use crate::spec::{Network, SandboxSpec};
use crate::sys::launch::can_be_observed;
use crate::sys::raw::landlock_version;
use crate::tracked::{is_tracked, passed_over, show_known};
use crate::workspace::entry::read_below;
use crate::workspace::home_names::{Listing, home_names};
use crate::workspace::roots::roots;
use crate::workspace::{MAX_TEXT, add_home, add_hooks, bound};

/// Where most files of the system's settings are.
const ETC: &str = "/etc";

/// Returns the facts about this machine that planning `spec` needs.
pub fn probe(spec: &SandboxSpec) -> HostFacts {
    let environment = std::env::vars_os().collect();
    let home = home();
    let mut facts = HostFacts {
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        workspace_owner: fs::metadata(&spec.workspace).ok().map(|data| (data.uid(), data.gid())),
        capabilities: stockade_handoff::held_capabilities(),
        environment,
        kernel: kernel(),
        ..HostFacts::default()
    };
    look_at_system(&mut facts);
    let at_home = types_in(&home);
    let places: Vec<PathBuf> = places(spec, &home, &at_home, &facts.environment).collect();
    places.iter().for_each(|path| look(path, &mut facts));
    // The targets of symlinks in the home could be shared by another path.
    let links = at_home.iter().filter(|(_, entry)| entry.is_none());
    links.for_each(|(name, _)| look(&home.join(name), &mut facts));
    facts.home = home;
    secrets(spec, &facts, &at_home).into_iter().for_each(|path| look(&path, &mut facts));
    let writable: Vec<&Path> = spec.shared.iter().chain(&spec.spill).map(PathBuf::as_path).collect();
    let places_of_user = UsersPlaces { home: &facts.home, workspace: &spec.workspace, writable: &writable };
    let users = users_git(places_of_user, &facts.environment);
    facts.git_ignored = users_file(places_of_user, Path::new(IGNORED)).unwrap_or_default();
    facts.git = users.harmless;
    // Bubblewrap is tested by running it, which takes time, so only where it may be used.
    if spec.backend == SandboxBackend::Bwrap
        || (spec.backend == SandboxBackend::Auto && !facts.kernel.namespaces)
    {
        facts.bubblewrap = crate::bwrap::start::find();
    }
    facts.engine = Engine::of(spec.backend).map(|engine| look_at(engine, &spec.container));
    let writable = roots(Some(&spec.workspace), &spec.shared);
    let mut found = crate::workspace::look(&writable);
    add_hooks(&writable, &mut found, &users.hooks);
    let of_home = home_names(&facts.home, &at_home, types_in, &writable);
    add_home(&writable, &mut found, &of_home);
    if users.is_partial {
        found.searched = found.searched.max(Searched::InPart);
    }
    facts.shown = show_known(&spec.workspace, &Seen::before(spec), &mut found.protected);
    // Secrets that earlier commands created themselves are visible, and do not count towards the maximum number of mounts.
    bound(&writable, &mut found);
    facts.passed_over = passed_over(&spec.workspace, &found.protected);
    (facts.protected, facts.watched, facts.searched) = (found.protected, found.watched, found.searched);
    (facts.git_targets, facts.git_plans, facts.exposed) = (found.git_targets, found.plans, found.exposed);
    facts.links = found.links;
    facts.env_names = env_names(spec);
    let env_names = facts.env_names.keys();
    facts.tracked_env_names = env_names.filter(|path| is_tracked(&spec.workspace, path)).cloned().collect();
    facts.worktree = crate::worktree::find(&spec.workspace);
    facts
}

/// Returns what is shown of the files that a request shows without values. Those that no other option shows stay hidden.
fn env_names(spec: &SandboxSpec) -> BTreeMap<PathBuf, Option<String>> {
    let around = || std::iter::once(&spec.workspace).chain(&spec.shared).chain(&spec.read_only);
    let shown = spec.env_names.iter().filter(|path| around().any(|around| path.starts_with(around)));
    let read = |path: &PathBuf| {
        let text = read_below(CWD, path, MAX_TEXT).and_then(|text| String::from_utf8(text).ok());
        text.map(|text| names_without_values(&text))
    };
    let exists = |path: &&PathBuf| statat(CWD, *path, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    shown.filter(exists).map(|path| (path.clone(), read(path))).collect()
}

/// Looks at the paths of the table of the system. Nearly all are in `/` or `/etc`: two listings tell which exist, and their types.
fn look_at_system(facts: &mut HostFacts) {
    let root = types_in(Path::new("/"));
    let is_plain = root.get(OsStr::new("etc")) == Some(&Some(Entry::Folder));
    let etc = if is_plain { types_in(Path::new(ETC)) } else { Listing::new() };
    for path in SYSTEM.iter().flat_map(|(row, _)| of_the_system(row, &etc)) {
        let listing = if path.parent() == Some(Path::new("/")) { &root } else { &etc };
        match path.file_name().filter(|_| path.components().count() <= 3).and_then(|name| listing.get(name)) {
            Some(Some(entry)) => drop(facts.entries.insert(path, entry.clone())),
            Some(None) => look_through_links(&path, facts),
            // It is deeper, or missing.
            None if path.parent() == Some(Path::new("/")) && !root.is_empty() => {}
            None => look(&path, facts),
        }
    }
}

/// Returns the paths that may exist of those that a row of the system table matches, if these are in [`ETC`].
fn of_the_system(row: &str, in_etc: &Listing) -> Vec<PathBuf> {
    let path = Path::new(row);
    let Ok(below) = path.strip_prefix(ETC) else { return vec![path.to_path_buf()] };
    if let Some(begin) = below.as_os_str().as_encoded_bytes().strip_suffix(b"*") {
        let names = in_etc.keys().filter(|name| name.as_encoded_bytes().starts_with(begin));
        return names.map(|name| Path::new(ETC).join(name)).collect();
    }
    let is_there = below.components().next().is_some_and(|first| in_etc.contains_key(first.as_os_str()));
    if is_there { vec![path.to_path_buf()] } else { Vec::new() }
}

/// Returns the names in a directory, and the types of those that are not symlinks.
fn types_in(folder: &Path) -> Listing {
    /// Enough for nearly all of `/etc`, so that two calls read it.
    const ROOM: usize = 32 << 10;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, folder, flags, Mode::empty()) else { return Listing::new() };
    let mut room = Vec::with_capacity(ROOM);
    let mut entries = RawDir::new(&folder, room.spare_capacity_mut());
    let mut listing = Listing::new();
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name();
        let kind = match entry.file_type() {
            // Not every file system tells.
            FileType::Unknown => statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |data| FileType::from_raw_mode(data.st_mode)),
            kind => kind,
        };
        let name = OsStr::from_bytes(name.to_bytes());
        if name != "." && name != ".." {
            listing.insert(name.to_owned(), (kind != FileType::Symlink).then(|| of_type(kind)));
        }
    }
    listing
}

const fn of_type(kind: FileType) -> Entry {
    match kind {
        FileType::Directory => Entry::Folder,
        FileType::RegularFile => Entry::File,
        FileType::Socket => Entry::Socket,
        _ => Entry::Other,
    }
}

/// Returns the paths whose existence and type the plan for `spec` depends on, beside those of the system.
fn places(
    spec: &SandboxSpec,
    home: &Path,
    listed: &Listing,
    environment: &BTreeMap<OsString, OsString>,
) -> impl Iterator<Item = PathBuf> {
    let mut missing = MissingFolders { home, known: BTreeMap::new() };
    let rows = rows_at_home(spec.home);
    let rows = rows
        .filter(move |row| begins_with(Path::new(row.0), listed) && !missing.are_around(Path::new(row.0)));
    let on_path = path_at_home(environment, home).filter(|_| spec.home == HomeView::Tools);
    let at_home = rows.map(|row| home.join(row.0)).chain(on_path);
    let socket = spec.network.socket();
    let kept_back = spec.hidden.iter().chain(&spec.unwritable);
    let trusted = matches!(&spec.network, Network::Proxy(handoff) if handoff.sockets().trust.is_some());
    let replaced = trust::replaced().filter(move |_| trusted).map(|(path, _)| path.to_path_buf());
    replaced.chain(at_home).chain(named(spec).chain(socket).chain(kept_back).cloned())
}

/// Whether the first component of a relative path is one of these names. One listing replaces a lookup per row of a table: few homes
/// contain more than a handful of them.
fn begins_with(path: &Path, listed: &Listing) -> bool {
    path.components().next().is_some_and(|first| listed.contains_key(first.as_os_str()))
}

/// Directories below the home that many rows of the table are in: each is looked up once.
struct MissingFolders<'h> {
    home: &'h Path,
    known: BTreeMap<&'static Path, bool>,
}

impl MissingFolders<'_> {
    /// Whether a directory around a relative path is missing, other than the first, which was listed.
    fn are_around(&mut self, path: &'static Path) -> bool {
        let Some(folder) = path.parent().filter(|folder| folder.components().count() > 1) else {
            return false;
        };
        let is_missing = || statat(CWD, self.home.join(folder), AtFlags::empty()).is_err();
        *self.known.entry(folder).or_insert_with(is_missing)
    }
}

/// Returns the paths that a request names.
fn named(spec: &SandboxSpec) -> impl Iterator<Item = &PathBuf> {
    let state = spec.home_state.iter().map(|state| &state.source);
    std::iter::once(&spec.workspace)
        .chain(&spec.shared)
        .chain(&spec.spill)
        .chain(&spec.read_only)
        .chain(state)
}

/// Returns the paths of possible credentials in shared directories.
fn secrets(spec: &SandboxSpec, facts: &HostFacts, listed: &Listing) -> Vec<PathBuf> {
    let at_home = rows_at_home(spec.home).map(|row| facts.home.join(row.0));
    let at_home = at_home.chain(path_at_home(&facts.environment, &facts.home));
    let at_home = at_home.filter(|path| facts.entries.contains_key(path));
    let shared: Vec<PathBuf> = at_home.chain(named(spec).cloned()).collect();
    let mut folders = BTreeMap::<PathBuf, Vec<&str>>::new();
    for (home, (folder, name)) in homes(facts).flat_map(|home| masked().map(move |it| (home, it))) {
        folders.entry(home.join(folder)).or_default().push(name);
    }
    let listing = |home: &Path| if *home == facts.home { listed.clone() } else { types_in(home) };
    let homes: Vec<(&Path, Listing)> = homes(facts).map(|home| (home, listing(home))).collect();
    folders.retain(|folder, _| {
        if !homes
            .iter()
            .any(|(home, names)| folder.strip_prefix(home).is_ok_and(|below| begins_with(below, names)))
        {
            return false;
        }
        // A directory may be shared by another path than the one at home.
        let real = real_path(folder);
        real.is_ok_and(|real| shared.iter().any(|around| real.starts_with(around)))
    });
    folders.iter().flat_map(|(folder, names)| names.iter().flat_map(|name| fitting(folder, name))).collect()
}

/// Returns the path of a name in a directory, or the paths that match it if it is a pattern.
fn fitting(folder: &Path, name: &str) -> Vec<PathBuf> {
    if !name.contains('*') {
        return vec![folder.join(name)];
    }
    let pattern = fold(name);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let fitting = entries.filter(|name| fits(&fold(&name.to_string_lossy()), &pattern));
    fitting.map(|name| folder.join(name)).collect()
}

/// Returns the home without symlinks: a bind mount below a symlink would be mounted at its target.
fn home() -> PathBuf {
    let home = std::env::home_dir().unwrap_or_default();
    real_path(&home).unwrap_or(home)
}

fn look(path: &Path, facts: &mut HostFacts) {
    match without_links(path) {
        Ok(entry) => drop(facts.entries.insert(path.to_path_buf(), entry)),
        Err(Errno::NOENT) => {}
        Err(_) => look_through_links(path, facts),
    }
}

/// Returns the type of a path that contains no symlink. One openat2(2) checks this for all its components.
fn without_links(path: &Path) -> Result<Entry, Errno> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let there = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    // A path with `..` or `.` is not the canonical one.
    if !crate::binds::is_plain(path) {
        return Err(Errno::LOOP);
    }
    Ok(of_type(FileType::from_raw_mode(fstat(&there)?.st_mode)))
}

fn look_through_links(path: &Path, facts: &mut HostFacts) {
    // Only a symlink can be read as one.
    let to = fs::read_link(path).ok();
    let data = if to.is_none() { fs::symlink_metadata(path).ok() } else { None };
    if to.is_none() && data.is_none() {
        return;
    }
    let real = real_path(path).ok();
    let entry = match data.filter(|_| real.as_deref() == Some(path)) {
        Some(data) => Entry::of(&data),
        None => Entry::Link { to, resolved: real.clone() },
    };
    facts.entries.insert(path.to_path_buf(), entry);
    // The target of a symlink may be mounted in its place, so its type is needed as well.
    if let Some(real) = real.filter(|real| real != path)
        && let Ok(data) = fs::symlink_metadata(&real)
    {
        facts.entries.insert(real, Entry::of(&data));
    }
}

fn kernel() -> Kernel {
    let number = |path: &str| read_kernel_line(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let may = number("/proc/sys/user/max_user_namespaces").is_none_or(|most| most > 0)
        && number("/proc/sys/kernel/unprivileged_userns_clone").is_none_or(|on| on > 0);
    Kernel {
        namespaces: may,
        landlock: landlock_version(),
        seccomp: Architecture::current().is_some() && Path::new("/proc/sys/kernel/seccomp").exists(),
        mediation: mediation(),
    }
}

/// Whether the supervisor can decide system calls by seccomp user notification. The kernel permits one listener per process, so
/// where this program already runs under a filter, it tries to install one.
fn mediation() -> bool {
    static TRIED: LazyLock<bool> = LazyLock::new(|| {
        let name = rustix::system::uname();
        let mut numbers = name.release().to_bytes().split(|byte| !byte.is_ascii_digit()).map(|number| {
            std::str::from_utf8(number).ok().and_then(|number| number.parse::<u32>().ok()).unwrap_or_default()
        });
        let is_new = (numbers.next(), numbers.next()) >= (Some(5), Some(19));
        let is_filtered = || secure_computing_mode().map_or(true, |mode| mode == SecureComputingMode::Filter);
        is_new && Architecture::current().is_some() && (!is_filtered() || can_be_observed())
    });
    *TRIED
}
