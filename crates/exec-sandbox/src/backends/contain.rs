//! Plans for container engines: the mounts that a container gets, and the properties that it enforces.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::container_request::{ContainerPlan, ContainerPurpose, Engine, EngineFacts, EngineLack, is_image};
use crate::enforcement::{Enforcement, Property};
use crate::host::HostFacts;
use crate::mounts::{Mount, MountKind, Owner, TEMPORARY};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{Network, SandboxSpec, Spawn};

/// Returns the container plan for a request, or the reason why the engine cannot run it.
pub(crate) fn planned(
    engine: Engine,
    spec: &SandboxSpec,
    facts: &HostFacts,
) -> Result<ContainerPlan, Refusal> {
    let odd = spec.container.image.as_deref().is_some_and(|image| !is_image(image));
    match &facts.engine {
        _ if odd => Err(EngineLack::OddImage.refusal(engine, &spec.container)),
        Some(Ok(found)) => {
            let (request, user) = (spec.container.clone(), (facts.user, facts.group));
            Ok(ContainerPlan { engine, facts: found.clone(), request, user })
        }
        Some(Err(lack)) => Err(lack.refusal(engine, &spec.container)),
        None => Err(EngineLack::Program.refusal(engine, &spec.container)),
    }
}

/// Returns the image's default command, for requests without a program.
pub(crate) fn command(container: &ContainerPlan) -> Result<(OsString, Vec<OsString>), Refusal> {
    crate::plan::command(&container.facts.command).map_err(|refusal| {
        let fix = "the image has no default command; name a program after `--`";
        Refusal::new(refusal.what, refusal.rule, fix)
    })
}

/// Returns the mounts that a container gets: those that belong to the command. The system directories are those of the image.
pub(crate) fn within(mounts: Vec<Mount>, purpose: ContainerPurpose) -> Vec<Mount> {
    let is_given =
        |mount: &Mount| purpose == ContainerPurpose::Command || mount.target == Path::new(TEMPORARY);
    let kept: Vec<Mount> = mounts
        .into_iter()
        .filter(|mount| match &mount.kind {
            MountKind::Bind { owner, .. } => *owner == Owner::User && !mount.is_at_home(),
            MountKind::Scratch { .. } => is_given(mount),
            MountKind::Hidden { .. } => true,
            MountKind::Link { .. }
            | MountKind::Processes
            | MountKind::Devices
            | MountKind::Generated { .. }
            | MountKind::Replaced { .. } => false,
        })
        .collect();
    let shown: Vec<PathBuf> = kept
        .iter()
        .filter(|mount| matches!(mount.kind, MountKind::Bind { .. }))
        .map(|mount| mount.target.clone())
        .collect();
    let is_seen = |mount: &Mount| {
        !matches!(mount.kind, MountKind::Hidden { .. })
            || shown.iter().any(|path| mount.target.starts_with(path))
    };
    kept.into_iter().filter(is_seen).collect()
}

/// An engine takes no less: its own first process would not begin.
const LEAST_MEMORY: u64 = 6 << 20;

/// Checks what can be known before an engine is asked, and makes the variables those of the image.
pub(crate) fn check(spec: &SandboxSpec, mounts: &[Mount], cwd: &Path) -> Result<(), Refusal> {
    check_names(mounts, cwd)?;
    if spec.limits.memory.bound().is_some_and(|bytes| bytes < LEAST_MEMORY) {
        let rule = SandboxRule::CannotEnforce("container engines need a memory limit of at least 6 MiB");
        return Err(Refusal::new(What::Property(Property::Memory), rule, "raise the limit: `--memory 8M`"));
    }
    Ok(())
}

/// Where programs are is for the image to say. An engine reads variables from lines, so none may have two.
pub(crate) fn variables(
    container: &ContainerPlan,
    spec: &SandboxSpec,
    environment: &mut Vec<(OsString, OsString)>,
) -> Result<(), Refusal> {
    let is_set = |wanted: &str| spec.environment.set.iter().any(|(name, _)| name == wanted);
    let path = container.facts.path.as_deref().unwrap_or(PATH);
    for (_, value) in environment.iter_mut().filter(|(name, _)| name == "PATH" && !is_set("PATH")) {
        *value = path.into();
    }
    // That of this machine is hardly in an image, and a package is told nothing of this machine.
    let is_told = |name: &str| match spec.container.purpose {
        ContainerPurpose::Command => name != "SHELL",
        ContainerPurpose::Package => name == "PATH",
    };
    environment.retain(|(name, _)| name.to_str().is_none_or(|name| is_told(name) || is_set(name)));
    let is_line = |text: &OsString| text.to_str().is_some_and(|text| !text.contains(['\n', '\r']));
    let is_name = |name: &OsString| name.to_str().is_some_and(|name| !name.contains(char::is_whitespace));
    let odd = environment.iter().find(|(name, value)| !is_line(value) || !is_line(name) || !is_name(name));
    let Some((name, _)) = odd else { return Ok(()) };
    let why = "container engines read variables from a file with one per line, and this one contains a line break or is not UTF-8";
    let fix = "remove the variable, pass it in a file in the workspace, or use `--backend native`";
    let name = name.to_string_lossy().into_owned();
    Err(Refusal::new(What::Variable(name), SandboxRule::CannotEnforce(why), fix))
}

/// Search path for images that set none.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Refuses paths with characters that an engine would parse as option syntax, because it reads paths inside options.
pub(crate) fn check_names(mounts: &[Mount], cwd: &Path) -> Result<(), Refusal> {
    let sources = mounts.iter().filter_map(|mount| match &mount.kind {
        MountKind::Bind { source, .. } => Some(source.as_path()),
        _ => None,
    });
    let odd = sources.chain(mounts.iter().map(|mount| mount.target.as_path())).chain([cwd]);
    let Some(path) = odd.into_iter().find(|path| !is_plain_name(path)) else { return Ok(()) };
    let why = "it contains a colon, a comma, a quote, a backslash, `$` or a control character, which a container engine would parse as option syntax";
    let fix = "rename the file or directory, or use `--backend native`";
    Err(Refusal::new(What::Read(path.to_path_buf()), SandboxRule::CannotEnforce(why), fix))
}

fn is_plain_name(path: &Path) -> bool {
    path.to_str().is_some_and(|path| {
        !path.contains([':', ',', '"', '\'', '\\', '$']) && !path.chars().any(char::is_control)
    })
}

/// Adds the properties that a container enforces, and the gaps.
pub(crate) fn promise(plan: &ContainerPlan, spec: &SandboxSpec, promise: &mut Enforcement) {
    let facts = &plan.facts;
    let is_alone = spec.spawn == Spawn::Threads;
    promise.enforce(Property::Files, "a read-only image, and the directories that are mounted into it");
    if !plan.is_pinned() {
        let why = "the image is named by a tag, which can move to another image: use `--image NAME@sha256:…`";
        promise.gap(Property::Files, why);
    }
    promise.enforce(Property::Processes, "PID namespace; the container is removed when the command ends");
    promise.enforce(Property::Privileges, "no capabilities, and no way to gain any");
    match spec.network {
        Network::None => promise.enforce(Property::Network, "network namespace, loopback only"),
        Network::Broker { .. } => {
            promise.enforce(Property::Network, "network namespace, and one Unix socket");
        }
        Network::Proxy(_) => {
            promise.gap(
                Property::Network,
                "a container cannot receive a listening proxy; use the socket of a running one: `stockade broker \
                 serve`",
            );
        }
        Network::Open => {
            promise.enforce(Property::Network, "open, as asked for");
            promise.gap(
                Property::Network,
                "abstract sockets of this machine are reachable, because containers do not use Landlock",
            );
        }
    }
    if facts.filters {
        promise.enforce(Property::SystemCalls, "the engine's default seccomp filter");
        // The launcher's filter closes keys with either engine.
        let is_open = plan.engine == Engine::Podman && !(is_alone && has_launcher());
        let keys = match is_open {
            true => {
                "IPC namespace; podman's seccomp filter allows keyrings, including those of the same user ID on \
                 this machine"
            }
            false => "IPC namespace; the seccomp filter denies keyrings",
        };
        promise.enforce(Property::Ipc, keys);
    } else {
        promise.gap(Property::SystemCalls, "the engine reports that it has no seccomp filter");
        promise.gap(
            Property::Ipc,
            "IPC namespace; without a seccomp filter, keyrings of this user are reachable",
        );
    }
    promise.gap(Property::SecondWall, "containers do not use Landlock");
    limits(facts, spec, promise);
    match (is_alone, has_launcher()) {
        (false, _) => {}
        (true, true) => promise.enforce(
            Property::NoSpawn,
            "a launcher in the container, whose seccomp filter permits one program start, and threads",
        ),
        (true, false) => promise.gap(Property::NoSpawn, "no launcher for this architecture"),
    }
}

/// Refuses a request that requires a limit which the engine cannot enforce. That is known in advance, so no container is started.
pub(crate) fn bounds(
    engine: Engine,
    wanted: &BTreeSet<Property>,
    enforcement: &Enforcement,
) -> Result<(), Refusal> {
    let is_lacking = |property: Property| {
        wanted.contains(&property)
            && enforcement.gaps.iter().any(|gap| gap.property == property && gap.why == CANNOT)
    };
    let limits = [Property::Memory, Property::TotalMemory, Property::ProcessCount, Property::Processors];
    let Some(property) = limits.into_iter().find(|property| is_lacking(*property)) else { return Ok(()) };
    let fix = format!(
        "enable the control group controllers that `{} info` reports as missing, or choose another backend",
        engine.name()
    );
    Err(Refusal::new(What::Property(property), SandboxRule::CannotEnforce(CANNOT), fix))
}

/// Why a limit is not enforced.
const CANNOT: &str = "the engine reports that it cannot enforce this limit here";

/// What the engine bounds by control groups of its own.
fn limits(facts: &EngineFacts, spec: &SandboxSpec, promise: &mut Enforcement) {
    let rows = [
        (Property::Memory, spec.limits.memory.bound().is_some(), facts.bounds_memory),
        (Property::TotalMemory, spec.limits.memory.bound().is_some(), facts.bounds_memory),
        (Property::ProcessCount, spec.limits.processes.bound().is_some(), facts.bounds_processes),
        (Property::Processors, spec.limits.processors.bound().is_some(), facts.bounds_processors),
    ];
    for (property, is_wanted, is_held) in rows {
        match (is_wanted, is_held) {
            (false, _) => {}
            (true, true) => promise.enforce(property, "a control group of the engine"),
            (true, false) => promise.gap(property, CANNOT),
        }
    }
    promise.gap(Property::Priority, "the engine starts the command, and sets the priority itself");
}

/// Whether a launcher exists that lets a command in a container start nothing.
pub(crate) const fn has_launcher() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_option_syntax_of_an_engine_are_refused() {
        for (path, plain) in [
            ("/work/a b", true),
            ("/work/ä", true),
            ("/a:b", false),
            ("/a,readonly=false", false),
            ("/a\"b", false),
            ("/a\nb", false),
        ] {
            assert_eq!(is_plain_name(Path::new(path)), plain, "{path}");
        }
    }
}
