//! By the crate, as a program that embeds the guard.

use std::path::Path;
use std::sync::Arc;

use stockade_guard::admission::SkillSource;
use stockade_guard::admission::answers::{
    AnswerStore, AnswerTerms, AskedCommand, CommandAnswers, CommandQuestion,
};
use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::command::answers::CommandAnswer;
use stockade_guard::command::shell::{Shell, quote_argv};
use stockade_guard::exec::run::{Input, Stream, Streams};
use stockade_guard::output::ProfileOverride;
use stockade_guard::policy::{Access, ToolCatalog};
use stockade_guard::scanner::Scanner;
use stockade_guard::{Guard, GuardError, GuardOptions, RunAnswer, Session, SessionOptions};

use super::{House, Probe, TASK, UNNAMED, ended, held, output, recorded, refused, skill};

pub(super) fn ask(house: &House, probe: &Probe) -> String {
    let session = match session(house) {
        Ok(session) => session,
        Err(lacks) => return lacks.to_owned(),
    };
    match probe {
        Probe::Tool(name) => session.tool(name, None).unwrap().effect.to_string(),
        Probe::Read(path) => asked(house, &session, Access::Read, path),
        Probe::Write(path) => asked(house, &session, Access::Write, path),
        Probe::Command(text) => session.command(text).unwrap().effect.to_string(),
        Probe::Run(argv) => match run(house, &session, argv) {
            Ok((code, sandbox, printed)) => ended(code, &sandbox, &printed),
            Err((rule, reason)) => refused(&rule, &reason),
        },
        Probe::Output(argv) => {
            let (_, _, printed) = run(house, &session, argv).unwrap();
            let wish = ProfileOverride::default();
            let result = session.result("bash", &printed, None, Scanner::builtin(), &wish).unwrap();
            output(&result.text, result.truncated)
        }
        Probe::Answered(word) => answered(house, &session, word),
        Probe::Limits(_) => session.take_step(&session.begin(TASK)).unwrap().rule.name().to_owned(),
        Probe::Skill(_) => {
            let folder = house.home().join("plain");
            let admission = session.admit(&SkillSource::Path(&folder), Scanner::builtin()).unwrap();
            let name = admission.name();
            skill(name, admission.loaded().as_ref().map(|skill| skill.body()))
        }
        Probe::Host(host) => session.host(host).unwrap().effect.to_string(),
        Probe::Recorded => {
            assert!(session.tool("read", None).unwrap().is_allowed());
            recorded(&house.home())
        }
        Probe::Anchored | Probe::Evaluated | Probe::Hooked(_) => {
            unreachable!("the crate leaves it to its caller")
        }
    }
}

/// A session, or what it lacks: a store in which its limits are known, or an agent that is.
fn session(house: &House) -> Result<Session, &'static str> {
    let options = GuardOptions {
        agent: "bot".to_owned(),
        workspace: house.work(),
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    let guard = match Guard::open(&house.config(), options) {
        Err(GuardError::Agent(_)) => return Err(UNNAMED),
        guard => guard.unwrap(),
    };
    let path = guard.audit().path.clone().unwrap_or_else(|| house.state("audit.db"));
    let trail = AuditTrail::open(&path, AuditOptions::default()).unwrap();
    let limits = Box::new(house.store().ok_or("store")?);
    Ok(guard.session(SessionOptions { limits, trail }))
}

fn asked(house: &House, session: &Session, access: Access, path: &str) -> String {
    let path = house.path(path);
    session.path("tool", access, Path::new(&path)).unwrap().decision.effect.to_string()
}

/// How a command ended, in which sandbox, and what it printed; or the rule that refuses it.
/// The code of a command, what it ran in, and what it printed.
type Ran = (i64, String, Vec<u8>);

/// Runs a command, or returns the rule that refused it, and why.
fn run(house: &House, session: &Session, argv: &[&str]) -> Result<Ran, (String, String)> {
    let argv: Vec<String> = argv.iter().map(|word| house.path(word)).collect();
    let text = quote_argv(argv.iter().map(String::as_str));
    let streams =
        Streams { stdin: Input::Empty, stdout: Stream::Keep, stderr: Stream::Keep, ..Streams::default() };
    match session.run(&text, streams).unwrap() {
        RunAnswer::Ran(ran) => {
            let outcome = &ran.report.outcome;
            let printed = [outcome.output.stdout.as_slice(), outcome.output.stderr.as_slice()].concat();
            Ok((outcome.exit_code().into(), ran.report.plan.provider.name().to_owned(), printed))
        }
        RunAnswer::Pending(pending) => Err(refusal(pending.decision())),
        RunAnswer::Refused(decision) | RunAnswer::Unsandboxed(decision) => Err(refusal(&decision)),
        other => panic!("{other:?}"),
    }
}

fn refusal(decision: &stockade_guard::Decision) -> (String, String) {
    (decision.rule.name().to_owned(), decision.reason.clone())
}

/// What a person says to a command, and whether it holds then.
pub(super) fn answered(house: &House, session: &Session, word: &str) -> String {
    let store = AnswerStore::new(house.state("answers.json"));
    let answers = Arc::new(CommandAnswers::new(AnswerTerms::MAX_TERMS, Some(store)));
    let place = session.guard().command_place();
    let decision = session.guard().decide_command("unheard-of --flag", &Default::default(), &place);
    let asked = AskedCommand { agent: "bot", shell: Shell::default(), place: &place, variables: None };
    let question = CommandQuestion::of(&decision, &asked).unwrap();
    let answer = match word {
        "allow-session" => CommandAnswer::AllowSession,
        _ => CommandAnswer::AllowAlways,
    };
    answers.answer_within(&question, answer, session.answer_terms()).unwrap();
    held(answers.recall_within(&question, session.answer_terms()).unwrap().is_some())
}

/// The same, for a entry point that only asks.
pub(super) fn say(house: &House, word: &str) {
    answered(house, &session(house).unwrap(), word);
}
