//! `stockade install --observe`: the hook records what it would refuse, and refuses only what no rule can allow.
#![expect(clippy::disallowed_methods, reason = "finds the configuration of this directory")]

use std::env;
use std::fmt::Write as _;

use stockade_guard::audit::{AuditEvent, EventKind, Recorded, field};
use stockade_guard::config::{Config, ConfigSources, HookMode};
use stockade_harness::Harness;
use stockade_state::approvals::set_hook_mode;
use stockade_state::trail;

use crate::commands::approval::in_the_past;
use crate::failure::{Failure, with_causes};

/// Sets the mode of a harness's hook, on record, and returns the output. Nothing is printed if it already is `enforce`.
pub(super) fn set(harness: &Harness, mode: HookMode, is_dry: bool) -> Result<String, Failure> {
    // A configuration that cannot be used refuses everything.
    if mode == HookMode::Enforce && !observes(harness) {
        return Ok(String::new());
    }
    let planned = set_hook_mode(harness.name, mode, false)?;
    if is_dry {
        return Ok(planned.told.iter().map(|line| format!("would {line}\n")).collect());
    }
    let mut out = String::new();
    if planned.is_there.is_none() {
        record(harness, mode)?;
        for line in set_hook_mode(harness.name, mode, true)?.told {
            writeln!(out, "{}", in_the_past(&line)).ok();
        }
    }
    out.push_str(&match mode {
        HookMode::Observe => format!(
            "The hook of {0} observes: it records what it would refuse, ask about or run in the sandbox, and leaves that to {0}'s own \
             permission prompts. Only what no rule can allow, and what a rule denies, is refused\n  = enforce: stockade install {1}\n",
            harness.title, harness.name
        ),
        HookMode::Enforce => format!("The hook of {} enforces again\n", harness.title),
    });
    Ok(out)
}

/// Whether the hook of a harness observes. A configuration that cannot be used refuses everything, so its hook does not.
pub(in crate::commands) fn observes(harness: &Harness) -> bool {
    let here = env::current_dir().unwrap_or_default();
    let sources = ConfigSources { agents: vec![harness.name.to_owned()], ..ConfigSources::of_process(&here) };
    let agent = Config::load(&sources).ok().and_then(|config| config.agent(harness.name).ok());
    agent.is_some_and(|agent| agent.hook_mode == HookMode::Observe)
}

/// Records the change before it is made.
fn record(harness: &Harness, mode: HookMode) -> Result<(), Failure> {
    let sources = ConfigSources::of_process(&env::current_dir().unwrap_or_default());
    let config = Config::load(&sources).map_err(|error| crate::commands::config::failure(&error))?;
    let unrecorded = |error: &dyn std::error::Error| {
        Failure::incomplete(format_args!(
            "cannot record the mode of the hook, so it was not changed: {}",
            with_causes(error)
        ))
        .with_help("run `stockade doctor` to check the audit trail, or set another file with `audit.path`")
    };
    let trail = trail::open(&config).map_err(|error| unrecorded(&error))?;
    let change = if mode == HookMode::Observe { "hook-observes" } else { "hook-enforces" };
    let by = u64::from(rustix::process::getuid().as_raw());
    let event = AuditEvent { agent: Some(harness.name.into()), ..AuditEvent::new(EventKind::PolicyChanged) };
    let event = event.with(field::CHANGE, change).with(field::BY, by);
    match trail.record(event).map_err(|error| unrecorded(&error))? {
        // With `audit.onUnrecorded = "warn"`, it is changed anyway.
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}
