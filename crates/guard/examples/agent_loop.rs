//! A complete agent in a hundred lines, with a model that reads from a script: `cargo run --example agent_loop`.
//!
//! Every step of an agent that touches the world goes through the guard: the skill that it loads, the tool that it wants,
//! what the call may cost, the path or the command, and the person who is asked. What the model gets back is the result,
//! or the reason why not with what would change it, so that it can do something else.
#![expect(clippy::disallowed_methods, reason = "lays out the folder that it works in")]
#![cfg_attr(not(test), expect(clippy::print_stdout, reason = "prints each step"))]

use std::path::Path;
use std::time::Duration;

use stockade_guard::admission::{Authorization, SkillSource};
use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::run::Streams;
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::store::MemoryStore;
use stockade_guard::policy::{Access, PermissionDecision, Reply, ToolCatalog};
use stockade_guard::scanner::Scanner;
use stockade_guard::{Guard, GuardError, GuardOptions, RunAnswer, Session, SessionOptions};

/// What a model may say.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Call a tool with an argument.
    Call(&'static str, &'static str),
    /// Answer, and end.
    Answer(&'static str),
}

const SKILL: &str =
    "---\nname: tidy\ndescription: Tidies a project.\n---\nLook at the notes, then count the files.\n";

/// What the model of this example says, one step after the other, whatever it gets back.
const SCRIPT: &[Step] = &[
    Step::Call("read", "notes.md"),
    Step::Call("read", "../../etc/passwd"),
    Step::Call("browser", "https://x.example"),
    Step::Call("exec", "rm -rf /"),
    Step::Call("exec", "git push --force"),
    Step::Call("exec", "ls"),
    Step::Answer("There is one file."),
];

#[cfg(not(test))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    for line in run(folder.path(), SCRIPT)? {
        println!("{line}");
    }
    Ok(())
}

/// Runs the agent in a folder, and returns what its model saw.
pub(crate) fn run(folder: &Path, script: &[Step]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let folder = folder.canonicalize()?;
    let workspace = folder.join("work");
    write(&workspace.join("notes.md"), "Count the files.\n")?;
    let config = Config::load(&ConfigSources {
        flags: vec![("agents.tidy.files.preset".into(), "default".into())],
        ..ConfigSources::default()
    })?;
    let trail = AuditTrail::open(&folder.join("audit.jsonl"), AuditOptions::default())?;
    let options =
        GuardOptions { agent: "tidy".into(), workspace, catalog: ToolCatalog::default(), rules: Vec::new() };
    let limits = Box::new(MemoryStore::new(|| Duration::from_secs(1)));
    let mut session = Guard::open(&config, options)?.session(SessionOptions { limits, trail });

    // The skill is admitted before the model sees it.
    let source = SkillSource::Text { name: "SKILL.md", text: SKILL };
    let skill = session.admit(&source, Scanner::builtin())?.loaded().ok_or("the skill was blocked")?;
    session.activate(&skill);
    let mut context = vec![skill.prompt("", Scanner::builtin())?];

    let task = session.begin("task-1");
    for step in script {
        let (tool, argument) = match step {
            Step::Answer(answer) => {
                context.push(format!("answer: {answer}"));
                break;
            }
            Step::Call(tool, argument) => (*tool, *argument),
        };
        // Before the model is asked again: may it go on, and at what price?
        let (decision, call) = session.begin_call(&task, Usage::tokens(500))?;
        let Some(call) = call else {
            context.push(decision.to_string());
            break;
        };
        let result = call_tool(&mut session, tool, argument)?;
        context.push(format!("{tool} {argument}: {result}"));
        session.end_call(call, Usage::tokens(120), CallOutcome::Success)?;
    }
    Ok(context)
}

/// Makes one tool call. Returns its result, or the reason of a refusal.
fn call_tool(session: &mut Session, tool: &str, argument: &str) -> Result<String, GuardError> {
    let decision = session.tool(tool, Some(argument))?;
    if !decision.is_allowed() {
        return Ok(decision.to_string());
    }
    match tool {
        "read" => {
            let answer = session.path(tool, Access::Read, Path::new(argument))?;
            let Authorization::Granted(granted) = answer.authorization else {
                return Ok(answer.decision.to_string());
            };
            let text = granted.into_file().and_then(std::io::read_to_string);
            Ok(text.unwrap_or_else(|error| error.to_string()))
        }
        _ => {
            let answer = session.run(argument, Streams::default())?;
            let answer = match answer {
                // A person would be asked here; this one always says no.
                RunAnswer::Pending(pending) => {
                    session.answer_run(*pending, Reply::Decision(PermissionDecision::Deny))?
                }
                answer => answer,
            };
            Ok(match answer {
                RunAnswer::Ran(ran) => {
                    let printed = String::from_utf8_lossy(&ran.report.outcome.output.stdout).into_owned();
                    format!("{:?}\n{printed}", ran.report.outcome.end)
                }
                RunAnswer::Refused(decision) | RunAnswer::Unsandboxed(decision) => decision.to_string(),
                _ => "nothing".to_owned(),
            })
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
