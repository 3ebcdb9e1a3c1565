//! The sandbox request: a command, the files and hosts that it may use, and its resource limits.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use stockade_handoff::ListenerHandoff;

use crate::choices::{HomeView, OnUnavailable, ReviewMode, SandboxBackend};
use crate::container_request::ContainerRequest;
use crate::enforcement::Property;
use crate::limits::ResourceLimits;

/// A command, with the files, hosts and resources that it may use.
///
/// Every path must come from the operator of the agent, never from the agent or from a file that the agent can write:
/// otherwise the agent could choose its own workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The directory that the command works in.
    pub workspace: PathBuf,
    /// Whether the command may change the workspace.
    pub workspace_access: MountAccess,
    /// Whether there is a sandbox at all.
    pub confinement: Confinement,
    /// The working directory; the workspace by default.
    pub cwd: Option<PathBuf>,
    /// Directories outside of the workspace that the command may change, such as that of a graph run. They must exist.
    pub shared: Vec<PathBuf>,
    /// A writable directory for results that are too long to return in one piece.
    pub spill: Option<PathBuf>,
    /// Additional read-only paths (`readOnlyAllowPaths`). Missing ones are skipped.
    pub read_only: Vec<PathBuf>,
    /// Files of environment variables (`.env`) that are shown with the names of the variables and without the values. Missing ones
    /// are skipped.
    pub env_names: Vec<PathBuf>,
    /// State and credentials at home that the command sees because it is the program that owns them. Missing ones are skipped.
    pub home_state: Vec<HomeState>,
    /// Files that are created in the command's private home: their paths below it, and their initial content.
    pub home_files: Vec<(PathBuf, String)>,
    /// Files and directories of the workspace that are hidden from the command, such as those that a configuration denies.
    pub hidden: Vec<PathBuf>,
    /// Files and directories of the workspace that are read-only for the command.
    pub unwritable: Vec<PathBuf>,
    /// Network access.
    pub network: Network,
    /// Which directories of tools at home the command sees.
    pub home: HomeView,
    /// The environment variables of the command.
    pub environment: Environment,
    /// Resource limits.
    pub limits: ResourceLimits,
    /// Whether the command works on an overlay of the workspace, and whether its changes are applied at the end.
    pub review: ReviewMode,
    /// How files in the workspace that other programs obey are protected.
    pub protection: Protection,
    /// Whether the command may start other processes and programs.
    pub spawn: Spawn,
    /// How denials are found out when the command fails.
    pub explain: Explain,
    /// Properties that must be enforced; the command is not started without them.
    pub require: BTreeSet<Property>,
    /// Properties that the caller required by name. No other choice waives them, and each is tested from inside the sandbox
    /// before the command starts.
    pub require_by_name: BTreeSet<Property>,
    /// The sandbox backend.
    pub backend: SandboxBackend,
    /// The container, for backends that use one.
    pub container: ContainerRequest,
    /// Options of a registered backend, in its own vocabulary, such as the address of its service or its template.
    pub backend_options: BTreeMap<String, String>,
    /// What to do where no sandbox can be created.
    pub on_unavailable: OnUnavailable,
}

impl SandboxSpec {
    /// Returns a request for a command in a workspace, with the defaults: no network, a private home, and limits.
    pub fn new(
        workspace: impl Into<PathBuf>,
        command: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            workspace: workspace.into(),
            workspace_access: MountAccess::ReadWrite,
            confinement: Confinement::Sandbox,
            cwd: None,
            shared: Vec::new(),
            spill: None,
            read_only: Vec::new(),
            env_names: Vec::new(),
            home_state: Vec::new(),
            home_files: Vec::new(),
            hidden: Vec::new(),
            unwritable: Vec::new(),
            network: Network::None,
            home: HomeView::default(),
            environment: Environment::default(),
            limits: ResourceLimits::default(),
            review: ReviewMode::Off,
            protection: Protection::default(),
            spawn: Spawn::Free,
            explain: Explain::default(),
            require: Property::required_by_default(),
            require_by_name: BTreeSet::new(),
            backend: SandboxBackend::Auto,
            container: ContainerRequest::default(),
            backend_options: BTreeMap::new(),
            on_unavailable: OnUnavailable::Refuse,
        }
    }
}

/// Whether the command runs in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Confinement {
    /// In a sandbox. Where none can be created, [`OnUnavailable`] decides whether the command runs.
    #[default]
    Sandbox,
    /// Without a sandbox, because the operator chose that explicitly: see
    /// [`SandboxMode::DangerFullAccess`](crate::SandboxMode::DangerFullAccess).
    None,
}

/// A file or directory in which a program keeps its state, and possibly its credentials. No other option shows these to a
/// command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeState {
    /// The path on this machine, without symlinks.
    pub source: PathBuf,
    /// The path in the sandbox: below the home. A read-only program may have any path, which is the same in the sandbox.
    pub target: PathBuf,
    /// Whether the command may change it.
    pub access: MountAccess,
}

/// Access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MountAccess {
    /// Read, and execute programs.
    ReadOnly,
    /// Read, execute programs, and write.
    ReadWrite,
}

/// Network access of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// A private loopback interface and nothing else.
    None,
    /// A private loopback interface, and one Unix socket of an egress broker, which decides about all other connections.
    Broker {
        /// The path of the socket, the same on this machine and in the sandbox.
        socket: PathBuf,
    },
    /// A private loopback interface with a listening [proxy](crate::handoff::PROXY_ADDRESS). Its connections are accepted by
    /// a proxy outside of the sandbox, which decides about all other connections.
    Proxy(ListenerHandoff),
    /// Everything that this machine reaches, including its own services.
    Open,
}

impl Network {
    /// Returns the broker's socket that has the same path in the sandbox, if there is one.
    pub(crate) fn socket(&self) -> Option<&PathBuf> {
        match self {
            Self::Broker { socket } => Some(socket),
            Self::Proxy(handoff) => handoff.sockets().socket.as_ref(),
            Self::None | Self::Open => None,
        }
    }
}

/// Whether a command may start other processes and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spawn {
    /// It may start processes and other programs.
    #[default]
    Free,
    /// It may create threads, but no process and no other program.
    Threads,
}

/// How denials of a failed command are found out. Its output is not a source: a hostile command could write its own advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Explain {
    /// From its exit and the limits that it hit. Denied paths and hosts remain unknown.
    #[default]
    Ends,
    /// From its system calls as well (seccomp user notification). Each observed call waits until it was inspected, which takes
    /// time; the same calls are denied. Debuggers that install a seccomp listener of their own do not work in the sandbox.
    Asked,
}

/// Environment variables of the command. All others are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// Names to pass through besides the harmless ones that always are.
    pub pass: Vec<OsString>,
    /// Variables to set. They override passed ones.
    pub set: Vec<(OsString, OsString)>,
    /// Where tools keep their download caches.
    pub caches: Caches,
}

/// Where tools keep their download caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caches {
    /// In the private home: deleted when the command ends, and the workspace stays clean.
    #[default]
    Private,
    /// In directories of the workspace, so that the next command can use them.
    Workspace {
        /// The directory for temporary files.
        temporary: &'static str,
    },
}

/// Protection of files in the workspace that other programs obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// Existing ones are read-only; new ones are refused, or moved to the quarantine when the command ends.
    #[default]
    Names,
    /// None: the command can leave instructions that programs of the next user of the workspace obey.
    Off,
}
