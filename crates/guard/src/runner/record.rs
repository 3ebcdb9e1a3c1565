//! What the two records of a command say.

use stockade_exec_sandbox::Property;

use crate::audit::{AuditEvent, EventKind, EventSeverity};
use crate::exec::{End, Enforcement, Network, Outcome, Plan, Provider};
use crate::guard::Decision;

/// Adds what is planned to the event that begins a run.
pub(super) fn planned(event: AuditEvent, plan: &Plan) -> AuditEvent {
    let memory = plan.limits.memory.bound().and_then(|bound| i64::try_from(bound).ok()).unwrap_or(-1);
    let event = AuditEvent { backend: Some(plan.provider.name().to_owned()), ..event };
    loud(event.with("memory", memory).with("network", network(plan, &plan.enforcement)), plan)
}

/// Makes an event of how a command ended and of what was enforced meanwhile.
pub(super) fn ended(
    owner: AuditEvent,
    plan: &Plan,
    outcome: &Outcome,
    hosts_refused: &[Decision],
) -> AuditEvent {
    let code = outcome.end.exit_code();
    let enforcement = &outcome.enforcement;
    let enforced: Vec<String> =
        enforcement.enforced.iter().map(|(property, means)| format!("{property}: {means}")).collect();
    let gaps: Vec<String> =
        enforcement.gaps.iter().map(|gap| format!("{}: {}", gap.property, gap.why)).collect();
    let event = AuditEvent {
        kind: if outcome.end == End::Exited(0) {
            EventKind::SandboxCompleted
        } else {
            EventKind::SandboxError
        },
        exit_code: Some(code.into()),
        duration: Some(outcome.usage.wall_time),
        backend: Some(plan.provider.name().to_owned()),
        ..owner
    };
    let event = event.with("end", outcome.end.name()).with("network", network(plan, enforcement));
    let event = loud(event.with("enforced", enforced).with("gaps", gaps), plan);
    match hosts_refused {
        [] => event,
        refused => {
            let hosts: Vec<String> = refused.iter().map(|decision| decision.subject.clone()).collect();
            event.with("hosts_refused", hosts)
        }
    }
}

/// A command without a sandbox is worth a look, however it ends.
fn loud(event: AuditEvent, plan: &Plan) -> AuditEvent {
    match plan.provider {
        Provider::Nothing => AuditEvent { severity: Some(EventSeverity::Warn), ..event },
        _ => event,
    }
}

/// What is reached of the network. What a plan asks for counts only where it is enforced.
pub(super) fn network(plan: &Plan, enforcement: &Enforcement) -> &'static str {
    match plan.network {
        Network::None if enforcement.holds(Property::Network) => "none",
        Network::Broker { .. } | Network::Proxy(_) if enforcement.holds(Property::Network) => "broker",
        Network::None | Network::Broker { .. } | Network::Proxy(_) | Network::Open => "open",
    }
}
