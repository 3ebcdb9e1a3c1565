//! What somebody wants: a command, what it may see, and what it may use up.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use stockade_handoff::ListenerHandoff;

use crate::choices::{HomeView, OnUnavailable, ReviewMode, SandboxBackend};
use crate::container_request::ContainerRequest;
use crate::enforcement::Property;
use crate::limits::ResourceLimits;

/// A command, and what it may see and use.
///
/// Every path comes from whoever operates the agent, never from the agent or from a file that the agent can write:
/// a workspace that could name its own workspace would be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folder that the command works in.
    pub workspace: PathBuf,
    /// Whether the command may change the workspace.
    pub workspace_access: MountAccess,
    /// Whether there is a sandbox at all.
    pub confinement: Confinement,
    /// Where the command starts; the workspace if nothing is said.
    pub cwd: Option<PathBuf>,
    /// Folders that the command shares with others and may change, such as that of a graph run. They must exist.
    pub shared: Vec<PathBuf>,
    /// A folder for what is too long to hand over at once.
    pub spill: Option<PathBuf>,
    /// More that the command may read (`readOnlyAllowPaths`). What is missing is left out.
    pub read_only: Vec<PathBuf>,
    /// What of programs' own state and credentials at home the command sees, because it is that program. What is missing is left out.
    pub home_state: Vec<HomeState>,
    /// Files that are made for the command in its own home, by their paths below it, with what stands in them at first.
    pub home_files: Vec<(PathBuf, String)>,
    /// Files and folders of the workspace that the command does not see, such as those that a configuration denies.
    pub hidden: Vec<PathBuf>,
    /// Files and folders of the workspace that the command may read and not change.
    pub unwritable: Vec<PathBuf>,
    /// What the command may reach over the network.
    pub network: Network,
    /// What the command sees of the tools' own folders at home.
    pub home: HomeView,
    /// Variables of the command.
    pub environment: Environment,
    /// What the command may use up.
    pub limits: ResourceLimits,
    /// Whether the command works on a view of the workspace, and what becomes of that.
    pub review: ReviewMode,
    /// What becomes of files in the workspace that other programs obey.
    pub protection: Protection,
    /// Whether the command may start others.
    pub spawn: Spawn,
    /// How it is found out what the command was refused, should it fail.
    pub explain: Explain,
    /// What must really be enforced; without it nothing is started.
    pub require: BTreeSet<Property>,
    /// What somebody named that must be enforced, whatever else was chosen: nothing waives it, and it is tried on
    /// this machine, from inside, before the command starts.
    pub require_by_name: BTreeSet<Property>,
    /// What makes the sandbox.
    pub backend: SandboxBackend,
    /// The container, where that is one.
    pub container: ContainerRequest,
    /// What a backend that was added is told besides, in its own words: where its service is, what it starts from.
    pub backend_options: BTreeMap<String, String>,
    /// What to do where no sandbox can be made.
    pub on_unavailable: OnUnavailable,
}

impl SandboxSpec {
    /// A command in a workspace, with everything else at its default: no network, a private home, and limits.
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

/// Whether there is a sandbox at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Confinement {
    /// The command runs in a sandbox, or it does not run unless [`OnUnavailable`] says otherwise.
    #[default]
    Sandbox,
    /// The command runs like any other program, because somebody chose that by its name: see
    /// [`SandboxMode::DangerFullAccess`](crate::SandboxMode::DangerFullAccess).
    None,
}

/// A file or folder in which a program keeps its state, and perhaps its credentials. Nothing else lets a command see those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeState {
    /// Where it lies on this machine, without links.
    pub source: PathBuf,
    /// Where the command sees it: below the home. A program that is only read may lie anywhere, and is seen there.
    pub target: PathBuf,
    /// What may be done with it.
    pub access: MountAccess,
}

/// What may be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MountAccess {
    /// Reading, and starting programs.
    ReadOnly,
    /// Reading, starting programs, and changing what is there.
    ReadWrite,
}

/// What the command may reach over the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Itself, over its own loopback.
    None,
    /// Itself, and one socket of a broker that decides about everything else.
    Broker {
        /// The socket on this machine. It has the same path in the sandbox.
        socket: PathBuf,
    },
    /// Itself, and a [proxy](crate::handoff::PROXY_ADDRESS) on its own loopback. What connects there is heard outside, by a proxy that
    /// decides about everything else.
    Proxy(ListenerHandoff),
    /// Whatever this machine reaches, itself included.
    Open,
}

impl Network {
    /// The socket of a broker that has the same path in the sandbox, if one has.
    pub(crate) fn socket(&self) -> Option<&PathBuf> {
        match self {
            Self::Broker { socket } => Some(socket),
            Self::Proxy(handoff) => handoff.sockets().socket.as_ref(),
            Self::None | Self::Open => None,
        }
    }
}

/// Whether a command may start others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spawn {
    /// It may start processes and other programs.
    #[default]
    Free,
    /// It may have threads, and nothing else starts: no process, no other program.
    Threads,
}

/// How it is found out what a command was refused that failed. What it prints is no source: it would write the advice itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Explain {
    /// By how it ended, and by the limits that it ran into. Of paths and machines, nothing is known.
    #[default]
    Ends,
    /// By what it asked the kernel for as well. Each such call waits until it was looked at, which takes time; what is
    /// refused is the same. Debuggers that filter system calls with a listener of their own do not work within.
    Asked,
}

/// Variables of the command. What is not named stays outside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// Names to hand on beside the harmless ones that always are.
    pub pass: Vec<OsString>,
    /// Variables to set. They win over what is handed on.
    pub set: Vec<(OsString, OsString)>,
    /// Where tools keep what they have fetched.
    pub caches: Caches,
}

/// Where tools keep what they have fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caches {
    /// In the private home: gone with the command, and nothing is left in the workspace.
    #[default]
    Private,
    /// In folders of the workspace, so that the next command finds them.
    Workspace {
        /// The folder for temporary files.
        temporary: &'static str,
    },
}

/// What becomes of files in the workspace that other programs obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// They cannot be changed, and are taken away again where the command created them.
    #[default]
    Names,
    /// Nothing: the command may leave instructions for the programs of whoever opens the workspace.
    Off,
}
