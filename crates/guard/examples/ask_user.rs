//! Runs a command, and asks a person where the rules say so: `cargo run --example ask_user -- 'git push --force'`.
//!
//! An answer is for this command, this time, and is recorded. A program without a user to ask answers no.
#![expect(clippy::disallowed_methods, reason = "asks on the terminal, and makes a folder to work in")]
#![cfg_attr(not(test), expect(clippy::print_stdout, reason = "talks to a person"))]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::run::Streams;
use stockade_guard::limits::store::MemoryStore;
use stockade_guard::policy::{Reply, ToolCatalog};
use stockade_guard::{Decision, Guard, GuardOptions, RunAnswer, SessionOptions};

#[cfg(not(test))]
fn main() -> Result<(), Box<dyn Error>> {
    let command = std::env::args().nth(1).ok_or("usage: ask_user COMMAND")?;
    let folder = tempfile::tempdir()?;
    println!("{}", run(folder.path(), &command, ask)?);
    Ok(())
}

/// Asks on the terminal. Anything but `y` is a no, the end of the input too.
#[cfg(not(test))]
fn ask(decision: &Decision) -> Reply {
    use stockade_guard::policy::PermissionDecision;

    println!("{decision}\nRun it all the same? [y/N]");
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    let yes = read.is_ok() && line.trim() == "y";
    Reply::Decision(if yes { PermissionDecision::Allow } else { PermissionDecision::Deny })
}

/// Runs a command in a folder, and returns what it printed or why it did not run.
pub(crate) fn run(
    folder: &Path,
    command: &str,
    ask: impl FnOnce(&Decision) -> Reply,
) -> Result<String, Box<dyn Error>> {
    let folder = folder.canonicalize()?;
    let workspace = folder.join("work");
    std::fs::create_dir_all(&workspace)?;
    let options = GuardOptions {
        agent: "helper".into(),
        workspace,
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    let guard = Guard::open(&Config::load(&ConfigSources::default())?, options)?;
    let session = guard.session(SessionOptions {
        limits: Box::new(MemoryStore::new(|| Duration::from_secs(1))),
        trail: AuditTrail::open(&folder.join("audit.jsonl"), AuditOptions::default())?,
    });

    let answer = match session.run(command, Streams::default())? {
        RunAnswer::Pending(pending) => {
            let reply = ask(pending.decision());
            session.answer_run(*pending, reply)?
        }
        answer => answer,
    };
    Ok(match answer {
        RunAnswer::Ran(ran) => String::from_utf8_lossy(&ran.report.outcome.output.stdout).into_owned(),
        RunAnswer::Refused(decision) | RunAnswer::Unsandboxed(decision) => decision.to_string(),
        _ => return Err("no answer".into()),
    })
}
