//! What this machine is like, as a value: `probe` fills it, and tests write it by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::container_request::{EngineFacts, EngineLack};
use crate::git_settings::GitSettings;
pub use crate::known_links::KnownLinks;

/// What a plan needs to know about a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    /// The paths that were looked at and exist.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// The home of the user; without links.
    pub home: PathBuf,
    /// The user.
    pub user: u32,
    /// The group.
    pub group: u32,
    /// The user and the group to whom the workspace belongs, if it is there.
    pub workspace_owner: Option<(u32, u32)>,
    /// The capabilities of the program that starts the sandbox, by their names in capabilities(7). A command in a
    /// sandbox gets none of them.
    pub capabilities: BTreeSet<String>,
    /// The variables of the program that starts the sandbox.
    pub environment: BTreeMap<OsString, OsString>,
    /// The settings of git that a command gets.
    pub git: GitSettings,
    /// The user's own list of files that git passes over.
    pub git_ignored: String,
    /// What git passes over besides, as lines of such a list: what is hidden from a command.
    pub passed_over: Vec<String>,
    /// What the kernel offers.
    pub kernel: Kernel,
    /// Where a bubblewrap is that works, if it was looked for.
    pub bubblewrap: Option<PathBuf>,
    /// What the engine of containers has that was asked for, or why it makes none; nothing where none was.
    pub engine: Option<Result<EngineFacts, EngineLack>>,
    /// What lies in the workspace under a protected name.
    pub protected: Vec<ProtectedEntry>,
    /// What lies in the workspace under a name the change of which is reported.
    pub watched: Vec<Watched>,
    /// What lies in the workspace under the name of a secret and is seen all the same.
    pub shown: Vec<PathBuf>,
    /// What a command sees although secrets stand in it, since programs need the rest.
    pub exposed: Vec<Exposed>,
    /// Where the repository of the workspace lies, if that is one of its linked worktrees.
    pub worktree: Option<LinkedWorktree>,
    /// Paths that links and settings of the user's lead to, whether something is there or not: what appears there is obeyed.
    pub led_to: Vec<PathBuf>,
    /// The lines that run programs in what git has still to do, by the files that hold them.
    pub git_plans: BTreeMap<PathBuf, Vec<String>>,
    /// The links that lie in the workspace, by which new ones are known.
    pub links: KnownLinks,
    /// Whether the whole workspace was searched for protected names.
    pub searched: Searched,
}

impl HostFacts {
    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Where a path really leads, if it exists.
    pub(crate) fn resolved<'h>(&'h self, path: &'h Path) -> Option<&'h Path> {
        match self.entry(path)? {
            Entry::Link { resolved, .. } => resolved.as_deref(),
            Entry::Folder | Entry::File | Entry::Socket | Entry::Other => Some(path),
        }
    }
}

/// What a path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A folder, not reached through a link.
    Folder,
    /// A file, not reached through a link.
    File,
    /// A Unix socket, by which some program is reached.
    Socket,
    /// A link, or a path behind a link.
    Link {
        /// What stands in the link; nothing for a path behind a link.
        to: Option<PathBuf>,
        /// Where it really leads; nothing if nowhere.
        resolved: Option<PathBuf>,
    },
    /// A device, a pipe.
    Other,
}

impl Entry {
    /// Returns what a path is, links not followed further.
    #[cfg(unix)]
    pub(crate) fn of(data: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = data.file_type();
        if kind.is_dir() {
            Self::Folder
        } else if kind.is_file() {
            Self::File
        } else if kind.is_socket() {
            Self::Socket
        } else {
            Self::Other
        }
    }
}

/// What the kernel offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kernel {
    /// Whether a user namespace with others inside can be made.
    pub namespaces: bool,
    /// The version of Landlock; 0 if there is none.
    pub landlock: u32,
    /// Whether system calls can be filtered, on an architecture that we have a table for.
    pub seccomp: bool,
    /// Whether somebody else can decide a call and carry it out, so that names are judged when they are made: from Linux 5.19
    /// on, where nobody does so already.
    pub mediation: bool,
}

/// Something in a folder that the command may change, and that has a protected name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedEntry {
    /// Its path below the workspace; in full, where it lies in another folder that the command may change.
    pub path: PathBuf,
    /// What it is.
    pub kind: Entry,
    /// What is done about it.
    pub mode: ProtectionMode,
    /// Which file that is, and how it looked.
    pub stamp: Stamp,
    /// Stands for the folders that lead to it, below the workspace: with one of them replaced, it is another number.
    pub around: u64,
}

/// A repository that lies outside of a worktree which belongs to it. All paths are in full and without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// The folder of the repository, which all its worktrees share.
    pub common: PathBuf,
    /// What in it git changes when it commits and fetches in the worktree: folders.
    pub writable: Vec<PathBuf>,
    /// What in these stays as it is, since git obeys it.
    pub obeyed: Vec<(PathBuf, Entry)>,
}

/// A file in the workspace that a command may change, and that other programs or agents obey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Its path below the workspace; in full, where it lies in another folder that the command may change.
    pub path: PathBuf,
    /// What it is, in a few words: `agent instructions`.
    pub label: String,
    /// How it looked.
    pub stamp: Stamp,
}

/// A file that a command sees although a secret stands in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exposed {
    /// Its path below the workspace; in full, where it lies in another folder that the command may change.
    pub path: PathBuf,
    /// What it is, in a few words: `secrets: Git`.
    pub label: String,
}

/// What tells a file from another one, or from itself before it was written. A command cannot set the time of the last
/// change of a file, so none can be kept from showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Which file it is.
    pub file: FileIdentity,
    /// How many bytes it has.
    pub size: u64,
    /// When its content was written, in seconds and nanoseconds; a program may set it.
    pub modified: (i64, i64),
    /// When anything about it was changed, in seconds and nanoseconds; the kernel alone sets it.
    pub changed: (i64, i64),
}

/// Which file something is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileIdentity {
    /// The device.
    pub device: u64,
    /// The number of the file on it, which is used again when the file is gone.
    pub number: u64,
    /// When it was made, in seconds and nanoseconds; zero where the file system does not know.
    pub born: (i64, u32),
}

/// What is done about something that has a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectionMode {
    /// It can be read and not changed.
    ReadOnly,
    /// It is a mount of its own, so that it cannot be moved away; what is in it may change.
    Pin,
    /// It cannot be read either.
    Hide,
    /// It may be changed, and is looked at afterwards.
    Check,
}

/// How far the workspace was searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Searched {
    /// Every folder was looked into.
    #[default]
    Fully,
    /// Some folders could not be looked into: they belong to somebody else.
    InPart,
    /// There are more names than can be protected.
    TooMany,
}
