//! `command.evaluate`: what may become of a command, part by part.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::admission::answers::{AnswerTerms, AnsweredCommand, AskedCommand, CommandQuestion};
use stockade_guard::command::{Cause, CommandDecision, Effect, Part, Suggestion};
use stockade_guard::{EvaluatedFor, Session, evaluation_event};

use super::super::answers::{self, AnsweredBy, Reply, Said};
use super::super::trail::evaluated;
use super::super::{AskedBy, Json, Lane, Parameters};
use super::question::{Asked, Question};
use super::{Argv, ByteSpan, ShellName, argv};
use crate::Server;
use crate::fault::Fault;
use crate::guarded::undecided;

/// The most parts that an answer lists, so that it is not many times as long as the question.
const MAX_JUDGED: usize = 1000;

/// Decide what may become of a command, part by part. What a person has answered to exactly this command for always counts. In
/// a session, so does what they have said in it, and what is asked is returned as a `question`: show it, and send the request
/// again with its `id` and the `answer`. In the session of an agent its configuration decides, rules of the request only make
/// that stricter, and every decision is put on record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct Evaluate {
    /// The command, as text for a shell.
    command: Option<String>,
    /// The same as a program and its arguments.
    argv: Option<Vec<String>>,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
    /// Rules of your own, as objects; they come before the built-in ones.
    #[serde(default)]
    rules: Vec<Map<String, Value>>,
    /// Rules of your own, as the text of a rule file in TOML.
    rules_toml: Option<String>,
    #[serde(default)]
    config: EvaluateConfig,
    /// The folder that it would run in, for rules about folders.
    cwd: Option<PathBuf>,
    /// The workspace, for rules about folders; `cwd` by default.
    workspace: Option<PathBuf>,
    /// Whether to look for rules that would make the decision milder, each for exactly the words of one part. Each is tried,
    /// which takes longer than to decide; false by default.
    #[serde(default)]
    suggest: bool,
    /// A session, whose answers count; those that are kept for later sessions count in each, and without one.
    session: Option<String>,
    /// The variables that it would run with, if they are known. An answer is bound to those that its meaning depends on.
    variables: Option<BTreeMap<String, String>>,
    /// The `id` of the question that a person was shown. When the command, its folder, a variable or a file that it names has
    /// changed since, `answer` counts for nothing.
    question: Option<String>,
    /// What the person has said. What is to hold for more than this request needs `question`, and `session` where it is for that.
    answer: Option<Said>,
}

/// About how many characters of a command are shown.
const MAX_SHOWN: usize = 2000;

/// What holds beside the rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EvaluateConfig {
    /// What becomes of a command that no rule matches: `allow`, `sandbox`, `ask` or `deny`.
    default_action: Option<String>,
    /// Whether dangerous commands are found, whatever the rules say. They always are.
    detect_dangerous: Option<bool>,
}

/// What was decided about the command.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CommandDecision")]
#[serde(rename_all = "camelCase")]
pub(in crate::methods) struct Evaluated {
    /// The strictest action of all parts: `allow`, `sandbox`, `ask` or `deny`.
    action: &'static str,
    /// Why, for the part that decides.
    reason: String,
    /// The rule or the hazard that decides, where it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_rule: Option<String>,
    /// Everything that the command does, each with its own verdict; of more than a thousand things, the strictest.
    commands: Vec<Judged>,
    /// How many of them were left out, where there are more than a thousand.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands_left_out: Option<usize>,
    /// The same command in one canonical spelling, where every word is certain: run this, and what runs is what was
    /// judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    /// What asks or denies, in one line as a person is to see it: padding is counted, and what has no shape is written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    /// What a person is to be asked, in a session: `id`, `shown`, `cwd`, `reasons`, the `variables` and `files` that an answer is
    /// bound to, the `answers` that can be given, and in `once` why no yes can last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    question: Option<CommandQuestion>,
    /// What a person has said, where that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<AnsweredBy>,
    /// Rules that would make the decision milder, where `suggest` asked for them: to show to a person, never to add
    /// automatically.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    suggestions: Vec<SuggestedRule>,
}

/// A rule that would make a decision milder; it was tried.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SuggestedRule {
    /// The rule, in TOML, as `rulesToml` and files of rules hold it.
    rule: String,
    /// What the command becomes with this rule and those before it.
    then: &'static str,
    /// The part that it is about.
    span: ByteSpan,
}

/// One thing that the command does.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CommandPart")]
struct Judged {
    /// The program and its arguments; `null` for a word that is only known when it runs. Empty for what runs nothing.
    argv: Argv,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    reason: String,
    /// What would be safer, for a dangerous command.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<String>,
    span: ByteSpan,
    /// The programs and substitutions that it runs through, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    via: Vec<String>,
}

impl Parameters for Evaluate {
    const METHOD: &'static str = "command.evaluate";
    const LANE: Lane = Lane::Here;
    type Answer = Evaluated;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let question = Question {
            command: self.command,
            argv: self.argv,
            shell: self.shell,
            rules: self.rules,
            rules_toml: self.rules_toml,
            default_action: self.config.default_action,
            detect_dangerous: self.config.detect_dangerous,
            cwd: self.cwd,
            workspace: self.workspace,
        };
        let session = server.session_of(self.session.as_deref())?;
        let guard = session.as_ref().and_then(|session| session.of_agent());
        let guard = guard.map(|guarded| guarded.now(server)).transpose()?;
        let guard = guard.as_ref();
        let told = Told { variables: self.variables, question: self.question, answer: self.answer };
        question.answered(server, guard, |asked| {
            let is_recorded = server.recording()?.is_some();
            let suggestions = if self.suggest || is_recorded { (asked.suggest)() } else { Vec::new() };
            let (effect, evaluated) = answered(server, self.session.as_deref(), guard, &told, asked)?;
            match guard {
                Some(guard) => record_of_agent(guard, asked, &evaluated)?,
                None => record(server, self.session.as_deref(), asked, effect, &suggestions)?,
            }
            let suggested = |one: Suggestion| SuggestedRule {
                rule: one.rule.to_toml(),
                then: one.then.name(),
                span: one.span.into(),
            };
            let suggestions = suggestions.into_iter().filter(|_| self.suggest).map(suggested).collect();
            Ok(Json::of(&Evaluated { suggestions, ..evaluated }))
        })?
    }

    fn reads_disk(server: &Server, parameters: &str) -> bool {
        let names = ["\"session\"", "\"question\"", "\"answer\""];
        !matches!(server.recording(), Ok(None))
            || names.iter().any(|name| parameters.contains(name))
            || server.options.agent.is_some()
            || server.kept_answers.may_hold_any()
    }
}

/// What a request says beside the command.
struct Told {
    variables: Option<BTreeMap<String, String>>,
    question: Option<String>,
    answer: Option<Said>,
}

/// Decides with what people have answered.
fn answered(
    server: &Server,
    session: Option<&str>,
    guard: Option<&Session>,
    told: &Told,
    asked: &Asked<'_, '_, '_>,
) -> Result<(Effect, Evaluated), Fault> {
    let decision = asked.decision;
    let by_rules = (decision.effect, Evaluated::of(decision));
    let is_silent = session.is_none() && told.question.is_none() && told.answer.is_none();
    // Without answers, no file that the command names need be read.
    if is_silent && !server.kept_answers.may_hold_any() {
        return Ok(by_rules);
    }
    let agent = guard.map_or("", |guard| guard.guard().agent());
    let terms = guard.map_or(AnswerTerms::MAX_TERMS, Session::answer_terms);
    let wanted =
        AskedCommand { agent, shell: asked.shell, place: asked.place, variables: told.variables.as_ref() };
    let Some(question) = CommandQuestion::of(decision, &wanted) else { return Ok(by_rules) };
    let answers = answers::of(server, session)?;
    let said = match Reply::of(told.question.as_deref(), told.answer, session, &question)? {
        Reply::Given(said) => answers.answer_within(&question, said, terms).map(Some),
        Reply::None => answers.recall_within(&question, terms),
        Reply::ToAnother => {
            let reason = answers::CHANGED.to_owned();
            return Ok((Effect::Ask, Evaluated { reason, question: Some(question), ..by_rules.1 }));
        }
    };
    Ok(match said.map_err(|error| Fault::internal(&error))? {
        Some(said) => (said.effect, by_rules.1.after(&said)),
        None if is_silent => by_rules,
        None => (Effect::Ask, Evaluated { question: Some(question), ..by_rules.1 }),
    })
}

/// What was decided by the rules, and what a person has said to it.
fn record_of_agent(guard: &Session, asked: &Asked<'_, '_, '_>, evaluated: &Evaluated) -> Result<(), Fault> {
    let decision = guard.decided_on(asked.decision, asked.options, asked.place);
    let decision = decision.map_err(|error| undecided(&error))?;
    let Some(said) = &evaluated.answered else { return Ok(()) };
    guard.record_answer(&decision, said.name()).map_err(|error| Fault::internal(&error))
}

fn record(
    server: &Server,
    session: Option<&str>,
    asked: &Asked<'_, '_, '_>,
    effect: Effect,
    suggestions: &[Suggestion],
) -> Result<(), Fault> {
    let of_session = session.map(|name| server.sessions.find(name)).transpose()?;
    let asked_for = EvaluatedFor {
        door: Evaluate::METHOD,
        agent: of_session.as_ref().map(|session| session.agent()),
        session,
        cwd: asked.place.cwd.as_deref(),
    };
    evaluated(server, || evaluation_event(asked.decision, effect, suggestions, &asked_for))
}

impl Evaluated {
    pub(in crate::methods) fn of(decision: &CommandDecision<'_, '_>) -> Self {
        let decisive = decision.decisive().next();
        Self {
            action: decision.effect.name(),
            reason: decisive.map(|part| part.cause.to_string()).unwrap_or_default(),
            matched_rule: decisive.and_then(rule),
            commands: decision.strictest(MAX_JUDGED).into_iter().map(|part| judged(decision, part)).collect(),
            commands_left_out: decision.parts.len().checked_sub(MAX_JUDGED).filter(|left_out| *left_out > 0),
            rendered: decision.rendered(),
            shown: (decision.effect > Effect::Sandbox).then(|| decision.shown(MAX_SHOWN)),
            question: None,
            answered: None,
            suggestions: Vec::new(),
        }
    }

    /// What holds after a person has said something.
    fn after(self, said: &AnsweredCommand) -> Self {
        let word = if said.answer.is_yes() { "yes" } else { "no" };
        Self {
            action: said.effect.name(),
            reason: format!("a person has said {word} to exactly this ({})", said.answer.name()),
            matched_rule: Some("answer".to_owned()),
            answered: Some(AnsweredBy::of(said)),
            ..self
        }
    }
}

fn judged(decision: &CommandDecision<'_, '_>, part: &Part<'_, '_>) -> Judged {
    Judged {
        argv: part.run().map(argv).unwrap_or_default(),
        action: part.effect.name(),
        rule: rule(part),
        reason: part.cause.to_string(),
        instead: match &part.cause {
            Cause::Hazard(hazard) => Some(hazard.fix.clone()).filter(|fix| !fix.is_empty()),
            _ => None,
        },
        span: part.span.into(),
        via: decision.call_chain(part),
    }
}

/// The rule or the hazard that decided on a part.
fn rule(part: &Part<'_, '_>) -> Option<String> {
    let is_one = part.cause.rule().is_some() || matches!(part.cause, Cause::Hazard(_));
    is_one.then(|| part.cause.id().to_owned())
}
