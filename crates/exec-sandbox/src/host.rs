//! The facts about a machine that planning needs, as a value: `probe` collects them, and tests write them by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use stockade_git::GitSettings;

use crate::container_request::{EngineFacts, EngineLack};
pub use stockade_files::KnownLinks;

/// The facts about a machine that planning needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    /// The probed paths that exist.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// The home directory of the user, without symlinks.
    pub home: PathBuf,
    /// The user id.
    pub user: u32,
    /// The group id.
    pub group: u32,
    /// The user and group that own the workspace, if it exists.
    pub workspace_owner: Option<(u32, u32)>,
    /// The capabilities of the program that creates the sandbox, by their names in capabilities(7). The command gets none of
    /// them.
    pub capabilities: BTreeSet<String>,
    /// The environment of the program that creates the sandbox.
    pub environment: BTreeMap<OsString, OsString>,
    /// The git settings that a command gets.
    pub git: GitSettings,
    /// The content of the user's own gitignore file.
    pub git_ignored: String,
    /// Additional gitignore lines: the paths that are hidden from the command.
    pub passed_over: Vec<String>,
    /// The capabilities of the kernel.
    pub kernel: Kernel,
    /// The path of a bubblewrap that works, if one was looked for and found.
    pub bubblewrap: Option<PathBuf>,
    /// The facts about the requested container engine, or why it cannot create containers; nothing if none was requested.
    pub engine: Option<Result<EngineFacts, EngineLack>>,
    /// Files of the workspace with a protected name.
    pub protected: Vec<ProtectedEntry>,
    /// What is shown of files of environment variables without values; nothing for one that cannot be read.
    pub env_names: BTreeMap<PathBuf, Option<String>>,
    /// Those of them that git tracks.
    pub tracked_env_names: BTreeSet<PathBuf>,
    /// Files of the workspace whose changes are reported.
    pub watched: Vec<Watched>,
    /// Files of the workspace with the name of a secret that are visible nevertheless.
    pub shown: Vec<PathBuf>,
    /// Visible files that contain secrets, because programs need the rest of their content.
    pub exposed: Vec<Exposed>,
    /// The repository of the workspace, if that is a linked worktree.
    pub worktree: Option<LinkedWorktree>,
    /// Paths that symlinks and settings of the user resolve to, existing or not: other programs obey a file that appears there.
    pub git_targets: Vec<PathBuf>,
    /// Lines that run programs in git's pending work (such as the todo list of a rebase), by file.
    pub git_plans: BTreeMap<PathBuf, Vec<String>>,
    /// The symlinks of the workspace, to recognize new ones.
    pub links: KnownLinks,
    /// Whether the whole workspace was searched for protected names.
    pub searched: Searched,
}

impl HostFacts {
    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Returns the path without symlinks, if it exists.
    pub(crate) fn resolved<'h>(&'h self, path: &'h Path) -> Option<&'h Path> {
        match self.entry(path)? {
            Entry::Link { resolved, .. } => resolved.as_deref(),
            Entry::Folder | Entry::File | Entry::Socket | Entry::Other => Some(path),
        }
    }
}

/// The type of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory, not reached through a symlink.
    Folder,
    /// A file, not reached through a symlink.
    File,
    /// A Unix socket, through which a program is reachable.
    Socket,
    /// A symlink, or a path behind a symlink.
    Link {
        /// The target as it is written in the symlink; nothing for a path behind a symlink.
        to: Option<PathBuf>,
        /// The path without symlinks; nothing if it does not exist.
        resolved: Option<PathBuf>,
    },
    /// A device or a pipe.
    Other,
}

impl Entry {
    /// Returns the type of a path from its metadata.
    #[cfg(unix)]
    pub(crate) fn of(data: &std::fs::Metadata) -> Self {
        Self::of_type(data.file_type())
    }

    /// Returns the type of a path from its file type.
    #[cfg(unix)]
    pub(crate) fn of_type(kind: std::fs::FileType) -> Self {
        use std::os::unix::fs::FileTypeExt as _;
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

/// The sandboxing features of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kernel {
    /// Whether a user namespace can be created, with other namespaces in it.
    pub namespaces: bool,
    /// The Landlock ABI version; 0 without Landlock.
    pub landlock: u32,
    /// Whether seccomp filters work, on an architecture that this crate has a table for.
    pub seccomp: bool,
    /// Whether the supervisor can decide system calls and carry them out (seccomp user notification), so that names are judged
    /// when they are created: from Linux 5.19 on, unless another seccomp listener is installed already.
    pub mediation: bool,
}

/// A file with a protected name in a writable directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedEntry {
    /// Its path below the workspace; in full, where it lies in another folder that the command may change.
    pub path: PathBuf,
    /// The file type.
    pub kind: Entry,
    /// How it is protected.
    pub mode: ProtectionMode,
    /// Its identity and state.
    pub stamp: Stamp,
    /// A hash of the identities of its parent directories below the workspace, which changes when one of them is replaced.
    pub around: u64,
}

/// The repository of a linked worktree, which lies outside of it. All paths are absolute and without symlinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// The directory of the repository, which all its worktrees share.
    pub common: PathBuf,
    /// Directories in it that git writes to when it commits and fetches in the worktree.
    pub writable: Vec<PathBuf>,
    /// Files in these directories that stay read-only, because git obeys them.
    pub obeyed: Vec<(PathBuf, Entry)>,
}

/// A writable file of the workspace that other programs or agents obey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Its path below the workspace; in full, where it lies in another folder that the command may change.
    pub path: PathBuf,
    /// What the file is, in a few words: `agent instructions`.
    pub label: String,
    /// Its identity and state.
    pub stamp: Stamp,
}

/// A visible file that contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exposed {
    /// Its path below the workspace; in full, where it lies in another folder that the command may change.
    pub path: PathBuf,
    /// What the file is, in a few words: `secrets: Git`.
    pub label: String,
}

/// The identity and state of a file, which changes with every write: a command cannot set the change time (ctime) of a file,
/// so it cannot hide one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stamp {
    /// The identity of the file.
    pub file: FileIdentity,
    /// The size in bytes.
    pub size: u64,
    /// The modification time in seconds and nanoseconds, which a program can set.
    pub modified: (i64, i64),
    /// The change time in seconds and nanoseconds, which only the kernel sets.
    pub changed: (i64, i64),
}

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileIdentity {
    /// The device.
    pub device: u64,
    /// The inode number, which the file system may reuse when the file is deleted.
    pub number: u64,
    /// The creation time in seconds and nanoseconds; zero where the file system does not record it.
    pub born: (i64, u32),
}

/// How a file with a protected name is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectionMode {
    /// It is mounted read-only.
    ReadOnly,
    /// It is a mount point, so that it cannot be renamed; its content may change.
    Pin,
    /// It cannot be read or changed.
    Hide,
    /// It may be changed, and is checked afterwards.
    Check,
}

/// Whether the whole workspace was searched for protected names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Searched {
    /// Every directory was read.
    #[default]
    Fully,
    /// Some directories or settings could not be read: they belong to another user, or are too long.
    InPart,
    /// The workspace has more protected names than can be protected.
    TooMany,
}
