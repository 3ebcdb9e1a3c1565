//! `stockade hook`: answers the hook call of a harness in its own format.
#![expect(
    clippy::disallowed_methods,
    reason = "reads standard input, writes the answer, and ends the process when the deadline has passed"
)]

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use crate::args::HELP;
use crate::bug;
use stockade_harness::answer::{HookOutput, HookVerdict, NOTHING, REFUSED, before, deny, silent};
use stockade_harness::call::{HookEvent, MAX_PAYLOAD, read};
use stockade_harness::elsewhere::WAIT;
use stockade_harness::judge::Agent;
use stockade_harness::{Answers, Harness, Moment, Unhooked, heartbeat, results};

/// Deadline of an answer: far below any harness's timeout, since some harnesses run the tool when a hook times out.
const DEADLINE: Duration = Duration::from_secs(5);

/// Time in which a hook that has waited for the user reads the answer and prints.
const GRACE: Duration = Duration::from_millis(500);

/// Stack that a decision is made on: usually that of the main thread.
const STACK: usize = 8 << 20;

/// Stack of the thread that keeps the deadline.
const SMALL_STACK: usize = 256 << 10;

const EXAMPLES: &str = "\
Examples:
  stockade install claude                     make Claude Code call the hook
  stockade hook --harness claude < call.json  show the answer to one tool call";

const EXIT_CODES: &str = "\
Exit codes:
  0  the answer is on standard output, in the format of the harness; empty output means no objection
  2  the command line is wrong; or the tool call is refused, for harnesses without another way to refuse

The hook reads a tool call in the format of the harness, and checks the tool, path, command or host with the configuration of the agent
that is named like the harness. A command that has to run in the sandbox is rewritten to do so. Every error is a refusal, and every
decision is recorded.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct HookArgs {
    /// Harness that calls the hook
    #[arg(long, value_name = "NAME", value_parser = harness)]
    harness: &'static Harness,

    /// Agent whose configuration to use [default: the name of the harness]
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name)]
    agent: Option<String>,

    /// Expect a call before a tool is used; refuse all others
    #[arg(long, conflicts_with = "after")]
    before: bool,

    /// Expect the result of a tool, so that an error hides the result
    #[arg(long)]
    after: bool,

    /// Always print `allow` or `deny`, for harnesses that treat empty output as failure
    #[arg(long)]
    said: bool,
}

/// Returns the names of all harnesses, for users.
pub(crate) fn names() -> String {
    stockade_harness::HARNESSES.iter().map(|harness| harness.name).collect::<Vec<_>>().join(", ")
}

/// Parses the name of a harness.
pub(crate) fn harness(text: &str) -> Result<&'static Harness, String> {
    Harness::named(text).ok_or_else(|| match Unhooked::named(text) {
        Some(unhooked) => {
            format!(
                "{}: {}; run all of it in the sandbox: {}",
                unhooked.title,
                unhooked.why,
                unhooked.instead()
            )
        }
        None => format!("known harnesses: {}", names()),
    })
}

/// Answers in any case, even after a panic or a timeout.
pub(crate) fn run(args: &HookArgs) -> ExitCode {
    let (harness, agent) = (args.harness, args.agent.clone());
    let moment = match (args.before, args.after) {
        (true, _) => Some(Moment::Before),
        (false, true) => Some(Moment::After),
        (false, false) => None,
    };
    let failed = move |why: &str| failed(harness, moment, why);
    let says_nothing = args.said;
    let answered = Arc::new(AtomicBool::new(false));
    let (decided, waits) = mpsc::channel::<()>();
    let claim = Arc::clone(&answered);
    // The decision is made on the main thread: the heap of another one grows by a system call a page.
    let watch = move || {
        let mut limit = DEADLINE;
        loop {
            match waits.recv_timeout(limit) {
                // The decision is made, and waits for the user.
                Ok(()) => limit = WAIT + GRACE,
                Err(RecvTimeoutError::Timeout) if !claim.swap(true, Ordering::AcqRel) => {
                    std::process::exit(print(&failed("timeout"), says_nothing).into());
                }
                Err(_) => return,
            }
        }
    };
    let extend = decided.clone();
    let decide = move || {
        let answer = bug::caught(|| answer(harness, agent.as_deref(), moment, &extend));
        let answer = answer.unwrap_or_else(|| Err("internal error, see standard error".to_owned()));
        answer.unwrap_or_else(|why| failed(&why))
    };
    let said = match thread::Builder::new().stack_size(SMALL_STACK).spawn(watch) {
        Ok(_) => on_a_whole_stack(decide, failed),
        Err(error) => failed(&format!("cannot start a thread: {error}")),
    };
    if answered.swap(true, Ordering::AcqRel) {
        // The deadline has passed, and the other thread ends the process with its answer.
        loop {
            thread::park();
        }
    }
    drop(decided);
    print(&said, says_nothing).into()
}

/// Decides on this thread, or where the limits of the process leave it less of a stack, on another one.
fn on_a_whole_stack(
    decide: impl FnOnce() -> HookOutput + Send + 'static,
    failed: impl Fn(&str) -> HookOutput,
) -> HookOutput {
    let is_whole = |bytes| usize::try_from(bytes).is_ok_and(|bytes| bytes >= STACK);
    if getrlimit(Resource::Stack).current.is_none_or(is_whole) {
        return decide();
    }
    match thread::Builder::new().stack_size(STACK).spawn(decide) {
        Ok(deciding) => deciding.join().unwrap_or_else(|_| failed("internal error, see standard error")),
        Err(error) => failed(&format!("cannot start a thread: {error}")),
    }
}

/// Prints an answer, and returns the exit code.
fn print(said: &HookOutput, says_nothing: bool) -> u8 {
    let stdout = match (says_nothing && said.stdout.is_empty(), said.code) {
        (true, 0) => NOTHING,
        (true, _) => REFUSED,
        (false, _) => &said.stdout,
    };
    let mut out = io::stdout();
    let written = out.write_all(stdout.as_bytes()).and_then(|()| out.flush());
    io::stderr().write_all(said.stderr.as_bytes()).ok();
    match written {
        Ok(()) => said.code,
        // The harness did not read the answer.
        Err(_) => 2,
    }
}

/// Returns a refusal, if no decision was possible.
fn failed(harness: &Harness, moment: Option<Moment>, why: &str) -> HookOutput {
    if moment == Some(Moment::After) {
        return results::unseen(harness, why);
    }
    deny(
        harness,
        &format!(
            "stockade could not decide, so this is refused: {why}; run `stockade doctor` to find the cause"
        ),
    )
}

fn answer(
    harness: &Harness,
    agent: Option<&str>,
    moment: Option<Moment>,
    extend: &Sender<()>,
) -> Result<HookOutput, String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX).saturating_add(1);
    let got = io::stdin().lock().take(limit).read_to_end(&mut bytes);
    got.map_err(|error| format!("cannot read the hook call: {error}"))?;
    let told = read(harness, &bytes).map_err(|why| format!("invalid hook call: {why}"))?;
    match (moment, &told) {
        (None, _)
        | (Some(Moment::Before), HookEvent::Before(_))
        | (Some(Moment::After), HookEvent::After(..)) => {}
        _ => {
            return Err("the call is for another event than the hook is registered for".to_owned());
        }
    }
    let said = decided(harness, agent.unwrap_or(harness.name), told, extend);
    // Stockade's own plugins treat empty output as failure.
    Ok(if said == HookOutput::nothing() && harness.answers == Answers::Plugin {
        silent(harness)
    } else {
        said
    })
}

fn decided(harness: &Harness, agent: &str, told: HookEvent, extend: &Sender<()>) -> HookOutput {
    match told {
        HookEvent::Other => HookOutput::nothing(),
        HookEvent::Start(origin) => {
            heartbeat::note(harness, &origin);
            HookOutput::nothing()
        }
        HookEvent::Before(call) => {
            heartbeat::note(harness, &call.origin);
            let verdict = Agent::open(harness, agent, &call.origin).and_then(|agent| {
                let waits = || extend.send(()).unwrap_or_default();
                agent.answered_elsewhere(&call, agent.before(&call)?, waits)
            });
            match verdict {
                Ok(verdict) => before(harness, &call, verdict),
                Err(why) => before(
                    harness,
                    &call,
                    HookVerdict::Deny(format!("stockade could not decide, so this is refused: {why}").into()),
                ),
            }
        }
        HookEvent::After(call, result) => {
            let looked = Agent::open(harness, agent, &call.origin)
                .and_then(|agent| results::after(harness, &agent, &call, &result));
            looked.unwrap_or_else(|why| results::withheld(harness, &call, &result, &why))
        }
    }
}
