//! `stockade selftest`: runs attacks against each sandbox of this machine, and reports which were stopped.
//!
//! Each attack is a script that prints `REACHED` if it succeeds, and `TRIED` at its end: an attack that did not run to its end
//! does not count as stopped. Attacks on names and links are judged by what is left in the workspace. The first row is an
//! ordinary command that must work, so that a sandbox in which nothing runs does not pass.
//!
//! The attacks run in a child process whose state directory is temporary: what they leave is not listed in the quarantine of
//! the user, and their reviewed changes replace none of the user.
#![expect(clippy::disallowed_methods, reason = "starts this program again with another state directory")]

mod attacks;
mod ground;

use std::io;
use std::ops::ControlFlow;
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use stockade_guard::exec::backends::ContainerRequest;
use stockade_guard::exec::run::{RunControl, Streams};
use stockade_guard::exec::{
    End, Enforcement, Limit, Outcome, Property, ReviewMode, RunError, SandboxBackend, SandboxSpec, Spawn,
    backends,
};
use stockade_text::escape;

use attacks::{ATTACKS, Attack, Stops};
use ground::{Ground, SECRET};

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
  0  no attack succeeded, except where a backend reports a gap
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

    /// Whether this is the child process, whose state directory is temporary
    #[arg(long, hide = true)]
    in_child: bool,
}

/// What can be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Tested {
    /// That a sandboxed command cannot access anything that it was not given
    Isolation,
}

/// Limit on memory of an attack.
const MEMORY: u64 = 64 << 20;

/// Limit on processes of an attack.
const PROCESSES: u64 = 64;

/// Limit on output of an attack.
const OUTPUT: usize = 1 << 20;

/// Limit on the size of a file.
const FILE_SIZE: u64 = 16 << 20;

/// Result of an attack.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttackResult {
    backend: String,
    attack: &'static str,
    property: &'static str,
    /// Whether it did not succeed.
    stopped: bool,
    result: AttackEnd,
    /// How the command ended, or why it could not be tested.
    end: String,
}

/// How an attack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum AttackEnd {
    Stopped,
    /// It succeeded, and the backend reports that it does not enforce the property, or only in part.
    Gap,
    Succeeded,
    /// A program that it needs is missing in the sandbox.
    NotTried,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'r> {
    all_stopped: bool,
    results: &'r [AttackResult],
    /// Backends that could not be tested, and why.
    skipped: &'r [(String, String)],
}

/// Runs the command.
pub(crate) fn run(args: &SelftestArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let Tested::Isolation = args.what;
    if !args.in_child {
        return in_child();
    }
    let (mut results, mut skipped) = (Vec::new(), Vec::new());
    for backend in SandboxBackend::ALL.iter().copied().filter(|one| is_meant(args, *one)) {
        match attacked(args, backend) {
            Ok(rows) => results.extend(rows),
            Err(why) => skipped.push((backend.name().to_owned(), why)),
        }
    }
    let has_succeeded = |result: &AttackResult| result.result == AttackEnd::Succeeded;
    let all_stopped = !results.is_empty() && !results.iter().any(has_succeeded);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match args.format {
        Format::Json => {
            format!("{}\n", to_printable_json(&Report { all_stopped, results: &results, skipped: &skipped }))
        }
        Format::Text => text(&results, &skipped, styles(color)),
    });
    output.finish(if all_stopped { Exit::Clean } else { Exit::Found })
}

/// Runs this program again with a state directory that is deleted afterwards, and with a variable that no attack may read.
fn in_child() -> Result<Exit, Failure> {
    let failed = |error: io::Error| Failure::incomplete(format_args!("cannot start the attacks: {error}"));
    let state = tempfile::Builder::new().prefix("stockade-selftest-state-").tempdir().map_err(failed)?;
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program);
    child.args(std::env::args_os().skip(1)).arg("--in-child");
    child.env("XDG_STATE_HOME", state.path()).env("STOCKADE_SELFTEST_SECRET", SECRET);
    child.env("SSH_AUTH_SOCK", state.path().join("agent"));
    match child.status().map_err(failed)?.code() {
        Some(0) => Ok(Exit::Clean),
        Some(1) => Ok(Exit::Found),
        _ => Err(Failure::incomplete("the attacks did not run to their end")),
    }
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
    let mut results = Vec::new();
    for attack in ATTACKS {
        let ground = Ground::new().map_err(|error| error.to_string())?;
        let spec = request(args, backend, &ground, attack)?;
        let (result, end) = match backends().plan_and_run(&spec, Streams::default(), &RunControl::default()) {
            Ok((_, outcome)) => ended(attack, &outcome, &ground),
            // A sandbox that cannot be created has not failed an attack.
            Err(RunError::Refused(refusal)) if results.is_empty() => return Err(refusal.to_string()),
            // A refusal to run counts as stopped.
            Err(RunError::Refused(refusal)) => (AttackEnd::Stopped, format!("refused: {refusal}")),
            Err(error) if results.is_empty() => return Err(error.to_string()),
            Err(error) => (AttackEnd::Succeeded, error.to_string()),
        };
        results.push(AttackResult {
            backend: backend.name().to_owned(),
            attack: attack.name,
            property: attack.property.name(),
            stopped: result == AttackEnd::Stopped,
            result,
            end,
        });
    }
    Ok(results)
}

fn request(
    args: &SelftestArgs,
    backend: SandboxBackend,
    ground: &Ground,
    attack: &Attack,
) -> Result<SandboxSpec, String> {
    let script = format!("{}\necho TRIED", attack.script);
    let mut spec = SandboxSpec::new(&ground.workspace, ["sh", "-c", &script]);
    spec.backend = backend;
    spec.container = ContainerRequest {
        image: args.image.clone(),
        runtime: args.runtime.clone(),
        ..ContainerRequest::default()
    };
    // An attack that its limit does not stop ends all the same.
    let seconds = if attack.stops == Stops::Time { 1 } else { 60 };
    spec.limits.wall_time = Limit::AtMost(Duration::from_secs(seconds));
    spec.limits.memory = Limit::AtMost(MEMORY);
    spec.limits.processes = Limit::AtMost(PROCESSES);
    spec.limits.file_size = Limit::AtMost(FILE_SIZE);
    spec.limits.output = Limit::AtMost(OUTPUT as u64);
    match attack.stops {
        Stops::NoSpawn => spec.spawn = Spawn::Threads,
        Stops::Reviewed(mode, _) => spec.review = mode,
        _ => {}
    }
    spec.environment.set = ground.variables().map_err(|error| error.to_string())?;
    Ok(spec)
}

/// Judges an attack by its outcome, its output, and what it left.
fn ended(attack: &Attack, outcome: &Outcome, ground: &Ground) -> (AttackEnd, String) {
    let printed = String::from_utf8_lossy(&outcome.output.stdout);
    if let Some(missing) = printed.lines().find_map(|line| line.strip_prefix("MISSING ")) {
        return (AttackEnd::NotTried, format!("`{missing}` is missing in the sandbox"));
    }
    let end = match outcome.end {
        End::Exited(code) => format!("exited {code}"),
        end => end.name().to_owned(),
    };
    if is_stopped(attack.stops, outcome, &printed, ground) {
        return (AttackEnd::Stopped, end);
    }
    match gap(&outcome.enforcement, attack.property) {
        Some(why) => (AttackEnd::Gap, why.to_owned()),
        None => (AttackEnd::Succeeded, end),
    }
}

/// Returns why a property is not enforced, or only in part.
fn gap(enforcement: &Enforcement, property: Property) -> Option<&'static str> {
    enforcement.gaps.iter().find(|gap| gap.property == property).map(|gap| gap.why)
}

/// Whether an attack was stopped.
fn is_stopped(stops: Stops, outcome: &Outcome, printed: &str, ground: &Ground) -> bool {
    let has = |word: &str| printed.lines().any(|line| line == word);
    let is_silent = !has("REACHED") && !printed.contains(SECRET) && ground.is_whole();
    let unchanged = |paths: &[&str]| has("TRIED") && paths.iter().all(|path| ground.is_unchanged(path));
    match (stops, outcome.end) {
        (Stops::Works, end) => end == End::Exited(0) && has("x") && has("TRIED"),
        (Stops::InVain, end) => end == End::Exited(0) && has("TRIED") && is_silent,
        // A shell exits if it cannot start a process.
        (Stops::NoSpawn | Stops::Processes, End::Exited(_)) => !has("REACHED"),
        (Stops::Time, end) => end == End::TimedOut,
        // By a control group, by the engine, or because an allocation fails.
        (Stops::Memory, End::OutOfMemory | End::Signalled(_)) => true,
        (Stops::Memory, End::Exited(code)) => code != 0 && !has("TRIED"),
        (Stops::Output, _) => outcome.output.stdout.len() <= OUTPUT,
        (Stops::FileSize(path), _) => ground.size(path) <= FILE_SIZE,
        (Stops::Unchanged(paths) | Stops::Reviewed(ReviewMode::Hold | ReviewMode::Undoable, paths), _) => {
            unchanged(paths)
        }
        (Stops::NoLink(paths), _) => has("TRIED") && !paths.iter().any(|path| ground.is_link(path)),
        (Stops::Lacks(path, text), _) => has("TRIED") && !ground.contains(path, text),
        (Stops::UnchangedAfter(time, paths), _) => {
            std::thread::sleep(time);
            unchanged(paths)
        }
        (Stops::Reported(paths), _) => {
            has("TRIED") && paths.iter().all(|path| ground.is_unchanged(path) || is_reported(outcome, path))
        }
        (Stops::NoSpawn | Stops::Processes | Stops::Memory | Stops::Reviewed(ReviewMode::Off, _), _) => false,
    }
}

/// Whether the result lists a file, or a directory that contains it.
fn is_reported(outcome: &Outcome, path: &str) -> bool {
    let changed = outcome.changed.iter().map(|changed| &changed.path);
    let taken = outcome.quarantine.iter().map(|taken| &taken.path);
    changed.chain(taken).any(|listed| std::path::Path::new(path).starts_with(listed))
}

fn text(results: &[AttackResult], skipped: &[(String, String)], styles: Styles) -> String {
    let Styles { good, critical, warn, reset, .. } = styles;
    let mut out = String::new();
    for result in results {
        let (color, word) = match result.result {
            AttackEnd::Stopped => (good, "ok  "),
            AttackEnd::Gap => (warn, "gap "),
            AttackEnd::Succeeded => (critical, "FAIL"),
            AttackEnd::NotTried => (warn, "skip"),
        };
        out.push_str(&format!(
            "{color}{word}{reset}  {:8}  {:52}  {}\n",
            result.backend,
            result.attack,
            escape(&result.end)
        ));
    }
    for (backend, why) in skipped {
        out.push_str(&format!("{warn}skip{reset}  {backend:8}  {}\n", escape(why)));
    }
    out.push_str(&summary(results));
    out
}

/// Returns the number of attacks and of their results, by backend.
fn summary(results: &[AttackResult]) -> String {
    let mut names: Vec<&str> = results.iter().map(|result| result.backend.as_str()).collect();
    names.dedup();
    let row = |name: &&str| {
        let count = |end: AttackEnd| {
            results.iter().filter(|result| result.backend == **name && result.result == end).count()
        };
        format!(
            "{name}: {} stopped, {} succeeded, {} in reported gaps, {} not tried\n",
            count(AttackEnd::Stopped),
            count(AttackEnd::Succeeded),
            count(AttackEnd::Gap),
            count(AttackEnd::NotTried)
        )
    };
    names.iter().map(row).collect()
}

#[cfg(test)]
mod tests;
