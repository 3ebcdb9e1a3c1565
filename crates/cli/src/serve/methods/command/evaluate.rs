//! `command.evaluate`: what may become of a command, part by part.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::policy::CommandDecision;
use stockade_guard::policy::commands::{Cause, Part, Suggestion};

use super::super::{Json, Lane, Parameters};
use super::question::Question;
use super::{Argv, ByteSpan, ShellName, argv};
use crate::serve::Server;
use crate::serve::fault::Fault;

/// Decide what may become of a command, part by part.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::serve::methods) struct Evaluate {
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
    /// Whether to look for rules that would make the decision milder, each for exactly the words of one part. Each is tried, which
    /// takes longer than to decide; false by default.
    #[serde(default)]
    suggest: bool,
}

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
#[serde(rename_all = "camelCase")]
pub(in crate::serve::methods) struct Evaluated {
    /// The strictest action of all parts: `allow`, `sandbox`, `ask` or `deny`.
    action: &'static str,
    /// Why, for the part that decides.
    reason: String,
    /// The rule or the hazard that decides, where it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_rule: Option<String>,
    /// Everything that the command does, each with its own verdict.
    commands: Vec<Judged>,
    /// The same command in one canonical spelling, where every word is certain: run this, and what runs is what was
    /// judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    /// Rules that would make it milder, where `suggest` asked for them: to be shown to a person, and added by nobody else.
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

    fn answer(self, server: &Server) -> Result<Json, Fault> {
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
        question.answered(server, |decision, suggest| {
            let suggestions = if self.suggest { suggest() } else { Vec::new() };
            let suggested = |one: Suggestion| SuggestedRule {
                rule: one.rule.to_toml(),
                then: one.then.name(),
                span: one.span.into(),
            };
            let suggestions = suggestions.into_iter().map(suggested).collect();
            Json::of(&Evaluated { suggestions, ..Evaluated::of(decision) })
        })
    }
}

impl Evaluated {
    pub(in crate::serve::methods) fn of(decision: &CommandDecision<'_, '_>) -> Self {
        let decisive = decision.decisive().next();
        Self {
            action: decision.effect.name(),
            reason: decisive.map(|part| part.cause.to_string()).unwrap_or_default(),
            matched_rule: decisive.and_then(rule),
            commands: decision.parts.iter().map(|part| judged(decision, part)).collect(),
            rendered: decision.rendered(),
            suggestions: Vec::new(),
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
