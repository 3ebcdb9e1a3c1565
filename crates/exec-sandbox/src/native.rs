//! The native provider: converts a plan to the data that the first process of a sandbox needs.
//!
//! The launcher is a fork of the calling thread (`clone3`), which sets up the sandbox and executes no other program first. A
//! helper program would have to be found, installed and trusted, and would cost an additional exec; and a library cannot rely on
//! the caller's `main` to re-execute itself. The price is that the first process begins with a copy of its parent's memory. So it
//! wipes the arguments and environment, and no process inside can read or trace it.

#![expect(clippy::disallowed_methods, reason = "reads random numbers")]

mod identity;
mod landlock_rules;
pub(crate) mod limits;
pub(crate) mod steps;

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use stockade_handoff::ListenerHandoff;

use crate::limits::Priority;
use crate::plan::Plan;
use crate::provider::Provider;
use crate::seccomp::{Architecture, Closed, Instruction, Opened, filter, filter_but, no_spawn};
use crate::spec::{Network, Spawn};
use crate::sys::launch::{Launch, Strings};
use crate::sys::raw;

pub(crate) use identity::Ids;

/// The descriptors of a command.
#[derive(Debug)]
pub(crate) struct Handed {
    /// Standard input, output and error.
    pub(crate) streams: [RawFd; 3],
    pub(crate) terminal: OwnTerminal,
    /// The write end of the pipe for standard input. The sandbox must not inherit it, or the command never sees end of file.
    pub(crate) feeding: Option<RawFd>,
}

/// Whether the streams are a pseudo-terminal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OwnTerminal {
    None,
    /// They are, with its path on this machine if known.
    Own(Option<PathBuf>),
}

impl Handed {
    fn terminal_path(&self) -> Option<&Path> {
        match &self.terminal {
            OwnTerminal::Own(Some(path)) => Some(path),
            OwnTerminal::Own(None) | OwnTerminal::None => None,
        }
    }

    /// Returns the descriptor of the terminal.
    fn terminal_number(&self) -> Option<RawFd> {
        let [stdin, ..] = self.streams;
        (self.terminal != OwnTerminal::None).then_some(stdin)
    }
}

/// Returns the data for the first process. Mount operations that need the caller's rights are performed here.
pub(crate) fn prepare(plan: &Plan, ids: Ids, handed: &Handed, grouped: bool) -> std::io::Result<Launch> {
    let rootfs = steps::build_rootfs(plan, ids, handed.terminal_path())?;
    let launch = bare(plan, handed, grouped)?;
    Ok(Launch {
        namespaces: namespaces(&plan.network),
        bind_sources: rootfs.bind_sources,
        steps: rootfs.steps,
        _ended: rootfs.ended,
        loopback: plan.network != Network::Open,
        listener_to: handoff(&plan.network),
        identity: ids.to_become(),
        watchers: limits::watchers(),
        landlock: landlock_rules::rules(plan, handed)?,
        filter: filter_of(plan, &[Opened::Attaching]),
        filter_with_memory_files: with_memory_files(plan, grouped),
        ..launch
    })
}

fn last_filter(plan: &Plan, architecture: Architecture, secret: [u64; 3]) -> Vec<Instruction> {
    if plan.spawn == Spawn::Threads { no_spawn(architecture, secret) } else { Vec::new() }
}

/// Returns the filter that permits memfds: only if a control group counts them, or memory is not limited.
fn with_memory_files(plan: &Plan, grouped: bool) -> Vec<Instruction> {
    let is_counted = grouped || plan.limits.memory.bound().is_none();
    if is_counted { filter_of(plan, &[Opened::Attaching, Opened::MemoryFiles]) } else { Vec::new() }
}

/// Returns the filter of a sandbox with a PID namespace, whose first process is not traceable.
fn filter_of(plan: &Plan, opened: &[Opened]) -> Vec<Instruction> {
    let opened = [opened, by_others(plan)].concat();
    Architecture::current().map(|it| filter_but(it, &closed(plan), &opened)).unwrap_or_default()
}

/// Returns the groups of calls that are permitted because the supervisor performs them.
pub(crate) fn by_others(plan: &Plan) -> &'static [Opened] {
    if plan.decides_shared() { &[Opened::GroupFolders] } else { &[] }
}

/// Returns three random words.
fn secret() -> std::io::Result<[u64; 3]> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
    Ok([(); 3].map(|()| words.next().unwrap_or_default()))
}

/// Returns the data that does not depend on the provider.
fn bare(plan: &Plan, handed: &Handed, grouped: bool) -> std::io::Result<Launch> {
    let secret = if plan.spawn == Spawn::Threads { secret()? } else { [0; 3] };
    let (programs, arguments) = words(plan)?;
    Ok(Launch {
        namespaces: 0,
        bind_sources: Vec::new(),
        steps: Vec::new(),
        loopback: false,
        listener_to: None,
        ignored: raw::ignored_signals(),
        identity: None,
        landlock: None,
        filter: Vec::new(),
        filter_with_memory_files: Vec::new(),
        processors: limits::processors(&plan.limits)?,
        last_filter: Architecture::current().map(|it| last_filter(plan, it, secret)).unwrap_or_default(),
        secret,
        observed: None,
        cwd: c_string(plan.cwd.as_os_str())?,
        streams: handed.streams,
        feeding: handed.feeding,
        terminal: handed.terminal != OwnTerminal::None,
        nice: plan.limits.priority.nice(),
        is_idle: plan.limits.priority == Priority::Idle,
        limits: limits::limits(&plan.limits, grouped),
        watchers: None,
        programs,
        arguments: Strings::new(arguments),
        argv_mailbox: None,
        environment: Strings::new(variables(plan)?),
        wipe: crate::sys::footprint::own_arguments_and_variables(),
        scratch_dir: None,
        _ended: Vec::new(),
    })
}

/// Returns the candidate paths of the program, and its arguments including `argv[0]`.
pub(crate) fn words(plan: &Plan) -> std::io::Result<(Vec<CString>, Vec<CString>)> {
    let arguments = std::iter::once(&plan.program).chain(&plan.arguments);
    Ok((programs(plan)?, arguments.map(|word| c_string(word)).collect::<Result<_, _>>()?))
}

/// Returns the environment as `NAME=VALUE` strings.
pub(crate) fn variables(plan: &Plan) -> std::io::Result<Vec<CString>> {
    let variable = |(name, value): &(OsString, OsString)| {
        let mut text = name.clone();
        text.push("=");
        text.push(value);
        c_string(&text)
    };
    plan.environment.iter().map(variable).collect()
}

/// Returns the additional groups of denied calls for a plan.
pub(crate) fn closed(plan: &Plan) -> Vec<Closed> {
    let mut closed = Vec::new();
    if plan.limits.processors.bound().is_some() {
        closed.push(Closed::Processors);
    }
    if plan.decides_shared() {
        closed.push(Closed::Datagrams);
    }
    if plan.provider == Provider::Landlock {
        closed.push(Closed::Queues);
        closed.push(Closed::Attributes);
        closed.push(if plan.network == Network::Open { Closed::UnixSockets } else { Closed::Sockets });
    }
    closed
}

/// Returns the data for the first process without namespaces.
pub(crate) fn in_place(plan: &Plan, ids: Ids, handed: &Handed, grouped: bool) -> std::io::Result<Launch> {
    let restricted = plan.provider == Provider::Landlock;
    let landlock = if restricted { landlock_rules::rules_in_place(plan, handed)? } else { None };
    let filter = Architecture::current().map(|it| filter(it, &closed(plan))).unwrap_or_default();
    let mut launch = bare(plan, handed, grouped)?;
    launch.landlock = landlock;
    // Without a sandbox, the command keeps all rights of its caller.
    launch.identity = ids.outside().filter(|_| restricted);
    launch.filter = if restricted { filter } else { Vec::new() };
    Ok(launch)
}

fn handoff(network: &Network) -> Option<ListenerHandoff> {
    match network {
        Network::Proxy(handoff) => Some(handoff.clone()),
        Network::None | Network::Broker { .. } | Network::Open => None,
    }
}

fn namespaces(network: &Network) -> u64 {
    let always = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    let network = if *network == Network::Open { 0 } else { libc::CLONE_NEWNET };
    (always | network) as u64
}

/// Returns the candidate paths of the program: its path, or its name in each directory of the search path.
fn programs(plan: &Plan) -> std::io::Result<Vec<CString>> {
    if plan.program.as_bytes().contains(&b'/') {
        return Ok(vec![c_string(&plan.program)?]);
    }
    let path = plan.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let folders = std::env::split_paths(path.unwrap_or(OsStr::new("")));
    folders.map(|folder| c_string(folder.join(&plan.program).as_os_str())).collect()
}

pub(crate) fn c_string(text: &OsStr) -> std::io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// Returns a path relative to the new root.
fn below_root(path: &Path) -> std::io::Result<CString> {
    c_string(path.strip_prefix("/").unwrap_or(path).as_os_str())
}
