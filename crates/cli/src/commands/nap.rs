//! `stockade nap`: for a while, the hook asks no questions.
#![expect(clippy::disallowed_methods, reason = "asks whether a user is at a terminal")]

use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;
use std::time::Duration;

use stockade_guard::audit::{AuditEvent, EventKind, Recorded, field};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::patch::duration;
use stockade_state::{nap, trail};

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  stockade nap 10m     ask no questions for ten minutes
  stockade nap --end   ask again
  stockade status      show how long a nap still takes";

const MORE: &str = "\
Exit codes:
  0  done
  1  --end without a nap
  2  the command line is wrong, or no user is at a terminal; nothing was changed
  3  the nap could not be recorded or written; nothing was changed

During a nap, a call that the hook would ask about is left to the permission prompts of the harness, and that is recorded. What is
denied stays denied, and what runs in the sandbox still does. A nap ends by itself, after at most eight hours. It begins only at a
terminal, so that no agent begins one.";

/// Leave questions to the agent's own permission prompts for a while
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct NapArgs {
    /// How long: 90s, 10m, 2h; at most 8h
    #[arg(value_name = "TIME", value_parser = duration, required_unless_present = "end")]
    time: Option<Duration>,

    /// End the current nap
    #[arg(long, conflicts_with = "time")]
    end: bool,
}

/// Runs the command.
pub(crate) fn run(args: &NapArgs) -> Result<Exit, Failure> {
    let (printed, exit) = match args.time {
        Some(time) => (begin(time)?, Exit::Clean),
        None => end()?,
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

fn begin(time: Duration) -> Result<String, Failure> {
    if time > nap::MAX_NAP || time.is_zero() {
        return Err(Failure::usage("a nap takes at most 8h").with_help("stockade nap 10m"));
    }
    if !is_at_terminal() {
        return Err(Failure::usage("a nap begins only at a terminal")
            .with_help("run it yourself in a terminal; a program cannot begin it"));
    }
    record("nap-begun")?;
    nap::begin(time)?;
    Ok(format!(
        "no questions are asked for {}: the agent's own permission prompts decide\n  = denials and the sandbox stay\n  = end it: \
         stockade nap --end\n",
        nap_words(time)
    ))
}

fn end() -> Result<(String, Exit), Failure> {
    if nap::remaining().is_none() {
        return Ok(("no nap to end\n".to_owned(), Exit::Found));
    }
    record("nap-ended")?;
    nap::end()?;
    Ok(("questions are asked again\n".to_owned(), Exit::Clean))
}

/// Whether a user is there: input and output are a terminal, and it controls this process.
fn is_at_terminal() -> bool {
    let has_control = OpenOptions::new().read(true).write(true).open("/dev/tty").is_ok();
    io::stdin().is_terminal() && io::stdout().is_terminal() && has_control
}

/// Records the change before it is made.
fn record(change: &'static str) -> Result<(), Failure> {
    let sources = ConfigSources::of_process(&std::env::current_dir().unwrap_or_default());
    let config = Config::load(&sources).map_err(|error| super::config::failure(&error))?;
    let unrecorded = |error: &dyn std::error::Error| {
        Failure::incomplete(format_args!(
            "cannot record the nap, so nothing was changed: {}",
            with_causes(error)
        ))
        .with_help("run `stockade doctor` to check the audit trail, or set another file with `audit.path`")
    };
    let trail = trail::open(&config).map_err(|error| unrecorded(&error))?;
    let by = rustix::process::getuid().as_raw();
    let event =
        AuditEvent::new(EventKind::PolicyChanged).with(field::CHANGE, change).with(field::BY, u64::from(by));
    match trail.record(event).map_err(|error| unrecorded(&error))? {
        // With `audit.onUnrecorded = "warn"`, it is made anyway.
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

/// Words for a duration: `9m 30s`.
pub(super) fn nap_words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, 0, _) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}
