//! Decides on a command, runs it, and keeps both on record: `cargo run --example audited_run -- TRAIL 'COMMAND'`.
//!
//! It runs the command without a sandbox, since this example is about the trail. Use a sandbox.
#![expect(
    clippy::disallowed_methods,
    reason = "takes arguments, runs a command and measures how long it takes"
)]
#![expect(clippy::print_stdout, reason = "prints each step")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use stockade_guard::audit::{AuditEvent, AuditOptions, AuditTrail, EventKind, Recorded, field};
use stockade_guard::command::shell::ReadOptions;
use stockade_guard::command::{CommandContext, CommandPolicy, Effect};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), Some(command)) = (arguments.next(), arguments.next()) else {
        return Err("usage: audited_run TRAIL 'COMMAND'".into());
    };
    let command = command.into_string().map_err(|_| "the command is no text")?;
    let trail = AuditTrail::open(&PathBuf::from(path), AuditOptions::default())?;

    let policy = CommandPolicy::builtin();
    let decision = policy.decide(&command, &ReadOptions::default(), &CommandContext::default());
    let rule = decision.parts.iter().max_by_key(|part| part.effect).map(|part| part.cause.id().into());
    let may_run = decision.effect <= Effect::Sandbox;
    let kind = if may_run { EventKind::CommandAllowed } else { EventKind::CommandDenied };
    let event = AuditEvent { decision: Some(decision.effect.name().into()), rule, ..AuditEvent::new(kind) };
    told(trail.record(event.with(field::COMMAND, command.as_str()))?);
    if !may_run {
        println!("refused: {command}");
        return Ok(());
    }

    // On record before it begins: if the machine stops now, the next to open the trail sees what was under way.
    let run =
        trail.start(AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, command.as_str()))?;
    let began = Instant::now();
    let status = Command::new("sh").args(["-c", &command]).status()?;
    let kind = if status.success() { EventKind::SandboxCompleted } else { EventKind::SandboxError };
    let duration = Some(began.elapsed());
    told(run.end(AuditEvent { exit_code: status.code(), duration, ..AuditEvent::new(kind) })?);
    Ok(())
}

fn told(recorded: Recorded) {
    match recorded {
        Recorded::Kept(head) => println!("record {}", head.id),
        Recorded::Lost(error) => println!("not on record: {error}"),
    }
}
