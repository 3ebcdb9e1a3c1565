//! Sandboxes of E2B as a row of a registry: a command runs on a machine of its own, on a copy of the workspace.
//!
//! ```text
//!  make ──► tar of the workspace, without what is hidden ──► the command ──► delete ──► seen to be gone
//! ```
//!
//! The key comes from a file or a variable, and goes to the server and nowhere else. What the command writes stays there, and is gone
//! with the machine. It gets no standard input.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the key, and packs the workspace by the tar of this machine"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use stockade_handoff::{find_program, helper_command};

use super::{
    E2bClient, E2bCommand, E2bEnd, E2bError, E2bKey, E2bRequest, E2bSandbox, E2bSettings, E2bStream,
};
use stockade_exec_sandbox::Plan;
use stockade_exec_sandbox::backends::{Backend, BackendRun, Probed};
use stockade_exec_sandbox::host::HostFacts;
use stockade_exec_sandbox::mounts::MountKind;
use stockade_exec_sandbox::provider::{Offer, Sees};
use stockade_exec_sandbox::run::{AddedCommand, Cancellation};
use stockade_exec_sandbox::{BackendName, SandboxBackend};
use stockade_exec_sandbox::{End, Outcome};
use stockade_exec_sandbox::{Enforcement, Property};
use stockade_exec_sandbox::{Network, SandboxSpec, Spawn};
use stockade_exec_sandbox::{Refusal, SandboxRule, What};
use stockade_exec_sandbox::{RunError, run_added};

/// What it is called.
const NAME: &str = "e2b";

/// The variable that holds the key.
const KEY: &str = "E2B_API_KEY";

/// How many bytes of a workspace are copied.
const MAX_COPIED: u64 = 64 << 20;

/// How long a key may be.
const MAX_KEY: u64 = 4096;

/// How long a command has whose time is not bounded, and how much longer than the command its machine is kept.
const MAX_TIME: Duration = Duration::from_secs(3600);
const LONGER: Duration = Duration::from_secs(120);

/// What is said in the options, and what it means.
const OPTIONS: &[&str] = &["key-file", "template", "api", "gateway", "domain"];

/// What holds on such a machine, and what is to be known of it.
const HOLDS: &[(Property, &str, Option<&str>)] = &[
    (Property::Files, "a virtual machine that contains only a copy of the workspace", None),
    (Property::Processes, "another machine", None),
    (Property::Ipc, "another machine", None),
    (
        Property::Privileges,
        "a disposable virtual machine: no processes on this machine",
        Some("the command can become root in its virtual machine"),
    ),
    (Property::SystemCalls, "a separate kernel", Some("all system calls of that kernel are permitted")),
    (Property::ProtectedNames, "the workspace on this machine cannot be changed", None),
];

/// Runs commands on machines of E2B, each made for one command and deleted after it.
#[derive(Debug, Clone, Copy, Default)]
pub struct E2bBackend;

impl E2bBackend {
    fn refused(why: &'static str, fix: impl Into<String>) -> Refusal {
        let backend = SandboxBackend::from_name(NAME).unwrap_or_default();
        Refusal::new(What::Backend(backend), SandboxRule::CannotEnforce(why), fix)
    }

    /// Who asks, and where, by what the request says and what this program was given.
    fn settings(spec: &SandboxSpec) -> Result<E2bSettings, Refusal> {
        let options = &spec.backend_options;
        if let Some(odd) = options.keys().find(|name| !OPTIONS.contains(&name.as_str())) {
            let fix = format!("unknown option `{odd}`; options: {}", OPTIONS.join(", "));
            return Err(Self::refused("unknown option", fix));
        }
        const FIX: &str = "set E2B_API_KEY, or use `--backend-option key-file=/PATH` with a file of mode 600";
        let text = match options.get("key-file") {
            Some(path) => key_of(Path::new(path)).map_err(|why| Self::refused(why, FIX))?,
            None => std::env::var(KEY).map_err(|_| Self::refused("missing API key", FIX))?,
        };
        let key = E2bKey::new(&text).map_err(|_| Self::refused("invalid API key", FIX))?;
        let mut settings = E2bSettings::new(key);
        let option = |name: &str| options.get(name).cloned();
        (settings.api, settings.gateway) = (option("api"), option("gateway"));
        settings.domain = option("domain").unwrap_or(settings.domain);
        Ok(settings)
    }

    fn client(spec: &SandboxSpec) -> Result<E2bClient, Refusal> {
        E2bClient::new(Self::settings(spec)?)
            .map_err(|error| Self::refused("its key would be sent without encryption", error.fix()))
    }

    fn enforcement(spec: &SandboxSpec) -> Enforcement {
        let mut enforcement = Enforcement::default();
        for (property, means, gap) in HOLDS {
            enforcement.enforce(*property, means);
            gap.iter().for_each(|why| enforcement.gap(*property, why));
        }
        match spec.network {
            Network::None => enforcement
                .enforce(Property::Network, "the virtual machine is created without Internet access"),
            Network::Open => enforcement.enforce(Property::Network, "open, as asked for"),
            Network::Broker { .. } | Network::Proxy(_) => {
                enforcement.gap(
                    Property::Network,
                    "a virtual machine elsewhere cannot connect to an egress proxy on this machine",
                );
            }
        }
        enforcement
    }
}

/// The key in a file that only its owner can read.
fn key_of(path: &Path) -> Result<String, &'static str> {
    use std::os::unix::fs::MetadataExt as _;
    if !path.is_absolute() {
        return Err("the path of its key file is not absolute");
    }
    let file = fs::File::open(path).map_err(|_| "its key file cannot be read")?;
    let data = file.metadata().map_err(|_| "its key file cannot be read")?;
    if !data.is_file() || data.mode() & 0o077 != 0 {
        return Err("other users can read its key file");
    }
    let mut text = String::new();
    file.take(MAX_KEY).read_to_string(&mut text).map_err(|_| "its key file cannot be read")?;
    Ok(text)
}

impl Backend for E2bBackend {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "Virtual machine at E2B, with a copy of the workspace; never auto-selected"
    }

    fn offer(&self, spec: &SandboxSpec, _: &HostFacts) -> Result<Offer, Refusal> {
        Self::client(spec)?;
        if spec.spawn == Spawn::Threads {
            let fix = "remove --no-spawn, or use `--backend native`";
            return Err(Self::refused("it cannot prevent a command from starting other programs", fix));
        }
        let name = BackendName::new(NAME).ok_or_else(|| Self::refused("missing name of the run", ""))?;
        Ok(Offer::added(name, Sees::Copy, Self::enforcement(spec)))
    }

    fn probe(&self, spec: &SandboxSpec) -> Probed {
        let client = match Self::client(spec) {
            Ok(client) => client,
            Err(refusal) => return Probed::Not { why: refusal.rule.to_string(), fix: refusal.fix },
        };
        let tried = machine(&client, spec, LONGER).and_then(|sandbox| {
            let command = E2bCommand::of(["true".to_owned()]);
            let ran = sandbox.run(&command, &mut |_, _| {});
            gone(&sandbox)?;
            ran
        });
        match tried {
            Ok(E2bEnd { code: Some(0), .. }) => Probed::Works(Self::enforcement(spec)),
            Ok(end) => {
                let fix = "use a template that contains `true`".to_owned();
                Probed::Not { why: format!("a command ended with {:?}", end.code), fix }
            }
            Err(error) => Probed::Not { why: error.to_string(), fix: error.fix().to_owned() },
        }
    }

    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
        let client = Self::client(job.spec)?;
        let command = command(&job.plan)?;
        let copy = packed(&job.plan)?;
        let spec = job.spec.clone();
        let outcome = run_added(&job.plan, job.streams, job.control, move |given| {
            let lifetime = command.time + LONGER;
            let sandbox =
                machine(&client, &spec, lifetime).map_err(failed("creating a virtual machine at E2B"))?;
            let ran = carried_out(&sandbox, &copy, &command, given);
            // Whatever happened, nothing is left.
            gone(&sandbox).map_err(failed("deleting a virtual machine at E2B"))?;
            ran
        })?;
        Ok((job.plan, outcome))
    }

    /// The server ends what killed programs left.
    fn cleanup(&self, _: &SandboxSpec) -> usize {
        0
    }
}

fn failed(doing: &'static str) -> impl Fn(E2bError) -> RunError {
    move |error| {
        let said = format!("{error}; {}", error.fix());
        RunError::Setup { doing: doing.to_owned(), source: std::io::Error::other(said) }
    }
}

fn machine(client: &E2bClient, spec: &SandboxSpec, lifetime: Duration) -> Result<E2bSandbox, E2bError> {
    let usual = E2bRequest::default();
    client.create(&E2bRequest {
        template: spec.backend_options.get("template").cloned().unwrap_or(usual.template.clone()),
        lifetime,
        internet: spec.network == Network::Open,
        ..usual
    })
}

/// Ends a machine, and sees that it is gone.
fn gone(sandbox: &E2bSandbox) -> Result<(), E2bError> {
    sandbox.delete()?;
    match sandbox.is_there()? {
        false => Ok(()),
        true => Err(E2bError::Unexpected("the virtual machine still exists after it was deleted".to_owned())),
    }
}

/// Where the copy lies, below the home of its user.
const COPY: &str = "work";

/// What is run there.
fn command(plan: &Plan) -> Result<E2bCommand, RunError> {
    let text = |text: &std::ffi::OsStr| {
        let words = || {
            E2bBackend::refused(
                "an argument or a path is not valid UTF-8, and the protocol is JSON",
                "use UTF-8",
            )
        };
        text.to_str().map(str::to_owned).ok_or_else(words)
    };
    let below = plan.cwd.strip_prefix(&plan.workspace).unwrap_or(Path::new(""));
    let words = std::iter::once(&plan.program).chain(&plan.arguments);
    let variables = plan.environment.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
    Ok(E2bCommand {
        words: words.map(|word| text(word)).collect::<Result<_, Refusal>>()?,
        cwd: Some(format!("/home/user/{COPY}/{}", text(below.as_os_str())?).trim_end_matches('/').to_owned()),
        variables: variables.collect::<Result<BTreeMap<_, _>, Refusal>>()?,
        time: plan.limits.wall_time.bound().unwrap_or(MAX_TIME),
        output: u64::MAX,
    })
}

/// Packs the workspace, without what the command must not see.
fn packed(plan: &Plan) -> Result<Vec<u8>, RunError> {
    let packing = || RunError::setup("packing the workspace");
    let tar = find_program("tar").ok_or(std::io::ErrorKind::NotFound.into()).map_err(packing())?;
    let mut command = helper_command(&tar);
    command.args(["--create", "--file=-", "--anchored", "--no-wildcards"]);
    let hidden = plan.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Hidden { .. }));
    for path in hidden.filter_map(|mount| mount.target.strip_prefix(&plan.workspace).ok()) {
        let mut word = std::ffi::OsString::from("--exclude=./");
        word.push(path);
        command.arg(word);
    }
    command.arg("--directory").arg(&plan.workspace).arg(".");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(packing())?;
    let mut bytes = Vec::new();
    let read = child.stdout.take().map(|out| out.take(MAX_COPIED + 1).read_to_end(&mut bytes));
    // One that has more to say is not heard to its end.
    let ended =
        if bytes.len() as u64 > MAX_COPIED { child.kill().and_then(|()| child.wait()) } else { child.wait() };
    read.transpose().map_err(packing())?;
    if bytes.len() as u64 > MAX_COPIED {
        let fix = "use a smaller directory as the workspace, or a local backend such as `--backend native`";
        return Err(E2bBackend::refused(
            "the workspace is larger than 64 MiB, the maximum that is copied",
            fix,
        )
        .into());
    }
    match ended.map_err(packing())?.success() {
        true => Ok(bytes),
        false => Err(packing()(std::io::Error::other("parts of it cannot be read"))),
    }
}

/// Brings the copy there and runs the command on it. Told to stop, it ends the machine, and with that the command.
fn carried_out(
    sandbox: &E2bSandbox,
    copy: &[u8],
    command: &E2bCommand,
    given: AddedCommand,
) -> Result<End, RunError> {
    let AddedCommand { stdout, stderr, stop, .. } = given;
    sandbox.write("/home/user/work.tar", copy).map_err(failed("copying the workspace to E2B"))?;
    let unpack = format!("mkdir -p {COPY} && tar -xf work.tar -C {COPY} && rm work.tar");
    let unpack = E2bCommand {
        cwd: Some("/home/user".to_owned()),
        ..E2bCommand::of(["sh", "-c", &unpack].map(str::to_owned))
    };
    let unpacked = sandbox.run(&unpack, &mut |_, _| {}).map_err(failed("unpacking the workspace at E2B"))?;
    if unpacked.code != Some(0) {
        let error = E2bError::Refused("its template has no `sh` or `tar`".to_owned());
        return Err(failed("unpacking the workspace at E2B")(error));
    }
    let watcher = ended_when_told(sandbox, &stop)?;
    let ran = sandbox.run(command, &mut |stream, bytes| {
        let to: &OwnedFd = if stream == E2bStream::Stdout { &stdout } else { &stderr };
        stop.write_unless(to, bytes).ok();
    });
    if stop.is_cancelled() {
        watcher.join().ok();
        return Ok(End::Cancelled);
    }
    let end = ran.map_err(failed("running a command at E2B"))?;
    Ok(match (end.code, end.timed_out) {
        // What is no exit code is not made one: some would read as success.
        (Some(code), _) if (0..=255).contains(&code) => End::Exited(code),
        (Some(code), _) => {
            let said = std::io::Error::other(format!("invalid exit code {code}"));
            return Err(RunError::Watch(said));
        }
        (None, true) => End::TimedOut,
        (None, false) => End::Signalled(libc::SIGKILL),
    })
}

/// Ends the machine when the command has to end. It is told so at the latest when the command has ended.
fn ended_when_told(
    sandbox: &E2bSandbox,
    stop: &Cancellation,
) -> Result<std::thread::JoinHandle<()>, RunError> {
    let (sandbox, stop) = (sandbox.clone(), stop.clone());
    let watch = move || {
        use rustix::event::{PollFd, PollFlags, poll};
        let Ok(bell) = stop.bell() else { return };
        let mut fds = [PollFd::from_borrowed_fd(bell, PollFlags::IN)];
        if rustix::io::retry_on_intr(|| poll(&mut fds, None)).is_ok() {
            sandbox.delete().ok();
        }
    };
    std::thread::Builder::new()
        .name("e2b-ends".to_owned())
        .spawn(watch)
        .map_err(RunError::setup("starting a thread"))
}
