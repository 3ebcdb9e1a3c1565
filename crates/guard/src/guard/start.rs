//! From a command that may run to its outcome: planned, put on record, and only then started.

use stockade_policy::CommandDecision;

use super::hosts::Wish;
use super::run::{Ran, RunAnswer};
use super::{Decision, Guard, GuardError};
use crate::audit::{AuditEvent, EventKind, Recorded};
use crate::config::{ExecConfig, HomeView, Maker};
use crate::exec::{
    Backend, End, Home, Limit, Limits, Network, Outcome, Plan, Refusal, RunError, SandboxSpec, Streams,
    Unavailable, plan, plan_and_run, probe,
};

/// What this machine can make of a wish.
pub(super) enum Found {
    Sandbox(Box<Plan>),
    /// No sandbox, and why.
    Nothing(Refusal, Box<Plan>),
    /// It is not to be had, with a sandbox or without.
    Refused(Refusal),
}

impl Guard {
    /// Runs a command between its two records.
    pub(super) fn start(
        &self,
        text: &str,
        decision: Decision,
        wish: Wish,
        planned: &Plan,
        streams: Streams,
    ) -> Result<RunAnswer, GuardError> {
        let started =
            self.event(EventKind::SandboxStarted).with("id", decision.id.as_str()).with("command", text);
        let audited = self.trail.start(AuditEvent {
            decision: Some(decision.effect.to_string()),
            rule: Some(decision.rule.clone()),
            backend: Some(planned.provider.name().to_owned()),
            ..started.with("memory", number(planned.limits.memory.bound())).with("network", network(planned))
        })?;
        let result = plan_and_run(&wish.spec, streams);
        let hosts_refused = wish.end();
        match result {
            Ok((plan, outcome)) => {
                let unrecorded = match audited.end(self.ended(&plan, &outcome, &hosts_refused)) {
                    Ok(Recorded::Kept(_)) => None,
                    Ok(Recorded::Lost(error)) | Err(error) => Some(error),
                };
                let backend = plan.provider.name();
                Ok(RunAnswer::Ran(Box::new(Ran { decision, outcome, backend, hosts_refused, unrecorded })))
            }
            Err(error) => {
                // Where it is lost all the same, the owner of the trail has chosen that.
                drop(audited.end(self.event(EventKind::SandboxError).with("error", error.to_string()))?);
                match error {
                    RunError::Refused(refusal) => self.not_to_be_had(text, &refusal),
                    error => self.refuse(text, "cannot-run", error.to_string(), None),
                }
            }
        }
    }

    pub(super) fn spec(&self, command: Vec<String>, unavailable: Unavailable) -> SandboxSpec {
        let ExecConfig { maker, home, read_only, timeout, memory, processes, output, .. } = &self.config.exec;
        SandboxSpec {
            unavailable,
            backend: match maker {
                Maker::Auto => Backend::Auto,
                Maker::Native => Backend::Native,
                Maker::Bubblewrap => Backend::Bwrap,
                Maker::Landlock => Backend::Landlock,
            },
            home: match home {
                HomeView::Tools => Home::Tools,
                HomeView::Private => Home::Private,
            },
            read_only: read_only.clone(),
            shared: self.shared.clone(),
            limits: Limits {
                wall_time: limit(*timeout),
                memory: limit(*memory),
                processes: limit(*processes),
                output: Limit::AtMost(*output),
                ..Limits::default()
            },
            ..SandboxSpec::new(&self.paths.workspace().real, command)
        }
    }

    fn ended(&self, plan: &Plan, outcome: &Outcome, hosts_refused: &[Decision]) -> AuditEvent {
        let (kind, exit_code) = match outcome.end {
            End::Exited(0) => (EventKind::SandboxCompleted, Some(0)),
            End::Exited(code) => (EventKind::SandboxError, Some(code)),
            _ => (EventKind::SandboxError, None),
        };
        let enforced: Vec<String> = outcome
            .enforcement
            .enforced
            .iter()
            .map(|(property, means)| format!("{property}: {means}"))
            .collect();
        let gaps: Vec<String> =
            outcome.enforcement.gaps.iter().map(|gap| format!("{}: {}", gap.property, gap.why)).collect();
        let event = AuditEvent {
            exit_code,
            duration: Some(outcome.usage.wall_time),
            backend: Some(plan.provider.name().to_owned()),
            ..self.event(kind)
        };
        let event = event.with("end", outcome.end.name()).with("enforced", enforced).with("gaps", gaps);
        match hosts_refused {
            [] => event,
            refused => {
                let hosts: Vec<String> = refused.iter().map(|decision| decision.subject.clone()).collect();
                event.with("hosts_refused", hosts)
            }
        }
    }
}

/// Looks whether this machine can make a sandbox, or what else stands against it.
pub(super) fn look(spec: &SandboxSpec) -> Found {
    let facts = probe(spec);
    let planned = |unavailable| plan(&SandboxSpec { unavailable, ..spec.clone() }, &facts);
    let refusal = match planned(Unavailable::Refuse) {
        Ok(plan) => return Found::Sandbox(Box::new(plan)),
        Err(refusal) => refusal,
    };
    match planned(Unavailable::Warn) {
        Ok(plan) => Found::Nothing(refusal, Box::new(plan)),
        Err(_) => Found::Refused(refusal),
    }
}

/// Returns what to start: the program itself where that is certain, else a shell with the spelling that was judged.
pub(super) fn command(judged: &CommandDecision<'_, '_>) -> Vec<String> {
    if let Some(argv) = judged.argv() {
        return argv;
    }
    let rendered = judged.rendered().unwrap_or_else(|| judged.text.to_owned());
    vec!["bash".to_owned(), "-c".to_owned(), rendered]
}

fn limit<T>(bound: Option<T>) -> Limit<T> {
    bound.map_or(Limit::Unlimited, Limit::AtMost)
}

fn number(bound: Option<u64>) -> i64 {
    bound.and_then(|bound| i64::try_from(bound).ok()).unwrap_or(-1)
}

const fn network(plan: &Plan) -> &'static str {
    match plan.network {
        Network::None => "none",
        Network::Broker { .. } | Network::Proxy(_) => "broker",
        Network::Open => "open",
    }
}
