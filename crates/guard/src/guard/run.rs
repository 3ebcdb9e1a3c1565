//! Runs a command: read, judged, planned, put on record, and only then started.

use stockade_policy::{CommandDecision, Effect, PermissionDecision, Reply};

use super::{Decision, DecisionLayer, Guard, GuardError, reply_name};
use crate::audit::{AuditError, AuditEvent, EventKind, Recorded};
use crate::config::{Backend, ExecConfig, OnUnavailable};
use crate::exec::{
    End, Limit, Limits, Network, Outcome, Plan, Refusal, RunError, SandboxSpec, Streams, Unavailable, plan,
    plan_and_run, probe,
};

/// What came of a command.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum RunAnswer {
    /// It ran.
    Ran(Box<Ran>),
    /// A person must be asked first: see [`Guard::answer_run`].
    Pending(Box<PendingRun>),
    /// It was refused, and nothing ran.
    Refused(Decision),
    /// Nothing ran. It may run, and the configuration says: never in a sandbox. Whoever embeds the guard has to do that, and
    /// knows then that they do.
    Unsandboxed(Decision),
}

/// A command that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// What was decided about it.
    pub decision: Decision,
    /// How it ended, what it printed, and what was enforced.
    pub outcome: Outcome,
    /// What made its sandbox: `native`, `bwrap` …
    pub backend: &'static str,
    /// Why its end is not on record, if it is not. The trail ends the run when it is opened next.
    pub unrecorded: Option<AuditError>,
}

/// A command that waits for an answer.
#[derive(Debug)]
#[must_use = "a command that waits for an answer is not allowed"]
pub struct PendingRun {
    text: String,
    decision: Decision,
    streams: Streams,
}

impl PendingRun {
    /// What was decided, to be shown to a person.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl Guard {
    /// Runs a command of the agent in a sandbox, if it may run.
    ///
    /// # Errors
    /// When it cannot be put on record; nothing ran then.
    pub fn run(&self, text: &str, streams: Streams) -> Result<RunAnswer, GuardError> {
        let (decision, judged) = self.judged(text)?;
        match decision.effect {
            Effect::Allow | Effect::Sandbox => self.start(text, judged.as_ref(), decision, streams),
            Effect::Ask => {
                let text = text.to_owned();
                Ok(RunAnswer::Pending(Box::new(PendingRun { text, decision, streams })))
            }
            Effect::Deny => Ok(RunAnswer::Refused(decision)),
        }
    }

    /// Goes on with a command that somebody was asked about. The answer holds for this command, this time.
    ///
    /// # Errors
    /// As [`Guard::run`].
    pub fn answer_run(&self, pending: PendingRun, reply: Reply) -> Result<RunAnswer, GuardError> {
        let PendingRun { text, decision, streams } = pending;
        let event = self.event(EventKind::ApprovalAnswered).with("id", decision.id.as_str());
        self.record(event.with("answer", reply_name(&reply)))?;
        let yes =
            matches!(reply, Reply::Decision(PermissionDecision::Allow | PermissionDecision::AllowSession));
        if !yes {
            let reason = "a person was asked, and did not say yes".to_owned();
            let decision =
                self.decided(DecisionLayer::Person, Effect::Deny, &text, "answer", reason, None)?;
            return Ok(RunAnswer::Refused(decision));
        }
        // Judged again: what was asked about is what runs.
        let place = self.place();
        let judged = self.commands.decide(&text, &Default::default(), &place);
        if judged.effect == Effect::Deny {
            let reason = "the rules have changed since somebody was asked".to_owned();
            return self.refuse(&text, "changed", reason, None);
        }
        self.start(&text, Some(&judged), decision, streams)
    }

    fn start(
        &self,
        text: &str,
        judged: Option<&CommandDecision<'_, '_>>,
        decision: Decision,
        streams: Streams,
    ) -> Result<RunAnswer, GuardError> {
        let on_unavailable = match self.config.exec.backend {
            Backend::Sandbox(on_unavailable) => on_unavailable,
            Backend::Direct => return Ok(RunAnswer::Unsandboxed(decision)),
        };
        let spec = self.spec(command(text, judged), on_unavailable);
        let planned = match plan(&spec, &probe(&spec)) {
            Ok(plan) => plan,
            Err(refusal) => return self.no_sandbox(text, &refusal),
        };
        let started =
            self.event(EventKind::SandboxStarted).with("id", decision.id.as_str()).with("command", text);
        let audited = self.trail.start(AuditEvent {
            decision: Some(decision.effect.to_string()),
            rule: Some(decision.rule.clone()),
            backend: Some(planned.provider.name().to_owned()),
            ..started.with("memory", number(planned.limits.memory.bound())).with("network", network(&planned))
        })?;
        match plan_and_run(&spec, streams) {
            Ok((plan, outcome)) => {
                let unrecorded = match audited.end(self.ended(&plan, &outcome)) {
                    Ok(Recorded::Kept(_)) => None,
                    Ok(Recorded::Lost(error)) | Err(error) => Some(error),
                };
                Ok(RunAnswer::Ran(Box::new(Ran {
                    decision,
                    outcome,
                    backend: plan.provider.name(),
                    unrecorded,
                })))
            }
            Err(error) => {
                // Where it is lost all the same, the owner of the trail has chosen that.
                drop(audited.end(self.event(EventKind::SandboxError).with("error", error.to_string()))?);
                match error {
                    RunError::Refused(refusal) => self.no_sandbox(text, &refusal),
                    error => self.refuse(text, "cannot-run", error.to_string(), None),
                }
            }
        }
    }

    fn no_sandbox(&self, text: &str, refusal: &Refusal) -> Result<RunAnswer, GuardError> {
        self.refuse(text, "sandbox", refusal.to_string(), Some(refusal.fix.clone()))
    }

    fn refuse(
        &self,
        text: &str,
        rule: &str,
        reason: String,
        fix: Option<String>,
    ) -> Result<RunAnswer, GuardError> {
        let decision = self.decided(DecisionLayer::Sandbox, Effect::Deny, text, rule, reason, fix)?;
        Ok(RunAnswer::Refused(decision))
    }

    fn spec(&self, command: Vec<String>, on_unavailable: OnUnavailable) -> SandboxSpec {
        let ExecConfig { read_only, network, timeout, memory, processes, output, .. } = &self.config.exec;
        SandboxSpec {
            unavailable: match on_unavailable {
                OnUnavailable::Refuse => Unavailable::Refuse,
                OnUnavailable::Warn => Unavailable::Warn,
            },
            read_only: read_only.clone(),
            shared: self.shared.clone(),
            network: if *network { Network::Open } else { Network::None },
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

    fn ended(&self, plan: &Plan, outcome: &Outcome) -> AuditEvent {
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
        event.with("end", format!("{:?}", outcome.end)).with("enforced", enforced).with("gaps", gaps)
    }
}

/// Returns what to start: the program itself where that is certain, else a shell with the spelling that was judged.
fn command(text: &str, judged: Option<&CommandDecision<'_, '_>>) -> Vec<String> {
    if let Some(argv) = judged.and_then(CommandDecision::argv) {
        return argv;
    }
    let rendered = judged.and_then(CommandDecision::rendered).unwrap_or_else(|| text.to_owned());
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
        Network::Broker { .. } => "broker",
        Network::Open => "open",
    }
}
