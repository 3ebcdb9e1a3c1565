//! `stockade hook`: what a harness asks before it uses a tool, answered in its own words.
#![expect(
    clippy::disallowed_methods,
    reason = "reads standard input, writes the answer, and waits no longer than it may"
)]

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::args::HELP;
use crate::bug;
use stockade_harness::answer::{HookVerdict, NOTHING, REFUSED, Said, before, deny, silent};
use stockade_harness::call::{MAX_PAYLOAD, Told, read};
use stockade_harness::judge::Agent;
use stockade_harness::{Answers, Harness, Moment, beat, results};

/// How long an answer may take: far less than any harness waits, since those that are tired of waiting use the tool.
const DEADLINE: Duration = Duration::from_secs(5);

/// The stack of what decides: as much as the program's own.
const STACK: usize = 8 << 20;

const EXAMPLES: &str = "\
Examples:
  stockade install claude                     have Claude Code call it
  stockade hook --harness claude < call.json  what it is told about a call of a tool";

const EXIT_CODES: &str = "\
Exit codes:
  0  the answer is on standard output, in the words of the harness; nothing there means that nothing is said against it
  2  the command line is wrong; for harnesses that know no other answer, the tool is not to be used

It reads what the harness hands to its hooks and asks what every other command asks: whether the agent may use the tool, the
path, the command or the host, by the configuration of the agent that is called as the harness is. What has to run in the
sandbox comes back as a command that runs there. Whatever goes wrong is a refusal. Each decision is on record.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct HookArgs {
    /// The harness that calls it
    #[arg(long, value_name = "NAME", value_parser = harness)]
    harness: &'static Harness,

    /// The agent whose configuration holds [default: the name of the harness]
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name)]
    agent: Option<String>,

    /// What is told is that a tool is about to be used; everything else is refused
    #[arg(long, conflicts_with = "after")]
    before: bool,

    /// What is told is what a tool has brought back, so that a failure hides that
    #[arg(long)]
    after: bool,

    /// Print `allow` or `deny` where there is nothing else to print, for whoever takes silence for a failure
    #[arg(long)]
    said: bool,
}

/// Reads the name of a harness.
pub(crate) fn harness(text: &str) -> Result<&'static Harness, String> {
    let names =
        || stockade_harness::HARNESSES.iter().map(|harness| harness.name).collect::<Vec<_>>().join(", ");
    Harness::named(text).ok_or_else(|| format!("the known ones are {}", names()))
}

/// Answers, whatever happens.
pub(crate) fn run(args: &HookArgs) -> ExitCode {
    let (harness, agent) = (args.harness, args.agent.clone());
    let moment = match (args.before, args.after) {
        (true, _) => Some(Moment::Before),
        (false, true) => Some(Moment::After),
        (false, false) => None,
    };
    let failed = move |why: &str| failed(harness, moment, why);
    let (send, receive) = mpsc::sync_channel(1);
    let decide = move || {
        let answer = bug::caught(|| answer(harness, agent.as_deref(), moment));
        let answer = answer.unwrap_or_else(|| Err("it has a bug, which standard error names".to_owned()));
        send.send(answer.unwrap_or_else(|why| failed(&why))).ok();
    };
    let said = match thread::Builder::new().stack_size(STACK).spawn(decide) {
        Ok(_) => receive.recv_timeout(DEADLINE).unwrap_or_else(|_| failed("it took too long")),
        Err(error) => failed(&format!("it cannot begin: {error}")),
    };
    print(&said, args.said)
}

fn print(said: &Said, says_nothing: bool) -> ExitCode {
    let stdout = match (says_nothing && said.stdout.is_empty(), said.code) {
        (true, 0) => NOTHING,
        (true, _) => REFUSED,
        (false, _) => &said.stdout,
    };
    let mut out = io::stdout();
    let written = out.write_all(stdout.as_bytes()).and_then(|()| out.flush());
    io::stderr().write_all(said.stderr.as_bytes()).ok();
    match written {
        Ok(()) => said.code.into(),
        // Nobody has read the answer.
        Err(_) => 2.into(),
    }
}

/// A refusal where nothing could be decided.
fn failed(harness: &Harness, moment: Option<Moment>, why: &str) -> Said {
    if moment == Some(Moment::After) {
        return results::unseen(harness, why);
    }
    deny(
        harness,
        &format!(
            "stockade could not decide, so this is refused: {why}; `stockade doctor` says what is wrong"
        ),
    )
}

fn answer(harness: &Harness, agent: Option<&str>, moment: Option<Moment>) -> Result<Said, String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX).saturating_add(1);
    let got = io::stdin().lock().take(limit).read_to_end(&mut bytes);
    got.map_err(|error| format!("what it is asked cannot be read: {error}"))?;
    let told = read(harness, &bytes).map_err(|why| format!("what it is asked is not understood: {why}"))?;
    match (moment, &told) {
        (None, _) | (Some(Moment::Before), Told::Before(_)) | (Some(Moment::After), Told::After(..)) => {}
        _ => {
            return Err("what it is asked is about another moment than its hook is registered for".to_owned());
        }
    }
    let said = decided(harness, agent.unwrap_or(harness.name), told);
    // A plugin of ours takes silence for a failure.
    Ok(if said == Said::nothing() && harness.answers == Answers::Plugin { silent(harness) } else { said })
}

fn decided(harness: &Harness, agent: &str, told: Told) -> Said {
    match told {
        Told::Else => Said::nothing(),
        Told::Start(origin) => {
            beat::note(harness, &origin);
            Said::nothing()
        }
        Told::Before(call) => {
            beat::note(harness, &call.origin);
            let verdict = Agent::open(harness, agent, &call.origin).and_then(|agent| agent.before(&call));
            match verdict {
                Ok(verdict) => before(harness, &call, verdict),
                Err(why) => before(
                    harness,
                    &call,
                    HookVerdict::Deny(format!("stockade could not decide, so this is refused: {why}")),
                ),
            }
        }
        Told::After(call, result) => {
            let looked = Agent::open(harness, agent, &call.origin)
                .and_then(|agent| results::after(harness, &agent, &call, &result));
            looked.unwrap_or_else(|why| results::withheld(harness, &call, &result, &why))
        }
    }
}
