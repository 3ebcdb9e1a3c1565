//! `stockade selftest`: attacks each sandbox of this machine in the ways that it promises to stop, and says which were stopped.
//!
//! Each attack is a script that says `REACHED` where it succeeds, and `TRIED` at its end: what was not tried to its end does not count
//! as stopped. The first row of each backend is an ordinary command that must work, so that a sandbox in which nothing runs passes nothing.
#![expect(
    clippy::disallowed_methods,
    reason = "makes a folder and a bait to attack, and listens for who gets out"
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
  stockade selftest isolation                          attack every sandbox that this machine can make
  stockade selftest isolation --backend native         this one
  stockade selftest isolation --image NAME@sha256:…    containers of this image as well; it needs a `sh`";

const EXIT_CODES: &str = "\
Exit codes:
  0  every attack was stopped in every sandbox that could be made
  1  one was not, or no sandbox could be made";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct SelftestArgs {
    /// What is tested
    #[arg(value_enum, value_name = "WHAT")]
    what: Tested,

    /// The sandboxes to attack, if not all that can be made; may be repeated
    #[arg(long, value_name = "WHAT", value_parser = super::exec::backends())]
    backend: Vec<SandboxBackend>,

    /// The image that containers are made of; without one, no container is attacked
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// What runs the containers in the place of what the engine takes by itself, such as runsc
    #[arg(long, value_name = "NAME", requires = "image")]
    runtime: Option<String>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// What can be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Tested {
    /// That a command in a sandbox reaches nothing that it was not given
    Isolation,
}

/// An attack, and when it counts as stopped.
struct Attack {
    name: &'static str,
    /// For `sh`. `$BAIT` is a file beside the workspace, and `$PORT` a port of this machine on which somebody listens.
    script: &'static str,
    stops: Stops,
}

/// What stops an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stops {
    /// Nothing: it is no attack, and must work.
    Works,
    /// It comes to its end without having reached anything.
    InVain,
    /// It may start nothing else.
    NoSpawn,
    /// It is ended when its time is up.
    Time,
    /// It is ended when its memory is used up.
    Memory,
}

#[rustfmt::skip]
const ATTACKS: &[Attack] = &[
    Attack { name: "an ordinary command works", stops: Stops::Works, script: "echo x > made; while read -r line; do echo $line; done < made" },
    Attack { name: "network: another machine's door", stops: Stops::InVain,
        script: "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT\" && echo REACHED; while read -r line; do case $line in *lo:*|*\\|*) ;; *) echo REACHED ;; esac; done < /proc/net/dev" },
    Attack { name: "files: reading beside the workspace", stops: Stops::InVain, script: "read -r line < $BAIT && echo REACHED" },
    Attack { name: "files: writing outside", stops: Stops::InVain,
        script: "for place in /usr /etc /; do (echo x > $place/x) && echo REACHED; done; echo x > $BAIT; rm -f $BAIT" },
    Attack { name: "processes: starting others", stops: Stops::NoSpawn, script: "(echo REACHED); /bin/true && echo REACHED" },
    Attack { name: "time: running for ever", stops: Stops::Time, script: "while :; do :; done" },
    Attack { name: "memory: taking all of it", stops: Stops::Memory, script: "x=aaaaaaaa; while :; do x=$x$x; done" },
];

/// How an attack ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttackResult {
    backend: String,
    attack: &'static str,
    stopped: bool,
    /// How the command ended, or why it could not be tried.
    end: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'r> {
    all_stopped: bool,
    results: &'r [AttackResult],
    /// What could not be made, and why.
    skipped: &'r [(String, String)],
}

/// The files and the door that attacks try to reach, and the workspace that they begin in.
struct Ground {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    bait: PathBuf,
    door: TcpListener,
}

/// Whose workspace it is where root tests.
const NOBODY: u32 = 65534;

impl Ground {
    fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("stockade-selftest-").tempdir()?;
        let place = fs::canonicalize(folder.path())?;
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let (workspace, bait) = (place.join("work"), place.join("bait"));
        fs::create_dir(&workspace)?;
        fs::write(&bait, "bait\n")?;
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&workspace, Some(NOBODY), Some(NOBODY))?;
        }
        Ok(Self { _folder: folder, workspace, bait, door: TcpListener::bind("127.0.0.1:0")? })
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

/// Attacks one kind of sandbox, or says why it cannot be made.
fn attacked(args: &SelftestArgs, backend: SandboxBackend) -> Result<Vec<AttackResult>, String> {
    let ground = Ground::new().map_err(|error| error.to_string())?;
    let mut results = Vec::new();
    for attack in ATTACKS {
        let spec = request(args, backend, &ground, attack)?;
        let (stopped, end) = match backends().plan_and_run(&spec, Streams::default(), &RunControl::default())
        {
            Ok((_, outcome)) => (is_stopped(attack.stops, &outcome, &ground.bait), said(&outcome)),
            // What cannot be made at all is no sandbox that failed.
            Err(RunError::Refused(refusal)) if results.is_empty() => return Err(refusal.to_string()),
            // What it cannot hold, it refuses to run: nothing was reached.
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
    // An attack that is not held by its time ends all the same.
    spec.limits.wall_time =
        Limit::AtMost(Duration::from_secs(if attack.stops == Stops::Time { 1 } else { 60 }));
    spec.limits.memory = Limit::AtMost(64 << 20);
    spec.limits.output = Limit::AtMost(1 << 20);
    if attack.stops == Stops::NoSpawn {
        spec.spawn = Spawn::Threads;
    }
    let port = ground.door.local_addr().map_err(|error| error.to_string())?.port().to_string();
    let bait = ground.bait.clone().into_os_string();
    spec.environment.set.extend([("BAIT".into(), bait), ("PORT".into(), port.into())]);
    Ok(spec)
}

/// Whether an attack was stopped, by how it ended and what it printed.
fn is_stopped(stops: Stops, outcome: &Outcome, bait: &Path) -> bool {
    let printed = String::from_utf8_lossy(&outcome.output.stdout);
    let has = |word: &str| printed.lines().any(|line| line == word);
    let is_whole = fs::read(bait).is_ok_and(|bytes| bytes == b"bait\n");
    match (stops, outcome.end) {
        (Stops::Works, end) => end == End::Exited(0) && has("x") && has("TRIED"),
        (Stops::InVain, end) => end == End::Exited(0) && has("TRIED") && !has("REACHED") && is_whole,
        // A shell ends when it cannot start what it is to start.
        (Stops::NoSpawn, End::Exited(_)) => !has("REACHED"),
        (Stops::Time, end) => end == End::TimedOut,
        // By a control group, by the engine, or since it gets no more and says so.
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
    fn what_was_not_tried_to_its_end_was_not_stopped() {
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
