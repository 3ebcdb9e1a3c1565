//! `command.evaluate`: the decision on a command, part by part.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::admission::answers::{
    AnswerStoreError, AnswerTerms, AnsweredCommand, AskedCommand, CommandAnswers, CommandQuestion,
};
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

/// Maximum number of parts in an answer, so that it is not many times as long as the request.
const MAX_JUDGED: usize = 1000;

/// Decide on a command, part by part. Stored answers of the user to exactly this command apply, and in a session those of the
/// session as well. A decision `ask` in a session contains a `question`: show it to the user, and repeat the request with its
/// `id` and the `answer`. In the session of an agent the agent's configuration decides, rules of the request can only make it
/// stricter, and every decision is recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct Evaluate {
    /// The command, as a shell text.
    command: Option<String>,
    /// The command as a program and its arguments.
    argv: Option<Vec<String>>,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
    /// Additional rules, as objects; they precede the built-in ones.
    #[serde(default)]
    rules: Vec<Map<String, Value>>,
    /// Additional rules, as the text of a rule file in TOML.
    rules_toml: Option<String>,
    #[serde(default)]
    config: EvaluateConfig,
    /// The working directory, for rules about directories.
    cwd: Option<PathBuf>,
    /// The workspace, for rules about directories; `cwd` by default.
    workspace: Option<PathBuf>,
    /// Whether to suggest rules that would make the decision milder, each for exactly the words of one part. Every suggestion is
    /// tested, which takes longer than deciding; false by default.
    #[serde(default)]
    suggest: bool,
    /// A session, whose answers apply. Stored answers apply in every session, and without one.
    session: Option<String>,
    /// The environment variables of the command, if known. An answer is bound to those that the command depends on.
    variables: Option<BTreeMap<String, String>>,
    /// The `id` of the question that was shown to the user. If the command, its directory, a variable or a file that it names has
    /// changed since, `answer` is void.
    question: Option<String>,
    /// The user's answer. One that applies to more than this request needs `question`, and `session` if it is for the session.
    answer: Option<Said>,
}

/// Approximate number of characters of a command that are shown.
const MAX_SHOWN: usize = 2000;

/// Settings besides the rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EvaluateConfig {
    /// The decision for commands without a matching rule: `allow`, `sandbox`, `ask` or `deny`.
    default_action: Option<String>,
    /// Whether dangerous commands are detected regardless of rules. Must be true.
    detect_dangerous: Option<bool>,
}

/// The decision on the command.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CommandDecision")]
#[serde(rename_all = "camelCase")]
pub(in crate::methods) struct Evaluated {
    /// The strictest action of all parts: `allow`, `sandbox`, `ask` or `deny`.
    action: &'static str,
    /// The reason, for the deciding part.
    reason: String,
    /// The deciding rule or hazard, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_rule: Option<String>,
    /// All parts of the command, each with its decision; the strictest thousand if there are more.
    commands: Vec<Judged>,
    /// The number of omitted parts, if there are more than a thousand.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands_left_out: Option<usize>,
    /// The command in a canonical form, if every word is certain. Run this form, so that exactly the judged command runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    /// The part that is asked about or denied, on one line for display: padding is counted, and invisible characters are escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    /// The question to the user, in a session: `id`, `shown`, `cwd`, `reasons`, the `variables` and `files` that an answer is
    /// bound to, the possible `answers`, and in `once` why an approval cannot last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    question: Option<CommandQuestion>,
    /// The user's answer, if it decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<AnsweredBy>,
    /// With `suggest`, rules that would make the decision milder. Show them to the user; never add them automatically.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    suggestions: Vec<SuggestedRule>,
}

/// A tested rule that would make a decision milder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SuggestedRule {
    /// The rule in TOML, as in `rulesToml` and rule files.
    rule: String,
    /// The decision with this rule and those before it.
    then: &'static str,
    /// The part of the command that it matches.
    span: ByteSpan,
}

/// One part of a command.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CommandPart")]
struct Judged {
    /// The program and its arguments; `null` for a word that is only known at run time. Empty if the part runs no program.
    argv: Argv,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    reason: String,
    /// A safer alternative, for a dangerous command.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<String>,
    span: ByteSpan,
    /// The wrappers and substitutions that it runs through, outermost first.
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
        let requested =
            RequestedAnswer { variables: self.variables, question: self.question, answer: self.answer };
        question.answered(server, guard, |asked| {
            let is_recorded = server.recording()?.is_some();
            let suggestions = if self.suggest || is_recorded { (asked.suggest)() } else { Vec::new() };
            let (effect, evaluated) = answered(server, self.session.as_deref(), guard, &requested, asked)?;
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

/// The answer in a request, and its context.
struct RequestedAnswer {
    variables: Option<BTreeMap<String, String>>,
    question: Option<String>,
    answer: Option<Said>,
}

/// Applies the user's answers to a decision.
fn answered(
    server: &Server,
    session: Option<&str>,
    guard: Option<&Session>,
    requested: &RequestedAnswer,
    asked: &Asked<'_, '_, '_>,
) -> Result<(Effect, Evaluated), Fault> {
    let decision = asked.decision;
    let by_rules = (decision.effect, Evaluated::of(decision));
    let is_silent = session.is_none() && requested.question.is_none() && requested.answer.is_none();
    // Without answers, the files that the command names need not be read.
    if is_silent && !server.kept_answers.may_hold_any() {
        return Ok(by_rules);
    }
    let agent = guard.map_or("", |guard| guard.guard().agent());
    let terms = guard.map_or(AnswerTerms::MAX_TERMS, Session::answer_terms);
    let wanted = AskedCommand {
        agent,
        shell: asked.shell,
        place: asked.place,
        variables: requested.variables.as_ref(),
    };
    let Some(question) = CommandQuestion::of(decision, &wanted) else { return Ok(by_rules) };
    let answers = answers::of(server, session)?;
    let said = match Reply::of(requested.question.as_deref(), requested.answer, session, &question)? {
        Reply::Given(said) => answers.answer_within(&question, said, terms).map(Some),
        Reply::None => recalled(&answers, &question, terms),
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

/// Returns an earlier answer. One that is valid for one use is used up.
fn recalled(
    answers: &CommandAnswers,
    question: &CommandQuestion,
    terms: AnswerTerms,
) -> Result<Option<AnsweredCommand>, AnswerStoreError> {
    match answers.recall_within(question, terms)? {
        Some(said) if answers.spend(question, &said)? => Ok(Some(said)),
        _ => Ok(None),
    }
}

/// The decision of the rules, with the user's answer.
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
        entry_point: Evaluate::METHOD,
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

    /// Returns the decision after the user's answer.
    fn after(self, said: &AnsweredCommand) -> Self {
        let word = if said.answer.is_yes() { "yes" } else { "no" };
        Self {
            action: said.effect.name(),
            reason: format!("the user has answered {word} to exactly this ({})", said.answer.name()),
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

/// Returns the rule or hazard that decided on a part.
fn rule(part: &Part<'_, '_>) -> Option<String> {
    let is_one = part.cause.rule().is_some() || matches!(part.cause, Cause::Hazard(_));
    is_one.then(|| part.cause.id().to_owned())
}
