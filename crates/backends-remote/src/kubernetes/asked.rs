//! What is asked for, read for a cluster: what no pod holds is refused before one is asked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path};

use super::name::{HOME, NAME, is_label};
use super::settings::{ClusterSettings, ClusterWorkspace};
use stockade_exec_sandbox::SandboxBackend;
use stockade_exec_sandbox::backends::ContainerRequest;
use stockade_exec_sandbox::{Confinement, MountAccess, Network, SandboxSpec, Spawn};
use stockade_exec_sandbox::{Refusal, SandboxRule, What};

/// A user without an account.
const NO_ACCOUNT: u32 = 65532;
/// The longest that all words of a command are together, and all variables: an object of a cluster is no larger than a mebibyte.
const MAX_BYTES: usize = 1 << 19;

/// A thing that is asked for and that no pod has: whether it is asked for, what it is, why not, and what to do instead.
type Lack = (fn(&SandboxSpec, &ClusterSettings) -> bool, &'static str, &'static str);

#[rustfmt::skip]
const LACKS: &[Lack] = &[
    (|spec, _| spec.confinement == Confinement::None,
        "a cluster cannot run commands without a sandbox", "use the mode `workspace-write`, or remove the backend"),
    (|spec, _| !spec.shared.is_empty() || spec.spill.is_some() || !spec.read_only.is_empty() || !spec.home_state.is_empty(),
        "nodes of a cluster do not have the directories of this machine",
        "remove the directories, and put the required files into the image, the workspace or its claim"),
    (|spec, settings| (!spec.hidden.is_empty() || !spec.unwritable.is_empty()) && matches!(settings.workspace, ClusterWorkspace::Claim { .. }),
        "the volume of a claim cannot be read from this machine, so parts of it cannot be hidden",
        "remove the paths, or use a directory of the volume that does not contain them"),
    (|spec, _| matches!(spec.network, Network::Broker { .. } | Network::Proxy(_)),
        "a pod cannot connect to a socket or a proxy of this machine", "use `--network none` or `--network open`"),
    (|spec, _| spec.spawn == Spawn::Threads,
        "a pod has no launcher that permits a single program start",
        "remove --no-spawn, or use the backend docker, podman or native"),
    (|spec, _| spec.limits.cpu_time.bound().is_some(),
        "a pod has no CPU time limit", "use a wall-clock time limit, or a limit of processors"),
    (|spec, _| spec.limits.files.bound().is_some(),
        "a pod has no limit of open files", "use a disk limit"),
    (|spec, _| spec.limits.memory.bound().is_none(),
        "nodes are shared, so a command needs a memory limit", "set a memory limit"),
    (|spec, settings| spec.workspace_access == MountAccess::ReadWrite && settings.workspace == ClusterWorkspace::Upload,
        "uploaded files are not copied back, so changes of the command would be lost",
        "make the workspace read-only, or use `--backend-option workspace=claim:NAME`"),
];

pub(super) fn check(spec: &SandboxSpec, settings: &ClusterSettings) -> Result<(), Refusal> {
    if let Some((_, why, fix)) = LACKS.iter().find(|row| (row.0)(spec, settings)) {
        return Err(cannot(why, *fix));
    }
    let cwd = spec.cwd.as_ref().unwrap_or(&spec.workspace);
    for path in [&spec.workspace, cwd] {
        if !is_plain(path) || !cwd.starts_with(&spec.workspace) {
            let fix = "use a workspace path in UTF-8, and a working directory inside of it";
            return Err(Refusal::new(What::Cwd(path.clone()), SandboxRule::VisibleCwd, fix));
        }
    }
    if let ClusterWorkspace::Claim { name, folder } = &settings.workspace {
        let is_inside = |folder: &String| is_plain(&Path::new("/").join(folder)) && !folder.starts_with('/');
        if !is_subdomain(name) || !folder.as_ref().is_none_or(is_inside) {
            let why = "invalid name or directory of a claim";
            return Err(cannot(
                why,
                "use a PersistentVolumeClaim (`kubectl get pvc`), and a directory in it without `..`",
            ));
        }
    }
    let names = settings.pull_secret.iter().chain(&spec.container.runtime);
    match names.into_iter().find(|name| !is_subdomain(name)) {
        Some(_) => Err(cannot(
            "invalid name of a Secret or RuntimeClass",
            "use an existing one: `kubectl get secrets,runtimeclasses`",
        )),
        None => Ok(()),
    }
}

pub(super) fn cannot(why: &'static str, fix: impl Into<String>) -> Refusal {
    let backend = SandboxBackend::from_name(NAME).unwrap_or_default();
    Refusal::new(What::Backend(backend), SandboxRule::CannotEnforce(why), fix)
}

/// Labels of DNS with dots between them.
fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(|part| is_label(part, 63))
}

/// A path that is text, whole, and that a container engine reads as a name and nothing else.
fn is_plain(path: &Path) -> bool {
    let has_odd = |path: &str| path.contains([':', '$']) || path.chars().any(char::is_control);
    path.to_str().is_some_and(|path| !has_odd(path) && path.len() < 4096) && is_absolute_and_plain(path)
}

/// Returns whether a path starts at the root and has no `..`, no `.` and no byte 0.
fn is_absolute_and_plain(path: &Path) -> bool {
    let mut components = path.components();
    components.next() == Some(Component::RootDir)
        && components.all(|component| matches!(component, Component::Normal(_)))
        && !path.as_os_str().as_encoded_bytes().contains(&0)
}

/// As whom the command runs: never as root, whose number is that of root on the node.
pub(super) fn user(settings: &ClusterSettings, host: (u32, u32)) -> Result<(u32, u32), Refusal> {
    let is_claim = matches!(settings.workspace, ClusterWorkspace::Claim { .. });
    let user = settings.user.unwrap_or(if is_claim { host } else { (NO_ACCOUNT, NO_ACCOUNT) });
    if user.0 == 0 || user.1 == 0 {
        return Err(cannot(
            "the command would run as root, which is also root on the node",
            "use `--backend-option user=UID:GID` with the owner of the files in the claim, or start stockade as an \
             ordinary user",
        ));
    }
    Ok(user)
}

pub(super) fn image(spec: &SandboxSpec) -> Result<String, Refusal> {
    match &spec.container.image {
        Some(image) if ContainerRequest::is_image(image) => Ok(image.clone()),
        Some(_) => Err(cannot("invalid image name", "use lower-case letters, digits and `.-_/:@`")),
        None => Err(cannot("missing image", "use an image that nodes can pull: `--image NAME@sha256:…`")),
    }
}

/// The words of the command. A cluster replaces what looks like the name of a variable in them, so every `$` is written twice.
pub(super) fn words(spec: &SandboxSpec) -> Result<Vec<String>, Refusal> {
    let (program, arguments) = spec.program()?;
    let words: Option<Vec<String>> = std::iter::once(&program).chain(&arguments).map(text).collect();
    let words = words.filter(|words| words.iter().map(String::len).sum::<usize>() <= MAX_BYTES);
    let fix = "use UTF-8, and put long arguments into a file in the workspace";
    let rule = SandboxRule::CannotEnforce("arguments must be UTF-8, and at most 512 KiB in total");
    let words = words.ok_or_else(|| Refusal::new(What::Command, rule, fix))?;
    Ok(words.iter().map(|word| word.replace('$', "$$")).collect())
}

fn text(word: &OsString) -> Option<String> {
    word.to_str().map(str::to_owned)
}

/// The variables of the command: those of the request, and where it lives. Those of this machine mean nothing
/// there, and where programs are is for the image to say.
pub(super) fn variables(
    spec: &SandboxSpec,
    host: &BTreeMap<OsString, OsString>,
) -> Result<BTreeMap<String, String>, Refusal> {
    let cwd = spec.cwd.as_ref().unwrap_or(&spec.workspace);
    let mut variables: BTreeMap<String, String> =
        [("HOME", HOME), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8"), ("TERM", "dumb")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    variables.insert("PWD".to_owned(), cwd.to_string_lossy().into_owned());
    let passed = spec.environment.pass.iter().filter_map(|name| Some((name, host.get(name)?)));
    for (name, value) in passed.chain(spec.environment.set.iter().map(|(name, value)| (name, value))) {
        let is_name = |name: &String| {
            let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            name.bytes().all(letter)
                && name.len() <= 253
                && !name.starts_with(|first: char| first.is_ascii_digit())
        };
        let pair = text(name).filter(|name| !name.is_empty() && is_name(name)).zip(text(value));
        let Some((name, value)) = pair.filter(|(_, value)| !value.contains('\0')) else {
            let why = "variables need names of letters, digits and `_`, and values in UTF-8";
            let fix = "remove the variable, or pass it in a file in the workspace";
            let name = name.to_string_lossy().into_owned();
            return Err(Refusal::new(What::Variable(name), SandboxRule::CannotEnforce(why), fix));
        };
        variables.insert(name, value);
    }
    let length: usize = variables.iter().map(|(name, value)| name.len() + value.len()).sum();
    if length > MAX_BYTES {
        return Err(cannot("the variables exceed 512 KiB in total", "pass them in a file in the workspace"));
    }
    Ok(variables)
}
