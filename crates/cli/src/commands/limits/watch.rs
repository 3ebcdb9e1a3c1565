//! `stockade limits watch`: shows the limits of agents again whenever they change.
#![expect(
    clippy::disallowed_methods,
    reason = "waits between two looks, and measures how long it has watched"
)]

use std::thread;
use std::time::{Duration, Instant};

use super::status::{StatusArgs, printed};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::style::ColorChoice;
use crate::report::agent_limits::AgentAccount;

/// Show the limits again whenever they change, until interrupted
///
/// With `--format json`, each change is a line as `limits status` prints it. A store that cannot be read ends the command.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    shown: StatusArgs,

    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    interval: u32,

    /// End after this many seconds [default: until interrupted]
    #[arg(long, value_name = "SECONDS")]
    during: Option<u32>,
}

pub(super) fn run(args: &WatchArgs, format: Format, color: ColorChoice) -> Result<Exit, Failure> {
    let (began, mut last) = (Instant::now(), None);
    let during = args.during.map(|seconds| Duration::from_secs(seconds.into()));
    let mut output = Output::new();
    loop {
        let (agents, now) = args.shown.accounts()?;
        // What only time changes is no change, or every look would show one.
        let seen: Vec<_> = agents.iter().map(AgentAccount::without_times).collect();
        if last.as_ref() != Some(&seen) {
            let gap = if last.is_some() && format == Format::Text { "\n" } else { "" };
            let text = format!("{gap}{}", printed(&agents, now, format, color));
            if output.write(&text).is_break() || output.flush().is_break() {
                return output.finish(Exit::Clean);
            }
            last = Some(seen);
        }
        if during.is_some_and(|during| began.elapsed() >= during) {
            return output.finish(Exit::Clean);
        }
        thread::sleep(Duration::from_secs(args.interval.into()));
    }
}
