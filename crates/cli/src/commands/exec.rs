//! `stockade exec`: runs a command in a sandbox.
#![expect(clippy::disallowed_methods, reason = "asks where standard streams lead, writes to standard error")]

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use stockade_guard::exec::{
    Access, End, Input, Limit, Network, Outcome, Refusal, RunError, SandboxSpec, Signals, Stream, Streams,
    plan, probe, run as run_plan,
};

use crate::args::HELP;
use crate::render::escape::{escape, escape_lines, escape_path};

const EXAMPLES: &str = "\
Examples:
  stockade exec --workspace . -- make test        no network, and of the disk only the workspace is writable
  stockade exec --workspace . --ro ~/data -- ./run.sh
  stockade exec --workspace . --dry-run -- make   say what the command would see, and run nothing";

const EXIT_CODES: &str = "\
Exit codes:
  that of the command, or 128 and the number of the signal that ended it
  124  it took longer than --timeout
  125  the sandbox could not be made; nothing ran
  126  it was refused, or the program cannot be run
  127  there is no such program in the view of the command";

/// How a command ends that did not end by itself.
const TIMED_OUT: u8 = 124;
const FAILED: u8 = 125;
const REFUSED: u8 = 126;
const NOT_FOUND: u8 = 127;
const BY_SIGNAL: i32 = 128;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// Run a command where it sees and reaches only what it was given
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ExecArgs {
    /// The folder that the command works in and may change
    #[arg(long, value_name = "DIR")]
    workspace: PathBuf,

    /// Something more that the command may read
    #[arg(long, value_name = "PATH")]
    ro: Vec<PathBuf>,

    /// A folder more that the command may change
    #[arg(long, value_name = "DIR")]
    rw: Vec<PathBuf>,

    /// What the command may reach
    #[arg(long, value_name = "WHAT", default_value = "none")]
    network: Reach,

    /// A variable to hand on, NAME, or to set, NAME=VALUE
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// How long the command may take: 90, 90s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,

    /// How much memory it may use: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    /// How many processes and threads it may have at once
    #[arg(long, value_name = "N")]
    processes: Option<u64>,

    /// How much it may print; what goes beyond is dropped
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_output: Option<u64>,

    /// Let the command only read the workspace
    #[arg(long)]
    read_only: bool,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// Say nothing of one's own, unless the command could not be run
    #[arg(long, short)]
    quiet: bool,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What a command may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reach {
    /// Itself
    None,
    /// Whatever this machine reaches
    Open,
}

/// Runs the command and ends as it ends.
pub(crate) fn run(args: &ExecArgs) -> ExitCode {
    let spec = match spec(args) {
        Ok(spec) => spec,
        Err(error) => return failed(&format_args!("cannot find the folder: {error}")),
    };
    let plan = match plan(&spec, &probe(&spec)) {
        Ok(plan) => plan,
        Err(refusal) => return refused(&refusal),
    };
    if args.dry_run {
        let text = escape_lines(&plan.to_string());
        return match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&format_args!("cannot write the plan: {error}")),
        };
    }
    match run_plan(&plan, streams()) {
        Ok(outcome) => ended(&outcome, args.quiet),
        Err(RunError::Refused(refusal)) => refused(&refusal),
        Err(error) => failed(&error),
    }
}

fn spec(args: &ExecArgs) -> io::Result<SandboxSpec> {
    // Links in what a person types are theirs; what they lead to is what is meant.
    let real = |path: &Path| std::path::absolute(path).map(|path| path.canonicalize().unwrap_or(path));
    let all = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect::<io::Result<Vec<_>>>();
    let mut spec = SandboxSpec::new(real(&args.workspace)?, args.command.iter().cloned());
    if args.read_only {
        spec.workspace_access = Access::ReadOnly;
    }
    (spec.read_only, spec.shared) = (all(&args.ro)?, all(&args.rw)?);
    spec.cwd = std::env::current_dir().ok().filter(|cwd| cwd.starts_with(&spec.workspace));
    spec.network = if args.network == Reach::Open { Network::Open } else { Network::None };
    for variable in &args.env {
        match variable.to_str().and_then(|text| text.split_once('=')) {
            Some((name, value)) => spec.environment.set.push((name.into(), value.into())),
            None => spec.environment.pass.push(variable.clone()),
        }
    }
    let limits = &mut spec.limits;
    let at_most = |given: Option<u64>, limit: Limit<u64>| given.map_or(limit, Limit::AtMost);
    limits.wall_time = args.timeout.map_or(limits.wall_time, Limit::AtMost);
    limits.memory = at_most(args.memory, limits.memory);
    limits.processes = at_most(args.processes, limits.processes);
    limits.output = at_most(args.max_output, limits.output);
    Ok(spec)
}

/// A terminal is handed over as it is: programs ask it for its size. Anything else is fed up to the limit.
fn streams() -> Streams {
    let stream = |is_terminal| if is_terminal { Stream::Inherit } else { Stream::Relay };
    Streams {
        stdin: Input::Inherit,
        stdout: stream(io::stdout().is_terminal()),
        stderr: stream(io::stderr().is_terminal()),
        signals: Signals::HandOn,
    }
}

fn ended(outcome: &Outcome, quiet: bool) -> ExitCode {
    if !quiet {
        notes(outcome);
    }
    let by_signal = |signal| u8::try_from(BY_SIGNAL + signal).unwrap_or(FAILED);
    ExitCode::from(match outcome.end {
        End::Exited(code) => u8::try_from(code).unwrap_or(FAILED),
        End::Signalled(signal) => by_signal(signal),
        End::TimedOut => TIMED_OUT,
        End::OutOfMemory => by_signal(SIGKILL),
        End::OutOfCpuTime => by_signal(SIGXCPU),
        End::NotFound => NOT_FOUND,
        End::NotExecutable => REFUSED,
        _ => FAILED,
    })
}

/// What a person would wonder about.
fn notes(outcome: &Outcome) {
    let end = match outcome.end {
        End::TimedOut => "the command took too long and was ended; --timeout gives it more time",
        End::OutOfMemory => "the command used too much memory and was ended; --memory gives it more",
        End::OutOfCpuTime => "the command used too much of a processor and was ended",
        End::NotFound => "there is no such program in the view of the command; --ro lets it see a folder",
        End::NotExecutable => "the program cannot be run",
        _ => "",
    };
    if !end.is_empty() {
        say(end);
    }
    if outcome.output.truncated() {
        say(&format!(
            "{} bytes of output were dropped; --max-output lets more through",
            outcome.output.dropped
        ));
    }
    for found in &outcome.quarantine {
        let place = match &found.moved_to {
            Some(path) => format!("moved to {}", escape_path(path)),
            None => "could not be moved; look at it before you use the workspace".to_owned(),
        };
        say(&format!("{} runs programs outside of the sandbox: {place}", escape_path(&found.path)));
    }
}

fn refused(refusal: &Refusal) -> ExitCode {
    say(&refusal.to_string());
    write(&format!("  help: {}\n", escape(&refusal.fix)));
    ExitCode::from(REFUSED)
}

fn failed(why: &dyn std::fmt::Display) -> ExitCode {
    say(&why.to_string());
    ExitCode::from(FAILED)
}

fn say(text: &str) {
    write(&format!("stockade: {}\n", escape(text)));
}

fn write(text: &str) {
    // Nobody is left to tell when even this fails.
    io::stderr().write_all(text.as_bytes()).ok();
}

/// Reads a number with one of these letters behind it, each of which stands for a factor.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits)?.to_ascii_lowercase();
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|&value| value > 0)
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, &[("", 1), ("s", 1), ("m", 60), ("h", 3600)]);
    seconds.map(Duration::from_secs).ok_or_else(|| "write a time such as 90s, 5m or 2h".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = scaled(text, &[("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)]);
    bytes.ok_or_else(|| "write a size such as 512M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(size("2G"), Ok(2 << 30));
        for odd in ["", "m", "0", "-1", "1x", "99999999999999999999", "1 m", "999999999999G"] {
            assert!(duration(odd).is_err() && size(odd).is_err(), "{odd}");
        }
    }
}
