//! The arguments of an engine for a plan. Each is a word of its own: nothing in them is for a shell, and no value of a variable
//! is among them, since every user of a machine can read the arguments of programs.

use std::ffi::OsString;
use std::path::Path;

use crate::container_request::{ContainerPlan, ContainerPurpose, Engine};
use crate::limits::names_within;
use crate::mounts::{Mount, MountKind, MountPoint};
use crate::plan::{Identity, Plan};
use crate::spec::{MountAccess, Network, Spawn};

/// Where the launcher is found in a container.
const LAUNCHER: &str = "/.stockade-launcher";

/// Label with the process that started a container, by which leftovers of killed processes are found.
pub(crate) const OWNER: &str = "stockade.owner";

/// The kernel's overflow user ID, which has no rights on any system.
const UNPRIVILEGED: u32 = 65534;

/// What every container is made with. The table of seeds is in the tests: what is not here is decided by the plan.
const ALWAYS: &[&str] = &[
    // A pulled image would run without a review by the user.
    "--pull=never",
    "--interactive",
    "--read-only",
    "--cap-drop=ALL",
    // No profile is named: another one would take the place of the engine's own, which closes more.
    "--security-opt=no-new-privileges",
    // What it prints goes to the caller alone, and fills no disk.
    "--log-driver=none",
    // An image may have programs started beside the command.
    "--no-healthcheck",
    "--restart=no",
    "--hostname=stockade",
    "--ulimit=core=0",
];

/// What is handed over beside the plan.
pub(crate) struct Handed<'h> {
    /// The name of the container.
    pub(crate) name: &'h str,
    /// The process that starts it: the value of the label [`OWNER`].
    pub(crate) owner: &'h str,
    /// Where the variables are read.
    pub(crate) variables: &'h Path,
    /// The launcher, where the command may start nothing.
    pub(crate) launcher: Option<&'h Path>,
}

/// Returns the arguments that make a container, which does not begin yet.
pub(crate) fn create(plan: &Plan, container: &ContainerPlan, handed: &Handed<'_>) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut push = |option: &str, value: &dyn AsRef<std::ffi::OsStr>| {
        let mut word = OsString::from(option);
        word.push("=");
        word.push(value);
        words.push(word);
    };
    if let (Engine::Podman, Some(runtime)) = (container.engine, &container.request.runtime) {
        push("--runtime", runtime);
    }
    words.push("create".into());
    let mut push = |option: &str, value: &dyn AsRef<std::ffi::OsStr>| {
        let mut word = OsString::from(option);
        word.push("=");
        word.push(value);
        words.push(word);
    };
    push("--name", &handed.name);
    push("--label", &format!("{OWNER}={}", handed.owner));
    push("--env-file", &handed.variables);
    if let (Engine::Docker, Some(runtime)) = (container.engine, &container.request.runtime) {
        push("--runtime", runtime);
    }
    push("--network", &network(&plan.network));
    push("--workdir", &plan.cwd);
    push("--user", &user(plan, container));
    if container.engine == Engine::Podman && container.facts.is_rootless {
        push("--userns", &"keep-id");
    }
    if container.engine == Engine::Podman {
        // Otherwise it lays folders in memory over /run, /var/tmp and /dev of a container that cannot be written, and the
        // programs in one of them can be started.
        push("--read-only-tmpfs", &"false");
        // It would set a bound that only who has a right over bounds may set.
        push("--ulimit", &format!("nproc={0}:{0}", container.facts.most_processes));
    }
    for (option, value) in limits(plan, container) {
        push(option, &value);
    }
    let options = scratch_options(plan, container);
    for volume in container.facts.volumes.iter().map(Path::new) {
        let value = match container.request.purpose {
            ContainerPurpose::Command => scratch(volume, plan.limits.beside_temporary(), &options),
            ContainerPurpose::Package => empty(volume, &options),
        };
        push("--tmpfs", &value);
    }
    for mount in &plan.mounts {
        if let Some((option, value)) = mounted(mount, &options) {
            push(option, &value);
        }
    }
    match handed.launcher {
        Some(launcher) => {
            push("--mount", &bind(launcher, Path::new(LAUNCHER), MountAccess::ReadOnly));
            push("--entrypoint", &LAUNCHER);
        }
        None => push("--entrypoint", &plan.program),
    }
    // Other processes could trace an init process, so a command that may start no program is alone in its container.
    if plan.spawn == Spawn::Free && container.facts.has_init {
        words.push("--init".into());
    }
    words.extend(ALWAYS.iter().map(OsString::from));
    words.push(container.facts.image_id.clone().into());
    if handed.launcher.is_some() {
        words.extend(candidates(plan));
        words.push(plan.program.clone());
    }
    words.extend(plan.arguments.iter().cloned());
    words
}

/// What the launcher tries to start, after a word that says how many they are: see `launcher`.
fn candidates(plan: &Plan) -> Vec<OsString> {
    let programs = if plan.program.as_encoded_bytes().contains(&b'/') {
        vec![plan.program.clone()]
    } else {
        let path =
            plan.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let folders = std::env::split_paths(path.unwrap_or_default()).take(MAX_CANDIDATES);
        folders.map(|folder| folder.join(&plan.program).into_os_string()).collect()
    };
    let count = u8::try_from(programs.len()).unwrap_or_default() + b'0';
    std::iter::once(char::from(count).to_string().into()).chain(programs).collect()
}

/// One letter counts them.
const MAX_CANDIDATES: usize = 60;

fn network(network: &Network) -> &'static str {
    match network {
        Network::Open => "host",
        Network::None | Network::Broker { .. } | Network::Proxy(_) => "none",
    }
}

fn user(plan: &Plan, container: &ContainerPlan) -> String {
    match plan.identity {
        Identity::Same => format!("{}:{}", container.user.0, container.user.1),
        Identity::Owner { user, group } => format!("{user}:{group}"),
        Identity::Unprivileged => format!("{UNPRIVILEGED}:{UNPRIVILEGED}"),
    }
}

fn limits(plan: &Plan, container: &ContainerPlan) -> Vec<(&'static str, String)> {
    let (limits, facts, purpose) = (&plan.limits, &container.facts, container.request.purpose);
    let mut rows = Vec::new();
    if let Some(bytes) = limits.memory.bound().filter(|_| facts.bounds_memory) {
        // Without the second, as much again may be swapped.
        rows.extend([("--memory", format!("{bytes}b")), ("--memory-swap", format!("{bytes}b"))]);
    }
    if let Some(most) = limits.processes.bound().filter(|_| facts.bounds_processes) {
        rows.push(("--pids-limit", most.to_string()));
    }
    if let Some(most) = limits.processors.bound().filter(|_| facts.bounds_processors) {
        rows.push(("--cpus", most.to_string()));
    }
    if let Some(most) = limits.open_files.bound() {
        rows.push(("--ulimit", format!("nofile={most}:{most}")));
    }
    if let Some(most) = limits.file_size.bound() {
        rows.push(("--ulimit", format!("fsize={most}:{most}")));
    }
    if let Some(most) = limits.cpu_time.bound() {
        let seconds = most.as_secs().max(1);
        rows.push(("--ulimit", format!("cpu={seconds}:{seconds}")));
    }
    rows.push(match purpose {
        ContainerPurpose::Command => ("--shm-size", format!("{}b", limits.beside_temporary())),
        // Without shared memory, there is no other place to write than /tmp.
        ContainerPurpose::Package => ("--ipc", "none".to_owned()),
    });
    rows
}

fn mounted(mount: &Mount, options: &Scratch) -> Option<(&'static str, OsString)> {
    let target = &mount.target;
    Some(match &mount.kind {
        MountKind::Bind { source, access, .. } => ("--mount", bind(source, target, *access)),
        MountKind::Scratch { size } => ("--tmpfs", scratch(target, *size, options)),
        MountKind::Hidden { point: MountPoint::File } => {
            ("--mount", bind(Path::new("/dev/null"), target, MountAccess::ReadOnly))
        }
        MountKind::Hidden { point: MountPoint::Folder } => ("--tmpfs", empty(target, options)),
        MountKind::Link { .. }
        | MountKind::Processes
        | MountKind::Devices
        | MountKind::Generated { .. }
        | MountKind::Replaced { .. } => {
            return None;
        }
    })
}

fn bind(source: &Path, target: &Path, access: MountAccess) -> OsString {
    let mut word = OsString::from("type=bind,source=");
    word.push(source);
    word.push(",target=");
    word.push(target);
    if access == MountAccess::ReadOnly {
        word.push(",readonly");
    }
    word
}

/// An empty folder in which nothing can be made.
fn empty(target: &Path, options: &Scratch) -> OsString {
    let mut word = target.to_path_buf().into_os_string();
    word.push(":ro,noexec,nosuid,nodev,size=4096,mode=0555");
    word.push(options.filling);
    word
}

fn scratch(target: &Path, size: u64, options: &Scratch) -> OsString {
    let mut word = target.to_path_buf().into_os_string();
    word.push(format!(":rw,noexec,nosuid,nodev,size={size},mode=1777{}{}", options.owner, options.filling));
    if options.bounds_names {
        word.push(format!(",nr_inodes={}", names_within(size, options.is_tight)));
    }
    word
}

/// What an engine is told of folders in memory.
struct Scratch {
    owner: String,
    /// That nothing of the image is put into it.
    filling: &'static str,
    bounds_names: bool,
    is_tight: bool,
}

/// Docker gives a folder in memory the mode of the image's own, which only its owner may be let write to; and Podman fills it
/// with what lies there in the image, and knows no bound on names.
fn scratch_options(plan: &Plan, container: &ContainerPlan) -> Scratch {
    let user = user(plan, container);
    let (user, group) = user.split_once(':').unwrap_or_default();
    let (owner, filling, bounds_names) = match container.engine {
        Engine::Docker => (format!(",uid={user},gid={group}"), "", true),
        Engine::Podman => (String::new(), ",notmpcopyup", false),
    };
    Scratch { owner, filling, bounds_names, is_tight: plan.limits.is_tight() }
}

/// Variables that an engine sets in every container from its own configuration, passwords and all, unless they are set already. Each
/// counts in capital and in small letters.
pub const ENGINE_PROXIES: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Returns the file that an engine reads the variables from, a line for each. That a value is one line was checked.
pub(crate) fn variables(plan: &Plan) -> Vec<u8> {
    let mut text = Vec::new();
    let mut add = |name: &[u8], value: &[u8]| text.extend([name, b"=", value, b"\n"].concat());
    let proxies = ENGINE_PROXIES.iter().flat_map(|name| [(*name).to_owned(), name.to_ascii_lowercase()]);
    for proxy in proxies.filter(|proxy| plan.environment.iter().all(|(name, _)| name != proxy.as_str())) {
        add(proxy.as_bytes(), b"");
    }
    for (name, value) in &plan.environment {
        add(name.as_encoded_bytes(), value.as_encoded_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::container_request::{ContainerRequest, EngineFacts};
    use crate::enforcement::Property;
    use crate::host::{Entry, HostFacts};
    use crate::limits::{Limit, ResourceLimits};
    use crate::processors::Processors;
    use crate::spec::SandboxSpec;

    fn digest() -> String {
        format!("sha256:{}", "c".repeat(64))
    }

    fn facts(engine: EngineFacts) -> HostFacts {
        let environment = [("PATH", "/usr/bin"), ("USER", "me"), ("SHELL", "/bin/sh"), ("TERM", "xterm")];
        HostFacts {
            entries: [("/srv/p".into(), Entry::Folder)].into(),
            home: "/home/u".into(),
            user: 1000,
            environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
            engine: Some(Ok(engine)),
            ..HostFacts::default()
        }
    }

    /// What a signed package asks for that may start nothing.
    fn package() -> SandboxSpec {
        let mut spec = SandboxSpec::new("/srv/p", [""; 0]);
        spec.workspace_access = MountAccess::ReadOnly;
        spec.backend = Engine::Docker.backend();
        spec.container =
            ContainerRequest { image: Some(digest()), runtime: None, purpose: ContainerPurpose::Package };
        spec.limits = ResourceLimits {
            wall_time: Limit::AtMost(Duration::from_secs(10)),
            memory: Limit::AtMost(128 << 20),
            processors: Limit::AtMost(Processors::HALF),
            processes: Limit::AtMost(64),
            open_files: Limit::AtMost(1024),
            file_size: Limit::Unlimited,
            scratch: 64 << 20,
            output: Limit::AtMost(10 << 20),
            ..ResourceLimits::default()
        };
        spec.require.extend([
            Property::TotalMemory,
            Property::ProcessCount,
            Property::Processors,
            Property::NoSpawn,
        ]);
        spec.spawn = Spawn::Threads;
        let set = [
            ("HOME", "/tmp"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("ISCL_SKILL_NAME", "example-transfer-skill"),
        ];
        spec.environment.set = set.map(|(name, value)| (name.into(), value.into())).into();
        spec
    }

    fn arguments(spec: &SandboxSpec, engine: EngineFacts) -> Vec<String> {
        let plan = crate::plan::plan(spec, &facts(engine)).unwrap();
        let container = plan.provider.container().unwrap();
        let handed = Handed {
            name: "N",
            owner: "O",
            variables: Path::new("V"),
            launcher: (plan.spawn == Spawn::Threads).then_some(Path::new("/l")),
        };
        let words = create(&plan, container, &handed);
        let variables = String::from_utf8(variables(&plan)).unwrap();
        let told =
            variables.lines().filter(|line| !line.ends_with('=')).map(|line| format!("variable {line}"));
        words.into_iter().map(|word| word.into_string().unwrap()).chain(told).collect()
    }

    #[test]
    fn the_engine_arguments_match_the_expected_command_line() {
        let mut engine = EngineFacts::complete(digest());
        engine.command = vec!["/bin/sh".into(), "main.sh".into()];
        engine.volumes = vec!["/data".to_owned()];
        let wanted = "create --name=N --label=stockade.owner=O --env-file=V --network=none --workdir=/srv/p --user=0:0 \
            --memory=134217728b --memory-swap=134217728b --pids-limit=64 --cpus=0.5 --ulimit=nofile=1024:1024 \
            --ipc=none --tmpfs=/data:ro,noexec,nosuid,nodev,size=4096,mode=0555 \
            --tmpfs=/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777,uid=0,gid=0,nr_inodes=13421 \
            --mount=type=bind,source=/srv/p,target=/srv/p,readonly \
            --mount=type=bind,source=/l,target=/.stockade-launcher,readonly --entrypoint=/.stockade-launcher \
            --pull=never --interactive --read-only --cap-drop=ALL --security-opt=no-new-privileges --log-driver=none \
            --no-healthcheck --restart=no --hostname=stockade --ulimit=core=0";
        let wanted = wanted.replace("0:0", "1000:0").replace("uid=0", "uid=1000");
        let mut wanted: Vec<String> = wanted.split_whitespace().map(str::to_owned).collect();
        wanted.push(digest());
        wanted.extend(["1", "/bin/sh", "/bin/sh", "main.sh"].map(str::to_owned));
        let told = ["HOME=/tmp", "ISCL_SKILL_NAME=example-transfer-skill", "LANG=C.UTF-8"];
        wanted.extend(told.map(|line| format!("variable {line}")));
        wanted.push(format!(
            "variable PATH={}",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        ));
        wanted.push("variable TMPDIR=/tmp".to_owned());
        assert_eq!(arguments(&package(), engine), wanted);
    }
}
