//! What a command may see and use, as it is written in a request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::exec::backends::ContainerRequest;
use stockade_guard::exec::{
    HomeView, Limit, Network, Priority, ResourceLimits, ReviewMode, SandboxBackend, SandboxMode, SandboxSpec,
};

use crate::fault::Fault;

/// What a command may see and use.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "SandboxSpec")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct Spec {
    /// The folder that the command works in; the folder of the server by default.
    workspace: Option<PathBuf>,
    /// How much the command may do: `workspace-write` by default. `danger-full-access` is refused unless the server was started
    /// with `--allow-danger-full-access`. For an agent, no more than its configuration allows.
    mode: Option<Mode>,
    /// Whether the command may only read the workspace: the same as the mode `read-only`; false by default.
    #[serde(default)]
    workspace_read_only: bool,
    /// Whether the command works on a view of the workspace: `off` by default; with `hold`, what it changed waits for
    /// `changes.apply`, with `undoable` it is applied when the command is over, and `changes.undo` takes it back. For an agent,
    /// no less than its configuration wants.
    review: Option<Review>,
    /// Folders more that it may change. They must exist.
    #[serde(default)]
    shared_paths: Vec<PathBuf>,
    /// More that it may read. What is missing is left out.
    #[serde(default, alias = "readOnlyAllowPaths")]
    read_only_paths: Vec<PathBuf>,
    /// Where it starts; the workspace by default.
    cwd: Option<PathBuf>,
    /// A folder for output that is too long to hand over.
    temp_dir: Option<PathBuf>,
    /// What makes the sandbox: `auto` by default. `docker` and `podman` make a container of `image`; others are taken by the
    /// names that `stockade backends` lists.
    backend: Option<String>,
    /// What a backend is told besides, in its own words.
    #[serde(default)]
    backend_options: BTreeMap<String, String>,
    /// The image of a container, best by its digest; it is never fetched.
    image: Option<String>,
    /// What runs a container in the place of what the engine takes by itself, such as `runsc`.
    runtime: Option<String>,
    /// The home, where it is not that of the machine.
    home: Option<PathBuf>,
    /// What it may reach.
    network: Option<Reach>,
    /// Whether the caches and settings of tools at home are hidden as well.
    secure_credential_home: Option<bool>,
    /// Variables to set.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Variables to hand on, by name.
    #[serde(default)]
    pass_env: Vec<String>,
    /// What it may use up.
    #[serde(default)]
    limits: Bounds,
}

/// What a command may reach over the network.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "NetworkAccess")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reach {
    mode: NetworkMode,
    /// The socket of the broker, for `broker-only`.
    #[serde(alias = "brokerSocket")]
    broker_socket_path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum NetworkMode {
    /// Every host that this machine reaches.
    Open,
    /// One socket, behind which a proxy decides.
    BrokerOnly,
    /// Itself, over its own loopback.
    None,
}

/// How much a command may do, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "SandboxMode")]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// There is no sandbox.
    DangerFullAccess,
    /// It changes the workspace and nothing else.
    WorkspaceWrite,
    /// It changes nothing that outlasts it.
    ReadOnly,
}

/// Whether a command works on an overlay of the workspace, and what happens to its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "ReviewMode")]
#[serde(rename_all = "kebab-case")]
enum Review {
    /// It changes the workspace itself.
    Off,
    /// What it changed is applied when it is over, and can be undone.
    Undoable,
    /// Its changes wait for `changes.apply` or `changes.discard`.
    Hold,
}

impl From<Review> for ReviewMode {
    fn from(review: Review) -> Self {
        match review {
            Review::Off => Self::Off,
            Review::Undoable => Self::Undoable,
            Review::Hold => Self::Hold,
        }
    }
}

impl From<Mode> for SandboxMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::DangerFullAccess => Self::DangerFullAccess,
            Mode::WorkspaceWrite => Self::WorkspaceWrite,
            Mode::ReadOnly => Self::ReadOnly,
        }
    }
}

/// How a command competes for processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Priority")]
#[serde(rename_all = "kebab-case")]
enum PriorityWord {
    /// Like any other program of the user.
    Normal,
    /// A little behind the other programs of the user (nice 5).
    Low,
    /// It gets what other programs leave.
    Idle,
}

impl From<PriorityWord> for Priority {
    fn from(word: PriorityWord) -> Self {
        match word {
            PriorityWord::Normal => Self::Normal,
            PriorityWord::Low => Self::Low,
            PriorityWord::Idle => Self::Idle,
        }
    }
}

/// What a command may use up; what is not named has the default of `stockade exec`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "ResourceLimits")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Bounds {
    /// From start to end, in milliseconds.
    wall_time_ms: Option<u64>,
    /// Time of processors of one process, in milliseconds.
    cpu_time_ms: Option<u64>,
    memory_bytes: Option<u64>,
    /// Processes and threads at the same time.
    processes: Option<u64>,
    file_size_bytes: Option<u64>,
    /// Maximum growth of the file systems that it may write to, including what other programs write meanwhile.
    disk_bytes: Option<u64>,
    /// By how many files and folders they may grow, likewise.
    disk_files: Option<u64>,
    open_files: Option<u64>,
    /// What fits into the private `/tmp`.
    scratch_bytes: Option<u64>,
    /// What it may print; the rest is dropped.
    output_bytes: Option<u64>,
    /// `low` by default.
    priority: Option<PriorityWord>,
}

/// What holds where a request says nothing about the network and the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::methods) enum Unsaid {
    /// They are open, as document 001 has it. For plans, which run nothing.
    Open,
    /// They are closed. For commands that run.
    Closed,
}

impl Spec {
    /// Returns what is meant, and what the client should know about it.
    pub(in crate::methods) fn read(
        self,
        command: Vec<String>,
        unsaid: Unsaid,
    ) -> Result<(SandboxSpec, Vec<String>), Fault> {
        let mut warnings = Vec::new();
        let workspace = match self.workspace {
            Some(workspace) => workspace,
            None => current_folder()?,
        };
        let mut spec = SandboxSpec::new(workspace, command);
        let mode = asked_mode(self.mode, self.workspace_read_only).unwrap_or_default();
        if mode == SandboxMode::ReadOnly && !self.shared_paths.is_empty() {
            return Err(Fault::parameters(
                "`sharedPaths` may be changed, and in the mode read-only nothing may",
            ));
        }
        (spec.shared, spec.read_only) = (self.shared_paths, self.read_only_paths);
        (spec.cwd, spec.spill) = (self.cwd, self.temp_dir);
        if let Some(name) = &self.backend {
            spec.backend = backend_named(name)?;
        }
        spec.container =
            ContainerRequest { image: self.image, runtime: self.runtime, ..ContainerRequest::default() };
        spec.backend_options = self.backend_options;
        spec.network = match (self.network, unsaid) {
            (Some(reach), _) => reach.network()?,
            (None, Unsaid::Closed) => Network::None,
            (None, Unsaid::Open) => {
                warnings.push(
                    "the network is open, since `spec.network` says nothing; {\"mode\": \"none\"} closes it"
                        .to_owned(),
                );
                Network::Open
            }
        };
        spec.home =
            if self.secure_credential_home == Some(true) { HomeView::Private } else { HomeView::default() };
        spec.environment.set =
            self.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        spec.environment.pass = self.pass_env.into_iter().map(Into::into).collect();
        spec.review = self.review.map(Into::into).unwrap_or_default();
        self.limits.narrow(&mut spec.limits);
        mode.apply(&mut spec);
        Ok((spec, warnings))
    }

    /// Returns the workspace, if one is named.
    pub(in crate::methods) fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// Returns the mode, where nothing else is named but the workspace.
    pub(in crate::methods) fn mode_alone(mut self) -> Result<(Option<SandboxMode>, ReviewMode), Fault> {
        self.workspace = None;
        let review = self.review.take().map(Into::into).unwrap_or_default();
        let mode = asked_mode(self.mode.take(), std::mem::take(&mut self.workspace_read_only));
        if self != Self::default() {
            return Err(Fault::parameters(
                "`spec` of a command of an agent names nothing but the `workspace`, a `mode` and a `review`; the rest is what its \
                 configuration says",
            ));
        }
        Ok((mode, review))
    }

    /// The home, where it is not that of the machine.
    pub(in crate::methods) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }
}

/// Returns the backend of a name, if it can be one. Whether there is one turns out when it is planned.
pub(in crate::methods) fn backend_named(name: &str) -> Result<SandboxBackend, Fault> {
    let known = SandboxBackend::ALL.iter().map(SandboxBackend::name);
    SandboxBackend::from_name(name).ok_or_else(|| Fault::unknown("backend", name, known))
}

/// The mode that a request asks for, if it does: the stricter of both ways to say so.
fn asked_mode(mode: Option<Mode>, is_read_only: bool) -> Option<SandboxMode> {
    mode.map(SandboxMode::from).into_iter().chain(is_read_only.then_some(SandboxMode::ReadOnly)).max()
}

impl Reach {
    fn network(self) -> Result<Network, Fault> {
        match (self.mode, self.broker_socket_path) {
            (NetworkMode::Open, None) => Ok(Network::Open),
            (NetworkMode::None, None) => Ok(Network::None),
            (NetworkMode::BrokerOnly, Some(socket)) => Ok(Network::Broker { socket }),
            (NetworkMode::BrokerOnly, None) => {
                Err(Fault::parameters("`network.mode` is broker-only, and `brokerSocketPath` is missing"))
            }
            (NetworkMode::Open | NetworkMode::None, Some(_)) => {
                Err(Fault::parameters("`brokerSocketPath` belongs to the mode broker-only"))
            }
        }
    }
}

impl Bounds {
    fn narrow(&self, limits: &mut ResourceLimits) {
        let number = |wish: Option<u64>, limit: &mut Limit<u64>| *limit = wish.map_or(*limit, Limit::AtMost);
        let time = |wish: Option<u64>, limit: &mut Limit<Duration>| {
            *limit = wish.map_or(*limit, |millis| Limit::AtMost(Duration::from_millis(millis)));
        };
        time(self.wall_time_ms, &mut limits.wall_time);
        time(self.cpu_time_ms, &mut limits.cpu_time);
        number(self.memory_bytes, &mut limits.memory);
        number(self.processes, &mut limits.processes);
        number(self.file_size_bytes, &mut limits.file_size);
        number(self.disk_bytes, &mut limits.disk);
        number(self.disk_files, &mut limits.files);
        number(self.open_files, &mut limits.open_files);
        number(self.output_bytes, &mut limits.output);
        limits.priority = self.priority.map_or(limits.priority, Into::into);
        limits.scratch = self.scratch_bytes.unwrap_or(limits.scratch);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the folder of the server is the workspace where none is named"
)]
pub(in crate::methods) fn current_folder() -> Result<PathBuf, Fault> {
    std::env::current_dir().map_err(|error| Fault::internal(&error))
}
