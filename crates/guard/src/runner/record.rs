//! Content of the two records of a command.

use std::path::PathBuf;

use stockade_exec_sandbox::Property;
use stockade_files::MountAliases;

use crate::audit::{
    AuditError, AuditEvent, AuditTrail, ClosedWord, ClosedWords, EventKind, EventSeverity, field,
};
use crate::exec::provider::Provider;
use crate::exec::{Denial, End, Enforcement, LeftBy, Network, Outcome, Plan};
use crate::guard::Decision;

/// Whether the command cannot change its own record. One without a sandbox has the user's rights, which the record states.
pub(super) fn out_of_reach(trail: Option<&AuditTrail>, plan: &Plan) -> Result<(), AuditError> {
    match trail.filter(|_| plan.provider != Provider::Nothing) {
        Some(trail) => {
            // A mount of a part of the workspace is another name for what is in it.
            let mounts = MountAliases::of_process().map_err(|error| AuditError::Unusable {
                path: PathBuf::new(),
                doing: "reading the mounts of this process",
                source: error.into(),
            })?;
            trail.check_out_of_reach(|path| mounts.of(path).iter().find_map(|path| plan.may_write(path)))
        }
        None => Ok(()),
    }
}

/// Adds the plan to the event that begins a run.
pub(super) fn planned(event: AuditEvent, plan: &Plan) -> AuditEvent {
    // Each process is limited, also without a sandbox; what a container engine limits is in the plan.
    let is_contained = matches!(plan.provider, Provider::Container(_) | Provider::Added(_));
    let memory = plan.limits.memory.bound().filter(|_| !is_contained || bounds_memory(&plan.enforcement));
    held(event, plan, &plan.enforcement, memory)
}

/// Returns the event with a command's end and what was enforced.
pub(super) fn ended(
    owner: AuditEvent,
    plan: &Plan,
    outcome: &Outcome,
    hosts_refused: &[Decision],
) -> AuditEvent {
    let code = outcome.end.exit_code();
    let enforcement = &outcome.enforcement;
    let pair = |property: Property, means| ClosedWord::pair(property.description(), means);
    let enforced: ClosedWords =
        enforcement.enforced.iter().map(|(property, means)| pair(*property, means)).collect();
    let gaps: ClosedWords = enforcement.gaps.iter().map(|gap| pair(gap.property, gap.why)).collect();
    let event = AuditEvent {
        kind: if outcome.end == End::Exited(0) {
            EventKind::SandboxCompleted
        } else {
            EventKind::SandboxError
        },
        exit_code: Some(code.into()),
        duration: Some(outcome.usage.wall_time),
        ..owner
    };
    let memory = plan.limits.memory.bound().filter(|_| bounds_memory(enforcement));
    let event = held(event, plan, enforcement, memory).with(field::END, outcome.end.name());
    let event = match cause(outcome) {
        Some(cause) => event.with(field::CAUSE, cause),
        None => event,
    };
    let event = event.with(field::ENFORCED, enforced).with(field::GAPS, gaps);
    let event = left(event, outcome);
    match hosts_refused {
        [] => event,
        refused => {
            let hosts: Vec<String> = refused.iter().map(|decision| decision.subject.clone()).collect();
            event.with(field::HOSTS_REFUSED, hosts)
        }
    }
}

/// Adds files in the workspace that other programs obey. Those that run programs make it a warning; files that projects change
/// daily are only listed.
fn left(event: AuditEvent, outcome: &Outcome) -> AuditEvent {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let paths = |left_by: LeftBy| -> Vec<String> {
        let of_it = outcome.quarantine.iter().filter(|found| found.left_by == left_by);
        of_it.map(|found| path(&found.path)).collect()
    };
    let unmoved: Vec<String> = outcome
        .quarantine
        .iter()
        .filter(|found| found.moved_to.is_none())
        .map(|found| path(&found.path))
        .collect();
    let rows = [
        (field::QUARANTINED, paths(LeftBy::ThisCommand)),
        (field::QUARANTINED_OF_EARLIER, paths(LeftBy::EarlierCommand)),
        (field::NOT_MOVED, unmoved),
        (field::CHANGED, outcome.changed.iter().map(|changed| path(&changed.path)).collect()),
        (field::EXPOSED, outcome.exposed.iter().map(|exposed| path(&exposed.path)).collect()),
    ];
    let rows = rows.into_iter().filter(|(_, paths)| !paths.is_empty());
    let event = rows.fold(event, |event, (name, paths)| event.with(name, paths));
    match outcome.quarantine.is_empty() {
        true => event,
        false => AuditEvent { severity: Some(EventSeverity::Warn), ..event },
    }
}

/// Returns why a command was ended: the exceeded limit, or the cancellation.
fn cause(outcome: &Outcome) -> Option<ClosedWord> {
    let refused = |wanted: &Denial| outcome.denials.contains(wanted);
    let cause = match outcome.end {
        End::Exited(0) => return None,
        End::TimedOut => "time",
        End::OutOfCpuTime => "processor time",
        End::OutOfMemory => "memory",
        End::OutOfDisk => "disk",
        End::Cancelled => "cancelled",
        End::NotFound => "no such program",
        End::NotExecutable => "no program",
        End::Signalled(signal) if !refused(&Denial::Memory) => {
            return Some(ClosedWord::counted("signal", signal));
        }
        _ if refused(&Denial::Memory) => "memory",
        _ if refused(&Denial::Processes) => "processes",
        _ if refused(&Denial::FileSize) => "file size",
        _ if refused(&Denial::Scratch) => "temporary files",
        End::Exited(code) => return Some(ClosedWord::counted("exit code", code)),
        _ => "not known",
    };
    Some(cause.into())
}

fn bounds_memory(enforcement: &Enforcement) -> bool {
    enforcement.holds(Property::Memory) || enforcement.holds(Property::TotalMemory)
}

/// Adds the enforced limits. A limit that was requested but not enforced is not recorded.
fn held(event: AuditEvent, plan: &Plan, enforcement: &Enforcement, memory: Option<u64>) -> AuditEvent {
    let memory = memory.and_then(|bound| i64::try_from(bound).ok()).unwrap_or(-1);
    let event = AuditEvent { backend: Some(plan.provider.name().into()), ..event };
    let event = event.with(field::MEMORY, memory).with(field::NETWORK, network(plan, enforcement));
    loud(event.with(field::FILES, files(plan, enforcement)), plan)
}

/// Returns which files of this machine the command could change.
fn files(plan: &Plan, enforcement: &Enforcement) -> &'static str {
    match plan.may_write(&plan.workspace) {
        _ if !enforcement.holds(Property::Files) => "open",
        Some(_) => "workspace",
        None => "read-only",
    }
}

/// A command without a sandbox is a warning, however it ends.
fn loud(event: AuditEvent, plan: &Plan) -> AuditEvent {
    match plan.provider {
        Provider::Nothing => AuditEvent { severity: Some(EventSeverity::Warn), ..event },
        _ => event,
    }
}

/// Returns the reachable network. A restriction counts only if it is enforced.
pub(super) fn network(plan: &Plan, enforcement: &Enforcement) -> &'static str {
    match plan.network {
        Network::None if enforcement.holds(Property::Network) => "none",
        Network::Proxy(ref handoff) if handoff.observes() && enforcement.holds(Property::Network) => {
            "observed"
        }
        Network::Broker { .. } | Network::Proxy(_) if enforcement.holds(Property::Network) => "broker",
        Network::None | Network::Broker { .. } | Network::Proxy(_) | Network::Open => "open",
    }
}
