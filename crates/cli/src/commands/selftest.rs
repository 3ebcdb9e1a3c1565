//! `stockade selftest`: runs attacks against each sandbox of this machine, and reports which were stopped.
//!
//! Each attack is a script that prints `REACHED` if it succeeds, and `TRIED` at its end: an attack that did not run to its end
//! does not count as stopped. The first row is an ordinary command that must work, so that a sandbox in which nothing runs does
//! not pass.
#![expect(
    clippy::disallowed_methods,
    reason = "creates a directory and a bait file to attack, and a listening socket"
)]

use std::fs;
use std::io;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use stockade_guard::exec::backends::ContainerRequest;
use stockade_guard::exec::run::{RunControl, Streams};
use stockade_guard::exec::{End, Limit, Outcome, RunError, SandboxBackend, SandboxSpec, Spawn, backends};
use stockade_text::escape;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::style::{ColorChoice, Styles};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade selftest isolation                          attack every sandbox backend that works here
  stockade selftest isolation --backend native         attack only this one
  stockade selftest isolation --image NAME@sha256:…    also attack containers of this image, which needs `sh`";

const EXIT_CODES: &str = "\
Exit codes:
  0  every attack was stopped in every sandbox
  1  an attack succeeded, or no sandbox could be created";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct SelftestArgs {
    /// What to test
    #[arg(value_enum, value_name = "WHAT")]
    what: Tested,

    /// Sandbox backend to attack; repeatable [default: all that work]
    #[arg(long, value_name = "WHAT", value_parser = stockade_guard::exec::patch::BackendParser)]
    backend: Vec<SandboxBackend>,

    /// Container image; without one, containers are not attacked
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// Container runtime instead of the engine's default, such as runsc
    #[arg(long, value_name = "NAME", requires = "image")]
    runtime: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// What can be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Tested {
    /// That a sandboxed command cannot access anything that it was not given
    Isolation,
}

/// An attack, and when it counts as stopped.
struct Attack {
    name: &'static str,
    /// Script for `sh`. `$BAIT` is a file beside the workspace, and `$PORT` a listening TCP port of this machine.
    script: &'static str,
    stops: Stops,
}

/// How an attack is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stops {
    /// Not at all: it is an ordinary command that must work.
    Works,
    /// It runs to its end without success.
    InVain,
    /// It cannot start another process.
    NoSpawn,
    /// It is stopped at the time limit.
    Time,
    /// It is stopped at the memory limit.
    Memory,
}

#[rustfmt::skip]
const ATTACKS: &[Attack] = &[
    Attack { name: "an ordinary command works", stops: Stops::Works, script: "echo x > made; while read -r line; do echo $line; done < made" },
    Attack { name: "network: connecting to another machine", stops: Stops::InVain,
        script: "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT\" && echo REACHED; while read -r line; do case $line in *lo:*|*\\|*) ;; *) echo REACHED ;; esac; done < /proc/net/dev" },
    Attack { name: "files: reading beside the workspace", stops: Stops::InVain, script: "read -r line < $BAIT && echo REACHED" },
    Attack { name: "files: writing outside", stops: Stops::InVain,
        script: "for place in /usr /etc /; do (echo x > $place/x) && echo REACHED; done; echo x > $BAIT; rm -f $BAIT" },
    Attack { name: "processes: starting another", stops: Stops::NoSpawn, script: "(echo REACHED); /bin/true && echo REACHED" },
    Attack { name: "time: running forever", stops: Stops::Time, script: "while :; do :; done" },
    Attack { name: "memory: allocating without limit", stops: Stops::Memory, script: "x=aaaaaaaa; while :; do x=$x$x; done" },
];

/// Result of an attack.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttackResult {
    backend: String,
    attack: &'static str,
    stopped: bool,
    /// How the command ended, or why it could not be tested.
    end: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'r> {
    all_stopped: bool,
    results: &'r [AttackResult],
    /// Backends that could not be tested, and why.
    skipped: &'r [(String, String)],
}

/// Targets of the attacks, and the workspace in which they start.
struct Ground {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    bait: PathBuf,
    listener: TcpListener,
}

/// Owner of the workspace if root runs the test.
const UNPRIVILEGED: u32 = 65534;

impl Ground {
    fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("stockade-selftest-").tempdir()?;
        let place = fs::canonicalize(folder.path())?;
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let (workspace, bait) = (place.join("work"), place.join("bait"));
        fs::create_dir(&workspace)?;
        fs::write(&bait, "bait\n")?;
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&workspace, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
        }
        Ok(Self { _folder: folder, workspace, bait, listener: TcpListener::bind("127.0.0.1:0")? })
    }
}

/// Runs the command.
pub(crate) fn run(args: &SelftestArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let Tested::Isolation = args.what;
    let (mut results, mut skipped) = (Vec::new(), Vec::new());
    for backend in SandboxBackend::ALL.iter().copied().filter(|one| is_meant(args, *one)) {
        match attacked(args, backend) {
            Ok(rows) => results.extend(rows),
            Err(why) => skipped.push((backend.name().to_owned(), why)),
        }
    }
    let all_stopped = !results.is_empty() && results.iter().all(|result| result.stopped);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match args.format {
        Format::Json => {
            format!("{}\n", to_printable_json(&Report { all_stopped, results: &results, skipped: &skipped }))
        }
        Format::Text => text(&results, &skipped, styles(color)),
    });
    output.finish(if all_stopped { Exit::Clean } else { Exit::Found })
}

fn is_meant(args: &SelftestArgs, backend: SandboxBackend) -> bool {
    let is_container = matches!(backend, SandboxBackend::Docker | SandboxBackend::Podman);
    match args.backend.as_slice() {
        [] => backend != SandboxBackend::Auto && (!is_container || args.image.is_some()),
        named => named.contains(&backend),
    }
}

/// Attacks one backend, or returns why it does not work.
fn attacked(args: &SelftestArgs, backend: SandboxBackend) -> Result<Vec<AttackResult>, String> {
    let ground = Ground::new().map_err(|error| error.to_string())?;
    let mut results = Vec::new();
    for attack in ATTACKS {
        let spec = request(args, backend, &ground, attack)?;
        let (stopped, end) = match backends().plan_and_run(&spec, Streams::default(), &RunControl::default())
        {
            Ok((_, outcome)) => (is_stopped(attack.stops, &outcome, &ground.bait), said(&outcome)),
            // A sandbox that cannot be created has not failed an attack.
            Err(RunError::Refused(refusal)) if results.is_empty() => return Err(refusal.to_string()),
            // A refusal to run counts as stopped.
            Err(RunError::Refused(refusal)) => (true, format!("refused: {refusal}")),
            Err(error) if results.is_empty() => return Err(error.to_string()),
            Err(error) => (false, error.to_string()),
        };
        results.push(AttackResult { backend: backend.name().to_owned(), attack: attack.name, stopped, end });
    }
    Ok(results)
}

fn request(
    args: &SelftestArgs,
    backend: SandboxBackend,
    ground: &Ground,
    attack: &Attack,
) -> Result<SandboxSpec, String> {
    let script = format!("{}; echo TRIED", attack.script);
    let mut spec = SandboxSpec::new(&ground.workspace, ["sh", "-c", &script]);
    spec.backend = backend;
    spec.container = ContainerRequest {
        image: args.image.clone(),
        runtime: args.runtime.clone(),
        ..ContainerRequest::default()
    };
    // An attack that its limit does not stop ends all the same.
    spec.limits.wall_time =
        Limit::AtMost(Duration::from_secs(if attack.stops == Stops::Time { 1 } else { 60 }));
    spec.limits.memory = Limit::AtMost(64 << 20);
    spec.limits.output = Limit::AtMost(1 << 20);
    if attack.stops == Stops::NoSpawn {
        spec.spawn = Spawn::Threads;
    }
    let port = ground.listener.local_addr().map_err(|error| error.to_string())?.port().to_string();
    let bait = ground.bait.clone().into_os_string();
    spec.environment.set.extend([("BAIT".into(), bait), ("PORT".into(), port.into())]);
    Ok(spec)
}

/// Whether an attack was stopped, by its outcome and output.
fn is_stopped(stops: Stops, outcome: &Outcome, bait: &Path) -> bool {
    let printed = String::from_utf8_lossy(&outcome.output.stdout);
    let has = |word: &str| printed.lines().any(|line| line == word);
    let is_whole = fs::read(bait).is_ok_and(|bytes| bytes == b"bait\n");
    match (stops, outcome.end) {
        (Stops::Works, end) => end == End::Exited(0) && has("x") && has("TRIED"),
        (Stops::InVain, end) => end == End::Exited(0) && has("TRIED") && !has("REACHED") && is_whole,
        // A shell exits if it cannot start a process.
        (Stops::NoSpawn, End::Exited(_)) => !has("REACHED"),
        (Stops::Time, end) => end == End::TimedOut,
        // By a control group, by the engine, or because an allocation fails.
        (Stops::Memory, End::OutOfMemory | End::Signalled(_)) => true,
        (Stops::Memory, End::Exited(code)) => code != 0 && !has("TRIED"),
        (Stops::NoSpawn | Stops::Memory, _) => false,
    }
}

fn said(outcome: &Outcome) -> String {
    match outcome.end {
        End::Exited(code) => format!("exited {code}"),
        end => end.name().to_owned(),
    }
}

fn text(results: &[AttackResult], skipped: &[(String, String)], styles: Styles) -> String {
    let Styles { good, critical, warn, reset, .. } = styles;
    let mut out = String::new();
    for result in results {
        let (color, word) = if result.stopped { (good, "ok  ") } else { (critical, "FAIL") };
        out.push_str(&format!(
            "{color}{word}{reset}  {:8}  {:36}  {}\n",
            result.backend,
            result.attack,
            escape(&result.end)
        ));
    }
    for (backend, why) in skipped {
        out.push_str(&format!("{warn}skip{reset}  {backend:8}  {}\n", escape(why)));
    }
    out
}

#[cfg(test)]
mod tests {
    use stockade_guard::exec::Enforcement;

    use super::*;

    fn outcome(end: End, printed: &str) -> Outcome {
        let mut outcome = Outcome::of_nothing(end, Enforcement::default());
        outcome.output.stdout = printed.as_bytes().to_vec();
        outcome
    }

    #[test]
    fn an_unfinished_trial_does_not_count_as_blocked() {
        let folder = tempfile::tempdir().unwrap();
        let bait = folder.path().join("bait");
        fs::write(&bait, "bait\n").unwrap();
        let rows = [
            (Stops::Works, End::Exited(0), "x\nTRIED\n", true),
            (Stops::Works, End::Exited(0), "TRIED\n", false),
            (Stops::InVain, End::Exited(0), "TRIED\n", true),
            (Stops::InVain, End::Exited(0), "REACHED\nTRIED\n", false),
            (Stops::InVain, End::Exited(0), "", false),
            (Stops::InVain, End::NotFound, "", false),
            (Stops::NoSpawn, End::Exited(2), "", true),
            (Stops::NoSpawn, End::Exited(0), "REACHED\n", false),
            (Stops::NoSpawn, End::NotFound, "", false),
            (Stops::Time, End::TimedOut, "", true),
            (Stops::Time, End::Exited(0), "TRIED\n", false),
            (Stops::Memory, End::OutOfMemory, "", true),
            (Stops::Memory, End::TimedOut, "", false),
            (Stops::Memory, End::Exited(0), "TRIED\n", false),
        ];
        for (stops, end, printed, stopped) in rows {
            assert_eq!(
                is_stopped(stops, &outcome(end, printed), &bait),
                stopped,
                "{stops:?} {end:?} {printed:?}"
            );
        }
        fs::write(&bait, "x\n").unwrap();
        assert!(
            !is_stopped(Stops::InVain, &outcome(End::Exited(0), "TRIED\n"), &bait),
            "the bait was changed"
        );
    }
}
