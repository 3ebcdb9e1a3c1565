//! Runs a command in a registered backend: the backend's code runs it on a thread of its own. Time limit, output, cancellation
//! and the sweep are the same as for every other command.
//!
//! ```text
//!  pipes ──► thread of the backend ──► the end, or an error
//!              ▲ stop: time limit, cancellation, a signal
//! ```

use std::os::fd::OwnedFd;

use super::added_run::AddedRun;
use super::begin::{ExitSource, Running};
use super::stdio::Relay;
use super::{Cancellation, RunControl, RunError, Streams, carried_out, pipe};
use crate::cgroup::Groups;
use crate::outcome::{End, Outcome};
use crate::plan::Plan;
use crate::refusal::{Refusal, SandboxRule, What};

/// What a backend gets to run a command: three streams, and a cancellation.
#[derive(Debug)]
pub struct AddedCommand {
    /// Standard input: the read end of a pipe, or a file.
    pub stdin: OwnedFd,
    /// Standard output: the write end of a pipe. Writes block while the reader is slow, so use
    /// [`Cancellation::write_unless`], which stops waiting on cancellation.
    pub stdout: OwnedFd,
    /// Standard error, likewise.
    pub stderr: OwnedFd,
    /// Cancelled on timeout or when the caller ends the command. The backend must then end the command at once, and return when
    /// it is gone, or return an error if it may still run.
    pub stop: Cancellation,
}

/// Runs the command of a registered backend's plan by calling `work` on a thread of its own.
///
/// # Errors
/// When the command could not be run, or `work` does not report that it is gone.
pub fn run_added(
    plan: &Plan,
    streams: Streams,
    control: &RunControl,
    work: impl FnOnce(AddedCommand) -> Result<End, RunError> + Send + 'static,
) -> Result<Outcome, RunError> {
    let groups = Groups::default();
    carried_out(plan, streams, control, &groups, None, || {
        let (relay, ends) =
            Relay::new(streams, &plan.provider).map_err(RunError::setup("making pipes or a terminal"))?;
        let [stdin, stdout, stderr] = ends.into_pipes().ok_or_else(no_terminal)?;
        let (news, done) = pipe()?;
        let stop = Cancellation::default();
        let command = AddedCommand { stdin, stdout, stderr, stop: stop.clone() };
        let copy = news.try_clone().map_err(RunError::Watch)?;
        let run = AddedRun::new(stop, copy);
        let result = run.result_slot();
        std::thread::Builder::new()
            .name("added-backend".to_owned())
            .spawn(move || {
                result.set(work(command));
                drop(done);
            })
            .map_err(RunError::setup("starting a thread"))?;
        let running = Running::elsewhere(news, ExitSource::Added(run));
        Ok(Some((running, relay)))
    })
}

fn no_terminal() -> RunError {
    let why = "a registered backend cannot provide a terminal";
    let fix = "run it without a terminal, or choose the native backend";
    Refusal::new(What::Command, SandboxRule::CannotEnforce(why), fix).into()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{self, Read as _, Write as _};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::enforcement::{Enforcement, Property};
    use crate::host::{Entry, HostFacts};
    use crate::provider::{ISOLATION, Offer, Sees};
    use crate::spec::SandboxSpec;
    use crate::{BackendName, Limit};

    fn plan(change: impl FnOnce(&mut SandboxSpec)) -> Plan {
        let mut spec = SandboxSpec::new("/srv/w", ["true"]);
        spec.require = ISOLATION.into();
        change(&mut spec);
        let facts = HostFacts {
            entries: [("/srv/w".into(), Entry::Folder)].into(),
            home: "/home/u".into(),
            user: 1000,
            ..HostFacts::default()
        };
        let mut enforcement = Enforcement::default();
        ISOLATION.iter().for_each(|property: &Property| enforcement.enforce(*property, "elsewhere"));
        let offer = Offer::added(BackendName::new("else").unwrap(), Sees::Copy, enforcement);
        crate::plan::plan_of(&spec, &facts, [Ok(offer)]).unwrap()
    }

    fn run(
        plan: &Plan,
        work: impl FnOnce(AddedCommand) -> Result<End, RunError> + Send + 'static,
    ) -> Result<Outcome, RunError> {
        run_added(plan, Streams::default(), &RunControl::default(), work)
    }

    fn until_stopped(stop: &Cancellation) {
        while !stop.is_cancelled() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn output_and_end_of_an_added_backend_are_returned() {
        let outcome = run(&plan(|_| {}), |command| {
            let mut stdin = String::new();
            File::from(command.stdin).read_to_string(&mut stdin).map_err(RunError::Watch)?;
            File::from(command.stdout).write_all(b"out").map_err(RunError::Watch)?;
            File::from(command.stderr).write_all(b"err").map_err(RunError::Watch)?;
            Ok(End::Exited(if stdin.is_empty() { 7 } else { 1 }))
        });
        let outcome = outcome.unwrap();
        assert_eq!(
            (outcome.end, &outcome.output.stdout[..], &outcome.output.stderr[..]),
            (End::Exited(7), &b"out"[..], &b"err"[..])
        );
    }

    #[test]
    fn a_backend_is_cancelled_on_timeout_and_awaited() {
        let plan = plan(|spec| spec.limits.wall_time = Limit::AtMost(Duration::from_millis(50)));
        let gone = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&gone);
        let outcome = run(&plan, move |command| {
            until_stopped(&command.stop);
            std::thread::sleep(Duration::from_millis(50));
            seen.store(1, Ordering::SeqCst);
            Ok(End::Exited(0))
        });
        assert_eq!((outcome.unwrap().end, gone.load(Ordering::SeqCst)), (End::TimedOut, 1));
        let lost = run(&plan, |command| {
            until_stopped(&command.stop);
            Err(RunError::Watch(io::Error::other("it is there still")))
        });
        assert!(lost.unwrap_err().to_string().contains("still"), "what may be there still is no end");
    }

    #[test]
    fn a_caller_can_cancel_an_added_backend() {
        let cancellation = Cancellation::default();
        let control = RunControl { cancellation: Some(cancellation.clone()), ..RunControl::default() };
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            cancellation.cancel();
        });
        let outcome = run_added(&plan(|_| {}), Streams::default(), &control, |command| {
            until_stopped(&command.stop);
            Ok(End::Exited(0))
        });
        assert_eq!(outcome.unwrap().end, End::Cancelled);
    }

    #[test]
    fn a_failing_or_panicking_backend_is_an_error() {
        assert!(run(&plan(|_| {}), |_| Err(RunError::Watch(io::ErrorKind::BrokenPipe.into()))).is_err());
        let panicked = run(&plan(|_| {}), |_| {
            std::panic::resume_unwind(Box::new("gone"));
        });
        assert!(panicked.unwrap_err().to_string().contains("without a result"));
    }

    #[test]
    fn output_is_bounded_as_for_every_command() {
        let plan = plan(|spec| spec.limits.output = Limit::AtMost(1000));
        let outcome = run(&plan, |command| {
            let mut stdout = File::from(command.stdout);
            (0..100).try_for_each(|_| stdout.write_all(&[b'x'; 1000])).map_err(RunError::Watch)?;
            Ok(End::Exited(0))
        });
        let output = outcome.unwrap().output;
        assert_eq!((output.stdout.len(), output.dropped), (1000, 99_000));
    }
}
